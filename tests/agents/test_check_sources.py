"""What a check of a chapter gets of the outline: its beats whole, the chapters before in short, nothing later."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.checking.check_sources import notes_for
from flowcabal_tui.agents.context.gather import read_book
from flowcabal_tui.agents.prompt_library import SourceText, fenced_sources
from tests.agents.fakes import FakeBook, FakeTokens
from tests.agents.test_context_outline import beats, book, outline

DRAFT = "清晨，林远与沈青在驿站等人。"


async def of_outline(story: FakeBook, at: int, budget: int = 2_500) -> list[SourceText]:
    given = await notes_for(("timeline",), await read_book(story.before(at)), DRAFT, FakeTokens(), budget)
    return [each for each in given if each.uri == "meta/outline"]


@pytest.mark.parametrize("at", [1, 10, 60, 119])
async def test_a_check_of_a_chapter_sees_its_beats_whole_and_nothing_later(at: int) -> None:
    text = outline(120)
    given = await of_outline(book(text, written=at), at)
    assert given[0].text == beats(at) and not given[0].shortened
    assert all(each.title.startswith("大纲：") for each in given), "a plan is no settled text"
    assert all(text[each.start : each.start + len(each.text)] == each.text for each in given)
    said = "\n".join(each.text for each in given)
    assert not [n for n in range(at + 1, 121) if f"甲{n}乙" in said or f"第{n}处" in said]


async def test_what_came_before_is_a_sentence_each_the_nearest_first() -> None:
    given = await of_outline(book(outline(120), written=60), 60)
    earlier = [each.text for each in given[1:]]
    assert earlier[:2] == ["- 林远在第59处驿站等人。", "- 林远在第58处驿站等人。"]
    assert 4 <= len(earlier) <= 12


async def test_long_beats_are_not_cut_to_leave_room_for_other_sources() -> None:
    long = "沈青数了又数。" * 120
    text = outline(3).replace(beats(2), long)
    assert (await of_outline(book(text, written=2), 2, budget=1_000))[0].text == long


async def test_of_an_outline_without_chapters_the_model_is_given_the_beginning_and_how_much_that_is() -> None:
    prose = "林远离家，沈青送他。" * 400
    (given,) = await of_outline(book(prose, written=3), 3)
    assert prose.startswith(given.text) and 500 < len(given.text) < len(prose)
    words = f"（篇幅所限，此处只有前 {len(given.text)} 字，全文共 {len(prose)} 字。）"
    assert fenced_sources([given]).text.endswith(f"</source>\n{words}")


async def test_parts_that_fit_no_chapter_bring_what_names_the_cast() -> None:
    text = "## 灯会\n林远买灯。\n众人散去。\n\n## 雨夜\n老人咳嗽。\n"
    given = await of_outline(book(text), 8)
    assert "林远买灯。" in [each.text for each in given]
    assert "众人散去。" not in "".join(each.text for each in given)
