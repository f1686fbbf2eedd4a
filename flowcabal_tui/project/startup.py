"""The automatic start of an open project, and the parts held back until the user has confirmed the folder."""

from __future__ import annotations

from collections.abc import Collection

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.locale import sentences
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.words import network_words
from flowcabal_tui.protocol.base import Status


class Startup:
    """Background work, the knowledge server, and the reader of edits made outside. Lives on the engine's loop."""

    def __init__(self, parts: Parts, *, knowledge: bool) -> None:
        self._parts, self._knowledge_wanted = parts, knowledge
        self._working = False

    async def begin(self) -> None:
        """Starts everything once the project is open. A restricted project starts nothing before the user's answer."""
        parts = self._parts
        await parts.base.complete()
        parts.base.emit(Status("connected"))
        if network := parts.store.network:
            parts.base.emit(Status("warning", sentences(*network_words(network))))
        if parts.base.trust.state != "trusted":
            parts.base.trust.emit_state()
        if parts.store.read_only:
            return
        if parts.base.trust.state == "restricted":
            parts.memory.knowledge.report_unconfirmed()
            await parts.memory.background.emit_counts()
            return
        await self._work()

    async def _work(self) -> None:
        parts, self._working = self._parts, True
        if self._knowledge_wanted:
            parts.memory.knowledge.is_expected()
        await parts.purging.begin()
        parts.memory.background.start()
        parts.base.tasks.create(parts.book.outside.watch())
        parts.base.tasks.create(parts.memory.rebuilder.tidy())
        parts.base.tasks.create(parts.purging.keep_finishing())
        if self._knowledge_wanted:
            await parts.memory.start_knowledge()

    async def confirm(self, items: Collection[Digest]) -> None:
        """Confirms these items and starts the parts that were held back for them."""
        parts = self._parts
        await parts.base.trust.confirm(items)
        if parts.store.read_only:
            return
        if not self._working:
            await self._work()
            return
        await parts.memory.background.confirmed()
        if self._knowledge_wanted and not parts.memory.knowledge.began:
            await parts.memory.start_knowledge()
