"""What holds goes in, what has ended does not, and a point of view is told no secret of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.agents.checking.check_sources import notes_for
from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.gather import Found, read_book
from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId
from flowcabal_tui.domain.memory import Derived, Evidence, Level
from flowcabal_tui.domain.prompt_parts import read_parts
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId, Relation, Story
from flowcabal_tui.domain.workflow import InquiryBlock, Node, PromptParams, TextBlock, Workflow
from tests.agents.fakes import FakeBook, FakeTokens, person

LIN, SHEN, ZHOU, GU = (person(name) for name in ("林远", "沈青", "老周", "顾家"))
SECRET = "老周把真铜铃埋在白鹭渡的柳树下。"
TEXTS = (
    "林远住在北城。沈青是林远的表妹。|林远与沈青在山道上走了很久，谁也没有说话。|"
    + SECRET
    + "只有江水听见。|老周回船。",
    "林远搬到南城。老周撑船，一路无话。|沈青在灯下得知：" + SECRET + "她吹了灯。|三天后，林远醒来。",
    "林远到了渡口。老周说起那年的雪。|沈青没有来。",
    "天晴。|林远独自上路。" + SECRET + "老周在梦里说。",
)


def place(chapter: int, words: str) -> tuple[Evidence, ...]:
    text = TEXTS[chapter - 1].replace("|", "\n\n")
    at = text.index(words)
    return (Evidence(words, ChapterId(f"c{chapter}"), at, at + len(words)),)


def fact(name: str, text: str, chapter: int, words: str, **more: object) -> Fact:
    return replace(Fact(RecordId(name), text, (LIN.id,), "", ChapterId(f"c{chapter}"), evidence=place(chapter, words)),
                   **more)  # fmt: skip


BELL = fact(
    "bell", "真铜铃埋在柳树下。", 1, SECRET, about=(ZHOU.id,), secret=True,
    known_by=(Knower(ZHOU.id), Knower(SHEN.id, ChapterId("c2"), place(2, SECRET))),
)  # fmt: skip
STORY = Story(
    relations=(
        Relation(
            RecordId("kin"), SHEN.id, LIN.id, "表妹", since=ChapterId("c1"), evidence=place(1, "沈青是林远的表妹")
        ),
        Relation(RecordId("hop"), SHEN.id, GU.id, "养女", since=ChapterId("c1")),
        Relation(RecordId("over"), ZHOU.id, LIN.id, "仇人", since=ChapterId("c1"), until=ChapterId("c2")),
        Relation(RecordId("far"), ZHOU.id, GU.id, "债主"),
    ),
    facts=(
        fact("old", "林远住在北城。", 1, "林远住在北城", until=ChapterId("c2")),
        fact("now", "林远住在南城。", 2, "林远搬到南城"),
        fact("other", "顾家败落。", 2, "老周撑船", about=(GU.id,)),
        BELL,
    ),
    promises=(
        Promise(RecordId("late"), "雪里的债", ChapterId("c1"), due_from=2, due_until=3),
        Promise(RecordId("soon"), "柳树", ChapterId("c1"), due_from=4, due_until=9),
        Promise(RecordId("paid"), "还了的债", ChapterId("c1"), paid=ChapterId("c2"), about=(LIN.id,)),
        Promise(RecordId("open"), "北城的门", ChapterId("c2"), about=(LIN.id,)),
        Promise(RecordId("not-yet"), "第九章的雷", ChapterId("c2"), due_from=9, about=(LIN.id,)),
    ),
    moments=(Moment(RecordId("wakes"), "林远醒来", ChapterId("c2"), "三天后", evidence=place(2, "三天后")),),
)


def derived(uri: str, level: Level, *evidence: Evidence, text: str = "") -> Derived:
    said = text or "\n".join(each.sentence for each in evidence)
    return Derived(uri, level, said, Digest(""), 1, Generation(1), evidence=evidence)


def make_book(story: Story = STORY) -> FakeBook:
    spoken = Evidence("老周藏了铃。", *_span(place(1, SECRET)))
    walked = Evidence("林远与沈青同行。", *_span(place(1, "林远与沈青在山道上走了很久")))
    return FakeBook(
        [(f"第{n}章", text.replace("|", "\n\n")) for n, text in enumerate(TEXTS, 1)],
        (LIN, SHEN, ZHOU, GU),
        derived=[
            derived("manuscript/c1", "L1", spoken, walked),
            derived("manuscript/c1", "L0", text="一只铃有了下落。"),
            derived("profiles/characters/e-林远", "L1", walked),
            derived("profiles/characters/e-林远", "L0", text="旅人。"),
        ],
        story=story,
        passage_size=10,
    )


def _span(evidence: tuple[Evidence, ...]) -> tuple[ChapterId, int, int]:
    return evidence[0].chapter, evidence[0].start, evidence[0].end


class Finder:
    async def find(self, query: str, before: int, limit: int) -> list[Found]:
        _chapter, start, end = _span(place(1, SECRET))
        return [
            Found("manuscript/c1", "第1章", SECRET, 0.9, "L2", 1, start, end),
            Found("manuscript/c1", "第1章", "一只铃有了下落。", 0.8, "L0", 1),
            Found("manuscript/c2", "第2章", "三天后，林远醒来。", 0.7, "L2", 2, 0, 9),
        ]


async def assemble(view: str = "", book: FakeBook | None = None, budget: int = 6_000, ask: str = "") -> Injection:
    prompt = "林远与沈青、老周在渡口重逢，说起铜铃与柳树。"
    blocks = (TextBlock(text=prompt), *((InquiryBlock(question=ask),) if ask else ()))
    params = PromptParams(prompt=blocks, point_of_view=view)
    agent = ContextAgent(book or make_book(), FakeTokens(), budget, finder=Finder())
    node = Node(id=NodeId("draft"))
    workflow = Workflow(id="w", nodes=(node,))
    asked = (ask,) if ask else ()
    return await agent.assemble(workflow, node, params, prompt, ChapterId("c4"), Generation(1), asked)


async def test_the_receipt_calls_a_record_by_its_words_and_the_prompt_does_not_say_them_twice() -> None:
    long = replace(STORY.promises[0], text="很长的债" * 30)
    injection = await assemble(book=make_book(replace(STORY, promises=(long, *STORY.promises[1:]))))
    titles = {each.uri: each.title for each in injection.receipt.sources if each.budget_class == "facts"}
    assert titles["facts/now"] == "林远住在南城。" and titles["relations/kin"] == "沈青：林远的表妹"
    assert titles["promises/late"].endswith("…") and len(titles["promises/late"]) == 40
    assert injection.user_suffix.count("林远住在南城") == 1


async def test_what_holds_for_the_cast_goes_in_with_the_chapter_that_says_it() -> None:
    injection = await assemble()
    facts = [each for each in injection.receipt.sources if each.budget_class == "facts"]
    told = {each.uri: each.reason for each in facts}
    assert set(told) == {
        "relations/kin", "relations/hop", "relations/far", "facts/now", "facts/bell", "promises/late",
        "promises/soon", "promises/open", "moments/wakes",
    }  # fmt: skip
    assert told["relations/kin"].endswith("narrated in chapter 1")
    (section,) = [part.text for part in read_parts(injection.user_suffix) if part.key == "facts"]
    assert "- 沈青：林远的表妹（第1章起）" in section
    assert "- 早该交代：雪里的债（第1章埋下）" in section
    assert "- 应在此时交代：柳树（第1章埋下）" in section
    assert "- 三天后：林远醒来（第2章）" in section
    assert "北城。" not in section


async def test_a_secret_is_a_part_of_its_own_which_says_that_it_is_not_to_be_given_away() -> None:
    suffix = (await assemble()).user_suffix
    keys = [part.key for part in read_parts(suffix)]
    assert keys.index("untold") == keys.index("facts") + 1 and keys.count("untold") == 1
    (secrets,) = [part for part in read_parts(suffix) if part.key == "untold"]
    assert secrets.text == "- 真铜铃埋在柳树下。（第1章起）（秘密，知情者：老周、沈青）"
    assert suffix.count("秘密，知情者") == 1, "no line is there twice"
    assert "不得说破" in secrets.label
    unknowing = (await assemble("林远")).user_suffix
    assert "untold" not in [part.key for part in read_parts(unknowing)]


async def test_without_a_point_of_view_secrets_are_told_and_nothing_is_hidden() -> None:
    injection = await assemble()
    assert SECRET in injection.user_suffix
    assert not [each for each in injection.receipt.dropped if "point of view" in each.rule]


@pytest.mark.parametrize(("view", "knows"), [("林远", False), ("e-林远", False), ("沈青", True), ("老周", True)])
async def test_a_point_of_view_is_told_what_it_knows_at_this_chapter(view: str, knows: bool) -> None:
    injection = await assemble(view)
    whole = injection.system_prefix + injection.user_suffix
    assert (SECRET in whole, BELL.text in whole) == (knows, knows)
    assert "林远住在南城" in whole
    hidden = {each.uri for each in injection.receipt.dropped if "point of view" in each.rule}
    assert ("facts/bell" in hidden) is not knows


async def test_a_secret_that_is_told_again_is_hidden_where_no_record_says_so() -> None:
    book = make_book()
    book.texts[2] = ("第3章", f"林远到了渡口，听见有人说：{SECRET}沈青没有来。")
    book = replace(book)
    blind, seeing = await assemble("林远", book), await assemble("沈青", book)
    assert "听见有人说：…" in blind.user_suffix
    assert "沈青没有来" in blind.user_suffix
    assert SECRET.rstrip("。") not in blind.user_suffix
    assert f"听见有人说：{SECRET}" in seeing.user_suffix
    assert "（秘密，知情者：沈青）" in seeing.user_suffix, "she need not know who else knows"


async def test_what_rests_on_a_secret_leaves_every_level_and_the_rest_stays() -> None:
    blind = await assemble("林远")
    assert "老周藏了铃" not in blind.user_suffix
    assert "一只铃有了下落" not in blind.user_suffix
    assert "林远与沈青同行" in blind.user_suffix
    assert "三天后，林远醒来" in blind.user_suffix
    assert "\ufffc" not in blind.user_suffix
    assert SECRET in (await assemble("沈青")).user_suffix, "the whole chapter, which needs no summary"


async def test_relations_and_notes_that_tell_a_secret_are_left_out_and_the_receipt_says_so() -> None:
    keeper = Relation(RecordId("keeper"), ZHOU.id, LIN.id, "瞒着他藏铃的人", evidence=place(1, SECRET))
    book = make_book(replace(STORY, relations=(*STORY.relations, keeper)))
    book = replace(book, people=(LIN, SHEN, replace(ZHOU, note=f"船夫。{SECRET}"), replace(GU, note="北城大户。")))
    blind, seeing = await assemble("林远", book), await assemble("沈青", book)
    assert "瞒着他藏铃" not in blind.user_suffix and "瞒着他藏铃" in seeing.user_suffix
    assert "船夫" not in blind.user_suffix and "船夫" in seeing.user_suffix
    assert "沈青：林远的表妹" in blind.user_suffix, "what rests on no secret stays"
    hidden = {each.uri: each.title for each in blind.receipt.dropped if "point of view" in each.rule}
    assert hidden["relations/keeper"] == "老周 → 林远：瞒着他藏铃的人"
    assert hidden[f"entities/characters/{ZHOU.id}"] == "老周"
    assert not [each for each in seeing.receipt.dropped if "point of view" in each.rule]


async def test_who_is_unknown_to_the_book_is_told_no_secret_and_the_receipt_says_so() -> None:
    injection = await assemble("过路人")
    assert SECRET not in injection.user_suffix
    assert any("过路人" in note for note in injection.receipt.notes)


async def test_an_inquiry_is_answered_without_the_secret_too() -> None:
    question = "老周把铜铃埋在哪里？"
    ((_question, answer),) = (await assemble("林远", ask=question)).inquiries
    assert SECRET not in answer
    ((_question, answer),) = (await assemble(ask=question)).inquiries
    assert SECRET in answer


async def test_many_facts_stay_within_their_share_and_the_nearest_to_the_prompt_come_first() -> None:
    many = tuple(fact(f"f{n}", f"林远第{n}次醉酒。", 2, "林远搬到南城") for n in range(60))
    near = fact("near", "铜铃系在林远腰间，柳树为证。", 2, "林远搬到南城")
    injection = await assemble(book=make_book(Story(facts=(*many, near))), budget=1_500)
    facts = [each for each in injection.receipt.sources if each.budget_class == "facts"]
    assert "facts/near" in [each.uri for each in facts]
    assert injection.receipt.used <= 1_500
    assert len(facts) <= 31


async def test_whoever_shares_many_secrets_is_told_all_of_them_where_there_is_room() -> None:
    shared = (Knower(LIN.id),)
    many = tuple(
        fact(f"s{n}", f"第{n}口箱子埋在北城。", 2, "林远搬到南城", about=(), secret=True, known_by=shared)
        for n in range(30)
    )
    told = (await assemble(book=make_book(Story(facts=many)))).user_suffix
    assert [n for n in range(30) if f"第{n}口箱子" not in told] == []


async def test_the_monitor_compares_with_what_holds_and_with_when_it_was() -> None:
    book = await read_book(make_book().before(4))
    states = await notes_for(("character_state",), book, "林远与沈青重逢。", FakeTokens(), 5_000)
    said = [each.text for each in states]
    assert said[:2] == ["林远搬到南城", "沈青是林远的表妹"]
    assert states[0].start == TEXTS[1].index("林远搬到南城")
    assert "林远住在北城" not in said
    moment = Moment(RecordId("m"), "林远醒来", ChapterId("c2"), "三天后", None, (LIN.id,), place(2, "三天后"))
    dated = await read_book(make_book(replace(STORY, moments=(moment,))).before(4))
    timeline = await notes_for(("timeline",), dated, "林远与沈青重逢。", FakeTokens(), 5_000)
    assert timeline[0].text == "三天后"


async def test_a_relation_brings_the_person_and_the_cast_its_plot_threads() -> None:
    family = replace(GU, note="北城的旧族。")
    thread = person("失铃案", kind="plot-thread")
    found = fact("thread", "铃还没有找到。", 2, "老周撑船", about=(SHEN.id, thread.id))
    book = make_book(replace(STORY, facts=(*STORY.facts, found)))
    book.people = (LIN, SHEN, ZHOU, family, thread)
    for subject, kind in ((GU, "characters"), (thread, "plot-threads")):
        book.derived.append(derived(f"profiles/{kind}/{subject.id}", "L1", text=f"关于{subject.name}。"))
    injection = await assemble(book=book)
    brought = {each.uri: each for each in injection.receipt.sources}
    assert brought["entities/characters/e-顾家"].reason == "a relation of 沈青"
    assert brought["profiles/characters/e-顾家"].reason == "a relation of 沈青"
    assert brought["profiles/plot-threads/e-失铃案"].reason == "a plot thread of the cast"
    assert '失铃案（截至第1章）">\n关于失铃案。' in injection.user_suffix, "chapters 2 and 3 came after it"


async def test_without_the_relation_the_person_does_not_come() -> None:
    book = make_book()
    book.people = (LIN, SHEN, ZHOU, replace(GU, note="北城的旧族。"))
    hidden = replace(STORY, relations=())
    without = await assemble(book=replace(book, story=hidden))
    assert "北城的旧族" in (await assemble(book=book)).user_suffix
    assert "北城的旧族" not in without.user_suffix


async def test_a_fact_that_another_one_begins_with_is_not_sent_beside_it() -> None:
    texts = ("林远的左手缺了两指。", "林远的左手缺了两指，断口早已长圆。", "林远住在南城。", "林远住在南城外。")
    facts = tuple(Fact(RecordId(f"{n}"), text, (LIN.id,)) for n, text in enumerate(texts))
    suffix = (await assemble(book=make_book(replace(STORY, facts=facts)))).user_suffix
    assert [text in suffix for text in texts] == [False, True, True, True]


@pytest.mark.parametrize(
    ("kind", "line"), [("mother of", "- Anna: mother of Peter"), ("old friends", "- Anna → Peter: old friends")]
)
async def test_an_english_relation_reads_as_a_sentence_where_its_kind_ends_with_a_preposition(
    kind: str, line: str
) -> None:
    anna, peter = person("Anna"), person("Peter")
    story = Story(relations=(Relation(RecordId("kin"), anna.id, peter.id, kind, since=ChapterId("c1")),))
    book = FakeBook(
        [(f"{n}", "Anna met Peter at the ferry.") for n in range(1, 5)], (anna, peter), language="en", story=story
    )
    prompt = "Anna and Peter meet at the ferry."
    params, node = PromptParams(prompt=(TextBlock(text=prompt),)), Node(id=NodeId("draft"))
    agent = ContextAgent(book, FakeTokens(), 6_000)
    workflow = Workflow(id="w", nodes=(node,))
    made = await agent.assemble(workflow, node, params, prompt, ChapterId("c4"), Generation(1), ())
    assert f"{line} (since chapter 1)" in made.user_suffix
