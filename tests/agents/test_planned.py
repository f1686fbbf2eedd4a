"""Names of beats are found in the text of a chapter, in both languages, and where most of them are together."""

from __future__ import annotations

from flowcabal_tui.agents.names.planned import Concerned, beats_in
from flowcabal_tui.domain.beats import Beat
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity


def person(name: str, *aliases: str) -> Entity:
    return Entity(EntityId(name), "character", name, aliases)


MAUD, VERA = person("Maud Carey", "Maud", "Miss Carey"), person("Vera")
BAOYU, ZHEN, DAIYU = person("宝玉"), person("甄宝玉"), person("林黛玉", "黛玉", "颦儿")


def one(line: str, text: str, *entities: Entity, own: Span | None = None, scenes: tuple[Span, ...] = ()) -> Beat:
    (beat,) = beats_in([(line, own)], text, Concerned(entities).by(line), scenes)
    return beat


def counts(beat: Beat) -> dict[str, int]:
    return {name.name: name.count for name in beat.names}


def test_names_are_found_by_any_name_of_the_entity() -> None:
    beat = one("Maud meets Vera.", "Miss Carey came. Later Miss Carey waved.", MAUD, VERA)
    assert counts(beat) == {"Maud": 2, "Vera": 0}
    assert (beat.state, beat.place) == ("partly", Span(0, 10))
    chinese = one("黛玉见宝玉。", "颦儿笑了。宝玉也笑了。", BAOYU, DAIYU)
    assert counts(chinese) == {"黛玉": 1, "宝玉": 1} and chinese.state == "found"
    assert chinese.place == Span(0, 7)


def test_a_longer_name_of_another_is_not_taken_for_the_name() -> None:
    beat = one("宝玉来了。", "甄宝玉来了。", BAOYU, ZHEN)
    assert counts(beat) == {"宝玉": 0} and beat.state == "missing" and beat.place is None
    assert counts(one("Vera leaves.", "Veracity is rare.", VERA)) == {"Vera": 0}


def test_names_that_the_book_does_not_know_are_looked_for_word_for_word() -> None:
    beat = one("They sail to Dover’s harbour at Dawn, he said.", "At Dover. Doverian. Dawn broke.")
    assert counts(beat) == {"Dover": 1, "Dawn": 1}
    assert [name.entity for name in beat.names] == [None, None]
    assert counts(one("她翻开《青囊经》，拾起「黑石」。", "她翻开青囊经。")) == {"青囊经": 1, "黑石": 0}


def test_a_beat_without_names_says_so() -> None:
    assert one("It rains. Nobody comes.", "It rains.", MAUD).state == "unnamed"
    assert one("下雨了。", "下雨了。", BAOYU).state == "unnamed"


def test_the_place_is_the_shortest_stretch_and_in_its_own_scene_if_all_are_there() -> None:
    text = "Maud and Vera.\n***\nMaud sat. Then Vera came.\n***\nMaud."
    scenes = (Span(0, 15), Span(19, 45), Span(49, 54))
    beat = one("Maud meets Vera.", text, MAUD, VERA, scenes=scenes)
    assert (text[beat.place.start : beat.place.end] if beat.place else "", beat.scene) == ("Maud and Vera", 1)
    beat = one("Maud meets Vera.", text, MAUD, VERA, own=scenes[1], scenes=scenes)
    assert (text[beat.place.start : beat.place.end] if beat.place else "", beat.scene) == ("Maud sat. Then Vera", 2)
    beat = one("Maud meets Vera.", text, MAUD, VERA, own=scenes[2], scenes=scenes)
    assert (beat.state, beat.scene) == ("found", 1), "not in the scene that was planned: the scene says where"
