"""The rows of the manuscript, and the detail of the row under the cursor: the beginning of a chapter or a scene."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from textual.content import Content

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.overview import ChapterStatus
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.domain.text import clean, word_count
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.role_words import head_words, key_words
from flowcabal_tui.tui.widgets.roles import role_style

COLUMNS: Final = (
    Column(most=1, least=1),
    Column(is_number=True, role="secondary"),
    Column(fill=True, least=16, most=48),
    Column(rank=1, is_number=True),
    Column(rank=3, is_number=True, role="secondary"),
    Column(rank=4, is_number=True, role="secondary"),
    Column(rank=2, least=8, is_phrase=True),
)
"""Sign, number, title, length, part of the goal, version, remarks."""


OPENING: Final = 2_000
"""Characters of a text that are shown beside the list."""


def chapter_row(columns: Columns, status: ChapterStatus, goal: int, *, unfolded: bool) -> ColumnRow:
    """The row of a chapter; `goal` is the target length of a chapter (0: none)."""
    chapter = status.chapter
    parts = []
    if status.is_unsaved:
        parts.append(_("* unsaved text"))
    if status.changed_outside:
        parts.append(_("changed outside"))
    if status.failed:
        parts.append(_("background: failed"))
    elif status.left:
        parts.append(_("background: due"))
    elif status.is_stale:
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
    """The row of a scene, below its chapter: number, title, first words, length."""
    opening = one_line(scene.text, 120)
    words = f"{one_line(scene.title)} | {opening}" if scene.title else opening
    length = f"{word_count(scene.text):,}"
    return columns.row("", "", Cell(f"{scene.number:>3} {words}", "secondary"), Cell(length, "secondary"))


def volume_row(columns: Columns, volume: str, statuses: Sequence[ChapterStatus], *, folded: bool) -> ColumnRow:
    """The row of a volume, with a sign for folded or unfolded chapters."""
    length = sum(status.chapter.length for status in statuses)
    chapters = ngettext("{n} chapter", "{n} chapters", len(statuses)).format(n=len(statuses))
    name = Cell(one_line(volume), is_bold=True)
    return columns.row("+" if folded else "-", "", name, Cell(f"{length:,}", is_bold=True), "", "", chapters)


def chapter_lines(chapter: Chapter, length: str, opening: str) -> Iterator[Content]:
    """The title and length of a chapter, and the beginning of its text."""
    title = f"{chapter.position} {one_line(chapter.title) or _('untitled')}"
    yield head_words(title, length if chapter.version else _("not written yet"))
    yield Content("")
    yield (
        Content(clean(opening))
        if chapter.version
        else key_words(_("Enter opens it, then F5 runs the workflow for it."))
    )


def scene_lines(scene: ChapterScene, length: str) -> Iterator[Content]:
    """The title, length and beats of a scene, and the beginning of its text."""
    yield head_words(one_line(scene.title) or _("scene {n}").format(n=scene.number), length)
    if scene.beats:
        yield Content.styled(clean(scene.beats), role_style("secondary"))
    yield Content("")
    yield Content(clean(scene.text[:OPENING]))
