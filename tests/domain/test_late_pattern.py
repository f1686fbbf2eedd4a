"""A pattern that is compiled when it is first used."""

from __future__ import annotations

import copy
import re

import pytest

from flowcabal_tui.domain.late_pattern import LatePattern, late


def test_it_is_compiled_once_and_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    make = re.compile

    def counted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return make(pattern, flags)

    monkeypatch.setattr(re, "compile", counted)
    word = late("[a-c]+", re.IGNORECASE)
    assert compiled == []
    assert word.findall("xAby") == ["Ab"]
    assert word.sub("-", "xAby") == "x-y"
    assert word.findall("c") == ["c"]
    assert (word.pattern, bool(word.flags & re.IGNORECASE)) == ("[a-c]+", True)
    assert compiled == ["[a-c]+"]


def test_it_has_nothing_that_a_pattern_has_not() -> None:
    with pytest.raises(AttributeError):
        getattr(late("a"), "no_such_thing")  # noqa: B009  # typed, it would not be there


def test_its_copy_is_a_pattern_too() -> None:
    assert isinstance(late("a"), LatePattern)
    assert copy.copy(late("a+")).findall("aab") == ["aa"]
