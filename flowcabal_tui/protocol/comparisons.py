"""Commands and events of comparisons: further candidates, sifting by facts, the writer's choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flowcabal_tui.domain.comparison import ComparisonId, ComparisonTarget, Taken, Verdict
from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class DecideComparison(Command):
    """The writer's decision on candidates: answers a waiting question, or else sets the output of the step.

    `taken` are the paragraphs that a composed text started from. The result is the id of the comparison.
    """

    type: ClassVar[str] = "comparison:decide"
    target: ComparisonTarget
    verdict: Verdict
    taken: tuple[Taken, ...] = ()


@dataclass(frozen=True, slots=True)
class TakeBackChoice(Command):
    """Reopens the comparison; the step gets back its output from before the choice."""

    type: ClassVar[str] = "comparison:undo"
    comparison: ComparisonId


@dataclass(frozen=True, slots=True)
class WriteCandidates(Command):
    """Writes further candidates, at the price of `quote_candidates`. The command is done when they are written, or
    fails.

    The step keeps its output. For a waiting question, a new run with more candidates asks again; the result is the id
    of that run.
    """

    type: ClassVar[str] = "comparison:more"
    order: ClassVar[Order] = "beside"
    target: ComparisonTarget
    count: int = 1


@dataclass(frozen=True, slots=True)
class SiftCandidates(Command):
    """Checks each candidate against facts: by rule, and with `model` also by the agents' model from every angle, which
    costs money.

    Findings mark a candidate; nothing is hidden or decided.
    """

    type: ClassVar[str] = "comparison:sift"
    order: ClassVar[Order] = "beside"
    target: ComparisonTarget
    model: bool = False


@dataclass(frozen=True, slots=True)
class SmoothSeams(Command):
    """Asks the writing model once to rewrite the sentences at the seams of a composed text; the service question
    `seam_changes` returns the answer.

    Changes no text. The same text is not paid for twice.
    """

    type: ClassVar[str] = "comparison:seams"
    order: ClassVar[Order] = "beside"
    target: ComparisonTarget
    text: str
    taken: tuple[Taken, ...] = ()


@event
class ComparisonChanged(Event):
    """Candidates were added, marked or chosen, or a choice was undone; clients must read the comparison again."""

    type: ClassVar[str] = "comparison:changed"
    comparison: ComparisonId | None = None


@event
class SiftProgress(Event):
    """The progress of a sifting, in candidates."""

    type: ClassVar[str] = "comparison:progress"
    done: int
    total: int
