"""What a recorded case of an original system says about ours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CaseResult:
    """`outcome` is "pass", "fail" or "deliberate" (ours differs for the reason in `detail`)."""

    file: str
    case: str
    outcome: str
    detail: str
