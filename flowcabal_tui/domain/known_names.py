"""Finds the name at a place of a text. The longest name wins; a name shared by two entities counts for the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity


@dataclass(frozen=True, slots=True)
class NameHit:
    """A name of an entity, by character offsets."""

    entity: EntityId
    start: int
    end: int


def name_owners(entities: Iterable[Entity]) -> dict[str, EntityId]:
    """Maps each name to look for in texts to its owner; names of one character only if the writer entered them."""
    owners: dict[str, EntityId] = {}
    for entity in sorted(entities, key=lambda each: (each.by != "hand", each.by != "agent", each.kind, each.id)):
        for name in entity.names:
            if name and (len(name) > 1 or entity.by == "hand"):
                owners.setdefault(name, entity.id)
    return owners


def is_whole_word(text: str, start: int, end: int) -> bool:
    """True when a name in letters is at word boundaries; always for a Chinese one."""
    before = start > 0 and _in_word(text[start]) and _in_word(text[start - 1])
    after = end < len(text) and _in_word(text[end - 1]) and _in_word(text[end])
    return not before and not after


def _in_word(char: str) -> bool:
    return char.isalnum() and ord(char) < 0x2E80


class KnownNames:
    """Finds the name at a cursor, at a cost that depends on the names alone, not on the length of the text."""

    def __init__(self, entities: Iterable[Entity] = ()) -> None:
        self._owners = name_owners(entities)
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for name in self._owners:
            lengths[name[0]].add(len(name))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}
        self._longest = max(map(len, self._owners), default=0)

    def at(self, text: str, place: int) -> NameHit | None:
        """The longest name that contains the character at `place`, else the longest one that ends there."""
        first = max(0, place - self._longest)
        hits = [hit for start in range(first, min(place + 1, len(text))) for hit in self._from(text, start)]
        over = [hit for hit in hits if hit.end > place]
        return max(over or [hit for hit in hits if hit.end == place], key=lambda hit: hit.end - hit.start, default=None)

    def first_in(self, text: str, start: int, end: int) -> NameHit | None:
        """The first name that begins from `start` up to `end`, the longest one of those that begin there."""
        return next((hit for at in range(max(0, start), min(end, len(text))) for hit in self._from(text, at)), None)

    def last_in(self, text: str, start: int, end: int) -> NameHit | None:
        """The last name that begins from `start` up to `end` and is not the end of a longer one."""
        for at in range(min(end, len(text)) - 1, max(0, start) - 1, -1):
            for hit in self._from(text, at):
                return self.at(text, hit.start)
        return None

    def _from(self, text: str, start: int) -> Iterable[NameHit]:
        """The names that begin at `start`, longest first."""
        for length in self._lengths.get(text[start], ()):
            owner = self._owners.get(text[start : start + length])
            if owner is not None and is_whole_word(text, start, start + length):
                yield NameHit(owner, start, start + length)
