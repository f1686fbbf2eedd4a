"""What proofing by rule marks in a text: the rules, and the places that they mark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from flowcabal_tui.domain.ids import ChapterId

ProofRule = Literal[
    "wrong-words", "half-width", "doubled-marks", "quotes", "doubled-words", "de", "echoes", "repeats"
]  # fmt: skip
PROOF_RULES: Final[tuple[ProofRule, ...]] = get_args(ProofRule)
ON_REQUEST: Final[frozenset[ProofRule]] = frozenset({"repeats"})
"""Rules that mark more than one place a chapter of published novels (`tests/bench/proofing.py`): off until wanted."""


@dataclass(frozen=True, slots=True)
class ProofMark:
    """A place of a text that a rule marks. `suggestion` is what could stand there; "": the rule proposes nothing.

    `also` is where the same words are too, for repeats: the position of a chapter, 0: none.
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
