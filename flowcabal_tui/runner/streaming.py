"""Streamed text: displayed at once, written to the journal about once a second."""

from __future__ import annotations

import asyncio
from typing import Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.protocol.runs import NodeStreaming
from flowcabal_tui.runner.scope import RunScope

TELL_SECONDS: Final = 0.03
"""Minimum seconds between events of new text: a screen draws no faster."""
JOURNAL_SECONDS: Final = 0.8
"""Interval of journal writes: a kill loses at most the text of this time, less than a second."""


class StreamedText:
    """The text of one attempt as it grows; pieces that arrive within a short time make one event and one row."""

    def __init__(self, scope: RunScope, node: NodeId, attempt: int, before: str = "") -> None:
        """`before` is text of the attempt that the journal already holds; it is displayed at once."""
        self._scope, self._node, self._attempt = scope, node, attempt
        self.pieces: list[str] = [before] if before else []
        """All that came so far, as it came."""
        self._emitted = self._emitted_length = 0
        self._journalled, self._journalled_length = len(self.pieces), len(before)
        self._loop = asyncio.get_running_loop()
        self._saved_at = self._loop.time()
        self._timer = self._loop.call_later(0.0, self._tell) if before else None

    def append(self, piece: str) -> None:
        """Adds a piece. The first is displayed at once; later ones are combined with those that follow shortly."""
        if not piece:
            return
        self.pieces.append(piece)
        if self._timer is None:
            self._timer = self._loop.call_later(TELL_SECONDS if self._emitted else 0.0, self._tell)

    def _tell(self) -> None:
        self._timer = None
        pieces = self.pieces[self._emitted :]
        if pieces:
            text = "".join(pieces)
            self._scope.ports.emit(NodeStreaming(self._scope.id, self._node, self._attempt, self._emitted_length, text))
            self._emitted, self._emitted_length = len(self.pieces), self._emitted_length + len(text)
        if self._loop.time() - self._saved_at >= JOURNAL_SECONDS:
            self._keep()

    def _keep(self) -> None:
        """Queues new text for the journal; does not wait."""
        text = "".join(self.pieces[self._journalled :])
        if text:
            place = (self._scope.id, self._node, self._attempt)
            self._scope.ports.journal.journal_text(*place, self._journalled_length, text)
            self._journalled, self._journalled_length = len(self.pieces), self._journalled_length + len(text)
        self._saved_at = self._loop.time()

    def end(self) -> None:
        """Emits and stores the rest when the stream has ended or was cut off."""
        if self._timer is not None:
            self._timer.cancel()
        self._tell()
        self._keep()

    @property
    def text(self) -> str:
        return "".join(self.pieces)
