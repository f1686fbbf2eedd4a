"""Two tiny books, Chinese and English, as values: chapters, a workflow, a run that waits for a decision, profiles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from flowcabal_tui.domain.context import ClassUse, ContextSource, DroppedSource, Intent, Receipt
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion
from flowcabal_tui.domain.memory import Derived, Entity, Evidence, Level
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import AngleCheck, Attempt, CheckFinding, Evaluation, Question, Quotation
from flowcabal_tui.domain.text import digest, word_count
from flowcabal_tui.domain.workflow import InquiryBlock, Node, PromptParams, TextBlock, VirtualBlock, Workflow
from flowcabal_tui.project.views import ProfileRow, ProfileView

NOW = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
RUN = RunId("run-1")
PLAN, DRAFT, POLISH = NodeId("plan"), NodeId("draft"), NodeId("polish")
REVIEW = QuestionId("question-1")


@dataclass(frozen=True, slots=True)
class Words:
    """What differs between the two books."""

    language: str
    name: str
    titles: tuple[str, ...]
    texts: tuple[str, ...]
    node_names: tuple[str, str, str]
    prompts: tuple[str, str, str]
    inquiry: str
    plan: str
    first_draft: str
    second_draft: str
    draft_quote: str
    source_quote: str
    explanation: str
    reason: str
    hero: str
    scene: str
    beats: str
    abstract: str
    profile: tuple[str, ...]
    older_profile: str
    kinds: tuple[str, str]
    """Titles of the kinds of profile."""


ZH = Words(
    language="zh",
    name="盐路",
    titles=("雨夜", "渡口", "空城", "归途"),
    texts=(
        "雨下了一夜。沈月在攻城那年失去了左手，袖口空空地垂着。\n她把灯推远了些，听见门外有人数着台阶。\n“十二。”那人说。",
        "渡口的雾到中午才散。老周撑着竹篙，不问她要去哪里。\n“盐价又涨了。”他说，“城里人都往外走。”",
        "空城的钟没有人敲，自己响了三下。\n沈月数到第三下，才推开那扇门。",
        "",
    ),
    node_names=("计划", "初稿", "润色"),
    prompts=(
        "为第{{chapter.number}}章《{{chapter.title}}》写一个计划。",
        "按下面的计划写出这一章：\n",
        "润色下面的稿子，不改事实：\n",
    ),
    inquiry="沈月和老周上次见面时说了什么？",
    plan="一、沈月回到渡口。\n二、老周认出她的刀。\n三、雨停。",
    first_draft="沈月双手握刀，站在渡口。雾里传来竹篙的声音。",
    second_draft="沈月站在渡口，两只手都握紧了刀柄。老周抬起头，没有说话。\n雨停了。",
    draft_quote="两只手都握紧了刀柄",
    source_quote="沈月在攻城那年失去了左手",
    explanation="稿子里沈月用两只手握刀，第一章说她已失去左手。",
    reason="事实检查发现一处矛盾，两次重写后仍在。",
    hero="沈月",
    scene="灯",
    beats="她听见脚步声，却不回头。",
    abstract="失去左手的刀客，正往回走。",
    profile=("沈月在攻城那年失去了左手。", "她在渡口遇到老周。"),
    older_profile="沈月在攻城那年失去了左手。",
    kinds=("人物", "章节"),
)
EN = Words(
    language="en",
    name="The Salt Road",
    titles=("Rain", "The Ferry", "Empty City", "Homeward"),
    texts=(
        "It rained all night. Mara had lost her left hand in the siege, and the sleeve hung empty.\n"
        "She pushed the lamp away and heard someone counting the steps outside.\n“Twelve,” said the voice.",
        "The fog on the river lifted only at noon. Old Joss leaned on his pole and asked her nothing.\n"
        "“Salt is dear again,” he said. “Everyone is leaving the city.”",
        "Nobody rang the bell of the empty city; it struck three by itself.\n"
        "Mara counted the third and opened the door.",
        "",
    ),
    node_names=("Plan", "Draft", "Polish"),
    prompts=(
        "Write a plan for chapter {{chapter.number}}, “{{chapter.title}}”.",
        "Write the chapter after this plan:\n",
        "Polish this draft and change no fact:\n",
    ),
    inquiry="What did Mara and Joss say when they last met?",
    plan="1. Mara is back at the ferry.\n2. Joss knows her blade.\n3. The rain stops.",
    first_draft="Mara held the blade in both hands at the ferry. A pole knocked in the fog.",
    second_draft="Mara stood at the ferry and closed both her hands round the hilt. Joss looked up and said nothing.\n"
    "The rain had stopped.",
    draft_quote="closed both her hands round the hilt",
    source_quote="Mara had lost her left hand in the siege",
    explanation="In the draft Mara grips the hilt with both hands; in chapter 1 she has lost her left hand.",
    reason="The fact check found a contradiction that two rewrites did not remove.",
    hero="Mara",
    scene="The lamp",
    beats="She hears the steps and does not turn round.",
    abstract="A swordswoman without her left hand, on her way back.",
    profile=("Mara lost her left hand in the siege.", "She met Joss at the ferry."),
    older_profile="Mara lost her left hand in the siege.",
    kinds=("Characters", "Chapters"),
)


def chapter_id(number: int) -> ChapterId:
    """The id of the chapter at a position, from 1."""
    return ChapterId(f"chapter-{number}")


def chapters(words: Words) -> tuple[Chapter, ...]:
    """Three written chapters and one that is empty yet."""
    return tuple(
        Chapter(
            chapter_id(number),
            number,
            title,
            version=1 if text else 0,
            digest=digest(text) if text else None,
            length=word_count(text),
            author="human" if text else None,
            changed_at=NOW if text else None,
        )
        for number, (title, text) in enumerate(zip(words.titles, words.texts, strict=True), 1)
    )


def versions(words: Words) -> dict[ChapterId, tuple[tuple[ChapterVersion, str], ...]]:
    """One version, with its text, of every written chapter."""
    return {
        chapter_id(number): (
            ((ChapterVersion(chapter_id(number), 1, digest(text), "human", NOW, Generation(number)), text),)
            if text
            else ()
        )
        for number, text in enumerate(words.texts, 1)
    }


def workflow(words: Words) -> Workflow:
    """plan -> draft -> polish, with every kind of block."""
    blocks = (
        (TextBlock(text=words.prompts[0]),),
        (TextBlock(text=words.prompts[1]), VirtualBlock(node=PLAN), InquiryBlock(question=words.inquiry)),
        (TextBlock(text=words.prompts[2]), VirtualBlock(node=DRAFT)),
    )
    nodes = tuple(
        Node(
            id=node,
            name=name,
            params=PromptParams(
                prompt=prompt,
                angles=("timeline", "character_state", "world_rules") if node == DRAFT else (),
                review="always" if node == PLAN else "doubt",
            ).model_dump(mode="json"),
        )
        for node, name, prompt in zip((PLAN, DRAFT, POLISH), words.node_names, blocks, strict=True)
    )
    return Workflow(id="chapter", name="Chapter", language=words.language, nodes=nodes)


def receipt(words: Words, node: NodeId = DRAFT) -> Receipt:
    """A receipt with several classes, dropped sources, a pending input and a note."""
    start = words.texts[0].index(words.source_quote)
    return Receipt(
        node=node,
        chapter=chapter_id(4),
        generation=Generation(3),
        budget=25_000,
        used=2_310,
        sources=(
            ContextSource("meta/outline", "always included", "L2", 420, "meta", "outline"),
            ContextSource("profiles/characters/hero", "named in the plan", "L1", 180, "profiles", words.hero),
            ContextSource("manuscript/chapter-3", "previous chapter", "L2", 610, "near", words.titles[2]),
            ContextSource("manuscript/chapter-2", "previous chapter", "L1", 200, "near", words.titles[1]),
            ContextSource(
                "manuscript/chapter-1", "names the hero", "L2", 900, "far", words.titles[0],
                start, start + len(words.source_quote),
            ),
        ),
        dropped=(
            DroppedSource("manuscript/chapter-2#0", "class budget used up", 800, "far", words.titles[1]),
            DroppedSource("entities/locations/city", "not named", 90, "entities", "city"),
        ),
        classes=(
            ClassUse("meta", 2_000, 420), ClassUse("profiles", 3_000, 180),
            ClassUse("near", 10_000, 810), ClassUse("far", 10_000, 900),
        ),
        intent=Intent((words.hero,), "dialogue", (words.titles[1],)),
        digest=Digest("a1" * 16),
        pending=(f"output of {PLAN}",) if node == POLISH else (),
        notes=("the knowledge server was not asked",),
    )  # fmt: skip


def evaluation(words: Words, draft: str) -> Evaluation:
    """Two angles passed, one found the contradiction (when `draft` has it), one was not checked."""
    at = draft.find(words.draft_quote)
    start = words.texts[0].index(words.source_quote)
    finding = CheckFinding(
        "character_state",
        "physical state",
        words.explanation,
        Quotation(words.draft_quote, "run/run-1/draft", at, at + len(words.draft_quote), words.node_names[1]),
        Quotation(words.source_quote, "manuscript/chapter-1", start, start + len(words.source_quote), words.titles[0]),
        0.9,
    )
    checks = (
        AngleCheck("timeline", "passed"),
        AngleCheck("character_state", "found", findings=(finding,)),
        AngleCheck("world_rules", "not checked", "the answer could not be read"),
    )
    return Evaluation("ask", words.reason, 0.9, checks)


def attempts(words: Words) -> tuple[Attempt, ...]:
    """Two attempts of the draft; both contradict chapter 1."""
    return tuple(
        Attempt(
            number,
            text,
            digest=digest(text),
            key=digest(f"key {number}"),
            model="offline",
            usage=Usage(2_400, 300),
            seconds=4.2,
            feedback=words.explanation if number > 1 else "",
            evaluation=evaluation(words, text),
            receipt=receipt(words),
        )
        for number, text in enumerate((words.first_draft, words.second_draft), 1)
    )


def review(words: Words) -> Question:
    """The decision that waits."""
    return Question(
        REVIEW, RUN, DRAFT, "review", words.reason, NOW, (1, 2), node_title=words.node_names[1], chapter=chapter_id(4)
    )


def profiles(words: Words) -> dict[str, tuple[ProfileRow, ProfileView]]:
    """A character with two states and evidence, and the L0 of a chapter."""
    start = words.texts[0].index(words.source_quote)
    evidence = (Evidence(words.profile[0], chapter_id(1), start, start + len(words.source_quote)),)
    hero = "profiles/characters/hero"
    texts: tuple[tuple[Level, str], ...] = (
        ("L0", words.abstract),
        ("L1", "".join(words.profile)),
        ("L2", "\n".join(words.profile)),
    )
    levels = tuple(
        Derived(hero, level, text, digest(text), 3, Generation(3), evidence=evidence if level == "L1" else (), at=NOW)
        for level, text in texts
    )
    older = Derived(hero, "L1", words.older_profile, digest(words.older_profile), 1, Generation(1), at=NOW)
    entity = Entity(EntityId("hero"), "character", words.hero, first_position=1)
    chapter = "manuscript/chapter-1"
    summary = Derived(chapter, "L0", words.titles[0], digest(words.titles[0]), 1, Generation(1), at=NOW)
    return {
        hero: (
            ProfileRow("characters", words.hero, hero, words.abstract, 3, 2, words.kinds[0]),
            ProfileView(hero, words.hero, levels, (levels[1], older), entity),
        ),
        chapter: (
            ProfileRow("chapters", words.titles[0], chapter, words.titles[0], 1, 1, words.kinds[1]),
            ProfileView(chapter, words.titles[0], (summary,), (summary,)),
        ),
    }
