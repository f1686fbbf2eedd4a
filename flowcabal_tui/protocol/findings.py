"""Commands and events of findings: checks of chapters, and the writer's decisions."""

from __future__ import annotations

from typing import Literal

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.story import Fact
from flowcabal_tui.protocol.base import Command, Event


class DecideFindings(Command, type="finding:decide"):
    """The writer's decision on findings and notes of readers, all at once; `UndoDecision` undoes it.

    intended: deliberate, with a reason; useless: not useful, which counts against its check; later: postponed; waiting:
    reopened.
    """

    findings: tuple[ProposalId, ...]
    verdict: Literal["intended", "useless", "later", "waiting"]
    reason: str = ""


class ChangeFromHere(Command, type="finding:change"):
    """Records that the story changes where the finding quotes its chapter.

    Writes `fact` (None: the chapter's own statement) as valid from that chapter on, and ends the facts that the other
    passage states. A reader's note is answered by the fact. `UndoDecision` undoes all of it. The result is the fact's
    id.
    """

    finding: ProposalId
    fact: Fact | None = None


class SwitchRule(Command, type="finding:rule"):
    """Switches a rule off for this book, or on again; its undecided findings are withdrawn."""

    rule: str
    on: bool = False


class CheckChapters(Command, type="finding:check", when="beside"):
    """Checks the kept texts of chapters between two positions of the story (None: from the first, to the last).

    Checks by rule, and with `model` also by the agents' model, which costs money. The result is the number of findings
    that wait in them.
    """

    first: int | None = None
    last: int | None = None
    model: bool = False


class StopChecking(Command, type="finding:stop", when="at once"):
    """Stops a check before its next chapter."""


class FindingsChanged(Event, type="finding:changed"):
    """Findings were raised, decided or withdrawn."""

    chapter: ChapterId | None = None


class CheckProgress(Event, type="finding:progress"):
    """The progress of a check, in chapters."""

    done: int
    total: int
