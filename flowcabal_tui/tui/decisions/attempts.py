"""The attempts under review, and the displayed one."""

from __future__ import annotations

from flowcabal_tui.domain.run import Attempt, Question
from flowcabal_tui.locale import _
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.tui.decisions.question_kinds import attempt_words, made_from
from flowcabal_tui.tui.shared.words import changed_words, one_line


class Attempts:
    """`number` is that of the displayed attempt, 0 for none."""

    def __init__(self) -> None:
        self.all: tuple[Attempt, ...] = ()
        self.number = 0
        self._begins: tuple[str, ...] = ()

    def clear(self) -> None:
        """Forgets the attempts when another question is displayed."""
        self.all, self.number, self._begins = (), 0, ()

    def load(self, view: NodeView, question: Question) -> int:
        """Takes the attempts of a node; returns the number of the last one that the question concerns."""
        self.all, self._begins = view.attempts, view.begins
        wanted = [number for number in question.attempts if number in self.numbers]
        return (wanted or self.numbers or [0])[-1]

    @property
    def numbers(self) -> list[int]:
        """The numbers of all attempts, in order."""
        return [item.number for item in self.all]

    @property
    def shown(self) -> Attempt | None:
        """The displayed attempt, if the question has any."""
        return next((item for item in self.all if item.number == self.number), None)

    @property
    def earlier(self) -> Attempt | None:
        """The attempt from which the displayed one was made."""
        return made_from(self.all, self.shown)

    def beside(self, step: int) -> int | None:
        """The number of the attempt before or after the displayed one; None if none is displayed."""
        numbers = self.numbers
        if self.number not in numbers:
            return None
        return numbers[min(max(numbers.index(self.number) + step, 0), len(numbers) - 1)]

    def words(self, *, unsent: bool) -> str:
        """The description of the displayed attempt; "" for none."""
        if self.shown is None:
            return ""
        changed = changed_words(self.earlier.text, self.shown.text) if self.earlier is not None else ""
        begins = ""
        if self._begins:
            begins = _("after approval: {nodes}").format(nodes=_(", ").join(one_line(title) for title in self._begins))
        return "  ".join(filter(None, (changed, attempt_words(self.shown, self.numbers, unsent=unsent), begins)))
