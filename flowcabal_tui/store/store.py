"""The facade: one project's database, opened and closed."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from flowcabal_tui.domain.errors import DiskFull, ProjectNotFound, UnsafeFile
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.store.book.book import Book
from flowcabal_tui.store.book.drafts import Drafts
from flowcabal_tui.store.book.outbox import Outbox
from flowcabal_tui.store.file.connection import Clock, Database, Durability, Readers, Writer, open_writable
from flowcabal_tui.store.file.faults import damaged, no_room
from flowcabal_tui.store.file.filesystem import network_of
from flowcabal_tui.store.file.foreign_log import require_own_log, set_foreign_log_aside
from flowcabal_tui.store.file.lock import Holder, ProjectLock, holder_of
from flowcabal_tui.store.file.reading import SkippedRows
from flowcabal_tui.store.file.replaced import OpenFile, UnwatchedFile, kept_beside
from flowcabal_tui.store.file.usage import UsageLog
from flowcabal_tui.store.file.values import Values
from flowcabal_tui.system.files import PRIVATE, Folder, Modes, UnsafePath

if TYPE_CHECKING:
    from flowcabal_tui.store.book.changes import Changes
    from flowcabal_tui.store.book.comments import Comments
    from flowcabal_tui.store.book.days import Days
    from flowcabal_tui.store.book.edits import Edits
    from flowcabal_tui.store.book.jobs import JobTasks
    from flowcabal_tui.store.book.references import References
    from flowcabal_tui.store.book.revision import Revision
    from flowcabal_tui.store.book.rewrites import Rewrites
    from flowcabal_tui.store.conversation.conversations import ConversationRows
    from flowcabal_tui.store.file.sent import SentRequests
    from flowcabal_tui.store.file.vectors import Vectors
    from flowcabal_tui.store.maintenance.maintenance import Maintenance
    from flowcabal_tui.store.memory.findings import FindingRows
    from flowcabal_tui.store.memory.memory import Memory
    from flowcabal_tui.store.memory.proposals import Proposals
    from flowcabal_tui.store.memory.records import Records
    from flowcabal_tui.store.runs.builds import BuildRows
    from flowcabal_tui.store.runs.comparisons import ComparisonRows
    from flowcabal_tui.store.runs.current_outputs import CurrentOutputs
    from flowcabal_tui.store.runs.journal import Journal, PaidAnswers
    from flowcabal_tui.store.runs.runs import Runs
    from flowcabal_tui.store.runs.states import States
    from flowcabal_tui.store.runs.versions import Versions
    from flowcabal_tui.store.runs.workflows import Workflows


FOLDER: Final = ".flowcabal"
DATABASE: Final = "project.db"
LOCK: Final = "lock"
_FOLDERS: Final = {
    "book": ("changes", "comments", "days", "edits", "jobs", "references", "revision", "rewrites"),
    "conversation": ("conversations",),
    "file": ("sent", "vectors"),
    "memory": ("findings", "memory", "proposals", "records"),
    "runs": ("builds", "comparisons", "current_outputs", "states", "versions", "workflows"),
}
"""The subjects that are imported when first used, each from the module of its name in this folder."""
_EVERY: Final = 1 << 40
_SUPER_JOURNAL: Final = bytes.fromhex("d9d505f920a163d7")
"""The end of a journal that names another file, which SQLite then deletes (see fileformat2.html). This program never
writes one."""


class Store:
    """All data of a project's database, by subject; most subjects are imported when first used. Use `Store.open`."""

    states: States
    versions: Versions
    current_outputs: CurrentOutputs
    comparisons: ComparisonRows
    workflows: Workflows
    builds: BuildRows
    edits: Edits
    changes: Changes
    days: Days
    rewrites: Rewrites
    comments: Comments
    revision: Revision
    memory: Memory
    records: Records
    proposals: Proposals
    findings: FindingRows
    conversations: ConversationRows
    references: References
    jobs: JobTasks
    sent: SentRequests
    vectors: Vectors

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
        """The process that has the project open for writing, if this store is read-only."""
        self._holder_now = holder_now
        self._file, self._clock, self._language = file, clock, language
        self.book, self.drafts = Book(database, clock, language), Drafts(database, clock, language)
        self.outbox = Outbox(database, lambda: self.is_left)
        self.usage, self.values = UsageLog(database, clock, language), Values(database, clock, language)

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        read_only: bool = False,
        clock: Clock,
        language: str,
        durability: Durability = "FULL",
        modes: Modes = PRIVATE,
    ) -> Store:
        """Opens the database of the project folder `path`, and creates a missing one.

        Raises ProjectLocked, ProjectTooNew, ProjectDamaged, ForeignLog, UnsafeFile, UnsafeFileSystem or DiskFull. New
        files get `modes`, and existing ones lose what they do not allow. With `read_only` nothing is locked or created
        (ProjectNotFound when there is no database), and commits of another process are visible.
        """
        folder = path / FOLDER
        file = folder / DATABASE
        _require_own_files(path)
        if read_only:
            return await cls._open_to_read(file, clock, language)
        project = Folder(path, modes)
        try:
            path.mkdir(parents=True, exist_ok=True, mode=modes.folder)
            project.make(FOLDER)
            project.tighten(FOLDER)
        except OSError as error:
            raise no_room(os_reason(error)) from error
        with contextlib.ExitStack() as undo:
            lock = ProjectLock(folder / LOCK, clock(), modes.file)
            undo.callback(lock.release)
            await asyncio.to_thread(set_foreign_log_aside, file, kept_beside(file))
            network = bool(network_of(folder))
            connection = await asyncio.to_thread(
                open_writable, file, network=network, durability=durability, mode=modes.file
            )
            undo.callback(connection.close)
            has_log = file.with_name(f"{DATABASE}-wal").exists()
            writer = Writer(connection, durability, OpenFile(file, connection) if has_log else UnwatchedFile())
            store = cls(Database(await Readers.open(file), writer), file, clock, language, lock)
            undo.pop_all()
        try:
            with contextlib.suppress(DiskFull):  # interrupted runs wait for more space; the book can be read meanwhile
                await store.outbox.reset_running()
                await store.conversations.begin()
        except BaseException:  # cut off or failed, the file is let go
            await store.close()
            raise
        return store

    @classmethod
    async def _open_to_read(cls, file: Path, clock: Clock, language: str) -> Store:
        if not file.exists():
            raise ProjectNotFound(
                _("There is no project database here."),
                str(file),
                _("Open it for writing once. If its chapters are in the manuscript folder, `flowcabal-tui "
                  "rescue PROJECT --to FOLDER` extracts them."),
            )  # fmt: skip
        holder_now = partial(holder_of, file.with_name(LOCK))
        if holder_now() is None:  # a running process checks its own log
            await asyncio.to_thread(require_own_log, file)
        return cls(Database(await Readers.open(file), None), file, clock, language, holder_now=holder_now)

    def __getattr__(self, name: str) -> object:
        """Imports and builds a subject at its first use."""
        folder = next((folder for folder, names in _FOLDERS.items() if name in names), None)
        if folder is None:
            raise AttributeError(name)
        kind = getattr(import_module(f"flowcabal_tui.store.{folder}.{name}"), Store.__annotations__[name])
        part: object = kind(self._database, self._clock, self._language)
        setattr(self, name, part)
        return part

    @cached_property
    def journal(self) -> Journal:
        """What the runner writes and reads while it works."""
        from flowcabal_tui.store.runs.journal import Journal

        return Journal(self._database, self._clock, self._language)

    @cached_property
    def runs(self) -> Runs:
        """Runs as the history and the queue of questions list them."""
        from flowcabal_tui.store.runs.runs import Runs

        return Runs(self._database, self._clock, self._language, self.journal.live, self._holder_now)

    @cached_property
    def answers(self) -> PaidAnswers:
        """Paid answers of models."""
        from flowcabal_tui.store.runs.journal import PaidAnswers

        return PaidAnswers(self.journal)

    @cached_property
    def maintenance(self) -> Maintenance:
        """Purges, repairs and copies."""
        from flowcabal_tui.store.maintenance.maintenance import Maintenance

        forget = self.memory.forget_cached
        return Maintenance(self._database, self._file, self._clock, self._language, forget)

    @property
    def read_only(self) -> bool:
        return self._database.read_only

    @property
    def network(self) -> str:
        """The type of the network file system on which the project is; "" for a local one."""
        return network_of(self._file.parent)

    @property
    def skipped(self) -> SkippedRows:
        """The rows that lists have left out since it was opened."""
        return self._database.skipped

    @property
    def is_left(self) -> bool:
        """True when this store is read-only and no process writes, so that work begun by a killed process is not in
        progress."""
        return self.read_only and self._holder_now() is None

    async def check(self) -> None:
        """Runs SQLite's integrity check on the whole file. Raises ProjectDamaged."""
        found = [str(row[0]) for row in await self._database.rows("PRAGMA quick_check(5)")]
        if found != ["ok"]:
            raise damaged("; ".join(found))

    async def skipped_rows(self) -> dict[str, int]:
        """Reads the lists, and returns the counts of `skipped`. Raises ProjectDamaged."""
        from flowcabal_tui.domain.findings import FindingFilter
        from flowcabal_tui.domain.proposals import ProposalFilter

        await self.proposals.page(ProposalFilter(()), 0, _EVERY)
        await self.findings.page(FindingFilter(()), 0, _EVERY)
        await self.runs.summaries(_EVERY)
        await (await self.memory.view(None)).story()
        lists = (self.comments.all, self.memory.entities, self.book.kept, self.workflows.list, self.runs.open_questions)
        more = (self.conversations.all, self.comparisons.all, self.rewrites.waiting, self.findings.checked)
        others = (self.changes.all, self.revision.locks, self.outbox.all)
        for read in (*lists, *more, *others):
            await read()
        return self.skipped.counts

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Writes all that is queued, then releases the lock."""
        await self._database.close()
        if self._lock is not None:
            self._lock.release()


def _require_own_files(path: Path) -> None:
    """No file that SQLite would write to may be a link, and no journal may name a file elsewhere. Raises UnsafeFile."""
    project, journal = Folder(path), f"{DATABASE}-journal"
    try:
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", journal):
            with contextlib.suppress(FileNotFoundError):
                project.require(FOLDER, name)
        with contextlib.suppress(FileNotFoundError, PermissionError), project.opened(FOLDER, journal) as descriptor:
            size = os.fstat(descriptor).st_size
            if size >= len(_SUPER_JOURNAL) and os.pread(descriptor, 8, size - 8) == _SUPER_JOURNAL:
                raise UnsafePath(path / FOLDER / journal, _("It refers to a file elsewhere"))
    except UnsafePath as error:
        raise UnsafeFile(
            _("The project's database was not opened."),
            error.reason,
            _("Nothing was changed. Put a real folder or file there, or restore the project from a backup."),
        ) from error
    except OSError:
        return  # the folder is missing or unreadable: the next step reports it
