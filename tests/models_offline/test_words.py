"""The tables of the offline model: both languages hold the same keys, and no pattern is slow on a hostile text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import pytest

from flowcabal_tui.agents.checking.taxonomy import BY_ANGLE
from flowcabal_tui.models.offline.words import LanguageTables, words_of
from tests.test_patterns import growth


def patterns(words: LanguageTables) -> Iterator[re.Pattern[str]]:
    yield from words.patterns.values()
    yield from (re.compile(kind.replace("{NAME}", "Nora Vale")) for _kind, kind in words.kinds)
    yield from (worn for worn, _better in words.worn)
    for row in chain(*words.rows.values()):
        yield from (*row.form, row.needs, row.unless, row.binds)


def test_both_languages_have_the_same_tables() -> None:
    chinese, english = words_of(True), words_of(False)
    for table in ("phrases", "frames", "patterns"):
        assert getattr(chinese, table).keys() == getattr(english, table).keys()
    chinese_rows, english_rows = (
        {(kind, row.gives.get("angle"), *row.gives) for kind, rows in each.rows.items() for row in rows}
        for each in (chinese, english)
    )
    assert chinese_rows == english_rows
    assert [len(frames) > 2 for words in (chinese, english) for frames in words.frames.values()] == [True] * 16


@pytest.mark.parametrize("chinese", [True, False])
def test_a_contradiction_has_a_subtype_of_its_angle(chinese: bool) -> None:
    states = words_of(chinese).rows["states"]
    assert [row.attribute for row in states if row.gives["subtype"] not in BY_ANGLE[str(row.gives["angle"])]] == []


@pytest.mark.parametrize("chinese", [True, False])
def test_no_pattern_of_the_tables_is_slow(chinese: bool) -> None:
    asked = {each.pattern: each for each in patterns(words_of(chinese)) if each.pattern}
    assert len(asked) > 40
    assert {text for text, pattern in asked.items() if growth(pattern) > 2} == set()
