"""The kinds of contradiction that a checker may report: ConStory-Bench's 19 subtypes (arXiv 2603.05890, table 2)."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from flowcabal_tui.domain.workflow import Angle

CLASSES: Final[dict[str, tuple[str, ...]]] = {
    "Timeline & Plot Logic": (
        "absolute time contradiction",
        "duration contradiction",
        "simultaneity contradiction",
        "causeless effect",
        "causal logic violation",
        "abandoned plot element",
    ),
    "Characterization": (
        "memory contradiction",
        "knowledge contradiction",
        "skill fluctuation",
        "forgotten ability",
    ),
    "World-building & Setting": (
        "core rules violation",
        "social norms violation",
        "geographical contradiction",
    ),
    "Factual & Detail Consistency": (
        "appearance mismatch",
        "nomenclature confusion",
        "quantitative mismatch",
    ),
    "Narrative & Style": (
        "perspective confusion",
        "tone inconsistency",
        "style shift",
    ),
}
BY_ANGLE: Final[dict[Angle, tuple[str, ...]]] = {
    "timeline": CLASSES["Timeline & Plot Logic"][:5],
    "character_state": (*CLASSES["Characterization"], "appearance mismatch", "nomenclature confusion"),
    "world_rules": (*CLASSES["World-building & Setting"], "quantitative mismatch"),
    "echoes": (
        "memory contradiction",
        "abandoned plot element",
        "appearance mismatch",
        "nomenclature confusion",
        "quantitative mismatch",
        "geographical contradiction",
    ),
}
"""What each angle looks for. "Narrative & Style" is left to the writer: the Monitor checks facts only."""


def subtype_of(word: str, angle: Angle) -> str:
    """The subtype that a model meant, whatever its case, hyphens, plural or brevity; else the angle's first one."""
    meant = re.sub(r"[^a-z]+", " ", word.lower()).strip()
    known = (*BY_ANGLE[angle], *(name for names in CLASSES.values() for name in names))
    brief = next((name for name in known if meant and meant in name), None)
    return brief or next(iter(get_close_matches(meant, known, 1, 0.8)), BY_ANGLE[angle][0])
