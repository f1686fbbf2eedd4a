"""The candidates of an evolution: their ranking by facts, and the origin of the paragraphs of a pick."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.run import Evaluation
from flowcabal_tui.nodes.kinds.steps import json_object

ALIKE: Final = 0.6
"""Least share of common character pairs with which a changed paragraph counts as a version of its original."""
_ROWS: Final = 400
"""Maximum paragraphs of an edit whose origin is traced."""


@dataclass(frozen=True, slots=True)
class CandidateText:
    """One text of one round. `number` counts from 1, 0 is a text of the writer's or of the round before."""

    number: int
    text: str
    digest: Digest
    node: NodeId
    """Its maker: the path from the evolution's node; "" for the writer."""
    label: str = ""
    evaluation: Evaluation | None = None
    like: int | None = None
    """The candidate that it nearly equals."""
    is_copy: bool = False
    """Its text equals that of another candidate, so only one of them is offered."""
    more_found: bool = False
    """True when enough other candidates have fewer contradictions."""

    @property
    def found(self) -> int:
        """The number of contradictions that the check has found."""
        return len(self.evaluation.findings) if self.evaluation else 0

    @property
    def offered(self) -> bool:
        """True unless the text is a copy of another: sifting marks texts but hides none of them."""
        return not self.is_copy


def groups_in(answer: str, count: int) -> list[list[int]] | None:
    """The groups of near-duplicates that a sifting model named, as numbers from 1; None when they cannot be read.

    A candidate left out is a group of its own; a number that is named twice or does not exist makes the answer
    unreadable.
    """
    groups = (json_object(answer) or {}).get("groups")
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        return None
    named = [number for group in groups for number in group]
    if not all(type(number) is int and 1 <= number <= count for number in named) or len(set(named)) < len(named):
        return None
    return [sorted(group) for group in groups if group] + [[n] for n in range(1, count + 1) if n not in named]


def sifted(
    candidates: Sequence[CandidateText], groups: Sequence[Sequence[int]] | None, at_most: int | None
) -> tuple[CandidateText, ...]:
    """The candidates with marks: at most `at_most` are unmarked, one of each group, with the fewest contradictions."""
    by_facts = sorted(candidates, key=lambda each: (each.found, each.number))
    place = {each.number: n for n, each in enumerate(by_facts)}
    first = {each.number: each.number for each in candidates}
    for group in [*_equal(candidates), *(groups or ())]:
        firsts = {first[number] for number in group}
        chosen = min(firsts, key=place.__getitem__)
        first = {number: chosen if each in firsts else each for number, each in first.items()}
    remaining = [each.number for each in by_facts if first[each.number] == each.number]
    out = set(remaining[at_most:]) if at_most else set()
    copies = {number for group in _equal(candidates) for number in group if number != min(group)}
    return tuple(
        replace(
            each,
            like=first[each.number] if first[each.number] != each.number else None,
            is_copy=each.number in copies,
            more_found=each.number in out,
        )
        for each in candidates
    )


def _equal(candidates: Sequence[CandidateText]) -> list[list[int]]:
    """Groups of candidates with identical text, found without a model."""
    same: dict[Digest, list[int]] = {}
    for each in candidates:
        same.setdefault(each.digest, []).append(each.number)
    return [group for group in same.values() if len(group) > 1]


def numbered(candidates: Sequence[CandidateText]) -> str:
    """All texts for a prompt, in numbered parts; they are escaped, so that no text can close its part."""
    return "\n".join(
        f'<candidate n="{each.number}">\n{html.escape(each.text, quote=False)}\n</candidate>' for each in candidates
    )


def origins(text: str, candidates: Sequence[CandidateText]) -> list[dict[str, Any]]:
    """For each paragraph of an edited text, the candidate that it comes from; None for one by the writer."""
    known: dict[str, int] = {}
    for each in candidates:
        for paragraph in paragraphs(each.text):
            known.setdefault(paragraph, each.number)
    shapes = [(bigrams(paragraph), number) for paragraph, number in known.items()]
    rows: list[dict[str, Any]] = []
    for place, paragraph in enumerate(paragraphs(text)[:_ROWS], 1):
        same = known.get(paragraph)
        number = _nearest(paragraph, shapes) if same is None else same
        rows.append({"paragraph": place, "candidate": number, "changed": same is None and number is not None})
    return rows


def paragraphs(text: str) -> list[str]:
    """The lines of a text that are not blank, with runs of spaces collapsed."""
    return [" ".join(row.split()) for row in text.splitlines() if row.strip()]


def bigrams(paragraph: str) -> frozenset[str]:
    """The pairs of neighbouring characters."""
    return frozenset(paragraph[n : n + 2] for n in range(max(1, len(paragraph) - 1)))


def likeness(one: frozenset[str], other: frozenset[str], least: float = 0.0) -> float:
    """The share of common pairs, 0 to 1; 0 where it cannot reach `least`."""
    both = len(one) + len(other)
    if 2 * min(len(one), len(other)) < least * both:
        return 0.0
    return 2 * len(one & other) / both


def _nearest(paragraph: str, shapes: Sequence[tuple[frozenset[str], int]]) -> int | None:
    """The number of the candidate with the most similar paragraph, the first in a tie; None when none is similar."""
    own = bigrams(paragraph)
    best, number = 0.0, None
    for pairs, candidate in shapes:
        alike = likeness(own, pairs, ALIKE)
        if alike >= ALIKE and alike > best:
            best, number = alike, candidate
    return number


def facts(evaluation: Evaluation | None) -> Mapping[str, Any]:
    """The check of a candidate, as stored in the lineage."""
    if evaluation is None:
        return {"checks": {}, "findings": []}
    return {
        "checks": {check.angle: check.outcome for check in evaluation.checks},
        "findings": [
            {
                "angle": finding.angle,
                "subtype": finding.subtype,
                "explanation": finding.explanation,
                "draft": finding.draft.text,
                "source": finding.source.text,
                "confidence": finding.confidence,
            }
            for finding in evaluation.findings
        ],
    }
