"""Findings as a writer goes through them: pages of rows, what was checked, and how useful each check is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import Proposal, ProposalState
from flowcabal_tui.domain.run import AngleCheck

FINDING_STATES: Final[tuple[ProposalState, ...]] = (
    *("waiting", "later", "intended", "changed", "useless", "resolved", "withdrawn"),
)
SETTLED: Final[tuple[ProposalState, ...]] = ("intended", "changed", "useless", "resolved")
"""States that say what became of a finding."""
SHOWN: Final = 5
"""Waiting findings of a chapter that are listed, the sure ones first; the rest is folded."""
FindingVerdict = Literal["intended", "useless", "later", "waiting"]
"""intended: the writer wants it so; useless: not useful; later: put aside; waiting: taken up again."""


@dataclass(frozen=True, slots=True)
class FindingWish:
    """Which findings are wanted: of these states and checks (empty: any), of chapters, with these words.

    With `folded` those past the first five of a chapter too. `newest`: the newest first, not in story order.
    """

    states: tuple[ProposalState, ...] = ("waiting",)
    checks: tuple[str, ...] = ()
    chapters: tuple[ChapterId, ...] = ()
    words: str = ""
    folded: bool = False
    newest: bool = False


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding with when it was raised, the writer's reason, and how many of its chapter are folded behind it."""

    proposal: Proposal
    at: datetime
    word: str = ""
    folded: int = 0


@dataclass(frozen=True, slots=True)
class FindingPage:
    """Some rows from `offset` on, of `total` that are listed; `counts` are of all states, folded ones included."""

    rows: tuple[FindingRow, ...]
    offset: int
    total: int
    folded: int
    counts: Mapping[ProposalState, int]


@dataclass(frozen=True, slots=True)
class CheckRate:
    """Of the findings of a check: how many there were, how many have an outcome, how many of those were not useful."""

    check: str
    raised: int
    settled: int
    useless: int


@dataclass(frozen=True, slots=True)
class ChapterChecked:
    """What the checks said of a chapter, without findings; `is_current`: of its present text."""

    chapter: ChapterId
    at: datetime
    checks: tuple[AngleCheck, ...]
    is_current: bool = True

    @property
    def by_rules(self) -> bool:
        """The rules have read it."""
        return any(check.angle == "rules" and check.outcome != "not checked" for check in self.checks)

    @property
    def by_model(self) -> bool:
        """A model has read it for every angle that was asked about."""
        asked = [check for check in self.checks if check.angle != "rules"]
        return bool(asked) and all(check.outcome != "not checked" for check in asked)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was read and what was not: chapters with text, by id, and the rates of the checks."""

    written: int
    by_rules: int
    by_model: int
    unread: tuple[ChapterId, ...]
    """Neither rules nor a model have read the present text."""
    not_checked: tuple[tuple[ChapterId, AngleCheck], ...]
    """What could not be checked, and why."""
    rates: tuple[CheckRate, ...]


def report_of(
    written: Sequence[ChapterId], checked: Mapping[ChapterId, ChapterChecked], rates: Sequence[CheckRate]
) -> CheckReport:
    """The report on these chapters, in this order."""
    current = {each: checked[each] for each in written if each in checked and checked[each].is_current}
    unread = tuple(each for each in written if each not in current or not _is_read(current[each]))
    missing = [
        (chapter, check) for chapter, said in current.items() for check in said.checks if check.outcome == "not checked"
    ]
    return CheckReport(
        len(written),
        sum(each.by_rules for each in current.values()),
        sum(each.by_model for each in current.values()),
        unread,
        tuple(missing),
        tuple(rates),
    )


def _is_read(said: ChapterChecked) -> bool:
    return said.by_rules or said.by_model
