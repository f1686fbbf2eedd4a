"""The result that completes each step of the guide's first ten minutes, by any key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from flowcabal_tui.locale import mark

if TYPE_CHECKING:
    from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen


@dataclass(frozen=True, slots=True)
class BookState:
    """The state of the open book that the guide observes."""

    questions: int
    """Decisions that wait."""
    answered: int
    """Decisions of this session."""
    deciding: bool
    """The page with the decisions is open."""
    runs: int
    """Runs of this session and of the open chapter, ended or not."""
    done: int
    """The number of these runs that are done."""
    version: int
    """The version of the open chapter; 0: nothing is kept yet."""
    workflows: int
    pane: str

    @classmethod
    def of(cls, workspace: WorkspaceScreen) -> BookState | None:
        """The state of the workspace; None until its chapters are loaded."""
        if workspace.is_opening:
            return None
        controllers, chapter = workspace.controllers, workspace.book.chapter
        states = controllers.runs.run_states.values()
        return cls(
            questions=controllers.questions.count,
            answered=controllers.questions.answered,
            deciding=_deciding(workspace),
            runs=len(states),
            done=sum(state == "done" for state in states),
            version=chapter.version if chapter else 0,
            workflows=len(controllers.document.templates),
            pane=workspace.view.pane,
        )


def _deciding(workspace: WorkspaceScreen) -> bool:
    if not workspace.controllers.questions.count:
        return False
    from flowcabal_tui.tui.decisions.decisions import DecisionsScreen  # imported by now, if it is open

    return any(isinstance(screen, DecisionsScreen) for screen in workspace.app.screen_stack)


@dataclass(frozen=True, slots=True)
class AwaitedOutcome:
    """The result that a step waits for: `words` after "until", and its test, given the current state and that at the
    start of the step."""

    words: str
    holds: Callable[[BookState, BookState], bool]


def _decided(now: BookState, then: BookState) -> bool:
    """A fast model asks the next question before the guide looks again."""
    return now.questions == 0 or now.answered > then.answered


_WAITING_DECISION: Final = AwaitedOutcome(
    mark("a decision waits for you"), lambda now, _then: now.questions > 0 or now.done > 0
)
TOUR: Final[tuple[tuple[AwaitedOutcome, ...], ...]] = (
    (AwaitedOutcome(mark("the run has started"), lambda now, then: now.runs > then.runs or now.questions > 0),),
    (_WAITING_DECISION, AwaitedOutcome(mark("the plan is decided"), _decided)),
    (_WAITING_DECISION, AwaitedOutcome(mark("the decision is open"), lambda now, _then: now.deciding or now.done > 0)),
    (AwaitedOutcome(mark("the run is done"), lambda now, _then: now.done > 0 and now.questions == 0),),
    (AwaitedOutcome(mark("the draft is kept"), lambda now, _then: now.version > 0),),
    (AwaitedOutcome(mark("a workflow of yours is saved"), lambda now, then: now.workflows > then.workflows),),
    (AwaitedOutcome(mark("the profiles are shown"), lambda now, _then: now.pane == "profiles"),),
)
"""One entry for each numbered step of the guide."""
