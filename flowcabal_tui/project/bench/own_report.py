"""The results for contradictions planted into the writer's own book, kind by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.project.bench.check_bench import CheckAnswer
from flowcabal_tui.project.bench.judge_bench import Judged, share
from flowcabal_tui.project.bench.own_plants import KINDS, OwnBook, Planted
from flowcabal_tui.project.bench.scripted_judge import is_same

_COVERED: Final = 0.6
"""Least shown share of a passage for it to count as in view."""
_SURE: Final = 0.8


def by_kind(book: OwnBook, answers: Sequence[CheckAnswer]) -> dict[str, object]:
    """Results without a model: the numbers planted, in view, and found by a rule; and findings per chapter without
    plants."""
    known = {each.id: each for each in answers}
    clean = [each for each in answers if each.id.startswith("clean-")]
    table = _kinds(
        book.planted,
        in_view=lambda each: _in_view(each, known[each.row.id]),
        found=lambda each: any(_hits(each, finding) for finding in known[each.row.id].findings),
    )
    alarms = [finding for each in clean for finding in each.findings]
    sure = sum(finding["confidence"] >= _SURE for finding in alarms)
    return table | {
        "clean_chapters": len(clean),
        "alarms_a_clean_chapter": share(sure, len(clean)),
        "folded_a_clean_chapter": share(len(alarms) - sure, len(clean)),
        "source_tokens": round(share(sum(each.tokens for each in answers), len(answers))),
    }


def judged_by_kind(book: OwnBook, judged: Sequence[Judged]) -> dict[str, object]:
    """Results with a model: the numbers planted and found."""
    known = {each.row.id: each for each in judged}
    return _kinds(book.planted, found=lambda each: any(known[each.row.id].hits))


def _kinds(planted: Iterable[Planted], **columns: Callable[[Planted], bool]) -> dict[str, object]:
    """For each kind, and for all, the number of plants and of those that satisfy each condition."""
    every = list(planted)
    groups = {kind: [each for each in every if each.kind == kind] for kind in KINDS} | {"all": every}
    return {
        name: {"planted": len(group)} | {what: sum(map(holds, group)) for what, holds in columns.items()}
        for name, group in groups.items()
    }


def _in_view(planted: Planted, answer: CheckAnswer) -> bool:
    ((chapter, source),) = planted.gold.sources
    seen = {
        at
        for shown in answer.shown
        if shown["chapter"] == chapter
        for at in range(max(source.start, shown["start"]), min(source.end, shown["end"]))
    }
    return len(seen) >= _COVERED * (source.end - source.start)


def _hits(planted: Planted, finding: Mapping[str, Any]) -> bool:
    ((chapter, source),) = planted.gold.sources
    place = finding["source"]
    same_source = place["chapter"] == chapter and is_same(Span(place["start"], place["end"]), source)
    return same_source and is_same(Span(*finding["draft"]), planted.gold.span)
