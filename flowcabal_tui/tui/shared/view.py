"""The state of the workspace that its controllers share: the chapter, run, node and pane in view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, NodeId, QuestionId, RunId
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.tui.shared.subscriptions import Request

GRACE: Final = 0.5
"""Seconds for which keys do nothing after a question has appeared, so that a stray one decides nothing."""


class OriginRequested(Request):
    """Asks for the origin of a paragraph of a chapter. `place` is its first character in the displayed text."""

    chapter: ChapterId
    paragraph: str
    place: int


class AnswerRequested(Request):
    """Asks for the page of a question, and there for an action on an attempt, as if its key had been pressed."""

    question: QuestionId
    action: str
    attempt: int


@dataclass(frozen=True, slots=True)
class NoQuestionWaits:
    """The writer opens the queue of decisions, but no run is waiting for an answer."""


@dataclass(slots=True)
class OpenView:
    """The open chapter and its position (0: none), the current pane, run and node, the name of the workflow.

    While `following`, the view goes to each node that starts. `show_pane` shows a pane and focuses it; `publish` passes
    an event to the controllers that handle it.
    """

    show_pane: Callable[[str], None]
    publish: Callable[[object], None]
    chapter: ChapterId | None = None
    position: int = 0
    pane: str = ""
    run: RunId | None = None
    node: NodeId | None = None
    title: str = ""
    following: bool = True
