"""Groups the chapters of a book into arcs (volumes, or a fixed number of chapters), and each arc into parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.text import slug

WORK: Final = "summaries/work"
ARCS: Final = "summaries/arcs/"
LONGEST: Final = 30
"""Chapters of an arc: a longer volume, and a book without volumes, are cut."""
STEP: Final = 10
"""Chapters after which an arc is summarised again; it is also summarised at its end."""


@dataclass(frozen=True, slots=True)
class StoryArc:
    """Consecutive chapters. `closed`: no chapter at the book's end will belong to it."""

    id: str
    volume: str
    chapters: tuple[Chapter, ...]
    closed: bool

    @property
    def uri(self) -> str:
        return f"{ARCS}{self.id}"

    def title(self, language: str) -> str:
        """The volume and the range of chapters, in the language of the book."""
        first, last = self.chapters[0].position, self.chapters[-1].position
        places = f"第{first}—{last}章" if language.startswith("zh") else f"Chapters {first}-{last}"
        return f"{self.volume} ({places})" if self.volume else places

    def parts(self) -> tuple[tuple[Chapter, ...], ...]:
        """The beginnings of the arc that are summarised: up to every tenth chapter, and the whole once it is closed."""
        ends = [*range(STEP, len(self.chapters) + 1, STEP), *([len(self.chapters)] if self.closed else [])]
        return tuple(self.chapters[:end] for end in dict.fromkeys(ends))


def arcs_of(chapters: Iterable[Chapter]) -> tuple[StoryArc, ...]:
    """The arcs of chapters, given in story order. A chapter without a volume belongs to the arc of the one before."""
    runs: list[tuple[str, list[Chapter]]] = []
    for volume, group in groupby(chapters, key=lambda chapter: chapter.volume):
        if runs and volume in ("", runs[-1][0]):
            runs[-1][1].extend(group)
        else:
            runs.append((volume, list(group)))
    parts = [(volume, run[at : at + LONGEST]) for volume, run in runs for at in range(0, len(run), LONGEST)]
    seen: Counter[str] = Counter()
    arcs: list[StoryArc] = []
    for number, (volume, run) in enumerate(parts, start=1):
        seen[name := slug(volume, fallback="part")] += 1
        closed = number < len(parts) or len(run) == LONGEST
        arcs.append(StoryArc(f"{name}-{seen[name]}", volume, tuple(run), closed))
    return tuple(arcs)
