"""Who is named together with whom: counted from the mentions in the same passages."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.store.memory.ranking import IndexedPassage

Companion = tuple[EntityId, int, ChapterId]
"""With whom, in how many passages, and in which chapter last."""


def companions_of(
    entity: EntityId, mentions: Iterable[tuple[ChapterId, EntityId, str]], passages: Sequence[IndexedPassage]
) -> tuple[Companion, ...]:
    """`mentions` are chapter, who and spans as stored; `passages` come in story order. Most passages first."""
    cut: defaultdict[ChapterId, list[int]] = defaultdict(list)
    places: dict[ChapterId, int] = {}
    for passage in passages:
        cut[passage.chapter].append(passage.start)
        places[passage.chapter] = passage.position
    named: defaultdict[tuple[ChapterId, int], set[EntityId]] = defaultdict(set)
    for chapter, who, spans in mentions:
        for start, _end in json.loads(spans):
            named[chapter, bisect_right(cut[chapter], start)].add(who)
    together: defaultdict[EntityId, list[ChapterId]] = defaultdict(list)
    for (chapter, _passage), people in named.items():
        if entity in people:
            for other in people - {entity}:
                together[other].append(chapter)
    found = [
        (other, len(chapters), max(chapters, key=lambda chapter: places.get(chapter, 0)))
        for other, chapters in together.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each[1], each[0])))
