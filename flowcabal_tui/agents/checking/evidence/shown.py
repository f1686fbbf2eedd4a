"""The sentences of the book that a checker is shown: the best within a budget, by chapter, in story order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from flowcabal_tui.agents.checking.evidence.ranking import Sentence
from flowcabal_tui.agents.context.gather import Book
from flowcabal_tui.agents.prompt_library import SourceText, fenced_sources
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.model_calls import TokenCounter

_LEAST_ROOM: Final = 20
_MOST_NAMED: Final = 2
_SEPARATOR: Final = 1
"""Tokens of the end of a line."""


async def shown(
    book: Book, ranked: Sequence[Sentence], counter: TokenCounter, budget: int, before: int
) -> list[SourceText]:
    """One source a chapter, in pieces, numbered behind `before` others; with their tags within `budget` tokens."""
    names = {entity.id: entity.name for entity in book.entities}
    texts = await book.view.chapter_texts(tuple(dict.fromkeys(each.chapter for each in ranked)))
    chosen: dict[ChapterId, dict[int, Sentence]] = {}
    for each in ranked:
        known = chosen.get(each.chapter, {})
        if each.start in known:
            continue
        number = f"s{before + len(chosen) + 1}"
        text = texts[each.chapter][each.start : each.end]
        piece = SourceText(number, "", book.title(each.chapter), text, about=_about(each, names))
        alone = counter.count(fenced_sources([piece]).text)
        tag = counter.count(fenced_sources([SourceText(number, "", piece.title, "")]).text)
        tokens = alone + _SEPARATOR - (tag if known else 0)
        if tokens <= budget:
            budget -= tokens
            chosen.setdefault(each.chapter, {})[each.start] = each
        if budget < _LEAST_ROOM:
            break
    in_order = sorted(chosen, key=lambda chapter: book.places[chapter])
    return [
        piece
        for number, chapter in enumerate(in_order, start=before + 1)
        for piece in _pieces(book, f"s{number}", texts[chapter], chosen[chapter].values(), names)
    ]


def _pieces(
    book: Book, number: str, text: str, sentences: Iterable[Sentence], names: Mapping[EntityId, str]
) -> list[SourceText]:
    """Sentences with nothing but space between them make one piece."""
    found: list[SourceText] = []
    for each in sorted(sentences, key=lambda each: each.start):
        last = found[-1] if found else None
        end = last.start + len(last.text) if last else 0
        if last and not text[end : each.start].strip():
            found[-1] = SourceText(
                number, last.uri, last.title, text[last.start : each.end], last.start, about=last.about
            )
        else:
            uri = f"manuscript/{each.chapter}"
            words = text[each.start : each.end]
            found.append(
                SourceText(number, uri, book.title(each.chapter), words, each.start, about=_about(each, names))
            )
    return found


def _about(sentence: Sentence, names: Mapping[EntityId, str]) -> str:
    return ", ".join(names[each] for each in sentence.about[:_MOST_NAMED] if each in names)
