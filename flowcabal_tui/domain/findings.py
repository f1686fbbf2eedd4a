"""Findings for the writer: pages of rows, the state of checks, and the usefulness of each check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import Proposal, ProposalState
from flowcabal_tui.domain.run import AngleCheck, Compared

SETTLED: Final[tuple[ProposalState, ...]] = ("intended", "changed", "useless", "resolved")
"""States of a finding that has an outcome."""
SHOWN: Final = 5
"""Waiting findings that are listed per chapter, certain ones first; the rest is folded."""
FindingVerdict = Literal["intended", "useless", "later", "waiting"]
"""intended: the contradiction is deliberate; useless: not useful; later: postponed; waiting: reopened."""


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """Filter of findings: by states and checks or their subtypes (empty: any), by chapters, by words.

    `folded` includes those past the first five of a chapter. `newest`: newest first instead of story order. `notes`:
    also those of readers, before the findings of checks.
    """

    states: tuple[ProposalState, ...] = ("waiting",)
    checks: tuple[str, ...] = ()
    chapters: tuple[ChapterId, ...] = ()
    words: str = ""
    folded: bool = False
    newest: bool = False
    notes: bool = False


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding with its time, the writer's reason, and the number of findings of its chapter folded behind it."""

    proposal: Proposal
    at: datetime
    word: str = ""
    folded: int = 0


@dataclass(frozen=True, slots=True)
class FindingPage:
    """Rows from `offset` on, of `total` listed ones; `counts` are of all states, folded ones included."""

    rows: tuple[FindingRow, ...]
    offset: int
    total: int
    folded: int
    counts: Mapping[ProposalState, int]


@dataclass(frozen=True, slots=True)
class CheckRate:
    """Findings of one check: how many exist, how many have an outcome, and how many of those were not useful."""

    check: str
    raised: int
    settled: int
    useless: int


@dataclass(frozen=True, slots=True)
class ChapterChecked:
    """The results of the checks of a chapter, without findings; `is_current`: for its present text."""

    chapter: ChapterId
    at: datetime
    checks: tuple[AngleCheck, ...]
    is_current: bool = True

    @property
    def by_rules(self) -> bool:
        """True when the rules have checked the chapter."""
        return any(check.angle == "rules" and check.outcome != "not checked" for check in self.checks)

    @property
    def by_model(self) -> bool:
        """True when a model has checked it from every requested angle."""
        model_checks = [check for check in self.checks if check.angle != "rules"]
        return bool(model_checks) and all(check.outcome != "not checked" for check in model_checks)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Coverage of the checks: chapters with text, by id, and the rates of the checks."""

    written: int
    by_rules: int
    by_model: int
    unread: tuple[ChapterId, ...]
    """Chapters whose present text was read neither by rules nor by a model."""
    not_checked: tuple[tuple[ChapterId, AngleCheck], ...]
    """Chapters that could not be checked, with the reasons."""
    rates: tuple[CheckRate, ...]
    compared_by_rules: Compared = Compared()
    compared_by_model: Compared = Compared()
    """The comparisons by a model for the chapters in their present text."""
    off: tuple[str, ...] = ()
    """Rules that are switched off for the book."""


def report_of(
    written: Sequence[ChapterId],
    checked: Mapping[ChapterId, ChapterChecked],
    rates: Sequence[CheckRate],
    off: Sequence[str] = (),
) -> CheckReport:
    """The report on these chapters, in this order."""
    current = {each: checked[each] for each in written if each in checked and checked[each].is_current}
    read = {each for each, check in current.items() if check.by_rules or check.by_model}
    unread = tuple(each for each in written if each not in read)
    missing = [
        (chapter, check)
        for chapter, by_chapter in current.items()
        for check in by_chapter.checks
        if check.outcome == "not checked"
    ]
    return CheckReport(
        len(written),
        sum(each.by_rules for each in current.values()),
        sum(each.by_model for each in current.values()),
        unread,
        tuple(missing),
        tuple(rates),
        _compared(current.values(), by_rules=True),
        _compared(current.values(), by_rules=False),
        tuple(off),
    )


def _compared(checked: Iterable[ChapterChecked], *, by_rules: bool) -> Compared:
    checks = (check for each in checked for check in each.checks if (check.angle == "rules") == by_rules)
    return sum((check.compared for check in checks), Compared())
