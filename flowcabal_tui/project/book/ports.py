"""The interface of the memory that the book calls after a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from flowcabal_tui.domain.manuscript import Chapter


class BookMemoryPort(Protocol):
    """Keeps the memory up to date with the book."""

    def wake(self) -> None:
        """Announces new background work."""

    async def chapters_placed(self, before: Sequence[Chapter]) -> None:
        """Queues the tasks that follow when chapters were moved, renamed, deleted or restored.

        `before` are the chapters as they were.
        """
