"""What a node gets of the outline: its beats whole, what came before in short, nothing later, no secret."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.domain.context import ContextSource, Injection
from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation, NodeId
from flowcabal_tui.domain.memory import Entity, MetaName
from flowcabal_tui.domain.outline import OutlineLink
from flowcabal_tui.domain.prompt_parts import read_parts
from flowcabal_tui.domain.story import Fact, RecordId, Story
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Node, OutlineScope, PromptParams, TextBlock, Workflow
from flowcabal_tui.headings.numerals import in_chinese
from flowcabal_tui.locale import use_language
from flowcabal_tui.project.words import level_words
from tests.agents.fakes import FakeBook, FakeTokens

CAST = (
    Entity(EntityId("e-1"), "character", "林远"),
    Entity(EntityId("e-2"), "character", "沈青"),
)


def beats(n: int) -> str:
    return f"- 林远在第{n}处驿站等人。\n- 沈青说出暗号甲{n}乙。\n- 结尾是灯{n}灭。"


def outline(chapters: int, per_volume: int = 40) -> str:
    text = "# 长路\n全书写林远寻铃。\n\n"
    for n in range(1, chapters + 1):
        if n % per_volume == 1:
            volume = n // per_volume + 1
            text += f"## 第{in_chinese(volume)}卷\n卷意{volume}号。\n\n"
        text += f"### 第{in_chinese(n)}章 驿{n}\n{beats(n)}\n\n"
    return text


def book(text: str, written: int = 12, titles: str = "驿{n}", **more: object) -> FakeBook:
    texts = [(titles.format(n=n), "林远走着。") for n in range(1, written + 1)]
    return FakeBook(texts, CAST, (("outline", text), ("style-guide", "短句。")), **more)  # type: ignore[arg-type]


async def assembled(
    story: FakeBook, at: int | None, budget: int = 25_000, scope: OutlineScope = "before", view: str = ""
) -> Injection:
    prompt = "林远与沈青的一场戏。"
    params = PromptParams(prompt=(TextBlock(text=prompt),), outline=scope, point_of_view=view)
    node = Node(id=NodeId("plan"))
    agent = ContextAgent(story, FakeTokens(), budget)
    chapter = ChapterId(f"c{at}") if at else None
    return await agent.assemble(Workflow(id="w", nodes=(node,)), node, params, prompt, chapter, Generation(1), ())


def part(injection: Injection, key: str) -> str:
    return next((each.whole for each in read_parts(injection.user_suffix) if each.key == key), "")


def sources(injection: Injection, name: str) -> list[ContextSource]:
    return [each for each in injection.receipt.sources if each.budget_class == name]


@pytest.mark.parametrize("budget", [25_000, 3_000, 2_000])
@pytest.mark.parametrize("at", [1, 10, 60, 119])
async def test_a_chapter_of_a_long_outline_gets_its_beats_whole_and_nothing_later(at: int, budget: int) -> None:
    injection = await assembled(book(outline(120), written=at), at, budget)
    assert part(injection, "beats").strip() == beats(at)
    (own,) = sources(injection, "beats")
    assert level_words(own) == "full text"
    given = injection.system_prefix + injection.user_suffix
    assert not [n for n in range(at + 1, 121) if f"甲{n}乙" in given or f"第{n}处" in given or f'驿{n}"' in given]
    assert "全书写林远寻铃" in part(injection, "outline")
    own_volume = (at - 1) // 40 + 1
    assert f"卷意{own_volume}号" in part(injection, "outline")
    assert not [n for n in range(own_volume + 1, 4) if f"卷意{n}号" in given]


async def test_what_came_before_is_a_sentence_each_and_what_is_left_out_is_said() -> None:
    injection = await assembled(book(outline(120), written=118), 118)
    told = part(injection, "outline")
    assert "第一百一十七章 驿117：林远在第117处驿站等人。…" in told and "甲117乙" not in told
    lines = [line for line in told.split("\n") if line.startswith("- 第")]
    assert told.index("第一百一十六章") < told.index("第一百一十七章")
    before = next(each for each in sources(injection, "outline") if each.level == "L0")
    assert len(lines) < 117 and f"{len(lines)} earlier chapters" in before.reason
    left = 119 - len(lines)
    assert f"{left} more do not fit" in before.reason and f"更早的 {left} 章从略" in told


@pytest.mark.parametrize("at", [8, 113])
async def test_the_request_for_the_next_chapter_begins_with_the_same_outline(at: int) -> None:
    """The first has room for all chapters before it, the other leaves out as many as its next one."""
    this, following = [(await assembled(book(outline(120), written=n), n)).user_suffix for n in (at, at + 1)]
    end = this.index("</outline>")
    last = this.rindex("- 第", 0, end)
    assert following[:last] == this[:last]


async def test_the_writer_may_say_that_a_node_knows_all_or_nothing_of_the_outline() -> None:
    story = book(outline(20), written=5)
    all_of_it = await assembled(story, 5, scope="all")
    assert all(f"甲{n}乙" in all_of_it.user_suffix for n in range(6, 21)) and part(all_of_it, "beats").strip() == beats(
        5
    )
    nothing = await assembled(story, 5, scope="none")
    assert "甲5乙" not in nothing.user_suffix and not sources(nothing, "outline")


async def test_beats_that_do_not_fit_are_shortened_and_both_are_told_by_how_much() -> None:
    long = "".join(f"- 林远走到第{n}里，沈青在后面跟着。\n" for n in range(400))
    injection = await assembled(book(f"## 第一章 驿1\n{long}", written=1), 1, 2_000)
    (own,) = sources(injection, "beats")
    assert own.kept < own.of == len(long.rstrip())
    assert level_words(own) == f"shortened: {own.kept:,} of {own.of:,} characters" and "to fit" in own.reason
    assert f"此处只有前 {own.kept} 字，全文共 {own.of} 字" in injection.user_suffix


async def test_an_outline_without_a_fit_gives_passages_that_name_the_people_marked_as_not_assigned() -> None:
    text = "# 人物小传\n林远，旅人。\n陌生人甲。\n# 线索\n铜铃在北城。\n沈青知道路。\n"
    injection = await assembled(book(text), 8)
    told = part(injection, "outline")
    assert "林远，旅人。" in told and "沈青知道路。" in told and "陌生人甲" not in told and "铜铃在北城" not in told
    assert "大纲中未归入任何章的段落" in injection.user_suffix
    assert all(
        "not assigned to a chapter" in each.reason for each in sources(injection, "outline") if "未归入" in each.title
    )
    link = OutlineLink("线索", 1, digest("铜铃在北城。\n沈青知道路。"), ChapterId("c8"))
    assigned = await assembled(replace(book(text), links=(link,)), 8)
    assert part(assigned, "beats").strip() == "铜铃在北城。\n沈青知道路。"


async def test_a_planned_chapter_that_the_book_does_not_have_is_no_passage_of_now() -> None:
    injection = await assembled(book(outline(30), written=10), 10)
    assert not [n for n in range(11, 31) if f"甲{n}乙" in injection.user_suffix]


async def test_a_secret_that_the_point_of_view_does_not_know_stays_out_in_other_words_too() -> None:
    fact = Fact(RecordId("f1"), "林远偷走了祠堂的账册", (EntityId("e-1"),), since=ChapterId("c1"), secret=True)
    text = (
        "## 第一章 驿1\n- 林远夜里偷走祠堂账册，藏在井中。\n- 下雨。\n"
        "## 第二章 驿2\n- 沈青去祠堂上香。\n- 那本祠堂账册是林远偷走的，他不说。\n"
    )
    story = book(text, story=Story(facts=(fact,)), written=2)
    veiled = await assembled(story, 2, view="沈青")
    given = veiled.system_prefix + veiled.user_suffix
    assert "沈青去祠堂上香" in part(veiled, "beats") and "账册" not in given
    (own,) = sources(veiled, "beats")
    assert "hidden from the point of view" in own.reason and level_words(own) != "full text"
    assert "账册" in (await assembled(story, 2)).user_suffix


async def test_a_node_of_no_chapter_gets_the_whole_outline_and_is_told_what_is_missing() -> None:
    injection = await assembled(book(outline(20)), None)
    assert all(f"甲{n}乙" in injection.user_suffix for n in range(1, 21))
    cut = await assembled(book(outline(400)), None, 2_000)
    (source,) = sources(cut, "outline")
    assert source.kept < source.of == len(outline(400)) and "shortened" in level_words(source)
    assert f"全文共 {source.of} 字" in cut.user_suffix


async def test_the_last_pages_are_not_called_full() -> None:
    story = book("", written=0)
    story.texts = [("驿1", "林远走着，风很大。" * 4_000), ("驿2", "")]
    injection = await assembled(replace(story), 2, 4_000)
    (near,) = sources(injection, "near")
    assert level_words(near).startswith("shortened: ") and f"全文共 {near.of} 字" in injection.user_suffix


async def test_passages_that_fit_no_chapter_are_marked_below_the_words_of_the_book_too() -> None:
    text = "# 长路\n全书写林远寻铃。\n\n## 旧怨\n林远恨沈青。\n- 林远磨刀。\n## 伏笔\n林远藏了刀。\n"
    given = (await assembled(book(text), 1)).user_suffix
    for heading in ("旧怨", "伏笔"):
        assert f"大纲中未归入任何章的段落: {heading}" in given
    assert given.index("全书写林远寻铃") < given.index("段落: 旧怨") < given.index("恨沈青")
    assert given.index("林远磨刀") < given.index("段落: 伏笔") < given.index("藏了刀")


async def test_each_part_of_an_outline_that_is_shortened_says_its_own_lengths() -> None:
    text = (
        "# 长路\n"
        + "全书写林远寻铃。" * 3_000
        + "\n\n## 第一卷 雪\n"
        + "卷意甲号。" * 3_000
        + "\n### 第一章 驿1\n- a\n"
    )
    injection = await assembled(book(text), 1, 4_000)
    whole, volume = sources(injection, "outline")
    assert (whole.of, volume.of) == (24_000, 15_000)
    for source in (whole, volume):
        assert f"此处只有前 {source.kept} 字，全文共 {source.of} 字" in injection.user_suffix
    assert "第一卷 雪" in injection.user_suffix


@pytest.mark.parametrize("budget", [25_000, 4_096, 2_000])
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("more", [("world-rules", "风向北吹。" * 66_000), ("notes", "x y z. " * 150_000)])
async def test_a_style_guide_and_notes_of_a_megabyte_go_in_shortened_or_are_listed_as_left_out(
    budget: int, at: int, more: tuple[MetaName, str]
) -> None:
    texts = [("驿1", "林远走着。" * 3_000), ("驿2", "")]
    for told in ("- 林远走了。", "".join(f"- 林远走到第{n}里，沈青在后面跟着。\n" for n in range(4_000))):
        notes: tuple[tuple[MetaName, str], ...] = (
            ("outline", f"## 第一章 驿1\n{told}\n"), ("style-guide", "短句。" * 22_000)
        )  # fmt: skip
        for metas in (notes, (*notes, more)):
            injection = await assembled(FakeBook(texts, CAST, metas), at, budget)
            given = injection.system_prefix + injection.user_suffix
            here = {each.uri: each for each in injection.receipt.sources}
            gone = {each.uri for each in injection.receipt.dropped}
            for name, _text in metas[1:]:
                assert (f"meta/{name}" in here) != (f"meta/{name}" in gone), (name, budget, at)
            for source in injection.receipt.sources:
                if source.of:
                    shortened = level_words(source).startswith("shortened")
                    assert shortened == (source.kept < source.of) == (f"全文共 {source.of} 字" in given)


async def test_the_reason_of_a_passage_joins_names_as_the_language_does() -> None:
    use_language("zh")
    injection = await assembled(book("## 旧怨\n林远恨沈青。\n"), 1)
    (passage,) = [each for each in sources(injection, "outline") if "林远" in each.reason and "沈青" in each.reason]
    assert "、" in passage.reason and ", " not in passage.reason
