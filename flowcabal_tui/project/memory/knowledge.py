"""The knowledge server of an open project: its endpoint, its process, and its queries."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import shutil
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.errors import BudgetExceeded, FlowCabalError, KnowledgeError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.model_ports import EmbeddingPort, ModelPort
from flowcabal_tui.domain.text import without_login
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.models.shared import EmbedderAround, SharedEmbedder
from flowcabal_tui.project.models.kept_vectors import KeptEmbedder
from flowcabal_tui.project.models.memory_gate import MEMORY_WORK, MemoryWork
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.memory import KnowledgeStatus as StatusEvent
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.project_file import KnowledgeSettings
from flowcabal_tui.system.files import Folder
from flowcabal_tui.viking.layout import project_uri, workspace_name
from flowcabal_tui.viking.manifest import Head, Record, empty_if_other
from flowcabal_tui.viking.status import Absent, External, Failed, KnowledgeStatus, Ready, Restarting, Starting, Stopped
from flowcabal_tui.viking.sync import KnowledgeSync

if TYPE_CHECKING:
    from flowcabal_tui.models.loopback import LoopbackEndpoint
    from flowcabal_tui.viking.client import KnowledgeClient
    from flowcabal_tui.viking.external import ExternalKnowledge
    from flowcabal_tui.viking.server import OpenVikingServer

log = logging.getLogger(__name__)
_SERVER_LOCK: Final = ".openviking.lock"
"""OpenViking holds it in its data directory while it runs."""
DRAIN_SECONDS: Final = 0.5
DRAIN_LOOKS: Final = 240
"""Number of checks, two minutes in all; tasks that are open then are sent again."""


@dataclass(frozen=True, slots=True)
class KnowledgeGuards:
    """What must hold before something is sent to the knowledge server or its embedding model."""

    require_budget: Callable[[], None]
    """Raises BudgetExceeded when vectors cannot be paid."""
    require_confirmed: Callable[[], None]
    """Raises ProjectNotConfirmed or ModelError for a server that the user has not confirmed."""
    require_agreed: Callable[[], None]
    """Raises SpendingNotAgreed while the user's rule refuses vectors for background work."""


class KnowledgeConnection:
    """Starts the endpoint, then the server; stops them in reverse order. Lives on the engine's loop."""

    def __init__(
        self,
        settings: KnowledgeSettings,
        project: tuple[str, str, Path],
        language: str,
        emit: Callable[[Event], None],
        ready: Callable[[Mapping[str, str]], Awaitable[None]],
        guards: KnowledgeGuards,
    ) -> None:
        """`project` is (id, name, folder). `ready` is called with `KnowledgeSync.sources()`, the content of the server,
        and queues the missing texts before the server is reported as ready.
        """
        self._settings, self._language = settings, language
        self._id, self._name, self._folder = project
        self._cache = paths.cache_folder() / "knowledge" / workspace_name(self._id, self._folder, settings.url)
        self._emit, self._ready, self._guards = emit, ready, guards
        self._step: MemoryWork | None = None
        """The step of background work that is sending a subject."""
        self._open = AsyncExitStack()
        self._endpoint: LoopbackEndpoint | None = None
        self._server: OpenVikingServer | ExternalKnowledge | None = None
        self._sync: KnowledgeSync | None = None
        self._client: KnowledgeClient | None = None
        self._repairing: asyncio.Task[None] | None = None
        self._why_emptied = ""
        self._decided = asyncio.Event()
        self._decided.set()
        self.embedder = ""
        """The embedder whose vectors the server compares; search results depend on it."""
        self.vectors: EmbeddingPort | None = None
        """The project's own embedding model, once the server was begun."""
        self._stored: KeptEmbedder | None = None
        self._kept: KeptEmbedder | None = None
        """The same when a vector costs something."""
        self.last = StatusEvent("off", _("it was not started"))
        self.began = False
        """True once a server was wanted in this process."""

    async def start(self, embedder: EmbeddingPort, model: ModelPort | None) -> None:
        """Starts in the background; nothing waits for it. Raises the errors of `require_confirmed`."""
        if not self._settings.enabled:
            self._emit_status(StatusEvent("off", _("switched off")))
            return
        self._guards.require_confirmed()
        self._decided.clear()
        self.began = True
        # Loaded here: a book that wants no server is opened sooner without.
        from flowcabal_tui.models.loopback import LoopbackEndpoint
        from flowcabal_tui.viking.client import KnowledgeClient
        from flowcabal_tui.viking.external import ExternalKnowledge
        from flowcabal_tui.viking.server import EmbeddingEndpoint, OpenVikingServer

        self.vectors = SharedEmbedder(embedder)
        self._stored = embedder if isinstance(embedder, KeptEmbedder) else None
        self._kept = self._stored if self._stored is not None and self._stored.costs else None
        if (close := getattr(embedder, "aclose", None)) is not None:
            self._open.push_async_callback(close)
        folder = self._cache
        if self._settings.url:
            # Two machines, or two copies of a book, must not write into each other's tree.
            place = project_uri("\n".join((self._id, gethostname(), str(self._folder))), self._name)
            head = Head(place, self._language, without_login(self._settings.url))
            self._server = ExternalKnowledge(self._settings.url, self._changed, key_variable=self._settings.api_key_env)
        else:
            head = Head(project_uri(self._id, self._name), self._language, f"{embedder.identity}/{embedder.dimensions}")
            served = _ServedVectors(self.vectors, lambda: self._step or MemoryWork())
            self._endpoint = await self._open.enter_async_context(LoopbackEndpoint(served, model))
            self._server = OpenVikingServer(
                folder,
                EmbeddingEndpoint(self._endpoint.url, self._endpoint.token, embedder.dimensions),
                self._changed,
            )
        self.embedder = head.embedder
        self._client = KnowledgeClient(self._server.address)
        workspace = self._server.workspace
        if workspace is not None:
            self._why_emptied = await asyncio.to_thread(empty_if_other, workspace, head)
        self._sync = KnowledgeSync(self._client, head, workspace or folder, workspace)
        await self._server.start()

    def report_unconfirmed(self) -> None:
        """Reports that the user has not confirmed the server."""
        self._emit_status(StatusEvent("off", _("not confirmed: F10")))

    def asks(self) -> bool:
        """True when it waits for a person to allow texts to be sent; False when it sends none: off, or external."""
        if not self._settings.enabled or self._settings.url:
            return False
        self._emit_status(StatusEvent("asks", _("waiting for your answer")))
        return True

    async def known_vectors(self, texts: Sequence[str]) -> list[list[float]] | None:
        """The vectors of these texts if all are stored; None if a model would have to be called."""
        return None if self._stored is None else await self._stored.stored(texts)

    async def paid_vector(self, query: str) -> None:
        """Makes the vector of a query in the task of the run that pays for it.

        The server's request over HTTP, which names no run, then finds it stored. Raises ModelError.
        """
        if self._kept is not None:
            await self._kept.embed([query])

    async def costs_nothing(self, query: str) -> bool:
        """True when this search needs no paid vector."""
        return self._kept is None or await self._kept.stored([query]) is not None

    def failed(self, reason: str) -> None:
        """Reports that the server could not be started."""
        self._emit_status(StatusEvent("failed", reason))

    async def started(self, seconds: float) -> None:
        """Returns when the server is no longer starting, or after `seconds`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._decided.wait(), seconds)

    @property
    def is_up(self) -> bool:
        """True when it can be queried now."""
        return self.last.state in ("ready", "external")

    @property
    def is_in_use(self) -> bool:
        """True when the writer has a server: one elsewhere, or one that is installed and may be started."""
        is_there = bool(self._settings.url) or self.last.state not in ("absent", "asks", "off")
        return self._settings.enabled and is_there

    def is_expected(self) -> None:
        """Announces that it will be started soon, so that `started` waits for it."""
        self._decided.clear()

    def sync(self) -> KnowledgeSync:
        """The synchronisation of the server's tree with the book. Raises KnowledgeError while the server is not
        available."""
        if self._sync is None or not self.is_up:
            raise KnowledgeError(
                _("The knowledge server is not available: {state}.").format(state=self.last.message or self.last.state),
                _("Everything else continues."),
            )
        return self._sync

    def require_paid(self) -> None:
        """Called before any request that needs vectors. Raises KnowledgeError when they cannot be paid.

        The vectors that follow are made at any cost: the server does not repeat a refused one.
        """
        try:
            self._guards.require_budget()
        except BudgetExceeded as error:
            raise KnowledgeError(error.title, error.detail, error.advice) from error

    def paid_sync(self) -> KnowledgeSync:
        """Like `sync`, for requests that need vectors."""
        self.require_paid()
        return self.sync()

    @contextmanager
    def sending(self, subject: str) -> Iterator[None]:
        """The context in which a step of background work sends a subject: vectors that the server requests belong to
        it.

        A subject sent without one of them, because the user has not agreed to pay for it, is sent again later. Raises
        SpendingNotAgreed if nothing can have changed since the last refusal.
        """
        if self._kept is not None and self._endpoint is not None:
            self._guards.require_agreed()
        self._step = MEMORY_WORK.get()
        try:
            yield
        finally:
            if self._sync is not None and self._step is not None and self._step.refused is not None:
                self._sync.forget(subject)
            self._step = None

    def set_positions(self, positions: Mapping[ChapterId, int]) -> None:
        """Reports that the chapters' positions have changed."""
        if self._sync is not None:
            self._sync.set_positions(positions)

    def _changed(self, status: KnowledgeStatus) -> None:
        if self._repairing is not None:
            self._repairing.cancel()
        match status:
            case Absent():
                self._emit_status(StatusEvent("absent", _("openviking is not installed")))
            case Starting(seconds=seconds):
                self._emit_status(StatusEvent("starting", _("starting, {n} s").format(n=seconds)))
            case Restarting(tries=tries, reason=reason):
                self._emit_status(StatusEvent("restarting", _("restart {n}: {reason}").format(n=tries, reason=reason)))
            case Failed(reason=reason) | External(reason=reason) if reason:
                self._emit_status(StatusEvent("failed", reason))
            case Stopped():
                self._emit_status(StatusEvent("stopped", _("it was stopped")))
            case External(url=url):
                self._begin(StatusEvent("external", url), thorough=self.last.state != "external")
            case Ready(repair=repair):
                self._begin(StatusEvent("ready"), thorough=repair)

    def _begin(self, status: StatusEvent, *, thorough: bool) -> None:
        self._repairing = asyncio.get_running_loop().create_task(self._usable(status, thorough=thorough))

    async def _usable(self, status: StatusEvent, *, thorough: bool) -> None:
        """Compares the server's content with the expected one before it is used, since its files are only a cache."""
        if self._sync is None or self._client is None:
            return
        try:
            await self._unpack(self._sync)
            if thorough:
                await self._drained(self._client)
            if forgotten := await self._sync.repair(thorough=thorough):
                log.warning("the knowledge server has lost %d texts", len(forgotten))
        except (KnowledgeError, OSError) as error:
            log.warning("repair: %s", error)
        stored = self._sync.sources()
        why, self._why_emptied = ("" if stored else self._why_emptied), ""
        try:
            await self._ready(stored)
        except FlowCabalError as error:  # the store cannot be written just now: the next start books it
            log.warning("what the knowledge server is owed: %s", error.title)
        self._emit_status(replace(status, message=why or status.message))

    async def _drained(self, client: KnowledgeClient) -> None:
        """Waits until the server has finished the work that it resumed by itself; until then vectors seem to be
        missing."""
        for _look in range(DRAIN_LOOKS):
            waiting = await client.waiting()
            if not waiting:
                return
            self._emit_status(StatusEvent("starting", _("indexing missing texts: {n}").format(n=waiting)))
            await asyncio.sleep(DRAIN_SECONDS)

    async def rebuild(self, subjects: Collection[str] = ()) -> None:
        """Removes everything, or these subjects, from the server's tree; the caller queues the tasks that restore it.
        Raises KnowledgeError while the server is not available."""
        for subject in subjects:
            await self.sync().remove(subject)
        if not subjects:
            await self.sync().clear()

    def records(self) -> tuple[tuple[str, Record], ...]:
        """The directories of the server as known locally; () before its first start."""
        return self._sync.records() if self._sync is not None else ()

    @property
    def place(self) -> str:
        """The folder or the address of the server's data."""
        return without_login(self._settings.url) if self._settings.url else str(self._cache)

    async def look_again(self) -> None:
        """Starts a server that was installed meanwhile, given up, or stopped by `stop`."""
        if self._server is not None and self.last.state in ("absent", "failed", "stopped"):
            await self._server.start()

    async def stop(self) -> None:
        """Stops the server and waits for its end; `look_again` starts it."""
        if self._server is not None:
            await self._server.stop(wait=True)

    async def pack(self, path: Path) -> bool:
        """Writes the content of the server into a file, for a backup; False when it has none or fails."""
        try:
            await self.sync().export_pack(path)
        except KnowledgeError as error:
            log.warning("pack: %s", error.title)
            return False
        return True

    async def _unpack(self, sync: KnowledgeSync) -> None:
        """Loads the pack of a backup that was restored here, once. Missing texts are sent like others."""
        from flowcabal_tui.project.book.backup import KNOWLEDGE

        project, names = Folder(self._folder), (paths.PROJECT_STATE, KNOWLEDGE)
        if project.status(*names) is None:  # a link in its place would send a file from elsewhere
            return
        try:
            if not sync.sources():
                await sync.import_pack(self._folder.joinpath(*names))
        finally:
            project.remove(*names)

    def _emit_status(self, status: StatusEvent) -> None:
        self.last = status
        (self._decided.clear if status.state == "starting" else self._decided.set)()
        self._emit(status)

    @property
    def is_elsewhere(self) -> bool:
        """True when the server belongs to another machine or program, whose files are not ours."""
        return bool(self._settings.url)

    async def wipe(self) -> bool:
        """Stops a local server and deletes its folder, because its database keeps deleted texts in its log for a long
        time.

        False while another process still uses the folder. Raises OSError.
        """
        await self.close(wait=True)
        self._open, self._server, self._client, self._sync = AsyncExitStack(), None, None, None
        return await asyncio.to_thread(_delete_unused, self._cache)

    async def close(self, *, wait: bool = False) -> None:
        """Stops the server, without waiting for its end unless `wait`, then the endpoint."""
        if self._repairing is not None:
            self._repairing.cancel()
        if self._server is not None:
            await self._server.stop(wait=wait)
        if self._client is not None:
            await self._client.aclose()
        await self._open.aclose()


class _ServedVectors(EmbedderAround):
    """The embedder as the server calls it: over HTTP, where a request names no step."""

    def __init__(self, embedder: EmbeddingPort, step: Callable[[], MemoryWork]) -> None:
        super().__init__(embedder)
        self._step = step

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See EmbeddingPort. Also raises SpendingNotAgreed."""
        outside = MEMORY_WORK.set(self._step())
        try:
            return await self._embedder.embed(texts)
        finally:
            MEMORY_WORK.reset(outside)


def _delete_unused(folder: Path) -> bool:
    """Deletes a server's folder unless a server of an earlier process is still ending; returns True when it is
    deleted."""
    lock = folder / "workspace" / _SERVER_LOCK
    with suppress(FileNotFoundError):
        file = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(file)
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
    return not folder.exists()
