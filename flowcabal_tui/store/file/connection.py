"""The connections to a project's database: one thread that writes, two that read.

The writer owns the only writable connection. It takes all waiting jobs, runs them in one transaction, and wakes their
callers with one call per event loop after the commit is on disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import sqlite3
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import cached_property, wraps
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Concatenate, Final, Literal, ParamSpec, TypeVar

import aiosqlite

from flowcabal_tui.domain.errors import DiskFull, FlowCabalError, Gone, ProjectError, ProjectReadOnly
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.store.file.faults import ERRORS, fault
from flowcabal_tui.store.file.reading import SkippedRows
from flowcabal_tui.store.file.replaced import LOOK_SECONDS, OpenFile, UnwatchedFile
from flowcabal_tui.store.file.schema import CAUTION, SCHEMA, require_own_schema
from flowcabal_tui.store.migrations import migrate, require_current, require_known, version_of
from flowcabal_tui.system.files import PRIVATE

log = logging.getLogger(__name__)
T = TypeVar("T")
P = ParamSpec("P")
Clock = Callable[[], datetime]
"""Returns the time for a row."""
Work = Callable[[sqlite3.Connection], None]
"""A part of a transaction, which is written together with the other parts or not at all. See `Writer.do`."""
Row = tuple[Any, ...]
Parameters = Sequence[Any] | Mapping[str, Any]
Durability = Literal["FULL", "NORMAL"]
_BATCH: Final = 1_000
_BUSY_MS: Final = 5_000
_READERS: Final = 2


def open_writable(
    path: Path, *, network: bool, durability: Durability = "FULL", mode: int = PRIVATE.file
) -> sqlite3.Connection:
    """A migrated connection for the writer's thread. Raises ProjectDamaged, ProjectTooNew or DiskFull.

    A new file gets `mode`, and so do the files that SQLite adds next to it.

    With durability NORMAL a power failure can lose the newest commits, a kill cannot. On a network file system a
    rollback journal replaces the write-ahead log.
    """
    connection: sqlite3.Connection | None = None
    with contextlib.suppress(OSError):  # it exists, or SQLite reports why it cannot be created
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1_000)
        if network:  # a log that comes from a local disk is read without shared memory
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        require_sound(connection)
        connection.execute(f"PRAGMA journal_mode={'DELETE' if network else 'WAL'}")
        if network:
            connection.execute("PRAGMA locking_mode=NORMAL")
        connection.execute(f"PRAGMA synchronous={durability}")
        migrate(connection)
    except BaseException as error:  # interrupted or failed: the file is closed
        if connection is not None:
            connection.close()
        if isinstance(error, ERRORS):
            raise fault(error) from error
        raise
    return connection


def require_sound(connection: sqlite3.Connection) -> int:
    """Checks a file before its first use, since it may come from a stranger. Returns its version."""
    for caution in CAUTION:
        connection.execute(caution)
    version = version_of(connection)
    require_known(version)
    require_own_schema(connection.execute(SCHEMA).fetchall(), version)
    return version


@dataclass(slots=True)
class _Job:
    """Work for the writer, and then its result."""

    work: Callable[[sqlite3.Connection], Any]
    future: asyncio.Future[Any] | None
    alone: bool = False
    value: Any = None
    error: BaseException | None = None

    def settle(self) -> None:
        if self.future is None or self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)


class Writer:
    """Runs jobs in the order of their submission."""

    def __init__(self, connection: sqlite3.Connection, durability: Durability, file: OpenFile | UnwatchedFile) -> None:
        self._connection, self._durability, self._file = connection, durability, file
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._closing = False
        self._gate = Lock()
        self._relaxed = False
        self.commits = 0
        self._thread = Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` and returns its value once the commit is on disk. Raises what `work` raises, or DiskFull, and
        then nothing was changed.

        The work is done even if the caller is cancelled meanwhile. It may be called twice, so it must change nothing
        but the database.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._put(_Job(work, future))
        return await future

    async def alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `do`, but outside a transaction: for statements such as VACUUM that SQLite runs in its own."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._put(_Job(work, future, alone=True))
        return await future

    def post(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Queues work whose loss costs little; a transaction of such work alone does not wait for the disk."""
        self._put(_Job(work, None))

    async def finish(self) -> bool:
        """Runs all waiting jobs. Returns True if the connection must be closed before the readers: closed last, it
        would write its log into the file of another program."""
        with self._gate:
            if not self._closing:
                self._closing = True
                self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        return self._file.displaced in ("overwritten", "log overwritten")

    async def close(self) -> None:
        """Like `finish`, then closes the connection, and with it the log if no other connection is open."""
        await self.finish()
        await asyncio.to_thread(self._connection.close)

    def _put(self, job: _Job) -> None:
        with self._gate:
            if self._closing:
                raise ProjectError(_("The project is closed."))
            self._queue.put(job)

    def _work(self) -> None:
        closing = False
        while not closing:
            jobs = [self._next()]
            while len(jobs) < _BATCH and not self._queue.empty():
                jobs.append(self._queue.get())
            closing = jobs[-1] is None
            batch = [job for job in jobs if job is not None]
            for alone, jobs_of_kind in itertools.groupby(batch, key=lambda job: job.alone):
                together = list(jobs_of_kind)
                (self._each_alone if alone else self._commit)(together)
                _settle(together)
        self._release()

    def _next(self) -> _Job | None:
        """Waits for a job; if none comes soon, looks at the file meanwhile, since the last commit may have run a
        checkpoint."""
        try:
            return self._queue.get(timeout=LOOK_SECONDS)
        except Empty:
            with contextlib.suppress(DiskFull, OSError, *ERRORS):  # the next transaction is refused
                self._file.look()
            return self._queue.get()

    def _release(self) -> None:
        try:
            self._file.release()
        except (OSError, sqlite3.Error) as error:
            log.error("the database that was replaced could not be kept: %s", error)

    def _commit(self, batch: Sequence[_Job]) -> None:
        """Runs jobs in one transaction; if one of them fails, runs each in its own."""
        is_durable = self._durability == "FULL" and any(job.future is not None for job in batch)
        try:
            self._file.require_own()
            self._relax(not is_durable)
            self._connection.execute("BEGIN IMMEDIATE")
            for job in batch:
                job.value = job.work(self._connection)
            self._file.require_own()
            self._file.stamp()
            self._connection.execute("COMMIT")
            self.commits += 1
            self._file.committed()
        except Exception as error:  # whatever goes wrong in a job belongs to who awaits it, not to the other jobs
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if len(batch) > 1:
                for job in batch:
                    self._commit([job])
            else:
                batch[0].value, batch[0].error = None, fault(error) if isinstance(error, ERRORS) else error

    def _each_alone(self, batch: Sequence[_Job]) -> None:
        for job in batch:
            try:
                self._file.require_own()
                self._file.stamp()
                self._file.committed()
                job.value = job.work(self._connection)
                self._file.look()
            except Exception as error:  # it belongs to who awaits it
                job.error = fault(error) if isinstance(error, ERRORS) else error

    def _relax(self, relaxed: bool) -> None:
        if relaxed != self._relaxed and self._durability == "FULL":
            self._connection.execute(f"PRAGMA synchronous={'NORMAL' if relaxed else 'FULL'}")
            self._relaxed = relaxed


def _settle(batch: Sequence[_Job]) -> None:
    waiting: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        if job.future is not None:
            waiting.setdefault(job.future.get_loop(), []).append(job)
        elif job.error is not None:
            log.warning("a piece of streamed text was not journalled: %s", job.error)
    for loop, jobs in waiting.items():
        with contextlib.suppress(RuntimeError):  # the caller's loop has ended: nobody waits any more
            loop.call_soon_threadsafe(_wake, jobs)


def _wake(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job.settle()


class Readers:
    """A small pool of read-only connections; each query sees all earlier commits."""

    def __init__(self, connections: Sequence[aiosqlite.Connection], path: Path) -> None:
        self._connections, self._path = connections, path
        self._turn = itertools.cycle(connections)

    @classmethod
    async def open(cls, path: Path) -> Readers:
        """Opens the connections. Raises ProjectDamaged, ProjectTooNew or DiskFull (when the file cannot even be
        opened)."""
        opened = await asyncio.gather(*(_open_reader(path) for _number in range(_READERS)), return_exceptions=True)
        connections = [one for one in opened if isinstance(one, aiosqlite.Connection)]
        for error in opened:
            if isinstance(error, BaseException):
                for connection in connections:
                    await connection.close()
                raise error
        return cls(connections, path)

    @cached_property
    def direct(self) -> sqlite3.Connection:
        """A further connection, for lookups on the loop's own thread."""
        connection = sqlite3.connect(_uri(self._path, "mode=ro"), uri=True, isolation_level=None, timeout=0)
        for pragma in (*CAUTION, "PRAGMA query_only=1"):
            connection.execute(pragma)
        return connection

    async def rows(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """All rows of one query."""
        try:
            return list(await next(self._turn).execute_fetchall(sql, parameters))  # type: ignore[arg-type]  # typed too narrowly
        except ERRORS as error:
            raise fault(error) from error

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()
        if "direct" in vars(self):
            self.direct.close()


async def _open_reader(path: Path) -> aiosqlite.Connection:
    try:
        return await _connect(_uri(path, "mode=ro"))
    except ERRORS as error:
        journal = path.with_name(path.name + "-wal")
        if journal.exists() and journal.stat().st_size:
            raise _not_closed(error) from error
    try:  # in a folder that cannot be written, a database that was closed well is read as one that never changes
        return await _connect(_uri(path, "mode=ro&immutable=1"))
    except ERRORS as error:
        raise fault(error) from error


def _not_closed(error: sqlite3.Error | UnicodeDecodeError) -> FlowCabalError | sqlite3.Error:
    found = fault(error)
    if not isinstance(found, DiskFull):
        return found
    return ProjectError(
        _("The project cannot be read here."),
        _("It was not closed properly last time, and this folder cannot be written to."),
        _("Copy the project to a folder that you can write to, and open it there."),
    )


async def _connect(uri: str) -> aiosqlite.Connection:
    connection = aiosqlite.connect(uri, uri=True, timeout=_BUSY_MS / 1_000)
    try:
        await connection
        for caution in CAUTION:
            await connection.execute(caution)
        ((version,),) = await connection.execute_fetchall("PRAGMA user_version")
        require_known(version)
        require_own_schema([tuple(row) for row in await connection.execute_fetchall(SCHEMA)], version)
        require_current(version)
    except BaseException:  # interrupted or failed: the file is closed
        await connection.close()
        raise
    return connection


def _uri(path: Path, options: str) -> str:
    return f"{path.resolve().as_uri()}?{options}"


class Database:
    """The writer and the readers of a project's database; one that was opened read-only has no writer."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers, self._writer = readers, writer
        self.rows = readers.rows
        self.skipped = SkippedRows()
        self.readable = self.skipped.readable
        if writer is not None:
            readers.direct.execute("SELECT 1 FROM sqlite_schema LIMIT 0")  # the first look-up finds the schema read

    @property
    def read_only(self) -> bool:
        return self._writer is None

    @property
    def writer(self) -> Writer:
        """The writer. Raises ProjectReadOnly."""
        if self._writer is None:
            raise ProjectReadOnly(
                _("The project is open read-only."),
                _("Nothing was changed."),
                _("Close it where it is open for writing, then open it again."),
            )
        return self._writer

    @property
    def commits(self) -> int | None:
        """A counter that grows with each transaction, before its caller gets the result. None: another process
        writes."""
        return self._writer.commits if self._writer is not None else None

    def at_once(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """The rows of a lookup by key, on the caller's own thread: only for queries of microseconds."""
        try:
            return self._readers.direct.execute(sql, parameters).fetchall()
        except ERRORS as error:
            raise fault(error) from error

    async def do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """See `Writer.do`."""
        return await self.writer.do(work)

    async def execute(self, sql: str, parameters: Parameters = ()) -> int:
        """Carries out one statement in a transaction; returns the number of rows that it changed."""
        return await self.do(lambda connection: connection.execute(sql, parameters).rowcount)

    async def alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """See `Writer.alone`."""
        return await self.writer.alone(work)

    async def row(self, sql: str, parameters: Parameters = ()) -> Row | None:
        """The first row."""
        found = await self.rows(sql, parameters)
        return found[0] if found else None

    async def one(self, sql: str, parameters: Parameters, wanted: object) -> Row:
        """The first row. Raises Gone(wanted) when there is none."""
        row = await self.row(sql, parameters)
        if row is None:
            raise Gone(wanted)
        return row

    async def close(self) -> None:
        """Completes all submitted jobs, then closes the file."""
        if self._writer is not None and await self._writer.finish():
            await self._writer.close()
        await self._readers.close()
        if self._writer is not None:
            await self._writer.close()


def one_row(connection: sqlite3.Connection, sql: str, parameters: Parameters, wanted: object) -> Row:
    """The first row. Raises Gone(wanted) when there is none."""
    row: Row | None = connection.execute(sql, parameters).fetchone()
    if row is None:
        raise Gone(wanted)
    return row


class StorePart:
    """A subject of a project's database, with its queries and changes. `language` is that of the book."""

    def __init__(self, database: Database, clock: Clock, language: str) -> None:
        self._database, self._clock, self._language = database, clock, language

    def _now(self) -> str:
        return self._clock().isoformat()


S = TypeVar("S", bound=StorePart)


def transaction(
    method: Callable[Concatenate[S, sqlite3.Connection, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Makes a method one transaction of its object's database: it is awaited, without the connection.

    It runs on the writer's thread and again if another job of the same commit fails; see `Writer.do`.
    """

    @wraps(method)
    async def transact(self: S, /, *arguments: P.args, **named: P.kwargs) -> T:
        return await self._database.do(lambda connection: method(self, connection, *arguments, **named))

    return transact
