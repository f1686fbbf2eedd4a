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
from flowcabal_tui.agents.checking.rules.finding import RuleFinding
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.domain.run import RuleName
from flowcabal_tui.locale import mark


@dataclass(frozen=True, slots=True)
class Rule:
    """One check without a model. `languages` are those in which it has few enough findings on finished novels."""

    name: RuleName
    title: str
    find: Callable[[NarratedText, EarlierBook], Iterable[RuleFinding]]
    languages: tuple[str, ...] = ("zh", "en")


RULES: Final = (
    Rule(dead_acts.NAME, mark("A dead person acts"), dead_acts.find),
    Rule(name_drift.NAME, mark("A name differs by one character from a known one"), name_drift.find),
    Rule(introductions.NAME, mark("A name is used before it is introduced"), introductions.find),
    Rule(repeated.NAME, mark("A sentence is repeated from another chapter"), repeated.find),
    Rule(quote_marks.NAME, mark("A quotation mark is unpaired"), quote_marks.find),
    Rule(ages.NAME, mark("An age does not agree with an earlier one"), ages.find),
    Rule(looks.NAME, mark("An appearance differs from before"), looks.find),
    Rule(bodily_marks.NAME, mark("A scar or a mole is not where it was before"), bodily_marks.find),
    Rule(colours.NAME, mark("A thing has a different colour than before"), colours.find),
    Rule(others.NAME, mark("A thing, animal or season differs from before"), others.find),
    Rule(possession.NAME, mark("A thing belongs to somebody else than before"), possession.find),
    Rule(amounts.NAME, mark("A number does not agree with an earlier one"), amounts.find),
    Rule(sides.NAME, mark("A direction or a side does not agree with an earlier one"), sides.find),
    Rule(kinship.NAME, mark("A kinship differs from before"), kinship.find),
    Rule(leftovers.NAME, mark("A model left instructions or comments in the text"), leftovers.find),
    Rule(latin.NAME, mark("Words in Latin letters in Chinese text"), latin.find, ("zh",)),
)
READS: Final[tuple[Callable[[NarratedText], object], ...]] = (
    ages.ages,
    amounts.amounts,
    bodily_marks.marks,
    colours.colours,
    kinship.kinship,
    looks.appearances,
    others.others,
    quote_marks.unpaired,
    repeated.by_words,
    sides.sides,
)
"""What the rules read of every chapter, whatever the draft."""


def read(chapter: NarratedText) -> None:
    """Reads a chapter for all rules in advance, so that a later check need not."""
    for make in READS:
        chapter.made(make)


def check(draft: NarratedText, book: EarlierBook, off: Collection[str] = ()) -> tuple[RuleFinding, ...]:
    """The findings of the rules for a draft, in the order of its text, without those of the rules that are `off`."""
    wanted = [rule for rule in RULES if rule.name not in off and book.language[:2] in rule.languages]
    found = [finding for rule in wanted for finding in rule.find(draft, book)]
    return tuple(sorted(found, key=lambda each: (each.draft.start, each.draft.end, each.rule)))
