"""Compares the outline of a chapter with its text, by rule, in a helper process."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import Final

from flowcabal_tui.agents.names.planned import beats_in, concerned
from flowcabal_tui.domain.beats import ChapterBeats, PartBeats
from flowcabal_tui.domain.errors import Gone, UnknownName
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.text import digest
from flowcabal_tui.headings.planned_scenes import PlannedScene, matched, planned_scenes
from flowcabal_tui.headings.scenes import scenes
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase

_MOST_KNOWN: Final = 256


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is compared: the scenes of each part of the outline (by its index), and the text of a chapter."""

    chapter: ChapterId
    parts: tuple[tuple[int, tuple[PlannedScene, ...]], ...]
    volume: str
    shared: bool
    text: Digest
    blank_lines: bool
    entities: tuple[Entity, ...]


class BeatsReader:
    """Lives on the engine's loop. The same plan and text are compared once."""

    def __init__(self, base: ProjectBase) -> None:
        self._base, self._store = base, base.store
        self._known: OrderedDict[_Plan, ChapterBeats] = OrderedDict()

    async def of(self, chapter: ChapterId, text: str | None = None) -> ChapterBeats:
        """`text` is unsaved; None: the newest version. Raises UnknownName or HelperFailed."""
        try:
            known = await self._store.book.chapter(chapter)
        except Gone as error:
            raise UnknownName(_("There is no chapter {chapter}.").format(chapter=chapter)) from error
        outline = await self._store.book.outline()
        if text is None:
            text = await self._store.book.text(known.id)
        plan = await self._plan(outline, chapter, text)
        if plan not in self._known:
            self._known[plan] = await self._compared(plan, text)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(plan)
        return self._known[plan]

    async def _plan(self, outline: BookOutline, chapter: ChapterId, text: str) -> _Plan:
        volume, own = outline.volume_of(chapter), outline.of(chapter)
        indexes = {id(each): at for at, each in enumerate(outline.placed)}
        return _Plan(
            chapter,
            tuple((indexes[id(each)], planned_scenes(outline.outline.beats(each.part))) for each in own),
            outline.outline.body(volume.part) if volume is not None else "",
            any(len(each.chapters) > 1 for each in own),
            digest(text),
            self._base.current_settings().project.blank_lines_break,
            concerned(outline.beats(chapter), await self._store.memory.names()),
        )

    async def _compared(self, plan: _Plan, text: str) -> ChapterBeats:
        written = scenes(text, blank_lines=plan.blank_lines) if text.strip() else ()
        spans = tuple(scene.body for scene in written)
        planned = [
            (part, scene, number)
            for part, scenes_of_part in plan.parts
            for scene, number in zip(scenes_of_part, matched(scenes_of_part, written), strict=True)
        ]
        lines = [(line, spans[at - 1] if at else None) for _part, scene, at in planned for line in scene.lines]
        beats = iter(await self._base.workshop.do(beats_in, lines, text, plan.entities, spans) if lines else ())
        parts = tuple(
            PartBeats(scene.title, scene.number, tuple(islice(beats, len(scene.lines))), number, part)
            for part, scene, number in planned
        )
        return ChapterBeats(plan.chapter, parts, plan.volume, plan.shared, len(written))
