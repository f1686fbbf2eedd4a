"""The tables of the offline model: both languages hold the same keys, and no pattern is slow on a hostile text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from flowcabal_tui.models.offline.words import Words, words_of
from tests.test_patterns import growth

PATTERNS = ("untrue", "of", "cast", "unlisted", "fullname", "human", "acts", "place", "dead", "person",
            "where", "thing", "swap", "shorter", "longer")  # fmt: skip


def patterns(words: Words) -> Iterator[re.Pattern[str]]:
    yield from (words.pattern(key, "Nora Vale") for key in PATTERNS)
    yield from (row for rows in words.rows.values() for row in rows)
    yield from (re.compile(worn) for worn, _better in words.worn)
    for state in words.states:
        yield from (state.form, state.needs, state.unless, state.around, state.binds)


def test_both_languages_have_the_same_tables() -> None:
    chinese, english = words_of(True), words_of(False)
    for table in ("rows", "said", "frames"):
        assert getattr(chinese, table).keys() == getattr(english, table).keys()
    assert {state.angle for state in chinese.states} == {state.angle for state in english.states}
    assert [len(frames) > 2 for words in (chinese, english) for frames in words.frames.values()] == [True] * 16


@pytest.mark.parametrize("chinese", [True, False])
def test_no_pattern_of_the_tables_is_slow(chinese: bool) -> None:
    asked = {each.pattern: each for each in patterns(words_of(chinese)) if each.pattern}
    assert len(asked) > 40
    assert {text for text, pattern in asked.items() if growth(pattern) > 2} == set()
