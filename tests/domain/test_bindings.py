"""Bindings in all three forms keep their type, and what cannot be filled in is an error that names what there is."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain import sizes
from flowcabal_tui.domain.bindings import check_shape, paths_in, references, resolve
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.ids import NodeId
from tests.effort import effort

NAMES: dict[str, Any] = {
    "result_of": {
        "大纲/一-卷": {"text": "雪夜", "scenes": [{"title": "甲"}, {"title": "乙"}], "score": 7},
        "act.one": {"text": "dotted"},
        "quiet": {"text": None, "flag": True},
        "sly": {"text": "{{result_of.act.one.text}} result_of.act.one.text"},
    },
    "loop": {"index": 1, "item": {"name": "林"}},
    "item": {"name": "林"},
    "hero": {"name": "周"},
    "project": {"name": "长夜"},
    "input": {"budget": 3},
}
PLAN, ACT = NodeId("大纲/一-卷"), NodeId("act.one")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"__from__": "result_of.大纲/一-卷.scenes.title"}, ["甲", "乙"]),
        ({"__from__": "{{result_of.大纲/一-卷.score}}"}, 7),
        ({"__from__": ["project.name", "result_of.act.one.text"], "__agg__": "join", "sep": "·"}, "长夜·dotted"),
        ("result_of.大纲/一-卷.score", 7),
        ("loop.index", 1),
        ("hero.name", "周"),
        ("input.budget", 3),
        ("{{ project.name }}", "长夜"),
        ("{{大纲/一-卷.scenes[1].title}}", "乙"),
        ("{{act.one.text}}", "dotted"),
        ("${project.name}", "长夜"),
        ("《{{project.name}}》第{{loop.index}}章 ${{hero.name}}", "《长夜》第1章 周"),
        ("x{{quiet.text}}y {{quiet.flag}}", "xy True"),
        ("{{大纲/一-卷.scenes}} in a text", '[{"title": "甲"}, {"title": "乙"}] in a text'),
        ({"deep": [{"er": "{{loop.item}}"}, 1, None, True]}, {"deep": [{"er": {"name": "林"}}, 1, None, True]}),
    ],
)
def test_each_form_is_filled_in(value: Any, expected: Any) -> None:
    assert resolve(value, NAMES) == expected


@pytest.mark.parametrize(
    "text",
    [
        "item",
        "result_of",
        "project",
        "see result_of.act.one.text here",
        "unknown.name",
        "costs ${price} and ${ 5 }",
        "{{}} and {{ }} and {single}",
        '{"__from__": "project.name"}',
    ],
)
def test_what_is_no_binding_stays(text: str) -> None:
    assert resolve(text, NAMES) == text


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"a": {"__from__": "result_of.ghost.text"}}, "大纲/一-卷"),
        ({"__from__": "大纲/一-卷.text"}, "result_of.大纲/一-卷"),
        ({"__from__": "project.nme"}, "name"),
        ("result_of.大纲/一-卷.txt", "scenes"),
        ("{{user.name}}", "project"),
        ("Dear {{user.name}},", "project"),
        ("{{ hero.name | upper }}", "name"),
        ({"__from__": "project.name", "__agg__": "sum"}, "count_if"),
        ({"__agg__": "count"}, "path"),
        ({"__from__": []}, "path"),
        ({"__from__": 5}, "path"),
    ],
)
def test_what_cannot_be_filled_in_is_an_error_that_names_what_there_is(value: Any, named: str) -> None:
    with pytest.raises(BindingError) as caught:
        resolve(value, NAMES)
    assert named in str(caught.value)


def test_inserted_text_is_never_read_again() -> None:
    assert resolve("{{sly.text}}", NAMES) == NAMES["result_of"]["sly"]["text"]
    assert resolve({"__from__": "result_of.sly.text"}, NAMES) == NAMES["result_of"]["sly"]["text"]


def test_a_tree_that_contains_itself_many_times_is_refused_by_what_was_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sizes, "MAX_VALUES", 5_000)
    laughs: Any = ["ha"] * 10
    for _level in range(12):
        laughs = [laughs] * 10
    for attack in (
        lambda: resolve(laughs, NAMES),
        lambda: references(laughs),
        lambda: check_shape(laughs),
        lambda: resolve("result_of.bomb", {"result_of": {"bomb": laughs}}),
        lambda: resolve("{{bomb}} {{bomb}}", {"result_of": {"bomb": laughs}}),
    ):
        with effort(100_000), pytest.raises(BindingError, match="more than"):
            attack()


def test_a_text_that_multiplies_is_refused_quickly() -> None:
    names = {"result_of": {"long": "字" * 1_000_000}}
    with pytest.raises(BindingError, match="longer than"):
        resolve(["{{long}}" * 10] * 10, names)


def test_deep_nesting_is_refused() -> None:
    deep: Any = "{{project.name}}"
    for _level in range(500):
        deep = {"in": deep}
    with pytest.raises(BindingError, match="deep"):
        resolve(deep, NAMES)
    with pytest.raises(BindingError, match="deep"):
        resolve({"__from__": "result_of.deep", "__agg__": "join"}, {"result_of": {"deep": deep}})


@pytest.mark.parametrize("size", [100, 1_000, 10_000, 100_000])
def test_hostile_texts_take_a_bounded_number_of_calls(size: int) -> None:
    for text in ("{{" + " " * size, "{{a" * size, "${" * size, '{"__from__":' * size, "{{" + "[" * size + "}}"):
        with effort(2_000), contextlib.suppress(BindingError):
            resolve(text, NAMES)


def test_references_are_found_in_order_without_doubles() -> None:
    value = {
        "a": "{{act.one.text}} 和 {{result_of.大纲/一-卷.text}}",
        "b": [{"__from__": ["result_of.act.one.text", "loop.item"]}, "result_of.later.text"],
        "c": 'text {"__from__": "result_of.json-one.x"}',
        "d": "no result_of.this here",
    }
    assert references(value, [PLAN, ACT]) == ("act.one", "大纲/一-卷", "later", "json-one")


def test_an_alias_hides_a_node_of_the_same_name() -> None:
    assert references("{{act.one.text}}", [ACT], roots=("act",)) == ()


def test_every_path_is_listed_with_its_place() -> None:
    value = {"to": "{{act.one.text}}", "list": [1, {"__from__": ["project.name", "a..b"]}], "odd": "{{a[}}"}
    assert paths_in(value, [ACT], location="params") == (
        ("params.to", "result_of.act.one.text"),
        ("params.list[1]", "project.name"),
        ("params.list[1]", "a..b"),
        ("params.odd", "a["),
    )


@pytest.mark.parametrize(
    ("binding", "words"),
    [
        ({"__agg__": "count"}, "__from__ is missing"),
        ({"__from__": []}, "empty list"),
        ({"__from__": ["a", 1]}, "must be a path"),
        ({"__from__": 5}, "a path or a list of paths"),
        ({"__from__": "a", "__agg__": "sum"}, "sum is not supported"),
        ({"__from__": "a", "__agg__": "pipeline", "steps": []}, "at least one step"),
    ],
)
def test_the_form_of_a_binding_is_checked(binding: dict[str, Any], words: str) -> None:
    (finding,) = check_shape({"text": binding, "fine": {"__from__": "x"}}, location="params")
    assert (finding.code, finding.field, finding.severity) == ("SCHEMA_MISMATCH", "params.text", "error")
    assert words in finding.message


def test_a_binding_inside_a_text_is_checked_too() -> None:
    assert [one.field for one in check_shape({"a": 'x {"__from__": 5}'})] == ["a"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_characters="{}$."), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_values_without_bindings_come_out_as_they_went_in(value: Any) -> None:
    assert resolve(value, NAMES) == value and references(value) == () and check_shape(value) == ()
