"""Finds the names of planned beats in the text of a chapter, by rule: a name that occurs does not prove the event."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

import ahocorasick

from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.words import word_list
from flowcabal_tui.domain.beats import Beat, BeatName, ChapterBeats, PartBeats
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.known_names import is_whole_word
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.headings.planned_scenes import PlannedScene, matched
from flowcabal_tui.headings.scenes import scenes

_MOST_PLACES: Final = 40
_QUOTED: Final = re.compile(r"《([^《》]{1,20})》|「([^「」]{1,12})」|『([^『』]{1,12})』|【([^【】]{1,12})】")
_CAPITAL: Final = re.compile(r"(?<=[a-z,;:’] )[A-Z\u00c0-\u00de][\w\u00df-\u00ff’'-]{2,}")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
Places = Mapping[EntityId | str, Sequence[Span]]


@dataclass(frozen=True, slots=True)
class ChapterPlan:
    """The planned scenes of each part of a chapter, to be compared with its text.

    `entities` are those that the plan may name, and those whose longer names contain one of theirs.
    """

    chapter: ChapterId
    parts: tuple[tuple[PlannedScene, ...], ...]
    entities: tuple[Entity, ...] = ()
    blank_lines: bool = False


class Concerned:
    """Finds the entities that a text may name, at a cost that depends only on the length of that text."""

    def __init__(self, entities: Iterable[Entity] = ()) -> None:
        self.entities = tuple(entities)
        self._names = ahocorasick.Automaton()
        self._having: defaultdict[str, set[int]] = defaultdict(set)
        for name in {name for entity in self.entities for name in entity.names if name}:
            self._names.add_word(name, name)
        if len(self._names):
            self._names.make_automaton()
            for at, entity in enumerate(self.entities):
                for name in self._in("\n".join(entity.names)):
                    self._having[name].add(at)

    def by(self, words: str) -> tuple[Entity, ...]:
        """The entities that the words name, and those with a longer name that contains one of these names."""
        places = {at for name in self._in(words) for at in self._having[name]}
        return tuple(self.entities[at] for at in sorted(places))

    def _in(self, words: str) -> set[str]:
        return {name for _end, name in self._names.iter(words)} if len(self._names) else set()


def compared(plan: ChapterPlan, text: str) -> ChapterBeats:
    """The beats of the plan with the places of their names in the text."""
    written = scenes(text, blank_lines=plan.blank_lines) if text.strip() else ()
    spans = tuple(scene.body for scene in written)
    planned = [
        (part, scene, number)
        for part, scenes_of_part in enumerate(plan.parts)
        for scene, number in zip(scenes_of_part, matched(scenes_of_part, written), strict=True)
    ]
    lines = [(line, spans[at - 1] if at else None) for _part, scene, at in planned for line in scene.lines]
    beats = iter(beats_in(lines, text, plan.entities, spans))
    parts = tuple(
        PartBeats(scene.title, scene.number, tuple(islice(beats, len(scene.lines))), number, part)
        for part, scene, number in planned
    )
    return ChapterBeats(plan.chapter, parts, scenes=len(written))


def beats_in(
    lines: Sequence[tuple[str, Span | None]], text: str, entities: Sequence[Entity], scenes: Sequence[Span]
) -> tuple[Beat, ...]:
    """The lines as beats with their names in `text`.

    The span given with a line is that of its scene, which is searched for its names first. `scenes` are the spans of
    all scenes.
    """
    index = NameIndex(entities)
    places: defaultdict[EntityId | str, list[Span]] = defaultdict(list)
    for hit in index.find(text):
        places[hit.entity].append(Span(hit.start, hit.end))
    beats = []
    for line, own in lines:
        keys: dict[EntityId | str, str] = {}
        for hit in index.find(line):
            keys.setdefault(hit.entity, line[hit.start : hit.end])
        known = frozenset(keys)
        for word in _others(line, keys.values()):
            keys[word] = word
            places[word] = [*_places(word, text)]
        place = _shortest([key for key in keys if places[key]], places, own)
        names = tuple(
            BeatName(name, EntityId(key) if key in known else None, tuple(places[key][:_MOST_PLACES]), len(places[key]))
            for key, name in keys.items()
        )
        beats.append(Beat(line, names, place, _scene_at(place, scenes)))
    return tuple(beats)


@lru_cache(maxsize=1)
def _no_names() -> frozenset[str]:
    return word_list("not_names.en") | word_list("empty.en")


def _others(line: str, known: Iterable[str]) -> Iterator[str]:
    """Names that the book does not know: in title marks, or capitalised inside a sentence."""
    for name in known:
        line = line.replace(name, "\n")
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(line))
    capital = (_POSSESSIVE.sub("", match[0]) for match in _CAPITAL.finditer(line))
    found = (*quoted, *(word for word in capital if word not in _no_names() and word.lower() not in _no_names()))
    yield from dict.fromkeys(word for each in found if (word := each.strip()) and "\n" not in word)


def _places(word: str, text: str) -> Iterator[Span]:
    """The places where a word occurs as a whole."""
    for match in re.finditer(re.escape(word), text):
        start, end = match.span()
        if is_whole_word(text, start, end):
            yield Span(start, end)


def _shortest(keys: Sequence[EntityId | str], places: Places, own: Span | None) -> Span | None:
    """The shortest stretch with all keys: in the span `own` if they all occur there, else anywhere."""
    hits = sorted((span.start, span.end, key) for key in keys for span in places[key])
    if own is not None:
        inside = [hit for hit in hits if own.start <= hit[0] < own.end]
        hits = inside if {key for _start, _end, key in inside} == {*keys} else hits
    last: dict[EntityId | str, Span] = {}
    best: Span | None = None
    for start, end, key in hits:
        last[key] = Span(start, end)
        first = min(span.start for span in last.values())
        if len(last) == len(keys) and (best is None or end - first < best.end - best.start):
            best = Span(first, max(span.end for span in last.values()))
    return best


def _scene_at(place: Span | None, scenes: Sequence[Span]) -> int:
    if place is None:
        return 0
    return next((number for number, scene in enumerate(scenes, 1) if place.start < scene.end), 0)
