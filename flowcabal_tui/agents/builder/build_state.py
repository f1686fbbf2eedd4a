"""The state of a build: the request, the working copy, the rounds. All of it can be stored and resumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from flowcabal_tui.agents.builder.checks import ChecklistItem, CopyReport
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.suggestion import Suggestion, changes_of
from flowcabal_tui.agents.builder.working_copy import WorkingCopy

BuildStatus = Literal["building", "asks", "finished", "stopped"]


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """The limits of one build. `tokens` counts all prompts and answers together."""

    rounds: int = 20
    tokens: int = 200_000
    questions: int = 3
    asks: int = 2


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call of a tool with its answer."""

    name: str
    arguments: str
    answer: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class BuildRound:
    """One call of the model: its text, its tool calls, and its tokens (None: not reported).

    `request` holds the messages sent to the model since the previous round, besides the answers of tools. `covered` are
    the points of the checklist that edits served after the round. `cost` is None if it is unknown.
    """

    number: int
    text: str
    calls: tuple[ToolUse, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    failed: str = ""
    request: str = ""
    covered: tuple[str, ...] = ()
    cost: Decimal | None = None


@dataclass
class Build:
    """A build. `copied` is the working copy; `checked` is the number of edits at the last run of the checks."""

    wish: str
    language: str
    copied: WorkingCopy
    templates: Mapping[str, Json] = field(default_factory=dict)
    status: BuildStatus = "building"
    items: tuple[ChecklistItem, ...] = ()
    assumptions: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    """The writer's answers, oldest first."""
    asks: int = 0
    explanation: str = ""
    remarks: tuple[str, ...] = ()
    report: CopyReport | None = None
    checked: int = -1
    rounds: list[BuildRound] = field(default_factory=list)
    stopped: str = ""

    @property
    def tokens(self) -> int:
        """The tokens of all rounds, failed ones included."""
        return sum((each.input_tokens or 0) + (each.output_tokens or 0) for each in self.rounds)

    @property
    def covered(self) -> tuple[str, ...]:
        """The points of the checklist that an edit serves, by their ids."""
        served = {edit.because for edit in self.copied.made}
        return tuple(item.id for item in self.items if item.id in served)

    @property
    def is_checked(self) -> bool:
        """True when the checks passed after the last edit."""
        return self.report is not None and self.report.passed and self.checked == len(self.copied.made)

    def suggestion(self) -> Suggestion:
        """The suggestion for the writer, whatever the state of the build."""
        return Suggestion(
            document=self.copied.document,
            base=self.copied.base,
            changes=changes_of(self.copied, " ".join((self.wish, *self.answers))),
            items=self.items,
            assumptions=self.assumptions,
            questions=self.questions,
            explanation=self.explanation,
            report=self.report or CopyReport(),
            stopped=self.stopped if self.status != "finished" else "",
        )

    def stop(self, why: str) -> None:
        """Ends the build; the copy can still be viewed."""
        self.status, self.stopped = "stopped", why
