"""Text of documents: JSON and YAML within bounds, and where the mistake is."""

from __future__ import annotations

import pytest

from flowcabal_tui.dialects.reading import load
from flowcabal_tui.dialects.report import DialectError


def test_json_and_yaml_give_the_same():
    assert load('\ufeff{"节点": [1, {"a": null}]}') == load("节点:\n  - 1\n  - a: ~\n") == {"节点": [1, {"a": None}]}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1,\n "b" 2}', 2, 6),
        ('{"a": tru}', 1, 7),
        ("a: 1\nb: [1, 2\nc: 3", 3, 2),
        ("a: 1\na: 2", 1, 1),
        ("a:\n  1: x", 2, 3),
        ("a: !!python/object:os.system x", 1, 4),
        ("a: *nobody", 1, 4),
    ],
)
def test_a_mistake_is_told_with_line_and_column(text, line, column):
    with pytest.raises(DialectError) as caught:
        load(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', '{"a": NaN}', "a: .inf", '{"a": ' + "9" * 5000 + "}", "\x00", "a: \x00"],
    ids=["double", "nan", "inf", "digits", "zero", "zero in yaml"],
)
def test_what_json_cannot_hold_is_refused(text):
    with pytest.raises(DialectError):
        load(text)


def test_words_that_yaml_would_change_stay_words():
    assert load("a: no\nb: 2026-01-01\nc: true\nd: on") == {"a": "no", "b": "2026-01-01", "c": True, "d": "on"}


def test_aliases_are_read_until_they_would_fill_the_memory():
    assert load("a: &x [1]\nb: *x") == {"a": [1], "b": [1]}
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for text in (bomb, "a: &a [*a]"):
        with pytest.raises(DialectError):
            load(text)


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000], ids=list("[{-?"))
def test_what_is_nested_too_deep_is_refused(text):
    with pytest.raises(DialectError):
        load(text)


def test_what_is_too_long_is_refused_at_once():
    with pytest.raises(DialectError, match="too large"):
        load("[" + "1," * 10_000_000 + "1]")
    with pytest.raises(DialectError, match="too large"):
        load("- 1\n" * 600_000)


def test_hostile_signs_are_taken_out_of_texts():
    assert load('{"a\\u001b[31m": "b\\u202e\\ud800"}') == {"a": "b\ufffd"}
