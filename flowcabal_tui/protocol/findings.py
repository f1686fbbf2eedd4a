"""Commands and events of findings: checks of chapters, and the writer's decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.story import Fact
from flowcabal_tui.protocol.base import Command, Event, Order, event


@dataclass(frozen=True, slots=True)
class DecideFindings(Command):
    """The writer's decision on findings and notes of readers, all at once; `UndoDecision` undoes it.

    intended: deliberate, with a reason; useless: not useful, which counts against its check; later: postponed; waiting:
    reopened.
    """

    type: ClassVar[str] = "finding:decide"
    findings: tuple[ProposalId, ...]
    verdict: Literal["intended", "useless", "later", "waiting"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangeFromHere(Command):
    """Records that the story changes where the finding quotes its chapter.

    Writes `fact` (None: the chapter's own statement) as valid from that chapter on, and ends the facts that the other
    passage states. A reader's note is answered by the fact. `UndoDecision` undoes all of it. The result is the fact's
    id.
    """

    type: ClassVar[str] = "finding:change"
    finding: ProposalId
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class SwitchRule(Command):
    """Switches a rule off for this book, or on again; its undecided findings are withdrawn."""

    type: ClassVar[str] = "finding:rule"
    rule: str
    on: bool = False


@dataclass(frozen=True, slots=True)
class CheckChapters(Command):
    """Checks the kept texts of chapters between two positions of the story (None: from the first, to the last).

    Checks by rule, and with `model` also by the agents' model, which costs money. The result is the number of findings
    that wait in them.
    """

    type: ClassVar[str] = "finding:check"
    order: ClassVar[Order] = "beside"
    first: int | None = None
    last: int | None = None
    model: bool = False


@dataclass(frozen=True, slots=True)
class StopChecking(Command):
    """Stops a check before its next chapter."""

    type: ClassVar[str] = "finding:stop"
    order: ClassVar[Order] = "at once"


@event
class FindingsChanged(Event):
    """Findings were raised, decided or withdrawn."""

    type: ClassVar[str] = "finding:changed"
    chapter: ChapterId | None = None


@event
class CheckProgress(Event):
    """The progress of a check, in chapters."""

    type: ClassVar[str] = "finding:progress"
    done: int
    total: int
