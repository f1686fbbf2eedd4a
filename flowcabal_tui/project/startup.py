"""What an open project starts by itself, and what it holds back until the user has confirmed the folder."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import FlowCabalError, ModelError, ModelFault, ProjectNotConfirmed, SettingsError
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.protocol.base import Status

if TYPE_CHECKING:
    from flowcabal_tui.project.parts import Parts

log = logging.getLogger(__name__)


class Startup:
    """Background work, the knowledge server, and the reader of edits made outside. Lives on the engine's loop."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._working = self._knowledge_wanted = False

    async def begin(self, *, knowledge: bool) -> None:
        """After the project is open. A restricted project starts nothing before the user's answer."""
        parts = self._parts
        parts.emit(Status("connected"))
        self._knowledge_wanted = knowledge
        if parts.trust.state != "trusted":
            parts.trust.tell()
        if parts.read_only:
            return
        if parts.trust.state == "restricted":
            parts.knowledge.held_back()
            await parts.background.tell()
            return
        await self._work()

    async def _work(self) -> None:
        parts, self._working = self._parts, True
        await parts.purging.begin()
        parts.background.start()
        parts.tasks.create(parts.curation.watch_outside())
        parts.tasks.create(parts.upkeep.tidy())
        parts.tasks.create(parts.purging.keep_finishing())
        if self._knowledge_wanted:
            await self.start_knowledge()

    async def confirm(self, items: Collection[Digest]) -> None:
        """The user has confirmed these items: what was held back for them goes on."""
        parts = self._parts
        await parts.trust.confirm(items)
        if parts.read_only:
            return
        if not self._working:
            await self._work()
            return
        await parts.background.confirmed()
        if self._knowledge_wanted and not parts.knowledge.began:
            await self.start_knowledge()

    async def start_knowledge(self) -> None:
        """What prevents it is shown in the status line, and prevents nothing else."""
        parts = self._parts
        try:
            agent = parts.models.model("agent") if parts.settings.knowledge.enabled else None
        except (ModelError, SettingsError):
            agent = None
        try:
            embedder = parts.embeddings.embedder()
            if parts.embeddings.waits and parts.knowledge.asks():
                return
            await parts.knowledge.start(embedder, agent)
        except (FlowCabalError, OSError) as error:
            if isinstance(error, ProjectNotConfirmed) or _is_not_confirmed(error):
                parts.knowledge.held_back()
                return
            log.warning("knowledge server: %s", error)
            parts.knowledge.failed(error.title if isinstance(error, FlowCabalError) else str(error))


def _is_not_confirmed(error: Exception) -> bool:
    return isinstance(error, ModelError) and error.fault is ModelFault.NOT_CONFIRMED
