"""What the story screens make of values and of typed words: states of promises, orders of time, people, merges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.proposals import judged
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId, Relation, Story
from flowcabal_tui.project.views import Appearances
from flowcabal_tui.tui.shared.form import Unreadable, names_of
from flowcabal_tui.tui.shared.passage import passage_at
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.changes import merged, moved_records, new_id
from flowcabal_tui.tui.story.ego import neighbours
from flowcabal_tui.tui.story.record_forms import known_names
from flowcabal_tui.tui.story.record_rows import lines, placed_moments
from flowcabal_tui.tui.story.records import detail_lines
from flowcabal_tui.tui.story.typed import (
    chapter,
    knowers,
    people,
    person,
    typed_knowers,
)
from flowcabal_tui.tui.story.words import PromiseStatus, promise_state, promise_state_words
from tests.tui import fake_books as books
from tests.tui import fake_story
from tests.tui.fake_story import FERRYMAN, HERO, VOICE

ONE, TWO, THREE, FOUR = map(books.chapter_id, range(1, 5))


def cast(story: Story | None = None, *more: Entity) -> Cast:
    """The English book: three chapters are written, the fourth is empty."""
    known = fake_story.story(books.EN) if story is None else story
    return Cast((*fake_story.people(books.EN), *more), books.chapters(books.EN), known, fake_story.seen())


def promise(**fields: object) -> Promise:
    return replace(Promise(RecordId("p"), "A bell will ring.", ONE), **fields)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, PromiseStatus("open")),
        ({"due_from": 5}, PromiseStatus("open")),
        ({"due_from": 4}, PromiseStatus("due")),
        ({"due_until": 4}, PromiseStatus("due")),
        ({"due_until": 3}, PromiseStatus("overdue", 1)),
        ({"due_from": 1, "due_until": 2}, PromiseStatus("overdue", 2)),
        ({"due_until": 2, "paid": THREE}, PromiseStatus("paid")),
        ({"due_until": 2, "dropped": True}, PromiseStatus("dropped")),
    ],
)
def test_a_promise_is_judged_before_the_next_chapter_to_be_written(fields, found):
    assert promise_state(promise(**fields), cast()) == found


def test_a_promise_is_silent_since_one_of_those_whom_it_concerns_was_last_named():
    assert promise_state(promise(about=(HERO, FERRYMAN)), cast()).silent == 1
    assert promise_state(promise(about=(HERO,)), cast()).silent == 0
    assert promise_state(promise(about=(VOICE,)), cast()).silent is None
    assert promise_state(promise(about=(FERRYMAN,), planted=THREE), cast()).silent == 0


def test_promises_come_most_urgent_first():
    late, later, due, open_, paid = (
        promise(id=RecordId(name), **fields)
        for name, fields in (
            ("late", {"due_until": 3}),
            ("later", {"due_until": 1}),
            ("due", {"due_from": 3, "due_until": 9}),
            ("open", {}),
            ("paid", {"paid": TWO}),
        )
    )
    rows = lines("promises", cast(Story(promises=(paid, open_, due, late, later))))
    assert [record.id for record, _row in rows] == ["later", "late", "due", "open", "paid"]
    assert str(rows[0][1]).startswith(f"! {promise_state_words(PromiseStatus('overdue', 3))}")


def moments(*told: tuple[ChapterId, float | None]) -> Story:
    """Moments in the order of the story's time, as a project gives them."""
    every = [Moment(RecordId(f"m{n}"), f"moment {n}", at, order=order) for n, (at, order) in enumerate(told)]
    place = {ONE: 1.0, TWO: 2.0, THREE: 3.0, FOUR: 4.0}
    return Story(moments=tuple(sorted(every, key=lambda one: place[one.chapter] if one.order is None else one.order)))


def test_a_look_back_is_marked_and_what_follows_it_is_not():
    placed = placed_moments(story := moments((ONE, None), (TWO, None), (THREE, 0.5), (FOUR, None)), cast(story))
    assert [(each.moment.id, each.narrated, each.turn) for each in placed] == [
        ("m2", 3, "back"), ("m0", 1, ""), ("m1", 2, ""), ("m3", 4, ""),
    ]  # fmt: skip


def test_a_look_ahead_does_not_make_all_that_follows_a_look_back():
    placed = placed_moments(story := moments((ONE, 9), (TWO, None), (THREE, None), (FOUR, None)), cast(story))
    assert {each.moment.id: each.turn for each in placed} == {"m0": "ahead", "m1": "", "m2": "", "m3": ""}


def test_the_timeline_can_be_read_as_it_is_told():
    story = fake_story.story(books.EN)
    happens = [record.id for record, _row in lines("timeline", cast(story))]
    told = [record.id for record, _row in lines("timeline", cast(story), by_narration=True)]
    assert happens == ["m2", "m1", "m3"]
    assert told == ["m1", "m2", "m3"]


def test_facts_are_those_that_hold_in_the_chapter():
    def held(position: int | None) -> list[str]:
        return [record.id for record, _row in lines("facts", cast(), position=position)]

    assert held(1) == ["f1", "f2"]
    assert held(2) == ["f1", "f2", "f3"]
    assert held(3) == ["f1", "f3"]
    assert held(None) == ["f1", "f2", "f3"]


@pytest.mark.parametrize(
    ("words", "found"), [("JOSS", ["f2", "f3"]), ("left hand", ["f1"]), ("Mar", ["f1"]), ("x", [])]
)
def test_records_are_found_by_words_and_by_any_name_of_those_whom_they_concern(words, found):
    assert [record.id for record, _row in lines("facts", cast(), words)] == found


def test_neighbours_are_those_with_a_relation_that_holds_then_companions():
    def around(position: int) -> list[tuple[str, str, bool]]:
        found = neighbours(cast(), HERO, fake_story.companions(HERO), position)
        return [(each.id, each.words, each.loose) for each in found]

    assert around(1) == [("voice", "enemy of", False), ("ferryman", "4×, last in 3", True)]
    assert around(3) == [("ferryman", "ferries", False), ("voice", "1×, last in 1", True)]


def test_an_arrow_leads_from_the_source_and_a_mutual_relation_has_none():
    ferries, enemy = (
        next(each for each in neighbours(cast(), HERO, (), at) if each.id == who)
        for at, who in ((3, FERRYMAN), (1, VOICE))
    )
    assert (ferries.inward, ferries.outward) == (True, False)
    assert (enemy.inward, enemy.outward) == (False, False)


def test_two_relations_of_the_same_two_share_a_line():
    back = Relation(RecordId("r9"), HERO, FERRYMAN, "pays")
    story = fake_story.with_record(fake_story.story(books.EN), back)
    (ferryman,) = (each for each in neighbours(cast(story), HERO, (), 3) if each.id == FERRYMAN)
    assert ferryman.words == "ferries / pays"
    assert ferryman.inward
    assert ferryman.outward


def test_companions_who_were_removed_are_not_drawn():
    gone = ((EntityId("nobody"), 9, ONE),)
    assert [each.id for each in neighbours(cast(), FERRYMAN, gone, 3)] == ["hero"]


def test_names_are_separated_by_commas_and_semicolons_of_either_script():
    assert names_of("沈月，老周、 那人;Old  Joss ,, 沈月") == ("沈月", "老周", "那人", "Old Joss")


def test_a_person_is_known_by_any_name_and_a_name_wins_over_an_alias():
    known = cast(None, Entity(EntityId("girl"), "character", "Girl", ("Mara", "Mouse")))
    assert person(" mara ", known) == HERO
    assert person("mouse", known) == "girl"
    assert people("Joss, Mara, joss", known) == (FERRYMAN, HERO)


@pytest.mark.parametrize("typed", ["", "Nobody", "Mar"])
def test_an_unknown_person_is_refused(typed):
    with pytest.raises(Unreadable):
        person(typed, cast())


def test_a_name_of_two_people_is_refused():
    twins = [Entity(EntityId(each), "character", "Twin") for each in "ab"]
    with pytest.raises(Unreadable, match="2 are called twin"):
        person("twin", cast(None, *twins))


def test_a_chapter_is_a_number():
    assert chapter("2", cast()) == TWO
    assert chapter(" ", cast()) is None
    for wrong in ("9", "two", "-1"):
        with pytest.raises(Unreadable):
            chapter(wrong, cast())


def test_those_who_know_are_typed_with_the_chapter_since_when():
    known = (Knower(HERO, TWO), Knower(FERRYMAN))
    assert typed_knowers(known, cast()) == "Mara @2, Joss"
    assert knowers("Mara @2, Joss", cast()) == known


def test_the_writers_word_on_a_name_moves_it():
    hero = Entity(HERO, "character", "Mara", ("Mouse",), proposed=("Mar", "Swan"), rejected=("Rat",), by="agent")
    after = judged(hero, "Mar", confirms=True)
    assert (after.aliases, after.proposed, after.rejected, after.by) == (("Mouse", "Mar"), ("Swan",), ("Rat",), "hand")
    after = judged(hero, "Swan", confirms=False)
    assert (after.aliases, after.proposed, after.rejected) == (("Mouse",), ("Mar",), ("Rat", "Swan"))
    assert judged(hero, "Rat", confirms=True).rejected == ()
    assert judged(hero, "Mouse", confirms=False).aliases == ()


def test_two_of_one_share_their_names():
    kept = Entity(HERO, "character", "Mara", ("Mouse",), "a note", rejected=("Joss",))
    gone = Entity(FERRYMAN, "character", "Joss", ("Mara", "Old Joss"), "another", proposed=("Ferryman", "Mouse"))
    after = merged(gone, kept)
    assert after.names == ("Mara", "Mouse", "Joss", "Old Joss")
    assert (after.proposed, after.rejected, after.note) == (("Ferryman",), (), "a note\nanother")


def test_all_records_of_one_move_to_the_other():
    story = replace(
        fake_story.story(books.EN),
        facts=(Fact(RecordId("f"), "x", (FERRYMAN, HERO), known_by=(Knower(FERRYMAN, ONE), Knower(VOICE))),),
        moments=(Moment(RecordId("m"), "x", ONE, about=(VOICE,)),),
    )
    moved = {record.id: record for record in moved_records(FERRYMAN, HERO, cast(story))}
    assert set(moved) == {"f"}
    assert moved[RecordId("f")] == replace(story.facts[0], about=(HERO,), known_by=(Knower(HERO, ONE), Knower(VOICE)))
    moved = {record.id: record for record in moved_records(VOICE, FERRYMAN, cast(story))}
    assert set(moved) == {"r1", "p1", "f", "m"}
    assert moved[RecordId("r1")] == replace(story.relations[0], source=FERRYMAN)


def test_a_new_name_gets_an_id_that_nobody_has():
    assert new_id("Grey Cat", cast()) == "Grey-Cat"
    assert new_id("hero", cast()) == "hero-2"
    assert new_id("///", cast()) == "untitled"


def test_evidence_is_quoted_with_its_chapter():
    place = Evidence("The bell.", TWO, 6, 15)
    told = [str(line) for line in detail_lines(replace(promise(), evidence=(place,)), cast(), {})]
    assert told[-2:] == ["2 The Ferry   planted", "“The bell.”"]
    passage = passage_at("One.\n\nTwo. The bell. Three.\nFour.", 11, 20)
    assert passage is not None and passage.text[passage.start : passage.end] == "The bell."
    read = [str(line) for line in detail_lines(replace(promise(), evidence=(place,)), cast(), {place: passage})]
    assert read[-2:] == ["2 The Ferry   planted", "Two. The bell. Three."]
    assert passage_at("One.", 3, 9) is None


def test_an_excerpt_says_where_it_is_cut_and_cuts_no_word():
    text = "word " * 200 + "The bell." + " after" * 200
    passage = passage_at(text, 1000, 1009)
    assert passage is not None and passage.text[passage.start : passage.end] == "The bell."
    assert passage.text.startswith("…") and passage.text.endswith("after…")


def test_most_mentioned_names_complete_first():
    rare = Entity(EntityId("rare"), "item", "Marble")
    names = known_names(Cast((rare, *fake_story.people(books.EN)), (), Story(), (Appearances(HERO, 5, 1, 2),)))
    assert names[0] == "Mara"
