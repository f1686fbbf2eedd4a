"""The share of the budget of each class of a context, and the order of the classes in the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.domain.context import BudgetClass

SHARES: Final[Mapping[BudgetClass, float]] = {
    "inquiry": 0.06,
    "beats": 0.02,
    "meta": 0.08,
    "outline": 0.02,
    "entities": 0.05,
    "facts": 0.04,
    "profiles": 0.14,
    "near": 0.10,
    "last_meeting": 0.05,
    "knowledge": 0.05,
    "far": 0.29,
    "summaries": 0.10,
}
"""Fractions of the budget in the order of filling. The unused rest goes to the next class, mostly to the far past."""
RENDERED: Final[tuple[BudgetClass, ...]] = (
    "outline",
    "entities",
    "profiles",
    "facts",
    "summaries",
    "far",
    "knowledge",
    "last_meeting",
    "near",
    "beats",
)
"""The user suffix from stable to volatile, so that providers' prompt caches hit: the outline of earlier chapters is the
same for the next chapter, but for a line."""
ALWAYS: Final[tuple[BudgetClass, ...]] = ("beats", "meta", "outline", "entities", "facts", "profiles")
"""Classes that rank before passages of the chapters; the others follow by their candidates' own ranks."""
BESIDES: Final = 0.06
"""The part of the budget reserved for the parts of a node's prompt beyond the chapter's words: the plan's names."""
