"""Semantic search for the Context agent: each query is sent once per generation of the memory, then remembered."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from heapq import nlargest
from itertools import chain
from operator import mul
from typing import Any, Final

from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS
from flowcabal_tui.agents.context.gather import Found
from flowcabal_tui.domain.errors import KnowledgeAbsent, KnowledgeError, KnowledgePending, ModelError
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import Entity, Level
from flowcabal_tui.domain.text import digest, digest_of
from flowcabal_tui.locale import _
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.project.memory import story_records
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.project.memory.sources import Sources, entity_text
from flowcabal_tui.store import Store
from flowcabal_tui.store.file.reading import read_plain
from flowcabal_tui.store.memory.view import View
from flowcabal_tui.viking.search import KnowledgeHit

log = logging.getLogger(__name__)
PATIENCE: Final = 15.0
"""Seconds for which a run waits for a server that is starting: a missed answer would be missing in every later run
too."""
_FROM_EACH: Final = 2
"""Maximum passages of a scene, and maximum records of a chapter."""
_OF_STORY: Final = 3
_SCOPES: Final = (
    ("manuscript", 1),
    ("profiles", 3),
    ("summaries", 3),
    ("entities", 3),
    (story_records.ROOT, _OF_STORY),
)
"""The scopes of a search, and the divisor of the limit for each: the book's own words first. Meta texts are always
added."""


class RememberingFinder:
    """Implements the Context agent's `Finder`.

    The server's answer (or its absence) belongs to the pinned state of the memory, so a second run reads the same. A
    preview asks without remembering.
    """

    def __init__(
        self, connection: KnowledgeConnection, store: Store, queries: Sources, generation: Generation, *, remember: bool
    ) -> None:
        self._connection, self._store, self._queries = connection, store, queries
        self._generation, self._remember = generation, remember

    async def find(self, query: str, before: int, limit: int) -> Sequence[Found]:
        """The nearest texts.

        Raises KnowledgeError when the server does not answer, did not answer the first time, or cannot be paid;
        KnowledgeAbsent when there is none.
        """
        key = f"find/{self._generation}/{digest_of([query, before, limit, self._connection.embedder])}"
        known = await self._store.values.learned(key, dict[str, Any])
        if not known:
            if not self._remember and not await self._connection.costs_nothing(query):
                raise KnowledgePending(_("its query has no vector yet, and making one costs money"))
            self._connection.require_paid()  # not remembered: the cap may be raised
            known = await self._ask(query, before, limit)
            if self._remember:
                await self._store.values.put(key, known)
        if "unused" in known:
            raise KnowledgeAbsent(str(known["unused"]))
        if "absent" in known:
            raise KnowledgeError(str(known["absent"]))
        return [read_plain(Found, item) for item in known.get("found", ())]

    async def _ask(self, query: str, before: int, limit: int) -> dict[str, Any]:
        try:
            await self._connection.started(PATIENCE)
            sync = self._connection.sync()
            await self._connection.paid_vector(query)
            answers = await asyncio.gather(
                *(sync.find(query, before, max(1, limit // part), scope) for scope, part in _SCOPES)
            )
        except (KnowledgeError, ModelError) as error:
            if self._connection.is_up:
                return {"absent": error.title}
            return {"absent" if self._connection.is_in_use else "unused": self._connection.last.message}
        view = await self._store.memory.view(None, self._generation)
        hits = sorted(chain.from_iterable(answers), key=lambda hit: (-hit.score, hit.uri))
        story = await self._story(hits, view, before)
        read = [story.get(hit.uri) or await self._read(hit, view, before) for hit in hits]
        found = await self._narrowed(query, [each for each in read if each], view)
        once: dict[tuple[str, Level, int], Found] = {}
        for item in found:
            once.setdefault((item.uri, item.level, item.start), item)
        records = [item for item in once.values() if item.uri.partition("/")[0] in story_records.KINDS]
        many = records[max(1, limit // _OF_STORY) :]  # a short line is nearer than the passage that it is from
        return {"found": [asdict(item) for item in [one for one in once.values() if one not in many][:limit]]}

    async def _narrowed(self, query: str, found: list[list[Found]], view: View) -> list[Found]:
        """Replaces each scene by its nearest passages, and a chapter's records by the nearest ones, since short texts
        leave space for more. Best first.

        The server has one vector per scene, because each costs it a file; the few scenes that it finds are searched
        here. A search pays only for its query: without stored vectors of the passages, words choose within a scene, and
        scenes keep the server's order.
        """
        parts = [await self._parts(each, view) for each in found]
        whole = [item for each in found for item in each[:_FROM_EACH]]
        texts = [part.text for each in parts for part in each]
        if self._connection.vectors is None or not texts:
            return whole
        try:
            made = await self._connection.known_vectors([query, *texts])
        except ModelError as error:
            log.warning("passages: %s", error.title)
            return whole
        by_words = made is None
        wanted, *vectors = made or await LexicalEmbedder().embed([query, *texts])
        near = iter([likeness(wanted, vector) for vector in vectors])
        best = []
        for scene, passages in zip(found, parts, strict=True):
            scored = [(next(near), passage) for passage in passages] or [(each.score, each) for each in scene]
            nearest = nlargest(_FROM_EACH, scored, key=lambda one: one[0])
            best += [part if by_words else replace(part, score=score) for score, part in nearest]
        return sorted(best, key=lambda each: -each.score)

    async def _parts(self, found: list[Found], view: View) -> list[Found]:
        """Passages of a scene, or the records of a chapter; none if there is nothing to choose from."""
        scene = found[0]
        if scene.start < 0:
            return found if len(found) > 1 else []
        return [
            replace(scene, text=passage.text, start=passage.start, end=passage.end)
            for passage in await view.passages(ChapterId(scene.uri.removeprefix("manuscript/")))
            if scene.start <= passage.start < scene.end
        ]

    async def _story(self, hits: Sequence[KnowledgeHit], view: View, before: int) -> dict[str, list[Found]]:
        """The records valid before the target, for each hit among story records, by the hit's uri.

        The server's text is compared with the whole generation, which was sent; the result comes from the view before
        the target, since a later chapter decides whether an earlier statement is a line of its own.
        """
        wanted = {hit.subject for hit in hits if hit.subject.startswith(f"{story_records.ROOT}/")}
        if not wanted:
            return {}
        visible, seen = [await story_records.visible_records(each, wanted) for each in (view, view.up_to(before))]
        holding = {line.uri: line for here in seen.values() for line in here.lines if line.holds}
        placed = {story_records.subject(one.id): one for one in await view.chapters()}
        found: dict[str, list[Found]] = {}
        for hit in hits:
            here, chapter = visible.get(hit.subject), placed.get(hit.subject)
            text = "" if here is None else here.head if hit.start < 0 else here.text[hit.start : hit.end]
            if here is None or digest(text) != hit.digest:
                continue
            title, position = (chapter.title, chapter.position) if chapter else ("", 0)
            found[hit.uri] = [
                Found(line.uri, title, line.words, hit.score, "L2", position)
                for each in here.lines
                if (line := holding.get(each.uri)) and (hit.start < 0 or hit.start <= each.start < hit.end)
            ]
        return found

    async def _read(self, hit: KnowledgeHit, view: View, before: int) -> list[Found]:
        """The hit's text from the project's store, as of the generation; the server's copy is only an index.

        Empty when the book has no such text, or a different one, because the server does not have the change yet.
        """
        uri, title, position, whole = hit.subject, "", hit.position, ""
        if hit.chapter is not None:
            chapter = next((one for one in await view.chapters() if one.id == hit.chapter), None)
            if chapter is None or chapter.position >= before:
                return []
            title, position = chapter.title, chapter.position
        if hit.chapter is not None and hit.level == "L2":
            whole = await view.chapter_text(hit.chapter)
        elif entity := await _entity(hit.subject, view):
            uri, title = f"entities/{ENTITY_FOLDERS[entity.kind]}/{entity.id}", entity.name
            whole = " · ".join(entity.names) if hit.level == "L0" else entity_text(entity)
        elif (state := await view.derived(uri, hit.level)) is not None:
            whole, title = state.text, title or await self._queries.title(uri)
            position = state.position  # its chapter may have moved since the text was sent
        text = whole if hit.start < 0 else whole[hit.start : hit.end]
        if not text.strip() or digest(text) != hit.digest or position >= before:
            return []
        at = (hit.start, hit.end) if hit.chapter is not None else (-1, -1)
        return [Found(uri, title, text, hit.score, hit.level, position, *at)]


async def _entity(subject: str, view: View) -> Entity | None:
    root, _slash, identity = subject.partition("/")
    return next((one for one in await view.entities() if root == "entity" and one.id == identity), None)


def likeness(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine as the knowledge server reports it: 0..1, unrelated about 0.5."""
    lengths = math.hypot(*one) * math.hypot(*other)
    return (1 + sum(map(mul, one, other)) / lengths) / 2 if lengths else 0.5
