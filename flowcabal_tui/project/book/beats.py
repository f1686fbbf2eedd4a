"""Compares the outline of a chapter with its text, by rule, in a helper process."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from flowcabal_tui.agents.names.planned import ChapterPlan, compared, concerned
from flowcabal_tui.domain.beats import ChapterBeats
from flowcabal_tui.domain.errors import Gone, UnknownName
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.text import digest
from flowcabal_tui.headings.planned_scenes import planned_scenes
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase

_MOST_KNOWN: Final = 256


class BeatsReader:
    """Lives on the engine's loop. The same plan and text are compared once."""

    def __init__(self, base: ProjectBase) -> None:
        self._base, self._store = base, base.store
        self._known: OrderedDict[tuple[ChapterPlan, Digest], ChapterBeats] = OrderedDict()

    async def of(self, chapter: ChapterId, text: str | None = None) -> ChapterBeats:
        """`text` is unsaved; None: the newest version. Raises UnknownName or HelperFailed."""
        try:
            known = await self._store.book.chapter(chapter)
        except Gone as error:
            raise UnknownName(_("There is no chapter {chapter}.").format(chapter=chapter)) from error
        if text is None:
            text = await self._store.book.text(known.id)
        plan = await self._plan(chapter)
        key = plan, digest(text)
        if key not in self._known:
            self._known[key] = await self._base.workshop.do(compared, plan, text) if plan.parts else compared(plan, "")
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]

    async def _plan(self, chapter: ChapterId) -> ChapterPlan:
        outline = await self._store.book.outline()
        volume, own = outline.volume_of(chapter), outline.of(chapter)
        indexes = {id(each): at for at, each in enumerate(outline.placed)}
        return ChapterPlan(
            chapter,
            tuple((indexes[id(each)], planned_scenes(outline.outline.beats(each.part))) for each in own),
            concerned(outline.beats(chapter), await self._store.memory.names()) if own else (),
            outline.outline.body(volume.part) if volume is not None else "",
            any(len(each.chapters) > 1 for each in own),
            self._base.current_settings().project.blank_lines_break,
        )
