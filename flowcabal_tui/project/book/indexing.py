"""Computes the passages and names of a chapter, in the helper process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Passage
from flowcabal_tui.domain.memory import Entity, Mention
from flowcabal_tui.viking.layout import pieces

if TYPE_CHECKING:
    from flowcabal_tui.store.book.references import WordsOfPassage

PASSAGE_SIZES: Final = {"zh": (150, 420), "en": (300, 1_000)}
"""Characters of a passage, least and most: a paragraph or a few short ones, so that a hit is short."""


@lru_cache(maxsize=2)
def _names(entities: tuple[Entity, ...]) -> NameIndex:
    return NameIndex(entities)


def index_reference(texts: Sequence[str], language: str) -> list[list[WordsOfPassage]]:
    """The passages of each part of a reference book, with their words."""
    from flowcabal_tui.store.book.references import words_of  # loads the whole store, which chapters do not need here

    least, most = PASSAGE_SIZES["zh" if language.startswith("zh") else "en"]
    return [words_of(text, pieces(text, least, most)) for text in texts]


def index_text(
    chapter: ChapterId, position: int, text: str, entities: tuple[Entity, ...], language: str
) -> tuple[tuple[Passage, ...], tuple[Mention, ...]]:
    """The passages of a chapter, and every name in it with its offsets."""
    least, most = PASSAGE_SIZES["zh" if language.startswith("zh") else "en"]
    passages = tuple(
        Passage(chapter, position, index, span.start, span.end, text[span.start : span.end])
        for index, span in enumerate(pieces(text, least, most))
    )
    mentions = tuple(Mention(hit.entity, chapter, position, hit.start, hit.end) for hit in _names(entities).find(text))
    return passages, mentions
