"""How an invented project answers questions about its text."""

from __future__ import annotations

from collections.abc import Sequence

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion, Span
from flowcabal_tui.domain.search import SEARCH_KINDS, Occurrence, SearchAnswer, SearchHit, SearchKind, TextPlace
from flowcabal_tui.project.matching import Document, Page, best, places
from tests.tui import fake_books as books


class FakeReading:
    """Searches the chapters as they are; `similar` is found by meaning, whatever is sought."""

    words: books.Words
    chapter_rows: list[Chapter]
    version_rows: dict[ChapterId, tuple[tuple[ChapterVersion, str], ...]]
    similar: tuple[SearchHit, ...] = ()

    def _text(self, chapter: Chapter) -> str:
        found = self.version_rows.get(chapter.id, ())
        return found[0][1] if found else ""

    async def search(self, query: str, kinds: Sequence[SearchKind] = SEARCH_KINDS, limit: int = 50) -> SearchAnswer:
        hits: list[SearchHit] = []
        counts: list[tuple[SearchKind, int]] = []
        for kind in kinds:
            found, count = best([Page(each) for each in self._documents() if each.kind == kind], query, limit)
            if kind == "similar" and query:
                found, count = self.similar, len(self.similar)
            hits += found
            counts.append((kind, count))
        return SearchAnswer(query, tuple(hits), tuple(counts))

    def _documents(self) -> list[Document]:
        found = [Document("entities", "entities/hero", self.words.hero, self.words.hero)]
        found.append(Document("meta", "meta/outline", "outline", f"outline: {self.words.abstract}"))
        for row in self.chapter_rows:
            uri = f"manuscript/{row.id}"
            found.append(Document("chapters", uri, row.title, row.title, position=row.position))
            found.append(Document("text", uri, row.title, self._text(row), position=row.position))
        return found

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
