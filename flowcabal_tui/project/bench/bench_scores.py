"""Scores a context by labels: the earlier chapters and passages that it should contain.

A chapter counts as contained when a passage of its evidence is, or 30 % of its text, or a summary of it of at least 60
tokens; a passage when at least half of it is, verbatim. Labels are read only here, after the contexts have been made.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import _

CORE: Final = ("summary", "callback", "continue", "relation")
"""The kinds of queries over which means are taken."""
_RANKED: Final = 10
_HALF: Final = 0.5
_PART_OF_CHAPTER: Final = 0.3
_SUMMARY: Final = 60


@dataclass(frozen=True, slots=True)
class CharacterSpan:
    """A passage of a chapter, by character offsets."""

    chapter: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Labels:
    """The expected content of a query's context: chapters with their grades (1 to 3), passages of evidence."""

    kind: str
    gold: Mapping[int, int]
    evidence: tuple[CharacterSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """nDCG over the first ten chapters; recall of the graded chapters and of the evidence within the budget."""

    ndcg: float
    chapters: float
    evidence: float | None


@dataclass(frozen=True, slots=True)
class Mean:
    """Means for a kind of query, or (`kind` "") over the core kinds."""

    kind: str
    queries: int
    ndcg: float
    chapters: float
    evidence: float | None


def read_labels(file: Path) -> dict[str, Labels]:
    """Labels by the id of their query. Raises ManuscriptError when they cannot be read."""
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        return {
            row["id"]: Labels(
                row["kind"],
                {int(chapter): int(grade) for chapter, grade in row["gold"].items()},
                tuple(
                    CharacterSpan(int(each["chapter"]), int(each["start"]), int(each["end"]))
                    for each in row["evidence"]
                ),
            )
            for row in rows
            if "gold" in row
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManuscriptError(_("These are not labels: {file}").format(file=file.name), str(error)) from error


def score(labels: Labels, items: Iterable[Mapping[str, Any]], lengths: Mapping[int, int]) -> Score:
    """The score of `items`, which are in the form of the run file, most relevant first; `lengths` are the characters of
    chapters."""
    ranked: dict[int, None] = {}
    spans: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    included: set[int] = set()
    for item in items:
        ranked[item["chapter"]] = None
        if "text" not in item:
            spans[item["chapter"]].append((item["start"], item["end"]))
        elif item["tokens"] >= _SUMMARY:
            included.add(item["chapter"])
    found = [_covered(spans[at.chapter], at.start, at.end) >= _HALF for at in labels.evidence]
    contained = included | {at.chapter for at, is_in in zip(labels.evidence, found, strict=True) if is_in}
    contained |= {at for at in labels.gold if _covered(spans[at], 0, lengths[at]) >= _PART_OF_CHAPTER}
    recall = sum(grade for chapter, grade in labels.gold.items() if chapter in contained) / sum(labels.gold.values())
    ideal = _gain(sorted(labels.gold.values(), reverse=True))
    gained = _gain([labels.gold.get(chapter, 0) for chapter in ranked])
    return Score(gained / ideal, recall, sum(found) / len(found) if found else None)


def means(scores: Iterable[tuple[str, Score]]) -> tuple[Mean, ...]:
    """The means of each kind, then of the core kinds together: a mean of means, so that no kind dominates."""
    by_kind: defaultdict[str, list[Score]] = defaultdict(list)
    for kind, one in scores:
        by_kind[kind].append(one)
    found = [
        Mean(
            kind,
            len(each),
            _mean([one.ndcg for one in each]) or 0.0,
            _mean([one.chapters for one in each]) or 0.0,
            _mean([one.evidence for one in each if one.evidence is not None]),
        )
        for kind, each in sorted(by_kind.items(), key=lambda each: (each[0] not in CORE, each[0]))
    ]
    core = [one for one in found if one.kind in CORE]
    if core:
        evidence = _mean([one.evidence for one in core if one.evidence is not None])
        ndcg, chapters = _mean([one.ndcg for one in core]), _mean([one.chapters for one in core])
        found.append(Mean("", sum(one.queries for one in core), ndcg or 0.0, chapters or 0.0, evidence))
    return tuple(found)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _gain(grades: Sequence[int]) -> float:
    return sum(((1 << grade) - 1) / math.log2(rank + 2) for rank, grade in enumerate(grades[:_RANKED]))


def _covered(spans: Sequence[tuple[int, int]], start: int, end: int) -> float:
    """The share of a stretch that the spans cover together."""
    covered, last = 0, start
    for first, stop in sorted(spans):
        first, stop = max(first, last), min(stop, end)
        if first < stop:
            covered, last = covered + stop - first, stop
    return covered / max(1, end - start)
