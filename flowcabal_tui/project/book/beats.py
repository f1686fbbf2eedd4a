"""Compares the outline of a chapter with its text, by rule, in a helper process."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.names.planned import ChapterPlan, Concerned, compared
from flowcabal_tui.domain.beats import BeatCount, ChapterBeats
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.text import digest
from flowcabal_tui.headings.planned_scenes import planned_scenes
from flowcabal_tui.project.base import ProjectBase

_MOST_KNOWN: Final = 256


class BeatsReader:
    """Compares beats with texts. Lives on the engine's loop. The same plan and text are compared once."""

    def __init__(self, base: ProjectBase) -> None:
        self._base, self._store = base, base.store
        self._known: OrderedDict[tuple[ChapterPlan, Digest], ChapterBeats] = OrderedDict()
        self._counted: dict[ChapterId, tuple[ChapterPlan, Digest, BeatCount]] = {}
        self._concerned = Concerned()

    async def of(self, chapter: ChapterId, text: str | None = None) -> ChapterBeats:
        """The beats of a chapter; `text` is unsaved, None: the newest version. Raises UnknownName or HelperFailed."""
        known = await self._base.chapter(chapter)
        if text is None:
            text = await self._store.book.text(known.id)
        outline = await self._store.book.outline()
        plan = self._plan(outline, chapter, await self._names())
        key = plan, digest(text)
        if key not in self._known:
            self._known[key] = await self._compared(plan, text)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        volume, own = outline.volume_of(chapter), outline.of(chapter)
        return replace(
            self._known[key],
            volume=outline.outline.body(volume.part) if volume is not None else "",
            shared=any(len(each.chapters) > 1 for each in own),
        )

    async def counts(self) -> dict[ChapterId, BeatCount]:
        """The counts for every written chapter with beats that name somebody or something. Raises HelperFailed."""
        outline, counts = await self._store.book.outline(), {}
        written = [(each.id, each.digest) for each in outline.chapters if each.digest and outline.of(each.id)]
        names = await self._names() if written else self._concerned
        for chapter, text in written:
            await asyncio.sleep(0)  # lets other tasks of the loop run first
            plan = self._plan(outline, chapter, names)
            known = self._counted.get(chapter)
            if known is None or known[:2] != (plan, text):
                found = await self._compared(plan, await self._store.book.text(chapter))
                known = self._counted[chapter] = plan, text, BeatCount(found.found, found.named)
            if known[2].named:
                counts[chapter] = known[2]
        return counts

    async def _names(self) -> Concerned:
        entities = await self._store.memory.names()
        if entities != self._concerned.entities:
            self._concerned = await asyncio.to_thread(Concerned, entities)
        return self._concerned

    def _plan(self, outline: BookOutline, chapter: ChapterId, names: Concerned) -> ChapterPlan:
        parts = tuple(planned_scenes(outline.outline.beats(each.part)) for each in outline.of(chapter))
        blank_lines = self._base.settings.project.blank_lines_break
        return ChapterPlan(chapter, parts, names.by(outline.beats(chapter)), blank_lines)

    async def _compared(self, plan: ChapterPlan, text: str) -> ChapterBeats:
        return await self._base.workshop.do(compared, plan, text) if plan.parts else ChapterBeats(plan.chapter)
