"""The benchmark of checks: what of the earlier chapters a checker is shown for a draft, and what it finds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from flowcabal_tui.agents.checking.checker import GROUPS, Draft, part_of, sources_at_most, sources_of
from flowcabal_tui.agents.checking.evidence.search import evidence_for
from flowcabal_tui.agents.context.gather import Book, read_book
from flowcabal_tui.agents.tokens import CountedTokens
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.bench.check_rows import Checked, CheckRow, checked
from flowcabal_tui.project.bench.context_bench import COUNTED_AS, BenchBook
from flowcabal_tui.store import Store


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """A row's line of the run file, the tokens of all sources, and the seconds that it took to find them."""

    id: str
    shown: tuple[dict[str, int], ...]
    findings: tuple[dict[str, Any], ...]
    tokens: int
    seconds: float

    @property
    def line(self) -> str:
        return json.dumps({"id": self.id, "shown": self.shown, "findings": self.findings}, ensure_ascii=False)


async def check_answers(
    book: BenchBook, novel: Path, rows: Sequence[CheckRow], *, inside: bool
) -> AsyncIterator[CheckAnswer]:
    """What is shown for the rows of one imported novel, without a model; a row sees the chapters before its own."""
    texts = [file.read_text(encoding="utf-8").rstrip("\n") for file in sorted(novel.glob("*.txt"))]
    store = await Store.open(book.folder, read_only=True, clock=lambda: datetime.now(UTC), language=rows[0].language)
    try:
        chapters = {chapter.position: chapter.id for chapter in await store.book.chapters()}
        numbers = {chapter: at for at, chapter in chapters.items()}
        generation = await store.memory.generation()
        for row in rows:
            draft = checked(row, texts[row.now - 1], inside=inside)
            seen = await read_book(await store.memory.view(chapters[row.now], generation))
            yield await _answer(row, draft, seen, numbers)
    finally:
        await store.close()


async def _answer(row: CheckRow, draft: Checked, book: Book, numbers: Mapping[ChapterId, int]) -> CheckAnswer:
    counter = CountedTokens(TokenEstimator(COUNTED_AS))
    start = perf_counter()
    evidence = tuple(await evidence_for(book, draft.text))
    goal = Draft("", "", draft.text, book, frozenset(), evidence=evidence)
    tokens = sources_at_most(counter.count(draft.text))
    sources = [
        each for group in GROUPS for each in await sources_of(group, goal, counter, part_of(group, len(GROUPS), tokens))
    ]
    seconds = perf_counter() - start
    shown: dict[tuple[int, int, int], None] = {}
    for each in sources:
        chapter = ChapterId(each.uri.removeprefix("manuscript/"))
        end = each.start + len(each.text)
        if chapter in numbers and (await book.view.chapter_text(chapter))[each.start : end] == each.text:
            shown[numbers[chapter], each.start, end] = None
    return CheckAnswer(
        row.id,
        tuple({"chapter": chapter, "start": first, "end": end} for chapter, first, end in shown),
        (),
        sum(counter.count(each.text) for each in sources),
        seconds,
    )
