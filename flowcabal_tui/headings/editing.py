"""Edits an outline's text: replaces the text below a heading, or adds a missing heading. The rest is unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.outline import BookOutline, OutlinePart, Placed
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.headings.assigning import assigned
from flowcabal_tui.headings.outline import read_outline
from flowcabal_tui.headings.rules import heading_of

_CHAPTERS: Final = "##"
"""The marks of the first chapter's heading."""


def with_body(text: str, part: OutlinePart, body: str) -> str:
    """The outline with the text below one heading replaced; every other character is unchanged."""
    old, words = text[part.body.start : part.body.end], body.strip("\n").rstrip()
    has_more = part.body.end < len(text)
    if not words and not old.strip():
        return text
    if old.strip():
        before, after = old[: len(old) - len(old.lstrip("\n"))], old[len(old.rstrip()) :]
    else:
        before, after = "\n" if part.heading.end else "", "\n\n" if has_more else "\n"
    return text[: part.body.start] + before + words + after + text[part.body.end :]


def with_chapter(book: BookOutline, chapter: Chapter, body: str, language: str) -> tuple[str, str]:
    """The outline with a heading for a chapter at its place in the story, and that heading."""
    title = chapter_label(chapter.position, chapter.title, language)
    likeness = _nearest(book, chapter)
    line = book.text[likeness.heading.start : likeness.heading.end] if likeness else _CHAPTERS
    return _inserted(book.text, _place_of_chapter(book, chapter), _marks(line), title, body), title


def with_volume(book: BookOutline, volume: str, body: str, language: str) -> str | None:
    """The outline with a heading for a volume before its chapters; None if it would not be read as a volume's."""
    title = volume_label(book.volumes.index(volume) + 1, volume, language)
    kept = _meaning(assigned(book.outline, book.chapters).placed)
    for text in _with_volume_heading(book, _place_of_volume(book, volume), title, body):
        after = assigned(read_outline(text), book.chapters)
        added = after.part_of_volume(volume)
        if added is not None and _meaning(each for each in after.placed if each is not added) == kept:
            return text
    return None


def with_volume_words(book: BookOutline, part: OutlinePart, body: str) -> str | None:
    """The outline with text for a volume that only chapter headings name (第一卷 第三回); None: impossible."""
    at = book.outline.parts.index(part)
    kept = _meaning(assigned(book.outline, book.chapters).placed)
    for text in _with_volume_heading(book, part.heading.start, part.title, body):
        after = assigned(read_outline(text), book.chapters)
        if _meaning(after.placed) == kept and after.outline.body(after.outline.parts[at]) == body.strip("\n").rstrip():
            return text
    return None


def volume_label(number: int, name: str, language: str) -> str:
    """`Volume 2: Wind` or `第2卷 风`; the name alone if it contains the number of the volume."""
    name = " ".join(name.split())
    heading = heading_of(name)
    if heading is not None and heading.kind == "volume" and heading.number is not None:
        return name
    return f"第{number}卷 {name}" if language.startswith("zh") else f"Volume {number}: {name}"


def _meaning(placed: Iterable[Placed]) -> list[tuple[str, str, tuple[ChapterId, ...]]]:
    return [(each.part.kind, each.part.title, each.chapters) for each in placed]


def _with_volume_heading(book: BookOutline, at: int, title: str, body: str) -> Iterator[str]:
    """The outline with each form that a volume's heading may have: which is read as one depends on all others."""
    return (_inserted(book.text, at, marks, title, body) for marks in dict.fromkeys(_volume_marks(book)))


def _marks(line: str) -> str:
    return line[: len(line) - len(line.lstrip("#"))]


def _volume_marks(book: BookOutline) -> Iterator[str]:
    """As other volumes are marked; else a level above the chapters, their own level, and none."""
    lines: dict[str, list[str]] = {"volume": [], "chapter": []}
    for part in book.outline.parts:
        if part.kind != "book" and part.heading.end > part.heading.start:
            lines[part.kind].append(_marks(book.text[part.heading.start : part.heading.end]))
    yield from lines["volume"]
    own = lines["chapter"][0] if lines["chapter"] else _CHAPTERS
    yield from (own[1:] or own, own, "")


def _nearest(book: BookOutline, chapter: Chapter) -> OutlinePart | None:
    """The chapter's heading before a chapter's place, else the first one after it."""
    earlier, later = _around(book, chapter.position)
    return next((each.part for each in (*reversed(earlier), *later) if each.part.kind == "chapter"), None)


def _around(book: BookOutline, position: int) -> tuple[list[Placed], list[Placed]]:
    earlier = [each for each in book.placed if each.place is not None and each.place < position]
    later = [each for each in book.placed if each.chapters and (each.place or 0) > position]
    return earlier, later


def _place_of_chapter(book: BookOutline, chapter: Chapter) -> int:
    """Behind the nearest chapter before it and within its volume, in front of what comes later."""
    earlier, later = _around(book, chapter.position)
    own = book.part_of_volume(chapter.volume)
    behind = [each.part.body.end for each in earlier if each.part.kind == "chapter"]
    behind += [own.part.body.end] if own is not None else []
    ahead = [book.placed[each.part.parent] for each in later if each.part.parent > 0]
    limits = [each.part.heading.start for each in (*later, *ahead) if own is None or each.part is not own.part]
    at = max(behind, default=len(book.text))
    return max(min([at, *limits]), own.part.body.end if own is not None else 0)


def _place_of_volume(book: BookOutline, volume: str) -> int:
    """In front of the first heading of its chapters, else behind all that comes before them."""
    members = {chapter.id for chapter in book.chapters if chapter.volume == volume}
    if own := [each for each in book.placed if members & {*each.chapters}]:
        return own[0].part.heading.start
    first = min(chapter.position for chapter in book.chapters if chapter.volume == volume)
    after = {*book.volumes[book.volumes.index(volume) + 1 :]}
    limits = [each.part.heading.start for each in book.placed if each.part.kind == "volume" and each.volume in after]
    return min([_place_of_chapter(book, Chapter(ChapterId(""), first, "")), *limits])


def _inserted(text: str, at: int, marks: str, title: str, body: str) -> str:
    before, after = text[:at].rstrip("\n"), text[at:].lstrip("\n")
    new = f"{marks} {title}".lstrip() + f"\n{body.strip(chr(10)).rstrip()}\n"
    return "\n\n".join(filter(None, (before, new.rstrip("\n")))) + ("\n\n" + after if after else "\n")
