"""The finding of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flowcabal_tui.domain.run import Quotation, RuleName

Level = Literal["finding", "check"]
"""finding: shown; check: shown folded, for a reader may well see no mistake there."""


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """Words of the draft, and the contradicting words of an earlier chapter (None: the draft alone is odd)."""

    rule: RuleName
    subtype: str
    explanation: str
    draft: Quotation
    source: Quotation | None = None
    level: Level = "finding"
