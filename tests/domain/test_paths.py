"""Paths are read with positions of mistakes, and what is not there is told by what is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.paths import Path, braced, look_up, node_of, parse, shown, unwrap

NAMES: dict[str, Any] = {
    "result_of": {
        "大纲/第一-卷": {"scenes": [{"title": "雪夜"}, {"title": "渡口", "mood": "calm"}, "loose"], "empty": []},
        "act.one": {"text": "dotted"},
        "walk": {"iterations": [{}], "items": [{"summary": "s1", "both": 1}], "aggregates": {"total": 5, "both": 2}},
    },
    "loop": {"item": {"tags": ["a", "b"]}},
}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.b[2].c", ("a", "b", 2, "c")),
        ("[0].x", (0, "x")),
        ("a[0][1]", ("a", 0, 1)),
        ('result_of["a.b"].text', ("result_of", "a.b", "text")),
        ("result_of['x]y']", ("result_of", "x]y")),
        ("{{ 大纲/第一-卷.text }}", ("大纲/第一-卷", "text")),
        ("${a.b}", ("a", "b")),
        ("${{ a.b }}", ("a", "b")),
    ],
)
def test_paths_are_read(text: str, parts: tuple[object, ...]) -> None:
    assert parse(text).parts == parts


@pytest.mark.parametrize(
    ("text", "position"),
    [(".a", 1), ("a..b", 3), ("a.", 3), ("a[x]", 2), ("a[-1]", 2), ("a[1", 2), ("a[0]b", 5), ("a.[0]", 5)],
)
def test_a_mistake_is_told_with_its_position(text: str, position: int) -> None:
    with pytest.raises(BindingError, match=f"position {position}:"):
        parse(text)


@pytest.mark.parametrize("text", ["", "   ", "a." * 600 + "a"])
def test_no_path_and_an_endless_path_are_refused(text: str) -> None:
    with pytest.raises(BindingError):
        parse(text)


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\"'{}"), min_size=1, max_size=8) | st.integers(0, 99), min_size=1
    )
)
def test_a_path_is_written_as_it_is_read(parts: list[str | int]) -> None:
    assert parse(shown(parts)).parts == tuple(parts)


def test_wrappers_come_off_whole_texts_only() -> None:
    assert unwrap("{{ a.b }}") == "a.b"
    assert unwrap("see {{a}}") == "see {{a}}"
    assert braced("${a} and {{ b }} and ${{ c }} for $ {5}") == "{{a}} and {{ b }} and {{c}} for $ {5}"


def test_a_field_after_a_list_maps_over_its_objects() -> None:
    assert look_up("result_of.大纲/第一-卷.scenes.title", NAMES) == ["雪夜", "渡口"]
    assert look_up("result_of.大纲/第一-卷.scenes.mood", NAMES) == ["calm"]
    assert look_up("loop.item.tags[1]", NAMES) == "b"


def test_an_id_may_hold_dots() -> None:
    assert look_up("result_of.act.one.text", NAMES) == "dotted"
    assert node_of(parse("result_of.act.one.text"), ["act.one"]) == ("act.one", 3)
    assert node_of(parse("result_of.act.one.text"), ["act", "act.one"]) == ("act", 2)
    assert node_of(parse("loop.item")) is None


def test_what_a_loop_exports_may_be_named_in_short() -> None:
    assert look_up("result_of.walk.total", NAMES) == 5
    assert look_up("result_of.walk.summary", NAMES) == ["s1"]
    assert look_up("result_of.walk.exports.aggregates.total", NAMES) == 5
    named = {"result_of": {"l": {"iterations": [], "exports": {"ids": [1]}, "items": []}}}
    assert look_up("result_of.l.exports.ids", named) == [1]
    with pytest.raises(BindingError, match="ambiguous") as caught:
        look_up("result_of.walk.both", NAMES)
    assert caught.value.available == ("items.both", "aggregates.both")


@pytest.mark.parametrize(
    ("path", "reason", "available"),
    [
        ("chapter.title", "nothing here is named chapter", ("result_of", "loop")),
        ("walk.total", "nothing here is named walk", ("result_of.walk", "result_of", "loop")),
        ("result_of.ghost", "ghost has no result", ("大纲/第一-卷", "act.one", "walk")),
        ("result_of.大纲/第一-卷.scene", "has no field scene", ("scenes", "empty")),
        ("result_of.大纲/第一-卷.scenes.name", "no item", ("title", "mood")),
        ("result_of.大纲/第一-卷.scenes[7]", "has 3 items", ()),
        ("result_of.大纲/第一-卷.empty.title", "is empty", ()),
        ("result_of.act.one.text.more", "a text and has no fields", ()),
        ("result_of.act.one[0]", "is not a list but an object", ()),
    ],
)
def test_what_is_not_there_is_told_by_what_is(path: str, reason: str, available: tuple[str, ...]) -> None:
    with pytest.raises(BindingError, match=reason) as caught:
        look_up(path, NAMES)
    assert caught.value.available == available


def test_many_names_are_cut_in_the_message() -> None:
    with pytest.raises(BindingError) as caught:
        look_up("x", {f"name{n}": n for n in range(500)})
    assert "…" in caught.value.detail and len(caught.value.detail) < 400


def test_a_path_shows_itself() -> None:
    assert str(Path(("result_of", "a.b", 0, "c d"))) == 'result_of["a.b"][0].c d'
