"""The input of the reading of a chapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Origin

TASK: Final = "curator.story"
MAKER: Final = Origin("agent", TASK)


@dataclass(frozen=True, slots=True)
class StoryGoal:
    """A chapter to read: its current text, all entities, and the book before it."""

    chapter: Chapter
    text: str
    known: tuple[Entity, ...]
    before: MemoryView
