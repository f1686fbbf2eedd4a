"""The benchmark of checks: the passages of earlier chapters shown to a checker for a draft, and its findings."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from flowcabal_tui.agents.checking.checker import material_of, part_of, questions_of, sources_at_most
from flowcabal_tui.agents.checking.draft_statements import statements_in
from flowcabal_tui.agents.checking.evidence.search import evidence_for
from flowcabal_tui.agents.checking.judged import JudgedDraft
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.registry import check
from flowcabal_tui.agents.context.gather import BookInputs, read_book
from flowcabal_tui.agents.prompt_library import SourceText
from flowcabal_tui.agents.tokens import CountedTokens
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.run import ANGLES
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.bench.check_rows import Checked, CheckRow, checked
from flowcabal_tui.project.bench.context_bench import COUNTED_AS
from flowcabal_tui.store import Store

_CONFIDENCE: Final = 0.9
"""The confidence of a finding by rule."""


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
    folder: Path, texts: Sequence[str], rows: Sequence[CheckRow], *, inside: bool
) -> AsyncIterator[CheckAnswer]:
    """The passages and findings for the rows of one book, without a model.

    `folder` is its project, `texts` are its chapters in order. A row sees the chapters before its own.
    """
    language = rows[0].language
    narrated = [NarratedText(text, language, str(number)) for number, text in enumerate(texts, start=1)]
    async with await Store.open(folder, read_only=True, clock=lambda: datetime.now(UTC), language=language) as store:
        chapters = {chapter.position: chapter.id for chapter in await store.book.chapters()}
        numbers = {chapter: at for at, chapter in chapters.items()}
        generation = await store.memory.generation()
        for row in rows:
            draft = checked(row, texts[row.now - 1], inside=inside)
            seen = await read_book(await store.memory.view(chapters[row.now], generation))
            start = perf_counter()
            sources = await _sources(draft.text, seen)
            seconds = perf_counter() - start
            shown = await _shown(sources, seen, numbers)
            earlier = EarlierBook(language, tuple(narrated[: row.now - 1]), seen.entities)
            counter = TokenEstimator(COUNTED_AS)
            tokens = sum(counter.count(each.text) for each in sources)
            yield CheckAnswer(row.id, shown, tuple(_found(draft, row.now, earlier)), tokens, seconds)


def chapter_texts(novel: Path) -> list[str]:
    """The chapters of a novel's folder, in order."""
    return [file.read_text(encoding="utf-8").rstrip("\n") for file in sorted(novel.glob("*.txt"))]


async def _sources(draft: str, book: BookInputs) -> list[SourceText]:
    """The sources for both questions of a check of the draft."""
    counter = CountedTokens(TokenEstimator(COUNTED_AS))
    evidence = tuple(await evidence_for(book, draft))
    goal = JudgedDraft(
        "", "", draft, book, frozenset(), evidence=evidence, statements=statements_in(draft, book.view.language)
    )
    tokens, found = sources_at_most(counter.count(draft), book.view.language), list[SourceText]()
    groups = await questions_of(ANGLES, goal, counter)
    for group in groups:
        notes, pairs = await material_of(group, goal, counter, part_of(group, len(groups), tokens))
        found += [*notes, *pairs.passages]
    return found


async def _shown(
    sources: Sequence[SourceText], book: BookInputs, numbers: Mapping[ChapterId, int]
) -> tuple[dict[str, int], ...]:
    """The sources that are words of a chapter."""
    shown: dict[tuple[int, int, int], None] = {}
    for each in sources:
        chapter = ChapterId(each.uri.removeprefix("manuscript/"))
        end = each.start + len(each.text)
        if chapter in numbers and (await book.view.chapter_text(chapter))[each.start : end] == each.text:
            shown[numbers[chapter], each.start, end] = None
    return tuple({"chapter": chapter, "start": first, "end": end} for chapter, first, end in shown)


def _found(draft: Checked, now: int, book: EarlierBook) -> Iterator[dict[str, Any]]:
    """The findings of the rules in the row's own draft. If the draft alone is odd, the source is the same place."""
    for each in check(NarratedText(draft.text, book.language, str(now)), book):
        if (own := draft.own(each.draft.start, each.draft.end)) is not None:
            source = each.source if each.source.text else each.draft
            yield {
                "draft": own,
                "source": {"chapter": int(source.uri), "start": source.start, "end": source.end},
                "confidence": _CONFIDENCE,
                "by": f"rule:{each.rule}",
            }
