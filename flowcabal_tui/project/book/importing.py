"""Reads manuscripts into the book, and reference books onto the shelf beside it; spends no money."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from flowcabal_tui.agents.names.names import discover
from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import ImportPreview, ReferenceId
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.project.book.curation import AFTER_IMPORT, AFTER_KEEP, following
from flowcabal_tui.project.memory.indexing import index_reference
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.protocol import BookChanged, Event, ImportManuscript, ImportProgress
from flowcabal_tui.store import Store


class Importer:
    """Lives on the engine's loop; files are read in the helper process."""

    def __init__(
        self,
        store: Store,
        workshop: Workshop,
        language: str,
        emit: Callable[[Event], None],
        wake: Callable[[], None],
        free_agent: Callable[[], bool],
    ) -> None:
        """`wake` starts the background worker; `free_agent` tells whether the agents' model costs nothing."""
        self._store, self._workshop, self._language = store, workshop, language
        self._emit, self._wake, self._free_agent = emit, wake, free_agent

    async def manuscript(self, command: ImportManuscript) -> int:
        """Reads chapters to the end of the book, in one transaction; returns how many. Raises ManuscriptError."""
        preview = await self._read(command)
        total = len(preview.chapters)
        names = await self._workshop.do(discover, [chapter.text for chapter in preview.chapters], self._language)
        kinds = AFTER_KEEP if self._free_agent() else AFTER_IMPORT
        # The names first: the index steps of the chapters may begin as soon as these are there.
        await asyncio.gather(*(self._store.memory.put_entity(entity) for entity in names))
        await self._store.book.import_chapters(preview.chapters, following(kinds))
        self._emit(ImportProgress(total, total))
        self._emit(BookChanged())
        self._wake()
        return total

    async def reference(self, command: ImportManuscript) -> ReferenceId:
        """Puts a book on the shelf in one transaction. Raises ManuscriptError."""
        preview = await self._read(command)
        texts = [chapter.text for chapter in preview.chapters]
        passages = await self._workshop.do(index_reference, texts, preview.language)
        added = await self._store.references.add(command.reference, preview.chapters, passages)
        self._emit(ImportProgress(len(preview.chapters), len(preview.chapters)))
        return added

    async def _read(self, command: ImportManuscript) -> ImportPreview:
        preview = await self._workshop.do(read_manuscript, Path(command.path).expanduser())
        chapters = preview.chapters[: command.last]
        if not chapters:
            raise ManuscriptError(
                _("No chapter was found in {file}.").format(file=command.path), _("Nothing was imported.")
            )
        self._emit(ImportProgress(0, len(chapters), preview.warnings))
        return ImportPreview(chapters, preview.encoding, preview.language, preview.warnings)
