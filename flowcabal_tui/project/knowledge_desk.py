"""The knowledge server of an open project: its endpoint, its life, and what is asked of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.model_calls import EmbeddingPort, ModelPort
from flowcabal_tui.locale import _
from flowcabal_tui.protocol import Event
from flowcabal_tui.protocol import KnowledgeStatus as StatusEvent
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.project_file import KnowledgeSettings
from flowcabal_tui.viking.layout import project_uri, workspace_name
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


class KnowledgeDesk:
    """Starts the endpoint, then the server; stops them the other way round. Lives on the engine's loop."""

    def __init__(
        self,
        settings: KnowledgeSettings,
        project: tuple[str, str, Path],
        language: str,
        emit: Callable[[Event], None],
        ready: Callable[[frozenset[str]], None],
    ) -> None:
        """`project` is (id, name, folder); `ready` is called with the subjects that the server holds."""
        self._settings, self._language = settings, language
        self._id, self._name, self._folder = project
        self._emit, self._ready = emit, ready
        self._open = AsyncExitStack()
        self._endpoint: LoopbackEndpoint | None = None
        self._server: OpenVikingServer | ExternalKnowledge | None = None
        self._sync: KnowledgeSync | None = None
        self._client: KnowledgeClient | None = None
        self._repairing: asyncio.Task[None] | None = None
        self._decided = asyncio.Event()
        self._decided.set()
        self.last = StatusEvent("off", _("it was not started"))

    async def start(self, embedder: EmbeddingPort, model: ModelPort | None) -> None:
        """Begins in the background; nothing waits for it."""
        if not self._settings.enabled:
            self._tell(StatusEvent("off", _("switched off")))
            return
        # Loaded here: a book that wants no server is opened sooner without.
        from flowcabal_tui.models.loopback import LoopbackEndpoint
        from flowcabal_tui.viking.client import KnowledgeClient
        from flowcabal_tui.viking.external import ExternalKnowledge
        from flowcabal_tui.viking.server import EmbeddingEndpoint, OpenVikingServer

        folder = paths.cache_folder() / "knowledge"
        if self._settings.url:
            folder /= workspace_name(self._id, self._folder, self._settings.url, 0)
            self._server = ExternalKnowledge(self._settings.url, self._changed, key_variable=self._settings.api_key_env)
        else:
            folder /= workspace_name(self._id, self._folder, embedder.identity, embedder.dimensions)
            self._endpoint = await self._open.enter_async_context(LoopbackEndpoint(embedder, model))
            self._server = OpenVikingServer(
                folder,
                EmbeddingEndpoint(self._endpoint.url, self._endpoint.token, embedder.dimensions),
                self._changed,
            )
        self._client = KnowledgeClient(self._server.address)
        workspace = self._server.workspace
        self._sync = KnowledgeSync(
            self._client, project_uri(self._id, self._name), workspace or folder, self._language, workspace
        )
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

    def set_positions(self, positions: Mapping[ChapterId, int]) -> None:
        """The chapters' places in story order have changed."""
        if self._sync is not None:
            self._sync.set_positions(positions)

    def _changed(self, status: KnowledgeStatus) -> None:
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
                self._begin(StatusEvent("external", url), repair=self.last.state != "external")
            case Ready(repair=repair):
                self._begin(StatusEvent("ready"), repair=repair)

    def _begin(self, status: StatusEvent, *, repair: bool) -> None:
        self._repairing = asyncio.get_running_loop().create_task(self._usable(status, repair=repair))

    async def _usable(self, status: StatusEvent, *, repair: bool) -> None:
        """After an unclean end the server's vectors are checked before it is used again."""
        if self._sync is None:
            return
        broken: frozenset[str] = frozenset()
        try:
            broken = frozenset(await self._sync.repair() if repair else ())
        except KnowledgeError as error:
            log.warning("repair: %s", error.title)
        self._tell(status)
        self._ready(self._sync.subjects() - broken)

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
