"""The knowledge server of an open project: its endpoint, its life, and what is asked of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.errors import BudgetExceeded, FlowCabalError, KnowledgeError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.model_calls import EmbeddingPort, ModelPort
from flowcabal_tui.domain.text import without_login
from flowcabal_tui.locale import _
from flowcabal_tui.protocol import Event
from flowcabal_tui.protocol import KnowledgeStatus as StatusEvent
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.project_file import KnowledgeSettings
from flowcabal_tui.viking.layout import project_uri, workspace_name
from flowcabal_tui.viking.manifest import Head, empty_if_other
from flowcabal_tui.viking.status import (
    Absent,
    External,
    Failed,
    KnowledgeStatus,
    Ready,
    Restarting,
    Starting,
    Stopped,
)
from flowcabal_tui.viking.sync import KnowledgeSync

if TYPE_CHECKING:
    from flowcabal_tui.models.loopback import LoopbackEndpoint
    from flowcabal_tui.viking.client import KnowledgeClient
    from flowcabal_tui.viking.external import ExternalKnowledge
    from flowcabal_tui.viking.server import OpenVikingServer

log = logging.getLogger(__name__)
DRAIN_SECONDS: Final = 0.5
DRAIN_LOOKS: Final = 240
"""Two minutes; what is still to be done by then is sent again."""


class KnowledgeDesk:
    """Starts the endpoint, then the server; stops them the other way round. Lives on the engine's loop."""

    def __init__(
        self,
        settings: KnowledgeSettings,
        project: tuple[str, str, Path],
        language: str,
        emit: Callable[[Event], None],
        ready: Callable[[Mapping[str, str]], Awaitable[None]],
        hold: Callable[[], None] = lambda: None,
    ) -> None:
        """`project` is (id, name, folder). `ready` gets what the server holds, as `KnowledgeSync.held`, and books what
        it is still owed; only then is it said to be ready. `hold` raises BudgetExceeded where vectors cannot be paid.
        """
        self._settings, self._language = settings, language
        self._id, self._name, self._folder = project
        self._emit, self._ready, self._hold = emit, ready, hold
        self._open = AsyncExitStack()
        self._endpoint: LoopbackEndpoint | None = None
        self._server: OpenVikingServer | ExternalKnowledge | None = None
        self._sync: KnowledgeSync | None = None
        self._client: KnowledgeClient | None = None
        self._repairing: asyncio.Task[None] | None = None
        self._why_anew = ""
        self._decided = asyncio.Event()
        self._decided.set()
        self.embedder = ""
        """Whose vectors the server compares: what it finds depends on them."""
        self.vectors: EmbeddingPort | None = None
        """The project's own embedding model, once the server was begun."""
        self.last = StatusEvent("off", _("it was not started"))

    async def start(self, embedder: EmbeddingPort, model: ModelPort | None) -> None:
        """Begins in the background; nothing waits for it."""
        if not self._settings.enabled:
            self._tell(StatusEvent("off", _("switched off")))
            return
        self._decided.clear()
        # Loaded here: a book that wants no server is opened sooner without.
        from flowcabal_tui.models.loopback import LoopbackEndpoint
        from flowcabal_tui.models.shared import SharedEmbedder
        from flowcabal_tui.viking.client import KnowledgeClient
        from flowcabal_tui.viking.external import ExternalKnowledge
        from flowcabal_tui.viking.server import EmbeddingEndpoint, OpenVikingServer

        self.vectors = SharedEmbedder(embedder)
        if (close := getattr(embedder, "aclose", None)) is not None:
            self._open.push_async_callback(close)
        folder = paths.cache_folder() / "knowledge" / workspace_name(self._id, self._folder, self._settings.url)
        if self._settings.url:
            # Two machines, or two copies of a book, must not write into each other's tree.
            place = project_uri("\n".join((self._id, gethostname(), str(self._folder))), self._name)
            head = Head(place, self._language, without_login(self._settings.url))
            self._server = ExternalKnowledge(self._settings.url, self._changed, key_variable=self._settings.api_key_env)
        else:
            head = Head(project_uri(self._id, self._name), self._language, f"{embedder.identity}/{embedder.dimensions}")
            self._endpoint = await self._open.enter_async_context(LoopbackEndpoint(self.vectors, model))
            self._server = OpenVikingServer(
                folder,
                EmbeddingEndpoint(self._endpoint.url, self._endpoint.token, embedder.dimensions),
                self._changed,
            )
        self.embedder = head.embedder
        self._client = KnowledgeClient(self._server.address)
        workspace = self._server.workspace
        if workspace is not None:
            self._why_anew = await asyncio.to_thread(empty_if_other, workspace, head)
        self._sync = KnowledgeSync(self._client, head, workspace or folder, workspace)
        await self._server.start()

    def failed(self, reason: str) -> None:
        """It could not even be begun."""
        self._tell(StatusEvent("failed", reason))

    async def started(self, seconds: float) -> None:
        """Returns when the server is no longer starting, or after so many seconds."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._decided.wait(), seconds)

    @property
    def is_up(self) -> bool:
        """True when it can be asked now."""
        return self.last.state in ("ready", "external")

    def sync(self) -> KnowledgeSync:
        """What keeps the server's tree like the book. Raises KnowledgeError while the server is not there."""
        if self._sync is None or not self.is_up:
            raise KnowledgeError(
                _("The knowledge server is not there: {state}.").format(state=self.last.message or self.last.state),
                _("Everything else goes on."),
            )
        return self._sync

    def require_paid(self) -> None:
        """Asked before anything that has vectors made. Raises KnowledgeError where they cannot be paid.

        The vectors that follow are made whatever they cost: the server does not repeat one that was refused.
        """
        try:
            self._hold()
        except BudgetExceeded as error:
            raise KnowledgeError(error.title, error.detail, error.advice) from error

    def paid_sync(self) -> KnowledgeSync:
        """The same as `sync`, for what has vectors made."""
        self.require_paid()
        return self.sync()

    def set_positions(self, positions: Mapping[ChapterId, int]) -> None:
        """The chapters' places in story order have changed."""
        if self._sync is not None:
            self._sync.set_positions(positions)

    def _changed(self, status: KnowledgeStatus) -> None:
        if self._repairing is not None:
            self._repairing.cancel()
        match status:
            case Absent():
                self._tell(StatusEvent("absent", _("openviking is not installed")))
            case Starting(seconds=seconds):
                self._tell(StatusEvent("starting", _("starting, {n} s").format(n=seconds)))
            case Restarting(tries=tries, reason=reason):
                self._tell(StatusEvent("restarting", _("restart {n}: {reason}").format(n=tries, reason=reason)))
            case Failed(reason=reason) | External(reason=reason) if reason:
                self._tell(StatusEvent("failed", reason))
            case Stopped():
                self._tell(StatusEvent("stopped", _("it was stopped")))
            case External(url=url):
                self._begin(StatusEvent("external", url), thorough=self.last.state != "external")
            case Ready(repair=repair):
                self._begin(StatusEvent("ready"), thorough=repair)

    def _begin(self, status: StatusEvent, *, thorough: bool) -> None:
        self._repairing = asyncio.get_running_loop().create_task(self._usable(status, thorough=thorough))

    async def _usable(self, status: StatusEvent, *, thorough: bool) -> None:
        """What the server has is compared with what it should have before it is used: its files are only a cache."""
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
        held = self._sync.held()
        why, self._why_anew = ("" if held else self._why_anew), ""
        try:
            await self._ready(held)
        except FlowCabalError as error:  # the store cannot be written just now: the next start books it
            log.warning("what the knowledge server is owed: %s", error.title)
        self._tell(replace(status, message=why or status.message))

    async def _drained(self, client: KnowledgeClient) -> None:
        """Waits until the server has done what it took up again by itself: until then vectors seem to be missing."""
        for _look in range(DRAIN_LOOKS):
            waiting = (await client.queue()).waiting
            if not waiting:
                return
            self._tell(StatusEvent("starting", _("indexing what was left: {n}").format(n=waiting)))
            await asyncio.sleep(DRAIN_SECONDS)

    async def rebuild(self) -> None:
        """Takes everything out of the server's tree; the tasks that bring it back are the caller's. Raises
        KnowledgeError while the server is not there."""
        await self.sync().clear()

    async def pack(self, path: Path) -> bool:
        """Writes what the server has into a file, for a backup; False when it has nothing that can be had."""
        try:
            await self.sync().export_pack(path)
        except KnowledgeError as error:
            log.warning("pack: %s", error.title)
            return False
        return True

    async def _unpack(self, sync: KnowledgeSync) -> None:
        """Takes in the pack of a backup that was restored here, once. What it lacks is sent like everything else."""
        from flowcabal_tui.project.book.backup import KNOWLEDGE

        pack = self._folder / paths.PROJECT_STATE / KNOWLEDGE
        if not pack.exists():
            return
        try:
            if not sync.held():
                await sync.import_pack(pack)
        finally:
            pack.unlink(missing_ok=True)

    def _tell(self, status: StatusEvent) -> None:
        self.last = status
        (self._decided.clear if status.state == "starting" else self._decided.set)()
        self._emit(status)

    async def close(self) -> None:
        """Stops the server without waiting for its end, then the endpoint."""
        if self._repairing is not None:
            self._repairing.cancel()
        if self._server is not None:
            await self._server.stop(wait=False)
        if self._client is not None:
            await self._client.aclose()
        await self._open.aclose()
