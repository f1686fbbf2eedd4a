"""The name at a cursor: the longest one, with and without borders of words."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.known_names import KnownNames
from flowcabal_tui.domain.memory import Entity
from tests.effort import effort, growth

LIN = Entity(EntityId("lin"), "character", "林舟", ("舟儿",))
CITY = Entity(EntityId("city"), "location", "林舟城", by="agent")
MOON = Entity(EntityId("moon"), "character", "月", by="hand")
SEA = Entity(EntityId("sea"), "location", "海", by="discovered")
INES = Entity(EntityId("ines"), "character", "Ines Marlow", ("Ines", "the ferrywoman"))
MARLOW = Entity(EntityId("marlow"), "character", "Marlow", by="agent")
NAMES = KnownNames((LIN, CITY, MOON, SEA, INES, MARLOW))


def at(text: str, place: int) -> tuple[str, str] | None:
    hit = NAMES.at(text, place)
    return (hit.entity, text[hit.start : hit.end]) if hit else None


@pytest.mark.parametrize("place", [2, 3, 4])
def test_of_chinese_names_at_a_cursor_the_longest_is_meant(place: int) -> None:
    assert at("他到林舟城去", place) == ("city", "林舟城")


def test_a_cursor_behind_a_name_means_it_unless_another_begins_there() -> None:
    assert at("他见了林舟", 5) == ("lin", "林舟")
    assert at("林舟月下", 2) == ("moon", "月")
    assert at("林舟。", 3) is None
    assert at("", 0) is None
    assert at("林舟", 9) is None


def test_a_single_character_is_a_name_only_where_a_hand_wrote_it() -> None:
    assert at("月与海", 0) == ("moon", "月")
    assert at("月与海", 2) is None


def test_a_name_in_letters_stands_alone() -> None:
    assert at("Ines Marlow's boat", 7) == ("ines", "Ines Marlow")
    assert at("Old Marlow", 5) == ("marlow", "Marlow")
    assert at("The Inesians", 5) is None
    assert at("林舟said Ines", 0) == ("lin", "林舟")


def test_names_are_found_one_after_another() -> None:
    text = "林舟城里，月光照着舟儿。"
    first = NAMES.first_in(text, 0, len(text))
    assert first is not None and first.entity == "city"
    after = NAMES.first_in(text, first.end, len(text))
    assert after is not None and after.entity == "moon"
    last = NAMES.last_in(text, 0, len(text))
    assert last is not None and text[last.start : last.end] == "舟儿"
    before = NAMES.last_in(text, 0, after.start)
    assert before is not None and before.entity == "city"
    assert KnownNames().first_in(text, 0, len(text)) is None


def test_the_effort_at_a_cursor_does_not_grow_with_the_text() -> None:
    names = KnownNames([Entity(EntityId(f"n{n}"), "character", f"林{chr(0x4E00 + n)}舟") for n in range(3_000)])

    def look(length: int) -> None:
        names.at("他" * length, length // 2)

    assert growth(look, 200, 1_000) == 1 / 1_000
    with effort() as counted:
        look(200_000)
    assert counted.calls < 100
