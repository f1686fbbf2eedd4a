"""How an invented project answers questions about its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from flowcabal_tui.agents.names.planned import ChapterPlan, compared
from flowcabal_tui.domain.beats import BeatAdvice, BeatCount, ChapterBeats
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion, Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.origin import BlamedLine, ParagraphOrigin, Provenance, Written
from flowcabal_tui.domain.overview import BookOverview, ChapterStatus, Goals
from flowcabal_tui.domain.proofing import ProofedChapter, ProofMark, ProofRule
from flowcabal_tui.domain.run import Quote, Spend
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.domain.search import SEARCH_KINDS, Occurrence, SearchAnswer, SearchHit, SearchKind, TextPlace
from flowcabal_tui.domain.writing_days import WritingDay, WritingLog
from flowcabal_tui.headings.planned_scenes import planned_scenes
from flowcabal_tui.project.book.matching import Page, SearchedText, best, places
from flowcabal_tui.proofing.rules import proof, rules_for
from tests.tui import fake_books as books


class FakeReading:
    """Searches the chapters as they are; `similar` is found by meaning, whatever is sought."""

    words: books.Words
    chapter_rows: list[Chapter]
    version_rows: dict[ChapterId, tuple[tuple[ChapterVersion, str], ...]]
    similar: tuple[SearchHit, ...] = ()
    rules_off: tuple[ProofRule, ...] = ()
    outlined = ""
    """The outline's words for the first chapter."""
    beats_quote: Quote | None = Quote((), (), Spend(1, 900, 90, Decimal("0.02")), None)
    advised_on: str | None = None
    """The text of the first chapter about which a model was asked; it found the first beat, missed the second, and gave
    no answer to the third."""
    goals = Goals(book=1_000, chapter=100, day=200)

    def _text(self, chapter: Chapter) -> str:
        found = self.version_rows.get(chapter.id, ())
        return found[0][1] if found else ""

    async def search(self, query: str, kinds: Sequence[SearchKind] = SEARCH_KINDS, limit: int = 50) -> SearchAnswer:
        hits: list[SearchHit] = []
        counts: list[tuple[SearchKind, int]] = []
        for kind in kinds:
            found, count = best([Page(each) for each in self._documents() if each.kind == kind], query, limit)
            if kind == "similar" and query:
                found, count = self.similar[:limit], len(self.similar[:limit])
            hits += found
            counts.append((kind, count))
        return SearchAnswer(query, tuple(hits), tuple(counts))

    def _documents(self) -> list[SearchedText]:
        found = [SearchedText("entities", "entities/hero", self.words.hero, self.words.hero)]
        found.append(SearchedText("meta", "meta/outline", "outline", f"outline: {self.words.abstract}"))
        for row in self.chapter_rows:
            uri = f"manuscript/{row.id}"
            found.append(SearchedText("chapters", uri, row.title, row.title, position=row.position))
            found.append(SearchedText("text", uri, row.title, self._text(row), position=row.position))
        return found

    async def blame(self, chapter: ChapterId) -> tuple[BlamedLine, ...]:
        """The last line of every chapter was written by the draft that is at work, the others as they were kept."""
        found = self.version_rows.get(chapter, ())
        lines, start = [], 0
        for number, text in enumerate(found[0][1].split("\n") if found else (), 1):
            version = found[0][0]
            origin = ParagraphOrigin(chapter, version.version, version.author, version.at, text)
            if number == len(found[0][1].split("\n")):
                before = replace(origin, version=1, text=self.words.draft_quote)
                origin = replace(origin, author="model", run=books.RUN, node=books.DRAFT, attempt=2, before=before)
            lines.append(BlamedLine(number, start, text, origin))
            start += len(text) + 1
        return tuple(lines)

    async def provenance(self, chapter: ChapterId, line: int) -> Provenance:
        known = next(each for each in await self.blame(chapter) if each.number == line)
        if not known.origin.run:
            return Provenance(known)
        receipt = books.receipt(self.words)
        title = self.words.node_names[1]
        return Provenance(known, Written(books.RUN, books.DRAFT, title, 2, "model", "offline", "Chapter", receipt))

    async def overview(self) -> BookOverview:
        """The second chapter's file was changed outside, the memory of the third has failed."""
        statuses = (
            ChapterStatus(
                row, changed_outside=row.position == 2, left=2 if row.position == 1 else 0,
                failed=("The model did not answer.",) if row.position == 3 else (),
            )
            for row in self.chapter_rows
        )  # fmt: skip
        return BookOverview(tuple(statuses), self.goals, 120, date(2026, 3, 18))

    async def writing_log(self) -> WritingLog:
        """Eighteen days of March: some reached the goal, some were cuts, three were free; a model wrote on the last."""
        first, second = self.chapter_rows[0].id, self.chapter_rows[1].id
        today = date(2026, 3, 18)
        days = [
            WritingDay(date(2026, 3, n), hand=90 * (n % 5) - 40, saves=2, chapters=((first, 90 * (n % 5) - 40),))
            for n in range(1, 18)
            if n not in (4, 5, 11)
        ]
        days.append(WritingDay(today, 80, 40, 3, ((first, 80), (second, 40))))
        length = sum(row.length for row in self.chapter_rows)
        return WritingLog(today, tuple(days), self.goals, length)

    async def scenes(self, chapter: ChapterId) -> tuple[ChapterScene, ...]:
        """A scene for each line; the second has a title and beats."""
        row = next(row for row in self.chapter_rows if row.id == chapter)
        found, start = [], 0
        for number, text in enumerate(self._text(row).splitlines(keepends=True), 1):
            title, beats = (self.words.scene, self.words.beats) if number == 2 else ("", "")
            span = Span(start, start + len(text))
            found.append(ChapterScene(number, title, Span(start, start), span, text, beats=beats))
            start += len(text)
        return tuple(found)

    async def beats(self, chapter: ChapterId, text: str | None = None) -> ChapterBeats:
        """By the real rule, in this process; the outline is `self.outlined`."""
        row = next(row for row in self.chapter_rows if row.id == chapter)
        hero = Entity(EntityId("hero"), "character", self.words.hero)
        parts = (planned_scenes(self.outlined),) if self.outlined and row.position == 1 else ()
        found = compared(ChapterPlan(chapter, parts, (hero,)), self._text(row) if text is None else text)
        is_stale = found.parts != () and self.advised_on != (self._text(row) if text is None else text)
        advice = [BeatAdvice("brought", None if is_stale else Span(2, 9), is_stale=is_stale)]
        advice += [BeatAdvice(each, None, is_stale=is_stale) for each in ("not found", "not checked")]
        if self.advised_on is not None:
            rows = iter(advice)
            beats = (tuple(replace(beat, advice=next(rows)) for beat in part.beats) for part in found.parts)
            found = replace(found, parts=tuple(map(lambda part, own: replace(part, beats=own), found.parts, beats)))
        return replace(found, volume=self.words.abstract if parts else "")

    async def quote_beats(self, _chapter: ChapterId) -> Quote | None:
        return self.beats_quote

    async def beat_counts(self) -> dict[ChapterId, BeatCount]:
        if not self.outlined:
            return {}
        first = await self.beats(self.chapter_rows[0].id)
        return {first.chapter: BeatCount(first.found, first.named)}

    async def proof(
        self, chapters: Sequence[ChapterId] = (), rules: Sequence[ProofRule] = ()
    ) -> tuple[ProofedChapter, ...]:
        """By the real rules, in this process."""
        found = []
        for row in self.chapter_rows:
            if not chapters or row.id in chapters:
                text = self._text(row)
                marks = proof(text, self.words.language, rules or rules_for(self.words.language)[:-1])
                around = tuple((text[max(0, at.start - 24) : at.start], text[at.end : at.end + 24]) for at in marks)
                found.append(ProofedChapter(row.id, row.position, row.title, row.version, marks, around))
        return tuple(found)

    async def proof_text(self, text: str) -> tuple[ProofMark, ...]:
        return proof(text, self.words.language, rules_for(self.words.language)[:-1])

    async def proof_rules_off(self) -> tuple[ProofRule, ...]:
        return self.rules_off

    async def occurrences(self, words: str) -> tuple[Occurrence, ...]:
        found = []
        for row in self.chapter_rows:
            text = self._text(row)
            for at in places(text, words, whole=True) if words else ():
                start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
                line = text[start : end if end >= 0 else len(text)]
                place = TextPlace(row.id, row.version, at)
                found.append(
                    Occurrence(place, row.position, row.title, line, Span(at - start, at - start + len(words)))
                )
        return tuple(found)
