"""The rows of the manuscript: a chapter with its length and state, a scene with its first words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flowcabal_tui.domain.overview import ChapterStanding
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.domain.text import word_count
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns

COLUMNS: Final = (
    Column(most=1, least=1),
    Column(is_number=True, role="secondary"),
    Column(fill=True, least=16),
    Column(rank=1, is_number=True),
    Column(rank=3, is_number=True, role="secondary"),
    Column(rank=4, is_number=True, role="secondary"),
    Column(rank=2, least=8),
)
"""Sign, number, title, length, part of the goal, version, remarks."""


def chapter_row(columns: Columns, standing: ChapterStanding, goal: int, *, unfolded: bool) -> ColumnRow:
    """A chapter; `goal` is the length that one is to have (0: none)."""
    chapter = standing.chapter
    parts = []
    if standing.is_unsaved:
        parts.append(_("* unsaved text"))
    if standing.changed_outside:
        parts.append(_("changed outside"))
    if standing.failed:
        parts.append(_("memory failed"))
    elif standing.left:
        parts.append(_("updating memory"))
    elif standing.is_stale:
        parts.append(_("summaries out of date"))
    return columns.row(
        "v" if unfolded else ">" if chapter.version else "",
        f"{chapter.position}",
        one_line(chapter.title) or _("untitled"),
        f"{chapter.length:,}" if chapter.version else "—",
        f"{chapter.length / goal:.0%}" if goal and chapter.version else "",
        f"v{chapter.version}" if chapter.version > 1 else "",
        Cell(_(", ").join(parts), "stale" if parts else None),
    )


def scene_row(columns: Columns, scene: ChapterScene) -> ColumnRow:
    """Number, title, first words, length; below those of its chapter."""
    opening = one_line(scene.text, 120)
    words = f"{one_line(scene.title)} | {opening}" if scene.title else opening
    length = f"{word_count(scene.text, 'zh'):,}"
    return columns.row("", "", Cell(f"{scene.number:>3} {words}", "secondary"), Cell(length, "secondary"))


def volume_row(columns: Columns, volume: str, standings: Sequence[ChapterStanding], *, folded: bool) -> ColumnRow:
    """A volume; its sign says whether its chapters are folded away."""
    length = sum(standing.chapter.length for standing in standings)
    chapters = ngettext("{n} chapter", "{n} chapters", len(standings)).format(n=len(standings))
    name = Cell(one_line(volume), is_bold=True)
    return columns.row("+" if folded else "-", "", name, Cell(f"{length:,}", is_bold=True), "", "", chapters)
