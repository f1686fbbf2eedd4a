"""Commands and events of comparisons: further candidates, sifting by facts, the writer's choice."""

from __future__ import annotations

from flowcabal_tui.domain.comparison import ComparisonId, ComparisonTarget, Taken, Verdict
from flowcabal_tui.protocol.base import Command, Event


class DecideComparison(Command, type="comparison:decide"):
    """The writer's decision on candidates: answers a waiting question, or else sets the output of the step.

    `taken` are the paragraphs that a composed text started from. The result is the id of the comparison.
    """

    target: ComparisonTarget
    verdict: Verdict
    taken: tuple[Taken, ...] = ()


class TakeBackChoice(Command, type="comparison:undo"):
    """Reopens the comparison; the step gets back its output from before the choice."""

    comparison: ComparisonId


class WriteCandidates(Command, type="comparison:more", when="beside"):
    """Writes further candidates, at the price of `quote_candidates`. The command is done when they are written, or
    fails.

    The step keeps its output. For a waiting question, a new run with more candidates asks again; the result is the id
    of that run.
    """

    target: ComparisonTarget
    count: int = 1


class SiftCandidates(Command, type="comparison:sift", when="beside"):
    """Checks each candidate against facts: by rule, and with `model` also by the agents' model from every angle, which
    costs money.

    Findings mark a candidate; nothing is hidden or decided.
    """

    target: ComparisonTarget
    model: bool = False


class SmoothSeams(Command, type="comparison:seams", when="beside"):
    """Asks the writing model once to rewrite the sentences at the seams of a composed text; the service question
    `seam_changes` returns the answer.

    Changes no text. The same text is not paid for twice.
    """

    target: ComparisonTarget
    text: str
    taken: tuple[Taken, ...] = ()


class ComparisonChanged(Event, type="comparison:changed"):
    """Candidates were added, marked or chosen, or a choice was undone; clients must read the comparison again."""

    comparison: ComparisonId | None = None


class SiftProgress(Event, type="comparison:progress"):
    """The progress of a sifting, in candidates."""

    done: int
    total: int
