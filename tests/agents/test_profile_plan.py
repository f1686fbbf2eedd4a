"""How many profiles a kept chapter has written anew, and which."""

from __future__ import annotations

from collections import Counter

from flowcabal_tui.agents.curation.profile_plan import cast_of, due_profiles
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Mention
from tests.agents.fakes import person

KINDS = ProfileKinds().all()
CAST = (person("甲"), person("乙"), person("丙"), person("暗线", kind="plot-thread"), person("城", kind="location"))


def uris(made: dict[str, int], position: int, most: int = 4) -> list[str]:
    return [kind.uri(entity.id if entity else None) for kind, entity in due_profiles(KINDS, CAST, made, position, most)]


def test_those_whom_the_chapter_names_most_come_first_and_one_place_is_for_a_kind_whose_turn_it_is() -> None:
    assert uris({}, 1) == [
        "profiles/characters/e-甲", "profiles/characters/e-乙", "profiles/characters/e-丙",
        "profiles/style/book",
    ]  # fmt: skip


def test_when_nothing_else_is_due_all_places_are_for_those_in_the_chapter() -> None:
    made = {
        kind.uri(entity.id if entity else None): 9
        for kind in KINDS
        for entity in (None, *CAST)
        if kind.settings.every > 1
    }
    assert uris(made, 10)[3] == "profiles/plot-threads/e-暗线"


def test_over_a_long_book_no_chapter_costs_more_and_every_kind_has_its_turn() -> None:
    made: dict[str, int] = {}
    written: Counter[str] = Counter()
    for position in range(1, 201):
        chosen = uris(made, position)
        assert len(chosen) <= 4
        made |= dict.fromkeys(chosen, position)
        written.update(uri.split("/")[1] for uri in chosen)
    assert {kind.name for kind in KINDS} <= set(written)
    for name in ("world-state", "themes", "style"):
        assert 15 <= written[name] <= 20


def test_a_chapter_that_is_written_anew_has_its_own_state_written_anew() -> None:
    assert "profiles/style/book" in uris({"profiles/style/book": 7, "profiles/themes/book": 5}, 7, most=20)
    assert "profiles/themes/book" not in uris({"profiles/style/book": 7, "profiles/themes/book": 5}, 7, most=20)


def test_names_that_are_new_in_every_chapter_hold_up_no_kind_of_the_book() -> None:
    made: dict[str, int] = {}
    for position in range(1, 61):
        cast = (*CAST, *(person(f"{position}-{n}") for n in range(5)))
        chosen = due_profiles(KINDS, cast, made, position, 3)
        made |= {kind.uri(entity.id if entity else None): position for kind, entity in chosen}
    for name in ("world-state", "themes", "style"):
        assert 60 - made[f"profiles/{name}/book"] <= 13


def test_with_no_place_nothing_is_written() -> None:
    assert uris({}, 1, most=0) == []


def test_a_chapter_tells_of_those_whom_it_names_often() -> None:
    named = {"甲": 2, "乙": 3, "城": 9}
    mentions = [
        Mention(person(name).id, ChapterId("c1"), 1, at, at + 1) for name, n in named.items() for at in range(n)
    ]
    assert [entity.name for entity in cast_of(mentions, CAST)] == ["城", "乙"]
