"""Citations in an answer: `[[12|words of the chapter]]` after a statement, looked up verbatim."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.conversation.ports import BookPort
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.domain.conversation import Citation, Statement
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, Span

MARK: Final = re.compile(r"\[\[(\d{1,5})\|([^\[\]\n]{1,400})\]\]")
_OPEN_MARK: Final = re.compile(r"\[\[[^\[\]\n]{0,410}\]?\Z")
"""An incomplete mark at the end of the text received so far."""
_BLANK: Final = "\ue000"
"""Replaces each character of a mark while sentences are found, so that no sentence ends in it."""
_WORD: Final = re.compile(r"\w")


async def citations(answer: str, book: BookPort) -> tuple[Citation, ...]:
    """Every citation of an answer, with the place of its quotation if a chapter contains it verbatim."""
    chapters = {chapter.position: chapter for chapter in await book.chapters()}
    found = []
    for mark in MARK.finditer(answer):
        found.append(await _citation(mark, chapters.get(int(mark[1])), book))
    return tuple(found)


async def _citation(mark: re.Match[str], named: Chapter | None, book: BookPort) -> Citation:
    """The citation of a mark. The chapter that it names is searched first, then the others."""
    quotation = html.unescape(mark[2]).strip()
    if named is not None:
        span = VerbatimText(await book.text(named.id)).find(quotation)
        if span is not None:
            return _at(mark, named.id, quotation, span)
    elsewhere = await book.find(quotation)
    if elsewhere is not None:
        return _at(mark, elsewhere[0], quotation, elsewhere[1])
    return Citation(mark.start(), mark.end(), named.id if named else ChapterId(""), quotation)


def _at(mark: re.Match[str], chapter: ChapterId, quotation: str, span: Span) -> Citation:
    return Citation(mark.start(), mark.end(), chapter, quotation, span.start, span.end, found=True)


def statements(answer: str, cited: Sequence[Citation] = ()) -> tuple[Statement, ...]:
    """The sentences of an answer, with the white space after them and their citations.

    A mark belongs to the sentence that contains it, or to the one before it.
    """
    places = {each.start: each for each in cited if each.found}
    return tuple(
        Statement(MARK.sub("", answer[span.start : span.end]), _within(places, span)) for span in _spans(answer)
    )


def _within(places: dict[int, Citation], span: Span) -> tuple[Citation, ...]:
    return tuple(each for at, each in places.items() if span.start <= at < span.end)


def _spans(answer: str) -> Iterator[Span]:
    """The characters of each sentence up to the next one."""
    hidden = MARK.sub(lambda mark: _BLANK * len(mark[0]), answer)
    starts = [span.start for span in sentences(hidden) if _WORD.search(hidden, span.start, span.end)]
    starts = [_behind_marks(hidden, start) for start in starts]
    for start, end in pairwise((0, *starts[1:], len(answer))) if starts else ((0, len(answer)),):
        if answer[start:end]:
            yield Span(start, end)


def _behind_marks(hidden: str, start: int) -> int:
    """The start of a sentence's words; marks before them belong to the previous sentence."""
    while start < len(hidden) and (hidden[start] == _BLANK or hidden[start].isspace()):
        start += 1
    return start


def shown_while_it_arrives(answer: str) -> str:
    """The text received so far, without marks or the beginning of one."""
    return MARK.sub("", _OPEN_MARK.sub("", answer))
