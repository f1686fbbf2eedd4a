"""Commands and events of comparisons: further candidates, sifting by facts, the writer's choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flowcabal_tui.domain.comparison import ComparisonId, ComparisonTarget, Taken, Verdict
from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class DecideComparison(Command):
    """The writer's word on candidates: a waiting question is answered by it, else the step has that output from now on.

    `taken` are the paragraphs that a composed text was begun with. The result is the id of the comparison.
    """

    type: ClassVar[str] = "comparison:decide"
    target: ComparisonTarget
    verdict: Verdict
    taken: tuple[Taken, ...] = ()


@dataclass(frozen=True, slots=True)
class TakeBackChoice(Command):
    """Opens the comparison again; the step has its output from before the choice again."""

    type: ClassVar[str] = "comparison:undo"
    comparison: ComparisonId


@dataclass(frozen=True, slots=True)
class WriteCandidates(Command):
    """Writes further candidates, at the price of `quote_candidates`. Done when they are written, or failed.

    The step keeps its output. For a question the run begins again with more candidates, and asks again: the result is
    the new run.
    """

    type: ClassVar[str] = "comparison:more"
    order: ClassVar[Order] = "beside"
    target: ComparisonTarget
    count: int = 1


@dataclass(frozen=True, slots=True)
class SiftCandidates(Command):
    """Checks the facts of each candidate: by rule, with `model` also by the agents' model from every angle, for money.

    Findings mark a candidate; nothing is hidden or decided.
    """

    type: ClassVar[str] = "comparison:sift"
    order: ClassVar[Order] = "beside"
    target: ComparisonTarget
    model: bool = False


@dataclass(frozen=True, slots=True)
class SmoothSeams(Command):
    """Asks the writing model once for other sentences at the seams of a composed text; `seams` returns the answer.

    It changes no text, and the same text is not paid for twice.
    """

    type: ClassVar[str] = "comparison:seams"
    order: ClassVar[Order] = "beside"
    target: ComparisonTarget
    text: str
    taken: tuple[Taken, ...] = ()


@event
class ComparisonChanged(Event):
    """Candidates were added, marked, chosen, or a choice was taken back: ask again."""

    type: ClassVar[str] = "comparison:changed"
    comparison: ComparisonId | None = None


@event
class SiftProgress(Event):
    """The progress of a sifting, in candidates."""

    type: ClassVar[str] = "comparison:progress"
    done: int
    total: int
