"""The text of a node, with the keys that answer the question whether it is approved."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from flowcabal_tui.domain.run import Question
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.shared.view import GRACE, AnswerRequested
from flowcabal_tui.tui.widgets.stream_view import StreamView


class AnsweredText(StreamView):
    """Requests an answer to the question about the displayed attempt, if there is one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a,ctrl+s", "answer('approve')", mark("Approve"), id="output.approve",
                tooltip=mark("Approve this attempt: the run continues with it.")),
        Binding("e", "answer('edit')", mark("Edit"), id="output.edit",
                tooltip=mark("Edit this attempt, and continue with your text.")),
        Binding("r", "answer('retry')", mark("Retry"), tooltip=mark("Another attempt, with a note."),
                id="output.retry"),
        Binding("x", "answer('reject')", mark("Reject"), id="output.reject",
                tooltip=mark("Reject it: nodes that depend on it do not run.")),
    ]  # fmt: skip
    help = replace(StreamView.help, last=False)

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self._question: Question | None = None
        self._attempt = 0
        self._now, self._appeared = time.monotonic, 0.0

    def offer(self, question: Question | None, attempt: int) -> None:
        """Takes the question about an attempt; None for no question."""
        if question is not None and (self._question is None or self._question.id != question.id):
            self._appeared = self._now()
            if self._following:  # what is to be judged is read from its start
                self.scroll_home(animate=False)
        self._question, self._attempt = question, attempt

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enables the answers that the question offers."""
        if action == "answer":
            return self._question is not None and parameters[0] in ("approve", *self._question.options)
        return super().check_action(action, parameters)

    def action_answer(self, action: str) -> None:
        """Requests the answer, unless the question has just appeared: the same keys keep, repeat and stop before."""
        if self._question is not None and self._now() - self._appeared >= GRACE:
            self.post_message(AnswerRequested(self._question.id, action, self._attempt))
