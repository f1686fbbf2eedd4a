"""Scenes of a chapter: found as writers mark them, titled, moved, broken and joined without a changed word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.headings.scenes import (
    break_line,
    cut,
    parting,
    scene_at,
    scene_title,
    scenes,
    with_break,
    with_moved,
    with_title,
    without_break,
)

CHINESE = "雨停了。\n\n她推开门。\n\n※\n\n第二天，沈月走了。\n\n*** 灯 ***\n\n灯灭了。"
PARAGRAPH = (
    st.text(st.sampled_from("雨她说ab。，—… "), min_size=1, max_size=12)
    .map(str.strip)
    .filter(lambda words: words and break_line(words) is None)
)
GAP = st.sampled_from(["\n", "\n\n"])
MARK = st.sampled_from(["***", "* * *", "---", "※", "#", "◇ ◇ ◇"])
TITLE = st.sampled_from(["", "", "灯", "The lamp", "第 2 夜"])


@st.composite
def chapters(draw: st.DrawFn, *, titled: bool = True) -> str:
    """A chapter with one kind of gap and one of mark, as a writer has them."""
    gap, mark = draw(GAP), draw(MARK)
    parts = draw(st.lists(st.tuples(st.lists(PARAGRAPH, min_size=1, max_size=3), TITLE), min_size=1, max_size=4))
    text = ""
    for number, (paragraphs, title) in enumerate(parts):
        named = (
            f"{mark if mark in ('***', '---', '※') else '***'} {title} {mark if mark in ('***', '---', '※') else '***'}"
        )
        if number or (titled and title):
            text += f"{gap if number else ''}{named if titled and title else mark}{gap}"
        text += gap.join(paragraphs)
    return text


@pytest.mark.parametrize(
    "line",
    ["***", "* * *", "---", "－－－"[:0] or "#", "※", "◇ ◇ ◇", "＊＊＊", "*** 灯 ***", "※ The lamp ※", "　　***"],
)
def test_breaks_are_lines_of_ornaments(line: str):
    assert break_line(line) is not None
    assert len(scenes(f"一。\n\n{line}\n\n二。")) == 2


@pytest.mark.parametrize(
    "line", ["", "……", "——", "# 第一章", "**bold**", "*** 灯", "灯 ***", "*** a *** b", "a - b - c"]
)
def test_speech_headings_and_emphasis_are_none(line: str):
    assert break_line(line) is None


def test_scenes_have_titles_numbers_and_words():
    found = scenes(CHINESE)
    assert [(scene.number, scene.title, scene.text) for scene in found] == [
        (1, "", "雨停了。\n\n她推开门。"), (2, "", "第二天，沈月走了。"), (3, "灯", "灯灭了。"),
    ]  # fmt: skip
    assert scene_at(found, CHINESE.index("※")).number == 2 and scene_at(found, 0).number == 1


def test_blank_lines_break_scenes_only_where_the_book_says_so():
    text = "一。\n二。\n\n三。\n四。\n五。"
    assert len(scenes(text)) == 1
    assert [scene.text for scene in scenes(text, blank_lines=True)] == ["一。\n二。", "三。\n四。\n五。"]
    assert len(scenes("一。\n\n二。\n\n三。", blank_lines=True)) == 1, "the usual gap is no break"
    moved = with_moved(text, 2, 1, blank_lines=True)
    assert moved == "三。\n四。\n五。\n\n一。\n二。"


def test_a_title_is_given_changed_and_taken_away():
    titled = with_title(CHINESE, 2, "雪夜")
    assert [scene.title for scene in scenes(titled)] == ["", "雪夜", "灯"]
    assert "※ 雪夜 ※" in titled
    assert with_title(titled, 2, "") == CHINESE
    first = with_title(CHINESE, 1, " ***雨\n*** ")
    assert scenes(first)[0].title == "雨" and first.endswith(CHINESE)
    assert scene_title("\x1b[31m红\u202e ***") == "红"


@given(chapters())
def test_scenes_and_their_openings_are_the_whole_text(text: str):
    found = scenes(text)
    assert "".join(text[each.opening.start : each.opening.end] + each.text for each in found) == text


@given(chapters(), st.data())
def test_moving_keeps_every_scene_with_its_title_and_can_be_taken_back(text: str, data: st.DataObject):
    found = scenes(text)
    places = st.integers(1, len(found))
    number, to = data.draw(places), data.draw(places)
    moved = with_moved(text, number, to)
    expected = [(scene.title, scene.text) for scene in found]
    expected.insert(to - 1, expected.pop(number - 1))
    assert [(scene.title, scene.text) for scene in scenes(moved)] == expected
    assert [(s.title, s.text) for s in scenes(with_moved(moved, to, number))] == [(s.title, s.text) for s in found]


@given(chapters(titled=False), st.data())
def test_a_break_between_two_paragraphs_is_taken_away_again(text: str, data: st.DataObject):
    gap = "\n\n" if "\n\n" in text else "\n"
    places = [at for at in range(len(text)) if text.startswith(gap, at)]
    at = data.draw(st.sampled_from(places)) if places else 0
    beside = [*text[:at].strip().split("\n")[-1:], *text[at:].strip().split("\n")[:1]]
    broken = with_break(text, at)
    if any(not line or break_line(line) for line in beside) or not places:
        assert broken == text
        return
    assert len(scenes(broken)) == len(scenes(text)) + 1
    assert without_break(broken, scene_at(scenes(broken), at + len(gap)).number) == text


@given(chapters(), st.data())
def test_cutting_a_chapter_and_putting_it_together_gives_the_same_text(text: str, data: st.DataObject):
    at = data.draw(st.integers(0, len(text)))
    head, between, tail = cut(text, at)
    assert head + between + tail == text


@given(chapters(), chapters())
def test_two_chapters_with_a_break_in_between_are_cut_there_into_the_same_two(one: str, two: str):
    whole = one + parting(one, two) + two
    head, _between, tail = cut(whole, len(one) + 1)
    assert (head, tail) == (one, two)
