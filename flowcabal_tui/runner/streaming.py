"""Text on its way: shown at once, journalled about once a second."""

from __future__ import annotations

import asyncio
from typing import Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.protocol import NodeStreaming
from flowcabal_tui.runner.scope import RunScope

JOURNAL_SECONDS: Final = 0.8
"""A kill loses at most what arrived since: less than a second."""


class StreamedText:
    """The text of one attempt as it grows."""

    def __init__(self, scope: RunScope, node: NodeId, attempt: int) -> None:
        self._scope, self._node, self._attempt = scope, node, attempt
        self._pieces: list[str] = []
        self._length = 0
        self._journalled = 0
        self._unsaved: list[str] = []
        self._clock = asyncio.get_running_loop().time
        self._saved_at = self._clock()

    def append(self, piece: str) -> None:
        """Shows a piece, and journals what has gathered when its time has come."""
        event = NodeStreaming(self._scope.id, self._node, self._attempt, self._length, piece)
        self._pieces.append(piece)
        self._unsaved.append(piece)
        self._length += len(piece)
        self._scope.services.emit(event)
        if self._clock() - self._saved_at >= JOURNAL_SECONDS:
            self.journal()

    def journal(self) -> None:
        """Queues the unsaved pieces for the journal; does not wait."""
        if self._unsaved:
            text = "".join(self._unsaved)
            self._scope.services.journal.journal_text(self._scope.id, self._node, self._attempt, self._journalled, text)
            self._journalled += len(text)
            self._unsaved.clear()
        self._saved_at = self._clock()

    @property
    def text(self) -> str:
        return "".join(self._pieces)
