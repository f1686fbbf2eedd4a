"""Names in a text: finds new ones without a model, and the places of known ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ahocorasick

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.known_names import NameHit, is_whole_word, name_owners
from flowcabal_tui.domain.memory import Entity, EntityKind, Mention
from flowcabal_tui.domain.text import digest


def entity_id(kind: EntityKind, name: str) -> EntityId:
    """An id that is the same for the same kind and name in every project."""
    return EntityId(digest(f"{kind}\n{name}")[:16])


def discover(texts: Sequence[str], language: str, limit: int = 5_000) -> tuple[Entity, ...]:
    """The names that a text uses for people and places, most frequent first; by rule, so some will be wrong."""
    # Loaded here: their word lists are wanted when a text is read, and a project is opened sooner without.
    from flowcabal_tui.agents.names.names_en import english_names
    from flowcabal_tui.agents.names.names_zh import chinese_names

    found = chinese_names(texts) if language.startswith("zh") else english_names(texts)
    return tuple(
        Entity(
            entity_id(each.kind, each.name),
            each.kind,
            each.name,
            each.aliases,
            by="discovered",
            proposed=each.proposed,
        )
        for each in found[:limit]
    )


class NameIndex:
    """Finds the names of entities in one pass. The longest name wins; one of two entities counts for the first."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._automaton = ahocorasick.Automaton()
        for name, owner in name_owners(entities).items():
            self._automaton.add_word(name, (len(name), owner))
        self._empty = not len(self._automaton)
        if not self._empty:
            self._automaton.make_automaton()

    def find(self, text: str) -> tuple[NameHit, ...]:
        """All names in `text`, without overlaps, in order."""
        if self._empty:
            return ()
        candidates = [
            (end + 1 - length, end + 1, owner)
            for end, (length, owner) in self._automaton.iter(text)
            if is_whole_word(text, end + 1 - length, end + 1)
        ]
        hits: list[NameHit] = []
        for start, end, owner in sorted(candidates, key=lambda each: (each[0], -each[1])):
            if not hits or start >= hits[-1].end:
                hits.append(NameHit(owner, start, end))
        return tuple(hits)

    def mentions(self, chapter: ChapterId, position: int, text: str) -> tuple[Mention, ...]:
        """The names in `text` as mentions of a chapter."""
        return tuple(Mention(hit.entity, chapter, position, hit.start, hit.end) for hit in self.find(text))
