"""The history of runs, loaded page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.run import RunFilter, RunState, RunSummary
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.runs.words import run_cells
from flowcabal_tui.tui.shared.choose import Choices, ChooseScreen
from flowcabal_tui.tui.shared.lists import PickList

PAGE: Final = 50
RESUMABLE: Final[frozenset[RunState]] = frozenset({"interrupted", "cancelled", "failed"})


class RunPages:
    """Runs as rows to choose from, newest first. `found` are the loaded ones, by row."""

    def __init__(self, project: Project, positions: Mapping[ChapterId | None, int]) -> None:
        """`positions` are the positions of the chapters."""
        self._project, self._positions = project, positions
        self.found: dict[str, RunSummary] = {}
        self._oldest: RunSummary | None = None

    async def more(self) -> Choices:
        """The next page, each run with its cells; () at the end."""
        before = self._oldest.id if self._oldest is not None else None
        page = [as_waiting(run) for run in await self._project.runs.summaries(PAGE, RunFilter(before=before))]
        self.found |= {str(run.id): run for run in page}
        self._oldest = page[-1] if page else self._oldest
        return tuple((str(run.id), run_cells(run, self._positions.get(run.chapter))) for run in page)


class RunsScreen(ChooseScreen):
    """The runs; `resumes` is true when the chosen one is to go on."""

    KEYS_LINE: ClassVar[str] = mark("Enter: show   r: resume   Esc: cancel")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "resume", mark("Resume"), id="runs.resume", tooltip=mark("Resume a run that stopped or failed."))
    ]

    def __init__(self, pages: RunPages, first: Choices) -> None:
        super().__init__(_("Runs, newest first"), first, pages.more)
        self._found, self.resumes = pages.found, False

    def action_resume(self) -> None:
        """Chooses the run at the cursor to be resumed, if it has ended before its last node."""
        picked = self.query_one(PickList).picked
        run = self._found.get(picked or "")
        if run is None or run.state not in RESUMABLE:
            self.notify(_("Only a run that stopped or failed can be resumed."), markup=False)
            return
        self.resumes = True
        self.dismiss(picked)


def as_waiting(run: RunSummary) -> RunSummary:
    """The run as waiting if it was interrupted while it asked: the answer resumes it."""
    asks = run.state == "interrupted" and any(state == "waiting" for _node, state in run.nodes)
    return replace(run, state="waiting") if asks else run
