"""Scores of the context benchmark, held against cases counted by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.project.bench.bench_scores import CharacterSpan, Labels, Score, means, read_labels, score

LENGTHS = {1: 1_000, 2: 1_000, 3: 1_000}
LABELS = Labels("callback", {1: 3, 2: 1}, (CharacterSpan(1, 0, 100), CharacterSpan(2, 0, 100)))


def test_a_passage_counts_when_half_of_it_is_in() -> None:
    half = score(LABELS, [{"chapter": 1, "start": 50, "end": 400, "tokens": 9}], LENGTHS)
    less = score(LABELS, [{"chapter": 1, "start": 51, "end": 300, "tokens": 9}], LENGTHS)
    assert (half.evidence, half.chapters) == (0.5, 0.75)
    assert (less.evidence, less.chapters) == (0.0, 0.0)


def test_pieces_of_a_passage_count_together_and_only_once() -> None:
    pieces = [{"chapter": 1, "start": at, "end": at + 20, "tokens": 9} for at in (0, 10, 60)]
    assert score(LABELS, pieces, LENGTHS).evidence == 0.5
    assert score(LABELS, [pieces[0], pieces[0], pieces[1]], LENGTHS).evidence == 0.0


def test_a_third_of_a_chapter_or_a_real_summary_holds_it() -> None:
    assert score(LABELS, [{"chapter": 1, "start": 500, "end": 800, "tokens": 9}], LENGTHS).chapters == 0.75
    assert score(LABELS, [{"chapter": 2, "text": "...", "tokens": 60}], LENGTHS).chapters == 0.25
    assert score(LABELS, [{"chapter": 2, "text": "...", "tokens": 59}], LENGTHS).chapters == 0.0


def test_the_order_of_chapters_is_scored_by_their_grades() -> None:
    items = [{"chapter": at, "start": 900, "end": 910, "tokens": 9} for at in (3, 1, 3, 2)]
    gained, ideal = 7 / math.log2(3) + 1 / math.log2(4), 7 + 1 / math.log2(3)
    assert score(LABELS, items, LENGTHS).ndcg == pytest.approx(gained / ideal)


def test_every_core_kind_weighs_the_same() -> None:
    many = [("relation", Score(1.0, 1.0, 1.0))] * 9
    core = means([*many, ("summary", Score(0.0, 0.0, None)), ("cast", Score(0.5, 0.5, 0.5))])[-1]
    assert (core.kind, core.queries, core.ndcg, core.evidence) == ("", 10, 0.5, 1.0)


def test_queries_without_labels_have_none(tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"id": "q"}\n', "utf-8")
    assert read_labels(file) == {}
    file.write_text('{"id": "q", "gold": {"one": 1}}\n', "utf-8")
    with pytest.raises(ManuscriptError):
        read_labels(file)
