"""Titles that stand in a line of their own below the chapter's number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.text import han_count
from flowcabal_tui.headings.rules import is_untitled

_LEAST: Final = 3
_SHARE: Final = 0.8
_LONGEST_ZH: Final = 32
_LONGEST: Final = 90
_ENDS_OF_TEXT: Final = "。，！？；：、…”’」』,;:!?…\"'"


def with_titles_below(chapters: Sequence[ImportedChapter]) -> list[ImportedChapter]:
    """The chapters, their titles joined to their numbers where that is how the book is set.

    It is when most headings only count and a short line that is no sentence follows them, then an empty line.
    """
    untitled = [chapter for chapter in chapters if chapter.text and is_untitled(chapter.title)]
    below = {id(chapter): found for chapter in untitled if (found := _title_below(chapter)) is not None}
    if len(below) < _LEAST or len(below) < _SHARE * len(untitled):
        return list(chapters)
    return [below.get(id(chapter), chapter) for chapter in chapters]


def _title_below(chapter: ImportedChapter) -> ImportedChapter | None:
    first, _line_end, rest = chapter.text.lstrip("\n").partition("\n")
    title = first.strip()
    longest = _LONGEST_ZH if han_count(title) else _LONGEST
    if not rest.strip() or rest.split("\n", 1)[0].strip() or len(title) > longest or title[-1] in _ENDS_OF_TEXT:
        return None
    return replace(chapter, title=f"{chapter.title.rstrip('.')} {title}", text=rest.strip("\n"))
