"""Expressions are read with columns of mistakes, reach only values, and are bounded."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flowcabal_tui.domain import expressions
from flowcabal_tui.domain.errors import ExpressionError
from flowcabal_tui.domain.expressions import MAX_STEPS, check, check_query, evaluate, paths_in, query, truth
from tests.effort import effort

NAMES: dict[str, Any] = {
    "result_of": {"大纲": {"score": 7, "tags": ["wei", "shu"]}, "a-b": {"n": 1}},
    "state": {"mood": "calm", "long": "x" * 900_000, "keys": {"items": 3}},
    "values": [1, 2, 2.5, 0],
}


@pytest.fixture
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only steps and sizes end an expression."""
    monkeypatch.setattr(expressions, "MAX_SECONDS", math.inf)


@pytest.mark.parametrize(
    "expression",
    [
        "result_of.大纲.score > 5 and 'wei' in result_of.大纲.tags",
        "result_of['a-b'].n == 1",
        "state.keys.items == 3",
        "sum(values) == 5.5 and max(values) == 2.5 and round(2.5001, 2) == 2.5",
        "any(v > 2 for v in values) and not all([v > 2 for v in values])",
        "values[-1] == 0 and values[1:3] == [2, 2.5] and len(values) == 4",
        "state.mood in ['calm', 'tense'] and upper(state.mood) == 'CALM'",
        "'yes' if true else 'no'",
        "2 ** 10 == 1024 and 7 % 4 == 3 and -abs(-3) == -3 and 'ab' * 2 == 'abab'",
        "state.mood is not None and null is None and 1 < 2 < 3",
        "str(12) + str(values[:1]) == '12[1]' and int('4') + float('0.5') == 4.5",
    ],
)
def test_conditions_hold(expression: str) -> None:
    assert truth(expression, NAMES)
    assert check(expression) is None


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "2**-9**9",
        "'a' * 10**9",
        "'%1000000000d' % 5",
        "int('9' * 4000)",
        "round(5, -10**9)",
        "[0] * 10**8",
        "(-8) ** 0.5",
        "[x for x in values" + "".join(f" for {name} in values" for name in "abcdefghij") + "]",
        "any(lower(state.long) == 1" + "".join(f" for {name} in values" for name in "abcdefghij") + ")",
        "(" * 900 + "1" + ")" * 900,
        "-" * 1900 + "1",
        "1+" * 999 + "1",
        "x" * 5000,
        "sum([state.long, state.long])",
        "(state.long + state.long) * 2",
    ],
)
def test_what_would_take_too_much_is_refused_by_the_steps_it_takes(expression: str, no_clock: None) -> None:
    with effort(10 * MAX_STEPS), pytest.raises(ExpressionError):
        evaluate(expression, NAMES)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "open('x')",
        "values.append(1)",
        "values.append",
        "state.__class__",
        "().__class__.__bases__",
        "state['__class__']",
        "lambda: 1",
        "f'{state}'",
        "(x := 3)",
        "[*values]",
        "{1: 2}",
        "b'x'",
        "1j",
        "len",
        "len(x=1)",
        "1; 2",
        "import os",
        "\x00",
        "'{0.__class__}'.format(1)",
    ],
)
def test_what_reaches_further_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(expression, NAMES)


@pytest.mark.parametrize(
    ("expression", "column"),
    [("a ==== b", 5), ("  1 + open('x')", 7), ("x._y", 1), ("a b", 3)],
)
def test_a_mistake_is_told_with_its_column(expression: str, column: int) -> None:
    finding = check(expression, field="params.expression")
    assert finding is not None and (finding.code, finding.field) == ("SYNTAX_ERROR", "params.expression")
    assert f"column {column}:" in finding.message


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("ghost > 1", "result_of, state, values"),
        ("state.moot == 1", "mood, long, keys"),
        ("values.first", "a list has no field first"),
        ("values[9]", "out of range"),
        ("1 / 0", "division"),
        ("1 > 'a'", "texts, numbers, lists and objects cannot be mixed"),
        ("", "empty"),
    ],
)
def test_what_goes_wrong_while_it_runs_is_told(expression: str, named: str) -> None:
    with pytest.raises(ExpressionError, match=named):
        evaluate(expression, NAMES)


def test_the_paths_an_expression_reads_are_listed() -> None:
    expression = (
        "result_of.plan.score > 5 and any(x.n for x in result_of['一-二'].items[0].k) or state[loop.index] == true"
    )
    assert paths_in(expression) == ("result_of.plan.score", "result_of.一-二.items[0].k", "loop.index", "state")
    assert paths_in("not an expression") == ()


def test_a_query_takes_values_apart() -> None:
    data = {"people": [{"name": "林", "age": 3}, {"name": "周", "age": 9}], "角色": 1}
    assert query("people[?age > `4`].name", data) == ["周"]
    assert query('"角色"', data) == 1
    assert query("people[].{n: name}", data) == [{"n": "林"}, {"n": "周"}]
    assert query("nothing.here", data) is None


@pytest.mark.parametrize(
    ("expression", "column", "words"),
    [
        ("a.b.", 5, "not complete"),
        ("a[", 3, "not complete"),
        ("角色", 1, "double quotes"),
        ("a b", 3, "not expected"),
        ("", 0, "empty"),
        ("a." * 2000, 0, "longer"),
    ],
)
def test_a_mistake_in_a_query_is_told_with_its_column(expression: str, column: int, words: str) -> None:
    with pytest.raises(ExpressionError, match=words) as caught:
        query(expression, {})
    assert caught.value.column == column
    assert check_query(expression) is not None and check_query("a.b") is None


@pytest.mark.parametrize(
    "expression",
    [
        "[@,@][]|" * 60 + "@",
        "[@,@]|" * 40 + "@",
        "join('', [long, long])",
        "(" * 500 + "a" + ")" * 500,
        "nothing_of_that_name(@)",
        "sort(@)",
        "sum(long)",
    ],
)
def test_a_query_that_would_take_too_much_or_cannot_be_is_refused(expression: str, no_clock: None) -> None:
    with effort(20 * MAX_STEPS), pytest.raises(ExpressionError):
        query(expression, {"long": "x" * 900_000})
