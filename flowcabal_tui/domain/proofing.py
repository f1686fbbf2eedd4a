"""Proofing by rule: the rules, and the places that they mark in a text."""

from __future__ import annotations

from typing import Final, Literal, get_args

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.value_class import dataclass

ProofRule = Literal[
    "wrong-words", "half-width", "doubled-marks", "quotes", "doubled-words", "de", "echoes", "repeats"
]  # fmt: skip
PROOF_RULES: Final[tuple[ProofRule, ...]] = get_args(ProofRule)
ON_REQUEST: Final[frozenset[ProofRule]] = frozenset({"repeats"})
"""Rules that compare the whole book: off by default."""


@dataclass(frozen=True, slots=True)
class ProofMark:
    """A place of a text that a rule marks. `suggestion` could replace it; "": the rule proposes nothing.

    `also` is the chapter position of another occurrence of repeated words, 0: none.
    """

    rule: ProofRule
    start: int
    end: int
    words: str
    suggestion: str = ""
    also: int = 0


@dataclass(frozen=True, slots=True)
class ProofedChapter:
    """The marks of one chapter's newest text, in the order of the text. `around` holds each mark with its context."""

    chapter: ChapterId
    position: int
    title: str
    version: int
    marks: tuple[ProofMark, ...]
    around: tuple[tuple[str, str], ...] = ()
    """For each mark the characters before and after it."""
