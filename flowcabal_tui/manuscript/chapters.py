"""Splits the text of a novel into chapters, and warns of irregularities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.text import han_count, word_count
from flowcabal_tui.headings.contents import without_contents
from flowcabal_tui.headings.levels import heading_lines
from flowcabal_tui.headings.lines import HeadingLine
from flowcabal_tui.headings.rules import Heading, heading_of, is_untitled
from flowcabal_tui.locale import _

_TITLE_PAGE_LINES: Final = 6
_TITLE_PAGE_WIDTH: Final = 60
_SHORT: Final = 100
_LONG: Final = 15_000
_NAMED_IN_A_WARNING: Final = 5
_LEAST_BELOW: Final = 3
_SHARE_BELOW: Final = 0.8
_LONGEST_TITLE_ZH: Final = 32
_LONGEST_TITLE: Final = 90
_ENDS_OF_TEXT: Final = "。，！？；：、…”’」』,;:!?…\"'"


def language_of(text: str) -> str:
    """ "zh" when Chinese characters outnumber words, else "en"."""
    sample = text[:200_000]
    han = han_count(sample)
    return "zh" if han > word_count(sample) - han else "en"


def split_chapters(
    text: str, fallback_title: str, *, bare: bool = True
) -> tuple[tuple[ImportedChapter, ...], tuple[str, ...]]:
    """The chapters of a cleaned text in order, and warnings in the user's words.

    With `bare`, a number alone may be a heading if there are no better ones. Without headings, the result is one
    chapter called `fallback_title`. No text is lost except a title page and a table of contents, which a warning names.
    """
    lines, listed = without_contents(heading_lines(text, bare=bare))
    if not any(line.heading for line in lines):
        body = text.strip("\n")
        return (ImportedChapter(fallback_title, body),), (_("No chapter headings were found: one chapter."),)
    front, found = _pieces(lines)
    found = _with_titles_below(found)
    warnings: list[str] = []
    if listed:
        warnings.append(_("A table of contents was left out ({n} lines).").format(n=listed))
    if any(line.heading and line.heading.trust == "bare" for line in lines):
        warnings.append(_("Chapters were found by numbers alone: check that all of them are chapters."))
    if front and _is_title_page(front):
        warnings.append(_("Left out before the first chapter: {text}").format(text=" / ".join(front.split("\n"))))
    elif front:
        title = "卷首" if language_of(front) == "zh" else "Front matter"
        found.insert(0, ImportedChapter(title, front))
    return tuple(found), (*warnings, *oddities(found))


def _pieces(lines: Sequence[HeadingLine]) -> tuple[str, list[ImportedChapter]]:
    """The text before the first heading, and the chapters."""
    chapters_exist = any(line.heading and line.heading.kind == "chapter" for line in lines)
    front = ""
    volume = ""
    found: list[ImportedChapter] = []
    current: Heading | None = None
    body: list[str] = []
    depth, deeper = 0, False
    """The Markdown level of the volume, and whether its chapters are below that level."""

    def close() -> None:
        nonlocal front
        text = "\n".join(body).strip("\n").rstrip()
        if current is None:
            front = text.strip()
        elif text.strip() or current.kind == "chapter" or not chapters_exist:
            found.append(ImportedChapter(current.title, text if text.strip() else "", volume, current.number))

    for line in lines:
        if line.heading is None:
            body.append(line.text)
            continue
        close()
        current, body = line.heading, []
        if current.kind == "volume" and chapters_exist:
            volume, depth, deeper = current.title, line.level, False
        elif current.volume:
            volume = current.volume
        elif deeper and 0 < line.level <= depth:
            volume = ""
        deeper = deeper or 0 < depth < line.level
    close()
    return _without_book_title(lines, front, found)


def _without_book_title(
    lines: Sequence[HeadingLine], front: str, found: list[ImportedChapter]
) -> tuple[str, list[ImportedChapter]]:
    """A first Markdown heading that is alone above all chapters is the book's title, not a volume."""
    above = [line for line in lines if line.heading and line.level and line.heading.kind == "volume"]
    if len(above) != 1 or above[0].heading is None:
        return front, found
    heading = heading_of(above[0].heading.title)
    if heading is not None and heading.trust != "bare":
        return front, found
    title = above[0].heading.title
    if found and found[0].title == title:
        front, found = f"{title}\n{found[0].text}".strip(), found[1:]
    return front or title, [replace(c, volume="") if c.volume == title else c for c in found]


def _is_title_page(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) <= _TITLE_PAGE_LINES and all(len(line) <= _TITLE_PAGE_WIDTH for line in lines)


def named(titles: Sequence[str]) -> str:
    """The first titles, and the number of further ones."""
    more = len(titles) - _NAMED_IN_A_WARNING
    listed = _(", ").join(titles[:_NAMED_IN_A_WARNING])
    return listed + (_(" and {n} more").format(n=more) if more > 0 else "")


def oddities(chapters: Sequence[ImportedChapter]) -> list[str]:
    """Warnings: missing, duplicate or unordered numbers; chapters that are empty, very short or very long."""
    return [*_odd_numbers(chapters), *_odd_lengths(chapters)]


def _odd_numbers(chapters: Sequence[ImportedChapter]) -> list[str]:
    """Warnings on numbers; each volume may start again at 1, or count on."""
    missing: list[str] = []
    double: list[str] = []
    back: list[str] = []
    last: dict[str, int] = {}
    running = 0
    for chapter in chapters:
        if chapter.number is None:
            continue
        before = last.get(chapter.volume, running if chapter.number > running else 0)
        if chapter.number == before:
            double.append(chapter.title)
        elif chapter.number > before + 1 and last:
            missing.append(f"{before + 1}-{chapter.number - 1}" if chapter.number > before + 2 else str(before + 1))
        elif 1 < chapter.number < before:
            back.append(chapter.title)
        last[chapter.volume] = running = chapter.number
    warnings = []
    if missing:
        warnings.append(_("Chapter numbers are missing: {numbers}.").format(numbers=named(missing)))
    if double:
        warnings.append(_("Chapter numbers occur twice: {titles}.").format(titles=named(double)))
    if back:
        warnings.append(_("Chapter numbers are out of order: {titles}.").format(titles=named(back)))
    return warnings


def _odd_lengths(chapters: Sequence[ImportedChapter]) -> list[str]:
    warnings = []
    lengths = [word_count(c.text) for c in chapters]
    typical = median(lengths) if lengths else 0
    pairs = list(zip(chapters, lengths, strict=True))
    if empty := [c.title for c, n in pairs if n == 0]:
        warnings.append(_("Chapters without text: {titles}.").format(titles=named(empty)))
    if short := [c.title for c, n in pairs if 0 < n < _SHORT and n * 5 < typical]:
        warnings.append(_("Very short chapters: {titles}.").format(titles=named(short)))
    if long := [c.title for c, n in pairs if n > _LONG and (n > 5 * typical or len(pairs) == 1)]:
        warnings.append(_("Very long chapters (was a heading missed?): {titles}.").format(titles=named(long)))
    return warnings


def _with_titles_below(chapters: Sequence[ImportedChapter]) -> list[ImportedChapter]:
    """The chapters, their titles joined to their numbers where the book is set that way.

    It is when most headings only count and a short line that is no sentence follows them, then an empty line.
    """
    untitled = [chapter for chapter in chapters if chapter.text and is_untitled(chapter.title)]
    below = {id(chapter): found for chapter in untitled if (found := _title_below(chapter)) is not None}
    if len(below) < _LEAST_BELOW or len(below) < _SHARE_BELOW * len(untitled):
        return list(chapters)
    return [below.get(id(chapter), chapter) for chapter in chapters]


def _title_below(chapter: ImportedChapter) -> ImportedChapter | None:
    first, _line_end, rest = chapter.text.lstrip().partition("\n")
    title = first.strip()
    longest = _LONGEST_TITLE_ZH if han_count(title) else _LONGEST_TITLE
    if not rest.strip() or rest.split("\n", 1)[0].strip() or len(title) > longest or title[-1] in _ENDS_OF_TEXT:
        return None
    return replace(chapter, title=f"{chapter.title.rstrip('.')} {title}", text=rest.strip("\n"))
