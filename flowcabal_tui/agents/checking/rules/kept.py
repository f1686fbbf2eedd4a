"""Runs the rules in a process that caches its readings of a book: each chapter is read once for all checks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flowcabal_tui.agents.checking.rules.material import Declared, EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.registry import check, read
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import CheckFinding
from flowcabal_tui.domain.story import Relation

_MOST: Final = 60_000_000
"""Characters that are remembered."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The book before the draft. Chapters are identified by the digest of their text, and have a uri and a title."""

    language: str
    chapters: tuple[tuple[Digest, str, str], ...] = ()
    entities: tuple[Entity, ...] = ()
    declared: tuple[Declared, ...] = ()
    relations: tuple[Relation, ...] = ()
    off: tuple[str, ...] = ()


_read: OrderedDict[tuple[str, Digest], NarratedText] = OrderedDict()


def unread(earlier: Earlier) -> tuple[Digest, ...]:
    """The chapters that are not in this process's cache."""
    return tuple(digest for digest, _uri, _title in earlier.chapters if (earlier.language, digest) not in _read)


def learn(language: str, texts: Mapping[Digest, str]) -> None:
    """Reads these chapters into the cache; when it is full, forgets the least recently used ones."""
    for digest, text in texts.items():
        narrated = NarratedText(text, language)
        read(narrated)
        _read[language, digest] = narrated
    size = sum(len(narrated.text) for narrated in _read.values())
    while size > _MOST and len(_read) > len(texts):
        size -= len(_read.popitem(last=False)[1].text)


def findings(draft: NarratedText, earlier: Earlier) -> tuple[CheckFinding, ...] | None:
    """The findings of the rules; None when a chapter is no longer in the cache."""
    chapters = []
    for digest, uri, title in earlier.chapters:
        narrated = _read.get((earlier.language, digest))
        if narrated is None:
            return None
        _read.move_to_end((earlier.language, digest))
        narrated.uri, narrated.title = uri, title
        chapters.append(narrated)
    names = _names(earlier.entities)
    book = EarlierBook(earlier.language, tuple(chapters), earlier.entities, earlier.declared, earlier.relations, names)
    return check(draft, book, earlier.off)


@lru_cache(maxsize=2)
def _names(entities: Sequence[Entity]) -> NameIndex:
    return NameIndex(entities)
