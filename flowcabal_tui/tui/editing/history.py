"""Undo and redo of all changes of a document."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.workflow import Workflow

MOST: Final = 500


class EditHistory:
    """The values that one document had since it was opened; versions do not count as a difference."""

    def __init__(self) -> None:
        self._of = ""
        self._past: list[Workflow] = []
        self._future: list[Workflow] = []

    def opened(self, workflow: Workflow, stored: Workflow | None = None) -> None:
        """Starts a new history for another document; with resumed edits, it begins at the `stored` version."""
        if workflow.id != self._of:
            self._of, self._past, self._future = workflow.id, [stored] if stored is not None else [], []

    def changed(self, before: Workflow) -> None:
        """Records the value before a change."""
        self._past = [*self._past[-MOST + 1 :], before]
        self._future = []

    def undo(self, now: Workflow) -> Workflow | None:
        """The previous value, as a change of the current version; None when there is none."""
        return self._swap(self._past, self._future, now)

    def redo(self, now: Workflow) -> Workflow | None:
        """The value undone last; None when there is none."""
        return self._swap(self._future, self._past, now)

    def _swap(self, source: list[Workflow], other: list[Workflow], now: Workflow) -> Workflow | None:
        if not source:
            return None
        other.append(now)
        return source.pop().model_copy(update={"version": now.version})
