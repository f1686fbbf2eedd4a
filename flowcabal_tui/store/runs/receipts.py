"""The contexts from which the kept chapters were written, from the logs of their runs."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.domain.context import ContextSource
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.connection import Database, Row
from flowcabal_tui.store.file.reading import decodes, read_plain, readable

_AT_ONCE: Final = 50
"""Runs whose logs are read per query."""


@dataclass(frozen=True, slots=True)
class UsedSource:
    """A source in a context from which the text of a chapter was written, as of a generation."""

    chapter: ChapterId
    generation: Generation
    source: ContextSource


async def used_sources(database: Database, uris: Collection[str]) -> tuple[UsedSource, ...]:
    """The uses of these sources by the runs whose outputs the chapters keep, by chapter.

    Outputs that were forgotten again do not count; a run that was served from the log of another has no contexts.
    """
    kept = await database.rows("SELECT DISTINCT run, chapter FROM curated WHERE chapter IS NOT NULL AND NOT deleted")
    chapters: defaultdict[str, list[ChapterId]] = defaultdict(list)
    for run, chapter in kept:
        chapters[run].append(chapter)
    found: dict[UsedSource, None] = {}
    runs = sorted(chapters)
    for start in range(0, len(runs), _AT_ONCE):
        rows = await database.rows(
            "SELECT run, payload FROM event WHERE kind='attempt-started' AND run IN (SELECT value FROM json_each(?))"
            " ORDER BY seq",
            (json.dumps(runs[start : start + _AT_ONCE]),),
        )
        for run, generation, sources in await asyncio.to_thread(_sources, rows, frozenset(uris)):
            found |= dict.fromkeys(UsedSource(each, generation, one) for each in chapters[run] for one in sources)
    return tuple(sorted(found, key=lambda each: (each.chapter, each.generation, each.source.uri, each.source.start)))


async def summaries(database: Database, uri: str) -> tuple[tuple[Level, Generation, str], ...]:
    """Every state of a text's summaries (L0 and L1), the newest first."""
    rows = await database.rows(
        "SELECT level, generation, body FROM derived JOIN blob USING (digest) WHERE uri=? ORDER BY generation DESC",
        (uri,),
    )
    return tuple((level, generation, unpack(body)) for level, generation, body in rows)


def _sources(
    rows: Sequence[tuple[Any, ...]], uris: frozenset[str]
) -> list[tuple[str, Generation, list[ContextSource]]]:
    return [each for each in readable(lambda row: _sources_of(row, uris), rows) if each[-1]]


@decodes
def _sources_of(row: Row, uris: frozenset[str]) -> tuple[str, Generation, list[ContextSource]]:
    run, payload = row
    receipt = json.loads(unpack(payload)).get("receipt") or {}
    sources = [read_plain(ContextSource, each) for each in receipt.get("sources", ()) if each["uri"] in uris]
    return run, Generation(receipt.get("generation", 0)), sources
