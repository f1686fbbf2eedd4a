"""Search in the book's tree: all levels at once, then the directories of matching summaries, merged here."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.viking import layout
from flowcabal_tui.viking.client import KnowledgeClient, VectorHit
from flowcabal_tui.viking.manifest import Manifest, Record

_LEVELS: Final[tuple[Literal[0, 1, 2], ...]] = (0, 1, 2)
MOST_TARGETS: Final = 100
"""Each target costs the server time: with more of them, more results are requested over the whole scope and filtered
here."""
_OPENED: Final = 4
"""Directories whose texts are searched because their L0 or L1 is near."""
_FROM_EACH: Final = 2


@dataclass(frozen=True, slots=True)
class KnowledgeHit:
    """A text near in meaning. `uri` is that of the tree: a directory (L0, L1) or one of its files (L2).

    `start` and `end` are character offsets in the text that was put (L2; else -1); `digest` is that of the hit's own
    text, for comparison with the book's current one. `position` is the chapter position of the text (0: none). `score`
    is 0..1, unrelated texts are about 0.5.
    """

    uri: str
    level: Level
    score: float
    position: int
    subject: str
    digest: Digest
    chapter: ChapterId | None = None
    start: int = -1
    end: int = -1


async def find(
    client: KnowledgeClient, root: str, manifest: Manifest, query: str, before: int | None, limit: int, scope: str
) -> tuple[KnowledgeHit, ...]:
    """The nearest texts, best first; see `KnowledgeSync.find`."""
    everything = [(path, record) for path, record in manifest if path.startswith(f"{scope}/" if scope else "")]
    allowed = {path: record for path, record in everything if before is None or record.position < before}
    if not allowed or not query.strip():
        return ()
    paths = _targets(allowed, everything) if len(allowed) < len(everything) else [scope]
    many = 1 if len(paths) <= MOST_TARGETS else len(everything) / len(allowed)
    target = [f"{root}/{path}".rstrip("/") for path in (paths if many == 1 else [scope])]
    least = round(2 * limit * many)
    answers = await asyncio.gather(
        *(client.find(query, level=level, target_uri=target, limit=least) for level in _LEVELS)
    )
    hits = [hit for answer in answers for hit in _hits(root, answer, allowed)]
    hits += await _inside(client, root, query, hits, allowed)
    best: dict[str, KnowledgeHit] = {}
    for hit in hits:
        if hit.uri not in best or hit.score > best[hit.uri].score:
            best[hit.uri] = hit
    return tuple(sorted(best.values(), key=lambda hit: (-hit.score, hit.uri))[:limit])


def _targets(allowed: Mapping[str, Record], everything: Iterable[tuple[str, Record]]) -> list[str]:
    """The directories to search.

    An arc or kind is one target if all its content is allowed, since each target costs time.
    """
    total = Counter(_parent(path) for path, _record in everything)
    whole = {parent for parent, count in Counter(map(_parent, allowed)).items() if count == total[parent]}
    return sorted({parent if (parent := _parent(path)) in whole else path for path in allowed})


async def _inside(
    client: KnowledgeClient, root: str, query: str, hits: Iterable[KnowledgeHit], allowed: Mapping[str, Record]
) -> list[KnowledgeHit]:
    """The texts of the directories whose summaries are nearest. Each counts as near as its summary helps it to be."""
    near: dict[str, float] = {}
    for hit in sorted(hits, key=lambda hit: (-hit.score, hit.uri)):
        if hit.level != "L2" and len(near) < _OPENED:
            near.setdefault(hit.uri, hit.score)
    if not near:
        return []
    target = [f"{root}/{path}" for path in near]
    found = await client.find(query, level=2, target_uri=target, limit=_FROM_EACH * len(near))
    return [
        replace(hit, score=max(hit.score, (hit.score + near[_parent(hit.uri)]) / 2))
        for hit in _hits(root, found, allowed)
        if hit.level == "L2"
    ]


def _hits(root: str, found: Iterable[VectorHit], allowed: Mapping[str, Record]) -> list[KnowledgeHit]:
    """The hits that the manifest confirms."""
    return [hit for one in found if (hit := _hit(root, one, allowed)) is not None]


def _hit(root: str, found: VectorHit, allowed: Mapping[str, Record]) -> KnowledgeHit | None:
    path, _slash, name = found.uri.removeprefix(f"{root}/").rpartition("/")
    record = allowed.get(path)
    if record is None or name not in record.files:
        return None
    level = layout.level_of(name)
    start, end = record.scenes[layout.scene_index(name)] if level == "L2" else (-1, -1)
    uri = found.uri.removeprefix(f"{root}/") if level == "L2" else path
    digest = record.files[name]
    return KnowledgeHit(uri, level, found.score, record.position, record.subject, digest, record.chapter, start, end)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
