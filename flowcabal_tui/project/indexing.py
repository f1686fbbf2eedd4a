"""Where a chapter's scenes and names stand: computed in the helper process."""

from __future__ import annotations

from functools import lru_cache

from flowcabal_tui.agents.names import NameIndex
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Passage
from flowcabal_tui.domain.memory import Entity, Mention
from flowcabal_tui.viking.layout import scenes


@lru_cache(maxsize=2)
def _names(entities: tuple[Entity, ...]) -> NameIndex:
    return NameIndex(entities)


def index_text(
    chapter: ChapterId, position: int, text: str, entities: tuple[Entity, ...], language: str
) -> tuple[tuple[Passage, ...], tuple[Mention, ...]]:
    """The scenes of a chapter as passages, and every name in it with its offsets."""
    passages = tuple(
        Passage(chapter, position, index, span.start, span.end, text[span.start : span.end])
        for index, span in enumerate(scenes(text, language))
    )
    mentions = tuple(Mention(hit.entity, chapter, position, hit.start, hit.end) for hit in _names(entities).find(text))
    return passages, mentions
