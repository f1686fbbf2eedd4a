"""Finds chapters whose contexts contained changed or moved words: the weakest form of dependence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from flowcabal_tui.agents.impact.resting import nearest_pairs, nearest_sentences
from flowcabal_tui.agents.impact.statements import Lost
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.impact import ImpactRow
from flowcabal_tui.domain.manuscript import ChapterVersion
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.story.impact_rows import BookText, lost_quotation, moved_receipt_row, receipt_row
from flowcabal_tui.store.runs.receipts import UsedSource

_States = Sequence[tuple[str, int, str]]
"""Level, generation and text of the states of a chapter, the newest first."""


class ReceiptEdges:
    """Reads the receipts of the runs whose outputs were kept."""

    def __init__(self, base: ProjectBase) -> None:
        self._store, self._workshop, self._language = base.store, base.workshop, base.language

    async def of(
        self,
        lost: Sequence[Lost],
        source: BookText,
        records: Mapping[str, Lost],
        book: Sequence[BookText],
        entities: Sequence[Entity],
    ) -> list[ImpactRow]:
        """A row for each chapter of `book` whose context contained a lost statement of `source`, or one of the
        dependent `records` (by uri)."""
        uri = f"manuscript/{source.subject}"
        uses = await self._store.versions.used_sources({uri, *records})
        if not uses:
            return []
        seen = _Seen(await self._given(uri, source.subject), lost, records)
        given: dict[ChapterId, Lost] = {}
        for use in uses:
            if use.chapter not in given and (one := seen.lost(use)) is not None:
                given[use.chapter] = one
        chapters = [each for each in book if each.subject in given and each.subject != source.subject]
        wanted = [given[ChapterId(each.subject)] for each in chapters]
        texts = [each.text for each in chapters]
        spans = await self._workshop.do(nearest_sentences, texts, wanted, tuple(entities), self._language)
        return [
            receipt_row(chapter, span, one, lost_quotation(source, one))
            for chapter, span, one in zip(chapters, spans, wanted, strict=True)
        ]

    async def moved(
        self, using: Collection[BookText], telling: Sequence[BookText], entities: Sequence[Entity]
    ) -> list[ImpactRow]:
        """A row for each chapter of `using` and each of `telling`, which comes later now, if the context of the first
        contained a part of the second."""
        moved_texts = {f"manuscript/{each.subject}": each for each in telling}
        users = {each.subject: each for each in using}
        given: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        states: dict[str, _States] = {}
        for use in await self._store.versions.used_sources(set(moved_texts)):
            uri = use.source.uri
            if use.chapter in users:
                states[uri] = states.get(uri) or await self._given(uri, moved_texts[uri].subject)
                given[use.chapter, uri][_words(states[uri], use)] = None
        pairs = [
            (users[chapter], moved_texts[uri], "\n".join(given[chapter, uri]))
            for chapter in users
            for uri in moved_texts
            if (chapter, uri) in given
        ]
        texts = [(chapter.text, words, source.text) for chapter, source, words in pairs]
        spans = await self._workshop.do(nearest_pairs, texts, tuple(entities), self._language) if texts else ()
        rows = [
            moved_receipt_row(chapter, place, source, words)
            for (chapter, source, _given), (place, words) in zip(pairs, spans, strict=True)
        ]
        return list({row.proposal.id: row for row in reversed(rows)}.values())[::-1]

    async def _given(self, uri: str, chapter: str) -> _States:
        """The level, the generation and the text of every state of the chapter that a context could contain, the
        newest first."""
        versions: Iterable[ChapterVersion] = await self._store.book.versions(ChapterId(chapter))
        whole = [("L2", each.generation, await self._store.book.text(each.chapter, each.version)) for each in versions]
        return [*whole, *(await self._store.versions.summaries(uri))]


class _Seen:
    """Finds the lost statement that a source in a context contained."""

    def __init__(self, states: _States, lost: Sequence[Lost], records: Mapping[str, Lost]) -> None:
        self._states, self._lost, self._records = states, lost, records

    def lost(self, use: UsedSource) -> Lost | None:
        """The first lost statement that the source contained; None if it contained none."""
        source = use.source
        if source.uri in self._records:
            return self._records[source.uri]
        text = _state(self._states, use)
        if source.level != "L2":
            return next((one for one in self._lost if any(value.words in text for value in one.values)), None)
        return next(iter(self._whole(text, source.start, source.end)), None)

    def _whole(self, text: str, start: int, end: int) -> Iterator[Lost]:
        """The lost statements that a part of the text contains, at least in part."""
        for one in self._lost:
            at = text.find(one.text)
            if at >= 0 and (start < 0 or (start < at + len(one.text) and at < end)):
                yield one


def _state(states: _States, use: UsedSource) -> str:
    """The text from which a context was made; "" if it is no longer known."""
    return next((text for level, at, text in states if level == use.source.level and at <= use.generation), "")


def _words(states: _States, use: UsedSource) -> str:
    text, source = _state(states, use), use.source
    return text[source.start : source.end] if source.level == "L2" and source.start >= 0 else text


def not_listed(rows: Iterable[ImpactRow], known: Collection[ImpactRow]) -> list[ImpactRow]:
    """The rows of chapters that have no row yet."""
    listed = {row.proposal.place.chapter for row in known if row.proposal.place}
    return [row for row in rows if row.proposal.place and row.proposal.place.chapter not in listed]
