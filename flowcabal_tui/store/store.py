"""The facade: one project's database, opened and closed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import DiskFull, ProjectNotFound
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.store.book.book import Book
from flowcabal_tui.store.book.edits import Edits
from flowcabal_tui.store.book.jobs import JobTasks
from flowcabal_tui.store.book.outbox import Outbox
from flowcabal_tui.store.book.references import References
from flowcabal_tui.store.file.connection import Database, Durability, Readers, Writer, open_writable
from flowcabal_tui.store.file.faults import damaged, no_room
from flowcabal_tui.store.file.filesystem import file_system_of, is_network, mounts
from flowcabal_tui.store.file.lock import Holder, ProjectLock, holder_of
from flowcabal_tui.store.file.upkeep import Upkeep
from flowcabal_tui.store.file.usage import UsageLog
from flowcabal_tui.store.file.values import Answers, Values
from flowcabal_tui.store.memory.memory import Memory
from flowcabal_tui.store.memory.records import Records
from flowcabal_tui.store.runs.journal import Clock
from flowcabal_tui.store.runs.runs import Runs
from flowcabal_tui.store.runs.standings import Standings
from flowcabal_tui.store.runs.states import States
from flowcabal_tui.store.runs.versions import Versions
from flowcabal_tui.store.runs.workflows import Workflows

FOLDER: Final = ".flowcabal"
DATABASE: Final = "project.db"
LOCK: Final = "lock"


class Store:
    """Everything that a project keeps in its database, by subject. Use `Store.open`."""

    def __init__(
        self,
        database: Database,
        file: Path,
        clock: Clock,
        language: str,
        lock: ProjectLock | None = None,
        holder_now: Callable[[], Holder | None] = lambda: None,
    ) -> None:
        self._database, self._lock = database, lock
        self.holder = holder_now()
        """Who has it open for writing, when this store is read-only."""
        self.runs = Runs(database, clock, holder_now)
        self.states = States(database)
        self.versions = Versions(database, clock)
        self.standings = Standings(database, clock)
        self.answers = Answers(self.runs)
        self.workflows = Workflows(database, clock)
        self.book = Book(database, clock, language)
        self.edits = Edits(database, clock, language)
        self.memory = Memory(database, clock, language)
        self.records = Records(database, clock)
        self.references = References(database, clock)
        self.outbox, self.jobs = Outbox(database), JobTasks(database)
        self.usage = UsageLog(database, clock)
        self.values = Values(database, clock)
        self.upkeep = Upkeep(database, file, clock, language, self.memory.forget_cached)

    @classmethod
    async def open(
        cls, path: Path, *, read_only: bool = False, clock: Clock, language: str, durability: Durability = "FULL"
    ) -> Store:
        """Opens the database of the project folder `path`, and makes it if there is none.

        Raises ProjectLocked, ProjectTooNew, ProjectDamaged, UnsafeFileSystem or DiskFull. With `read_only`
        nothing is locked or made (ProjectNotFound when there is no database), and what another process
        commits is seen.
        """
        folder = path / FOLDER
        file = folder / DATABASE
        if read_only:
            if not file.exists():
                raise ProjectNotFound(
                    _("There is no project database here."),
                    str(file),
                    _("If the chapters lie in its manuscript folder, "
                      "`flowcabal-tui import PROJECT PROJECT/manuscript` takes them in."),
                )  # fmt: skip
            holder_now = partial(holder_of, folder / LOCK)
            return cls(Database(await Readers.open(file), None), file, clock, language, holder_now=holder_now)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise no_room(os_reason(error)) from error
        with contextlib.ExitStack() as undo:
            lock = ProjectLock(folder / LOCK, clock())
            undo.callback(lock.release)
            network = is_network(file_system_of(folder, mounts()))
            connection = await asyncio.to_thread(open_writable, file, network=network, durability=durability)
            undo.callback(connection.close)
            store = cls(Database(await Readers.open(file), Writer(connection, durability)), file, clock, language, lock)
            undo.pop_all()
        with contextlib.suppress(DiskFull):  # what ran then waits for more room; the book can be read meanwhile
            await store.outbox.reset_running()
        return store

    @property
    def read_only(self) -> bool:
        return self._database.read_only

    async def check(self) -> None:
        """SQLite's own check of the whole file. Raises ProjectDamaged."""
        found = [str(row[0]) for row in await self._database.rows("PRAGMA quick_check(5)")]
        if found != ["ok"]:
            raise damaged("; ".join(found))

    async def close(self) -> None:
        """Writes all that waits, then lets the next writer in."""
        await self._database.close()
        if self._lock is not None:
            self._lock.release()
