"""The benchmark of judgements: runs rows through the whole check with a model, and records the outcome of their
doubts."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.agents.checking.checker import GROUPS, sources_at_most
from flowcabal_tui.agents.checking.defence import SURE
from flowcabal_tui.agents.checking.draft_statements import statements_in
from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.paid import AnswerStore, PaidOnce
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.model_calls import ModelRequest, Usage
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.domain.run import AngleCheck, CheckFinding
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.bench.check_rows import Checked, CheckRow, checked
from flowcabal_tui.project.bench.scripted_judge import Gold, ScriptedJudge, T, is_same
from flowcabal_tui.settings.paths import cache_folder
from flowcabal_tui.store import Store

_DRAFT: Final = "draft"
_DRAFT_ENDS: Final = "</draft>"
_FRAME: Final = 1_500
"""Approximate tokens of a question without draft and sources."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of a check of a row: findings as lines of a run file, whether they match the gold, and the usage.

    `found` is whether the first question saw the contradiction, where that is known. `outside` are the tokens of
    prompts after the chapter with which an earlier question of the same check also began.
    """

    row: CheckRow
    findings: tuple[dict[str, Any], ...]
    hits: tuple[bool, ...]
    unchecked: int
    calls: int
    tokens: int
    outside: int
    found: bool = False

    def count(self, *, sure: bool, hit: bool | None = None) -> int:
        """The number of its findings that are sure, or not; with `hit` those that match the gold, or do not."""
        pairs = zip(self.findings, self.hits, strict=True)
        return sum((each["confidence"] >= SURE) == sure and hit in (None, right) for each, right in pairs)


class _Answers:
    """Answers of the scripted judge, stored only for the duration of a measurement."""

    def __init__(self) -> None:
        self._kept: dict[Digest, str] = {}

    async def get(self, key: Digest) -> str | None:
        return self._kept.get(key)

    async def put(self, key: Digest, text: str, model: str, usage: Usage) -> None:
        self._kept[key] = text


class KeptAnswers(_Answers):
    """Paid answers in a file of the user's cache, `[key, answer]` per line.

    An interrupted or repeated measurement thus pays for no answer twice. Unreadable lines are ignored.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        for line in file.read_text("utf-8", errors="replace").splitlines() if file.exists() else ():
            with suppress(ValueError, TypeError):
                key, text = json.loads(line)
                self._kept[Digest(str(key))] = str(text)

    async def put(self, key: Digest, text: str, model: str, usage: Usage) -> None:
        """Writes the answer to disk before it is used."""
        await super().put(key, text, model, usage)
        await asyncio.to_thread(self._append, f"\n{json.dumps([key, text])}\n")  # ends a line that a kill cut off

    def _append(self, line: str) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as file:
            file.write(line)


def kept_answers() -> KeptAnswers:
    """The paid answers of all measurements of this user."""
    return KeptAnswers(cache_folder() / "bench" / "answers.jsonl")


class _Recorder(PaidOnce):
    """A model that stores its answers and records all questions."""

    def __init__(self, model: ModelPort, answers: AnswerStore) -> None:
        super().__init__(model, answers)
        self.requests: list[ModelRequest] = []

    async def structured(self, request: ModelRequest, shape: type[T], sample: int = 0) -> T:
        """Records the question; see `PaidOnce`."""
        self.requests.append(request)
        return await super().structured(request, shape, sample)


async def judged_rows(
    folder: Path,
    texts: Sequence[str],
    rows: Sequence[CheckRow],
    gold: Mapping[str, Gold],
    *,
    inside: bool,
    seed: int | None = None,
    model: ModelPort | None = None,
) -> AsyncIterator[Judged]:
    """Checks each row of one book from all angles: by a model, whose answers are stored, or with `seed` by the scripted
    judge.

    `folder` is its project, `texts` are its chapters in order. Only that judge, and the count of hits, know the gold.
    """
    language = rows[0].language
    kept = kept_answers() if model else None
    async with await Store.open(folder, read_only=True, clock=lambda: datetime.now(UTC), language=language) as store:
        chapters = {chapter.position: chapter.id for chapter in await store.book.chapters()}
        numbers = {chapter: at for at, chapter in chapters.items()}
        generation = await store.memory.generation()
        for row in rows:
            draft, own = checked(row, texts[row.now - 1], inside=inside), gold.get(row.id, Gold())
            judge = model or _scripted(f"{seed} {row.id}", draft, own, texts, language)
            recorder = _Recorder(judge, kept or _Answers())
            monitor = Monitor(store.memory, _always(recorder), TokenEstimator())
            checks = await monitor.check_text(draft.text, _DRAFT, "", chapters[row.now], generation)
            yield _judged(row, draft, own, checks, numbers, recorder.requests, judge)


def _always(paid: PaidOnce) -> Callable[[], PaidOnce]:
    return lambda: paid


def _scripted(seed: str, draft: Checked, gold: Gold, texts: Sequence[str], language: str) -> ScriptedJudge:
    """The scripted judge for a row: the gold refers to the row's own draft, which the judge sees within the whole
    text."""
    spans = {each.id: Span(each.start, each.end) for each in statements_in(draft.text, language).values()}
    inside = Gold(Span(gold.span.start + draft.start, gold.span.end + draft.start), gold.sources)
    return ScriptedJudge(seed, inside if gold.sources else gold, spans, texts)


def _judged(
    row: CheckRow,
    draft: Checked,
    gold: Gold,
    checks: Sequence[AngleCheck],
    numbers: Mapping[ChapterId, int],
    requests: Sequence[ModelRequest],
    judge: ModelPort,
) -> Judged:
    lines, hits = [], []
    for finding in (each for check in checks for each in check.findings):
        own = draft.own(finding.draft.start, finding.draft.end)
        chapter = numbers.get(ChapterId(finding.source.uri.removeprefix("manuscript/")))
        if own is not None and chapter is not None:
            lines.append(_line(finding, own, chapter))
            source = Span(finding.source.start, finding.source.end)
            same = any(number == chapter and is_same(source, span) for number, span in gold.sources)
            hits.append(same and is_same(Span(*own), gold.span))
    counter = TokenEstimator()
    tokens = [sum(counter.count(each.content) for each in request.messages) for request in requests]
    beginning = [counter.count(request.messages[1].content.partition(_DRAFT_ENDS)[0]) for request in requests]
    return Judged(
        row,
        tuple(lines),
        tuple(hits),
        sum(check.outcome == "not checked" for check in checks),
        len(requests),
        sum(tokens),
        sum(tokens) - sum(beginning[1:]),
        bool(judge.found) if isinstance(judge, ScriptedJudge) else False,
    )


def _line(finding: CheckFinding, own: tuple[int, int], chapter: int) -> dict[str, Any]:
    source = {"chapter": chapter, "start": finding.source.start, "end": finding.source.end}
    return {"draft": own, "source": source, "confidence": finding.confidence, "by": "model"}


def about_tokens(rows: Sequence[CheckRow], texts: Sequence[str], *, inside: bool) -> int:
    """Estimated tokens of the prompts of the two questions of each row of a book, without those about doubts."""
    counter, total = TokenEstimator(), 0
    for row in rows:
        draft = counter.count(checked(row, texts[row.now - 1], inside=inside).text)
        total += len(GROUPS) * (draft + _FRAME) + sources_at_most(draft, row.language)
    return total


def figures(judged: Sequence[Judged], gold: Mapping[str, Gold]) -> dict[str, float]:
    """The table: rows with a contradiction, their benign twins, clean chapters."""
    clean = [each for each in judged if each.row.draft is None]
    rows = [each for each in judged if each.row.draft is not None]
    wrong = [each for each in rows if each.row.id in gold]
    sure = sum(each.count(sure=True) for each in rows)
    seen = [each for each in wrong if each.found]
    lost = sum(not any(each.hits) for each in seen)
    return {
        "rows": len(wrong),
        "benign": len(rows) - len(wrong),
        "clean": len(clean),
        "precision_sure": share(sum(each.count(sure=True, hit=True) for each in rows), sure),
        "recall_sure": share(sum(each.count(sure=True, hit=True) > 0 for each in wrong), len(wrong)),
        "recall": share(sum(any(each.hits) for each in wrong), len(wrong)),
        "seen_by_first_question": share(len(seen), len(wrong)),
        "lost_by_defence": share(lost, len(seen)),
        "sure_a_clean_chapter": share(sum(each.count(sure=True) for each in clean), len(clean)),
        "folded_a_clean_chapter": share(sum(each.count(sure=False) for each in clean), len(clean)),
        "calls_a_clean_chapter": share(sum(each.calls for each in clean), len(clean)),
        "tokens_a_clean_chapter": round(share(sum(each.tokens for each in clean), len(clean))),
        "outside_a_clean_chapter": round(share(sum(each.outside for each in clean), len(clean))),
        "angles_not_checked": sum(each.unchecked for each in judged),
    }


def share(part: float, whole: int) -> float:
    """The share, rounded; 0 of nothing."""
    return round(part / whole, 3) if whole else 0.0
