"""Purges a text from the tables at once, then from every file that the program writes, however long that takes."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import FlowCabalError, RunError
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import AFTER_EDIT, following, tasks
from flowcabal_tui.project.book.mirror import Mirror
from flowcabal_tui.project.memory.parts import MemoryParts
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.book import BookChanged, OutputDeleted
from flowcabal_tui.protocol.memory import Purge, PurgeFinished, TextPurged
from flowcabal_tui.settings.paths import PROJECT_STATE
from flowcabal_tui.store.maintenance.purge import Purged, window_size, windows
from flowcabal_tui.store.maintenance.purge_left import PurgeLeft

log = logging.getLogger(__name__)
RETRY_SECONDS: Final = 2.0
_MOST_DOUBLINGS: Final = 5
_TRIES: Final = 20
_TRY_SECONDS: Final = 0.05
"""Readers of this process end within that time; another process may read for longer."""
_MOST_FILES: Final = 5_000
_LARGEST_FILE: Final = 4 << 20
_TEXT_FILES: Final = (".md", ".txt", ".toml", ".json", ".yaml", ".yml", ".html", ".log", "")


class Purging:
    """Purges texts. Lives on the engine's loop."""

    def __init__(
        self,
        base: ProjectBase,
        mirror: Mirror,
        memory: MemoryParts,
        is_idle: Callable[[], Awaitable[bool]],
        forget_in_log: Callable[[Callable[[str], bool]], None],
    ) -> None:
        """`is_idle` returns True when no run and no paid job is in progress; `forget_in_log` removes the lines of the
        log that its argument accepts."""
        self._base, self._store, self._emit, self._mirror = base, base.store, base.emit, mirror
        self._memory, self._is_idle, self._forget_in_log = memory, is_idle, forget_in_log
        self._due, self._one_at_a_time = asyncio.Event(), asyncio.Lock()

    async def purge(self, command: Purge) -> None:
        """Removes a text for good. Raises RunError while runs are in progress.

        Background work is suspended meanwhile: a running step could store a text that it has just read.
        """
        await self._require_possible(command)
        before = await self._store.book.chapters()
        async with self._memory.background.suspended():
            if command.build is not None:
                purged = await self._store.maintenance.purge_build(command.build)
            elif command.output is not None:
                purged = await self._store.maintenance.purge_output(command.output, following(AFTER_EDIT))
                self._emit(OutputDeleted(command.output))
            else:
                assert command.chapter is not None
                purged = await self._store.maintenance.purge_chapter(command.chapter, _after_purge)
                await self._mirror.remove(command.chapter)
            left = await self._forgotten_in_log(purged)
            pending = await self.finish()
        counts = (purged.versions, purged.runs, purged.derived, purged.answers)
        left += await asyncio.to_thread(self._holding, purged.words)
        left += await self._backups()
        self._emit(TextPurged(purged.chapter, *counts, tuple(pending), tuple(left)))
        if pending:
            self._due.set()
        if command.chapter is not None:
            await self._memory.updates.chapters_placed([chapter for chapter in before if chapter.id != command.chapter])
        self._emit(BookChanged())

    async def _require_possible(self, command: Purge) -> None:
        if not await self._is_idle():
            raise RunError(
                _("A run is in progress."),
                _("Nothing was purged."),
                _("Stop the runs of this project, then try again."),
            )
        if [command.chapter, command.output, command.build].count(None) != 2:
            raise RunError(_("Purge what?"), "", _("Name one of: a chapter, a kept output, a build."))

    async def _forgotten_in_log(self, purged: Purged) -> list[str]:
        """Removes the lines of the log that repeat the text; returns the log's path if that failed."""
        size = window_size(self._base.settings.project.language)
        try:
            await asyncio.to_thread(self._forget_in_log, lambda line: not purged.words.isdisjoint(windows(line, size)))
        except OSError as error:
            return [_("the log: {reason}").format(reason=os_reason(error))]
        return []

    async def finish(self) -> list[str]:
        """Does the remaining steps of all purges as far as possible; returns the reasons for those that are left."""
        async with self._one_at_a_time:
            left, pending = await self._store.maintenance.purge_left(), []
            if "files" in left.steps:
                pending += await self._files(left)
            if "knowledge" in left.steps:
                pending += await self._knowledge()
            if left.steps and (hindrance := await self._compacted()):
                pending.append(hindrance)
            return pending

    async def _files(self, left: PurgeLeft) -> list[str]:
        try:
            await self._mirror.purge(left.texts)
        except OSError as error:
            words = _("a file of the manuscript folder could not be deleted: {reason}")
            return [words.format(reason=os_reason(error))]
        await self._store.maintenance.purge_step_done("files")
        return []

    async def _knowledge(self) -> list[str]:
        try:
            if hindrance := await self._wiped():
                return [hindrance]
        except OSError as error:
            words = _("the knowledge server's folder could not be emptied: {reason}")
            return [words.format(reason=os_reason(error))]
        await self._store.maintenance.purge_step_done("knowledge")
        return []

    async def _wiped(self) -> str:
        """Empties the local knowledge server, and restarts it if it was running; returns the reason for a failure, ""
        when done.

        A server elsewhere deletes on request; until the request is sent, that is the reason.
        """
        knowledge = self._memory.knowledge
        if knowledge.is_elsewhere:
            owed = any(task.kind == "knowledge" for task in await self._store.outbox.all())
            return _("the remote knowledge server has not deleted its copy yet") if owed else ""
        ran = knowledge.began
        wiped = await knowledge.wipe()
        if ran:
            await self._memory.start_knowledge()
        return "" if wiped else _("a knowledge server from an earlier start still runs")

    async def _compacted(self) -> str:
        """Rewrites the database; returns the reason if it still contains deleted text, otherwise ""."""
        for _number in range(_TRIES):
            try:
                if await self._store.maintenance.compact():
                    return ""
            except FlowCabalError as error:
                return error.title
            await asyncio.sleep(_TRY_SECONDS)
        return _("another program reads the project's database")

    async def begin(self) -> None:
        """Finishes the purges of an earlier process before anything reads the files; retries failed steps."""
        try:
            await self.finish()
        except FlowCabalError as error:
            self._emit(Status("error", error.title))

    async def keep_finishing(self) -> None:
        """Finishes delayed steps, also of an earlier process, as soon as possible."""
        tries = 0
        while True:
            try:
                finished = await self._finished()
            except FlowCabalError as error:
                log.warning("purge: %s", error.title)
                finished = False
            if not finished:
                await asyncio.sleep(RETRY_SECONDS * 2 ** min(tries, _MOST_DOUBLINGS))
                tries += 1
                continue
            tries = 0
            await self._due.wait()
            self._due.clear()

    async def _finished(self) -> bool:
        """Tries the remaining steps; suspends background work only for those that it could undo."""
        left = (await self._store.maintenance.purge_left()).steps
        if not left:
            return True
        undone = "files" in left or ("knowledge" in left and not self._memory.knowledge.is_elsewhere)
        async with self._memory.background.suspended() if undone else nullcontext():
            pending = await self.finish()
        if not pending:
            self._emit(PurgeFinished())
        return not pending

    def _holding(self, words: frozenset[str]) -> list[str]:
        """Files in the project's folder that contain the words and were not written by the program: an outside edit, an
        export."""
        size = window_size(self._base.settings.project.language)
        texts = ((path, _text(path)) for path in _text_files(self._base.folder) if words)
        return [str(path) for path, text in texts if not words.isdisjoint(windows(text, size))]

    async def _backups(self) -> list[str]:
        """Backups of this project in its folder and beside it."""
        from flowcabal_tui.project.book.backup import backups_of  # a project is opened sooner without

        try:
            found = await asyncio.to_thread(backups_of, self._base.folder, self._base.settings.project.id)
        except OSError:
            return []
        return [str(path) for path in found]


def _after_purge(chapter: str, text: Digest, position: int) -> tuple[BackgroundTask, ...]:
    """The tasks that remove its file, and its texts and records in the knowledge server."""
    of_chapter = tasks(("mirror", "knowledge"), chapter, text, position)
    return (*of_chapter, *tasks(("knowledge",), f"story/{chapter}", text, position))


def _text_files(folder: Path) -> Iterator[Path]:
    """Regular text files below the folder, up to a limit, without links and the program's own files."""
    found = 0
    for place, folders, names in os.walk(folder):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name != PROJECT_STATE]
        for name in sorted(names):
            path = Path(place) / name
            if path.suffix.lower() not in _TEXT_FILES or path.is_symlink() or not path.is_file():
                continue
            found += 1
            if found > _MOST_FILES:
                return
            yield path


def _text(path: Path) -> str:
    """The text of a file; "" if it is too large or cannot be read."""
    try:
        return path.read_text("utf-8", "replace") if path.stat().st_size <= _LARGEST_FILE else ""
    except OSError:
        return ""
