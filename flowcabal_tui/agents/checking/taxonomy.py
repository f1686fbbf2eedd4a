"""The kinds of contradiction that a checker may report: ConStory-Bench's 19 subtypes (arXiv 2603.05890, table 2)."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from flowcabal_tui.domain.run import Angle
from flowcabal_tui.locale import mark

CLASSES: Final[dict[str, tuple[str, ...]]] = {
    "Timeline & Plot Logic": (
        mark("absolute time contradiction"),
        mark("duration contradiction"),
        mark("simultaneity contradiction"),
        mark("causeless effect"),
        mark("causal logic violation"),
        mark("abandoned plot element"),
    ),
    "Characterization": (
        mark("memory contradiction"),
        mark("knowledge contradiction"),
        mark("skill fluctuation"),
        mark("forgotten ability"),
    ),
    "World-building & Setting": (
        mark("core rules violation"),
        mark("social norms violation"),
        mark("geographical contradiction"),
    ),
    "Factual & Detail Consistency": (
        mark("appearance mismatch"),
        mark("nomenclature confusion"),
        mark("quantitative mismatch"),
    ),
    "Narrative & Style": (
        mark("perspective confusion"),
        mark("tone inconsistency"),
        mark("style shift"),
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
"""The subtypes of each angle. "Narrative & Style" is left to the writer: the Monitor checks facts only."""


def subtype_of(word: str, angle: Angle) -> str:
    """The subtype for a model's word in any case, hyphened, plural or shortened; else the angle's first one."""
    meant = re.sub(r"[^a-z]+", " ", word.lower()).strip()
    known = (*BY_ANGLE[angle], *(name for names in CLASSES.values() for name in names))
    brief = next((name for name in known if meant and meant in name), None)
    return brief or next(iter(get_close_matches(meant, known, 1, 0.8)), BY_ANGLE[angle][0])
