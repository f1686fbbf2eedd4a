"""Finds edits that other programs make in chapter files, and offers them to the writer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import tasks
from flowcabal_tui.project.book.mirror import Edited, Mirror
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.book import BookChanged, OutsideEdit

log = logging.getLogger(__name__)
WATCH_SECONDS = 3.0
"""Interval of checking the times of the chapters' files."""


class OutsideEdits:
    """Tracks at most one outside edit per chapter. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, mirror: Mirror) -> None:
        self._store, self._mirror, self._emit, self._wake = base.store, mirror, base.emit, base.work.wake
        self._edits: dict[ChapterId, Edited] = {}

    def of(self, chapter: ChapterId) -> Edited | None:
        """The edit of a chapter's file that the writer has not settled."""
        return self._edits.get(chapter)

    async def accept(self, edited: Edited) -> None:
        """Marks an edit as settled after the chapter was written."""
        self._edits.pop(edited.chapter.id, None)
        await self._mirror.accept(edited)

    def offer(self, edited: Edited) -> None:
        """Emits an outside edit once; writing that chapter settles it."""
        known = self._edits.get(edited.chapter.id)
        self._edits[edited.chapter.id] = edited
        if known is not None and known.text == edited.text:
            return
        self._emit(OutsideEdit(edited.chapter.id, str(edited.path)))

    async def watch(self) -> None:
        """Offers changes of the chapters' files by other programs as new versions, as long as the project is open.

        A file is read once it has stopped changing, so that half a file is not offered.
        """
        seen = looked = await self._mirror.stamps()
        await self._mirror.sweep()
        await self._look_outside(None, seen)
        await self._write_again(await self._mirror.left_behind())
        lost = await self._write_lost()
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            before, seen = seen, await self._mirror.stamps()
            if lost or before.keys() - seen.keys():
                lost = await self._write_lost()
            rested = {name: stamp for name, stamp in seen.items() if looked.get(name) != stamp == before.get(name)}
            if rested:
                looked = looked | rested
                await self._look_outside(rested, seen)

    async def _write_lost(self) -> bool:
        """Writes the files of chapters again that were deleted or renamed outside, since chapters are only deleted by a
        command.

        Returns True when there were such files, so that the caller checks them again.
        """
        lost = await self._mirror.lost()
        await self._write_again(lost)
        return bool(lost)

    async def _write_again(self, chapters: Sequence[Chapter]) -> None:
        if chapters:
            add = [tasks(("mirror",), one.id, digest_of(["lost", one.digest]), one.position) for one in chapters]
            await self._store.outbox.add(task for made in add for task in made)
            await self._store.outbox.again(("mirror",), [one.id for one in chapters])
            self._wake()

    async def _look_outside(self, names: Collection[str] | None, seen: Mapping[str, tuple[int, int]]) -> None:
        """`seen` are stamps from before. A file that changes while it is read is left for the next look."""
        try:
            found = await self._mirror.edited_outside(names)
            now = await self._mirror.stamps()
        except FlowCabalError as error:
            log.warning("mirror: %s", error)
            self._emit(Status("error", error.title))
            return
        for known in tuple(self._edits.values()):
            if (names is None or known.path.name in names) and known.path not in [edited.path for edited in found]:
                del self._edits[known.chapter.id]  # changed back
                self._emit(BookChanged(known.chapter.id))
        for edited in found:
            if now.get(edited.path.name) == seen.get(edited.path.name):
                self.offer(edited)
