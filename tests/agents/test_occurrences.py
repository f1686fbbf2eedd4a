"""Places of many names in one pass: the same places that one search for each name finds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.agents.names.occurrences import occurrences, outermost

_NAMES = st.sets(st.text("宝玉儿", min_size=1, max_size=4), max_size=8)
_TEXT = st.text("宝玉儿\n😀", max_size=60)


@given(_TEXT, _NAMES)
def test_each_name_is_found_where_a_search_for_it_alone_finds_it(text: str, names: set[str]) -> None:
    found = occurrences(text, names)
    assert found.keys() == names
    for name, places in found.items():
        assert list(places) == [match.start() for match in re.finditer(re.escape(name), text)]


@given(_TEXT, _NAMES.filter(bool))
def test_the_first_and_longest_names_are_those_that_a_pattern_of_all_finds(text: str, names: set[str]) -> None:
    pattern = re.compile("|".join(sorted(map(re.escape, names), key=len, reverse=True)))
    assert list(outermost(text, names)) == [match.span() for match in pattern.finditer(text)]


def test_an_empty_list_of_names_has_no_occurrences() -> None:
    assert occurrences("宝玉", ()) == {}
    assert list(outermost("宝玉", ())) == []
