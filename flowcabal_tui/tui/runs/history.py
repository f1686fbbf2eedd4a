"""The history of runs, loaded page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.run import RunFilter, RunSummary
from flowcabal_tui.tui.runs.words import run_cells
from flowcabal_tui.tui.shared.choose import Choices

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project

PAGE: Final = 50


class RunPages:
    """Runs as rows to choose from, newest first. `found` are the loaded ones, by row."""

    def __init__(self, workbench: Project, positions: Mapping[ChapterId | None, int]) -> None:
        """`positions` are the positions of the chapters."""
        self._workbench, self._positions = workbench, positions
        self.found: dict[str, RunSummary] = {}
        self._oldest: RunSummary | None = None

    async def more(self) -> Choices:
        """The next page, each run with its cells; () at the end."""
        before = self._oldest.id if self._oldest is not None else None
        page = [as_waiting(run) for run in await self._workbench.runs.summaries(PAGE, RunFilter(before=before))]
        self.found |= {str(run.id): run for run in page}
        self._oldest = page[-1] if page else self._oldest
        return tuple((str(run.id), run_cells(run, self._positions.get(run.chapter))) for run in page)


def as_waiting(run: RunSummary) -> RunSummary:
    """The run as waiting if it was interrupted while it asked: the answer resumes it."""
    asks = run.state == "interrupted" and any(state == "waiting" for _node, state in run.nodes)
    return replace(run, state="waiting") if asks else run
