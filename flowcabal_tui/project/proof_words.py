"""The words for the rules of proofing, and for one mark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.domain.proofing import ProofMark, ProofRule
from flowcabal_tui.locale import _, mark

RULES: Final[Mapping[ProofRule, str]] = {
    "wrong-words": mark("wrong word"),
    "half-width": mark("half-width mark"),
    "doubled-marks": mark("doubled mark"),
    "quotes": mark("quotes"),
    "doubled-words": mark("doubled word"),
    "de": mark("de particle"),
    "echoes": mark("echo nearby"),
    "repeats": mark("repeated phrase"),
}


def proof_words(found: ProofMark) -> str:
    """The rule of a mark, and its suggestion."""
    name = _(RULES[found.rule])
    if found.suggestion:
        return _("{rule}: {right}?").format(rule=name, right=found.suggestion)
    if found.also:
        return _("{rule}: also in chapter {n}").format(rule=name, n=found.also)
    return name
