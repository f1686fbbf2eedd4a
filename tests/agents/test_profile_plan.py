"""How many profiles a kept chapter has written anew, and which."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from flowcabal_tui.agents.curation.profile_plan import ChangedPeople, cast_of, due_profiles
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Evidence, Mention
from flowcabal_tui.domain.story import Fact, Knower, RecordId, Relation
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


def fact(name: str, *about: str, chapter: str = "c5") -> Fact:
    evidence = (Evidence("…", ChapterId(chapter), 0, 9),)
    return Fact(RecordId(name), "…", tuple(person(each).id for each in about), evidence=evidence)


def test_what_the_reading_says_decides_whom_a_chapter_changed_not_how_often_it_names_them() -> None:
    named = {"乙": 9, "城": 20}
    mentions = [
        Mention(person(name).id, ChapterId("c5"), 5, at, at + 1) for name, n in named.items() for at in range(n)
    ]
    changes = ChangedPeople([fact("1", "暗线", "甲"), fact("2", "甲"), fact("3", "丙", chapter="c4")])
    changed = changes.by({ChapterId("c5")})
    assert [entity.name for entity in cast_of(mentions, CAST, changed)] == ["甲", "暗线"]
    assert changes.newest({ChapterId("c4"): 4, ChapterId("c5"): 5}) == {
        person("甲").id: 5, person("暗线").id: 5, person("丙").id: 4,
    }  # fmt: skip


def test_who_got_no_place_after_an_earlier_chapter_is_owed_one() -> None:
    changed = ChangedPeople([fact("1", "甲")]).by({ChapterId("c5")})
    assert [entity.name for entity in cast_of((), CAST, changed, (person("丙").id, person("甲").id))] == ["甲", "丙"]


def test_who_learns_a_fact_and_whose_relation_ends_is_changed() -> None:
    here, there = ChapterId("c5"), ChapterId("c2")
    knower = Knower(person("乙").id, here, (Evidence("…", here, 0, 9),))
    secret = replace(fact("1", "甲", chapter="c2"), known_by=(knower,))
    over = Relation(RecordId("2"), person("丙").id, person("城").id, "守", since=there, until=here)
    assert set(ChangedPeople([secret, over]).by({here})) >= {person("乙").id, person("丙").id, person("城").id}
