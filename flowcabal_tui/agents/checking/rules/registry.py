"""The registry of the rules by name, which also runs them over a draft."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.checking.rules import (
    ages,
    amounts,
    bodily_marks,
    colours,
    dead_acts,
    introductions,
    kinship,
    latin,
    leftovers,
    looks,
    name_drift,
    others,
    possession,
    quote_marks,
    repeated,
    sides,
)
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.domain.run import CheckFinding, Quotation, RuleName
from flowcabal_tui.locale import mark


@dataclass(frozen=True, slots=True)
class Rule:
    """One check without a model. `reads` is what it needs of every chapter, whatever the draft.

    `languages` are those in which it has few enough findings on finished novels.
    """

    name: RuleName
    title: str
    find: Callable[[NarratedText, EarlierBook], Iterable[RuleFinding]]
    reads: Callable[[NarratedText], object] | None = None
    languages: tuple[str, ...] = ("zh", "en")


RULES: Final = (
    Rule("dead-acts", mark("A dead person acts"), dead_acts.find),
    Rule("name-drift", mark("A name differs by one character from a known one"), name_drift.find),
    Rule("introductions", mark("A name is used before it is introduced"), introductions.find),
    Rule("repeated", mark("A sentence is repeated from another chapter"), repeated.find, repeated.by_words),
    Rule("quote-marks", mark("A quotation mark is unpaired"), quote_marks.find, quote_marks.unpaired),
    Rule("ages", mark("An age does not agree with an earlier one"), ages.find, ages.ages),
    Rule("looks", mark("An appearance differs from before"), looks.find, looks.appearances),
    Rule("bodily-marks", mark("A scar or a mole is not where it was before"), bodily_marks.find, bodily_marks.marks),
    Rule("colours", mark("A thing has a different colour than before"), colours.find, colours.colours),
    Rule("others", mark("A thing, animal or season differs from before"), others.find, others.others),
    Rule("possession", mark("A thing belongs to somebody else than before"), possession.find),
    Rule("amounts", mark("A number does not agree with an earlier one"), amounts.find, amounts.amounts),
    Rule("sides", mark("A direction or a side does not agree with an earlier one"), sides.find, sides.sides),
    Rule("kinship", mark("A kinship differs from before"), kinship.find, kinship.kinship),
    Rule("leftovers", mark("A model left instructions or comments in the text"), leftovers.find),
    Rule("latin", mark("Words in Latin letters in Chinese text"), latin.find, languages=("zh",)),
)
_CONFIDENCE: Final = 0.7
"""Below the confidence that causes a paid retry: findings of rules are reported and decide nothing."""


def read(chapter: NarratedText) -> None:
    """Reads a chapter for all rules in advance, so that a later check need not."""
    for rule in RULES:
        if rule.reads is not None:
            chapter.made(rule.reads)


def check(draft: NarratedText, book: EarlierBook, off: Collection[str] = ()) -> tuple[CheckFinding, ...]:
    """The findings of the rules for a draft, in the order of its text, without those of the rules that are `off`."""
    wanted = [rule for rule in RULES if rule.name not in off and book.language[:2] in rule.languages]
    found = [_named(rule.name, finding) for rule in wanted for finding in rule.find(draft, book)]
    return tuple(sorted(found, key=lambda each: (each.draft.start, each.draft.end, each.rule)))


def _named(rule: RuleName, found: RuleFinding) -> CheckFinding:
    source = found.source or Quotation("", "", 0, 0)
    return CheckFinding("rules", found.subtype, found.explanation, found.draft, source, _CONFIDENCE, rule)
