"""Assigns each part of an outline to a chapter: by the writer's choice, by equal title, by equal number."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.outline import BookOutline, Fit, Outline, OutlineLink, OutlinePart, Placed
from flowcabal_tui.domain.text import digest
from flowcabal_tui.headings.rules import heading_of, is_apart, title_words

_BETWEEN: Final = 0.5
_NO_LETTERS: Final = re.compile(r"[\W_]+")
Found = dict[int, tuple[tuple[ChapterId, ...], Fit]]


def assigned(outline: Outline, chapters: Sequence[Chapter], links: Sequence[OutlineLink] = ()) -> BookOutline:
    """Every part with its chapters and its place in the story. `chapters` are in story order."""
    here = {chapter.id: chapter for chapter in chapters}
    outline = _with_parts_as_chapters(outline, chapters)
    found = _by_link(outline, links, here)
    _by_title(outline.parts, chapters, found)
    _by_number(outline.parts, chapters, found)
    volumes = _volumes(outline.parts, chapters, found)
    placed = [
        Placed(part, *found.get(at, ((), ""))[:2], volume=volumes.get(at, "")) for at, part in enumerate(outline.parts)
    ]
    return BookOutline(outline, tuple(_with_places(placed, here, len(chapters))), tuple(chapters))


def _with_parts_as_chapters(outline: Outline, chapters: Sequence[Chapter]) -> Outline:
    """Part One and Part Two are chapters where the outline has no others and the book no volumes."""
    if any(part.kind == "chapter" for part in outline.parts) or any(chapter.volume for chapter in chapters):
        return outline
    return replace(outline, parts=tuple(replace(p, kind="chapter") if p.kind == "volume" else p for p in outline.parts))


def links_of(book: BookOutline) -> tuple[OutlineLink, ...]:
    """The current assignments as links, so that they stay when chapters move."""
    return tuple(
        link_to(book.outline, each.part, chapter, each.by)
        for each in book.placed
        for chapter in each.chapters
        if each.part.kind != "book"
    )


def link_to(outline: Outline, part: OutlinePart, chapter: ChapterId, by: Fit = "hand") -> OutlineLink:
    """The link of a part with its current text."""
    return OutlineLink(part.title, part.nth, digest(outline.body(part)), chapter, by)


def _by_link(outline: Outline, links: Sequence[OutlineLink], here: Mapping[ChapterId, Chapter]) -> Found:
    """Assigns a part by its stored link. A link to a deleted chapter leaves the part unassigned."""
    found: Found = {}
    for link, at in zip(links, _linked(outline, links), strict=True):
        if at >= 0:
            known = found.get(at, ((), ""))[0]
            found[at] = ((*known, link.chapter) if link.chapter in here else known, link.by)
    return found


def renewed(outline: Outline, links: Sequence[OutlineLink]) -> tuple[OutlineLink, ...]:
    """The links with the current titles and texts of their parts, so that the next edit of either finds them."""
    places = _linked(outline, links)
    return tuple(
        link_to(outline, outline.parts[at], link.chapter, link.by) if at >= 0 else link
        for link, at in zip(links, places, strict=True)
    )


def _linked(outline: Outline, links: Sequence[OutlineLink]) -> list[int]:
    """The index of each link's part: by its words; by its title where the words changed or occur twice; -1: none."""
    if not links:
        return []
    by_title: dict[tuple[str, int], int] = {}
    by_body: dict[Digest, list[int]] = {}
    for at, part in enumerate(outline.parts):
        if part.kind != "book":
            by_title[part.title, part.nth] = at
            if body := outline.body(part):
                by_body.setdefault(digest(body), []).append(at)
    found = []
    for link in links:
        titled = by_title.get((link.title, link.nth), -1)
        known = by_body.get(link.body, [])
        found.append(titled if titled in known or not known else known[0])
    return found


@lru_cache(maxsize=32_768)
def _key(title: str) -> str:
    """A title as it is compared: without case, spaces, punctuation and width."""
    return _NO_LETTERS.sub("", (title if title.isascii() else unicodedata.normalize("NFKC", title)).casefold())


def _once(keys: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Keys that occur once, with their places."""
    known = [(key, at) for key, at in keys if key]
    counts = Counter(key for key, _at in known)
    return {key: at for key, at in known if counts[key] == 1}


def _by_title(parts: Sequence[OutlinePart], chapters: Sequence[Chapter], found: Found) -> None:
    """The whole title first, then the title without its number, where only one heading and one chapter have it."""
    for is_short in (False, True):
        free = [(at, part) for at, part in enumerate(parts) if part.kind == "chapter" and at not in found]
        taken = {chapter for given, _by in found.values() for chapter in given}
        wanted = _once((_key(part.words if is_short else part.title), at) for at, part in free)
        titles = ((title_words(each.title) if is_short else each.title, at) for at, each in enumerate(chapters))
        there = _once((_key(title), at) for title, at in titles)
        for key, at in wanted.items():
            if key in there and (chapter := chapters[there[key]].id) not in taken:
                found[at] = ((chapter,), "title")


def _by_number(parts: Sequence[OutlinePart], chapters: Sequence[Chapter], found: Found) -> None:
    """By the numbers in the chapters' titles, else by counting chapters; a volume may begin again with one."""
    taken = {chapter for given, by in found.values() if by != "number" for chapter in given}
    titles = {chapter.id: _key(title_words(chapter.title)) for chapter in chapters}
    numbered = [(at, part) for at, part in enumerate(parts) if part.kind == "chapter" and part.number is not None]
    groups = _restarting(numbered)
    tables = _tables(groups, chapters)
    for group, table in zip(groups, tables, strict=True):
        for at, part in group:
            if at in found or part.number is None:
                continue
            numbers = range(part.number, (part.last or part.number) + 1)
            given = tuple(table[number] for number in numbers if number in table)
            if not given:
                continue
            words = _key(part.words) if part.last is None and given[0] in taken else ""
            if not words or titles[given[0]] == words:
                found[at] = (given, "number")


def _restarting(numbered: Sequence[tuple[int, OutlinePart]]) -> list[list[tuple[int, OutlinePart]]]:
    """The headings in runs of rising numbers: each run begins with a one that comes after a higher number."""
    groups: list[list[tuple[int, OutlinePart]]] = []
    before = 0
    for at, part in numbered:
        number = part.number or 0
        if not groups or (number <= 1 < before):
            groups.append([])
        groups[-1].append((at, part))
        before = part.last or number
    return groups


def _tables(
    groups: Sequence[Sequence[tuple[int, OutlinePart]]], chapters: Sequence[Chapter]
) -> list[dict[int, ChapterId]]:
    """For each run of headings, which number is which chapter."""
    numbered = [(chapter, heading_of(chapter.title)) for chapter in chapters]
    titled = [
        (heading.number, chapter.id)
        for chapter, heading in numbered
        if heading and heading.kind == "chapter" and heading.number is not None
    ]
    counted = [chapter for chapter in chapters if not is_apart(chapter.title)]
    runs: list[dict[int, ChapterId]] = []
    if len(titled) * 2 > len(counted):
        before = 0
        for number, chapter in titled:
            if not runs or (number <= 1 < before):
                runs.append({})
            runs[-1].setdefault(number, chapter)
            before = number
    elif len(groups) > 1 and any(chapter.volume for chapter in counted):
        for _volume, members in groupby(counted, key=lambda chapter: chapter.volume):
            runs.append({n: chapter.id for n, chapter in enumerate(members, start=1)})
    if len(groups) > 1 and len(runs) > 1:
        return [runs[n] if n < len(runs) else {} for n in range(len(groups))]
    table = runs[0] if len(runs) == 1 else {n: chapter.id for n, chapter in enumerate(counted, start=1)}
    tables, offset = [], 0
    for group in groups:
        tables.append({number - offset: chapter for number, chapter in table.items()})
        offset += max(part.last or part.number or 0 for _at, part in group)
    return tables


def _volumes(parts: Sequence[OutlinePart], chapters: Sequence[Chapter], found: Found) -> dict[int, str]:
    """The volume of the book for a volume's part: by link, else by title, else that of its chapters, else by order."""
    names = list(dict.fromkeys(chapter.volume for chapter in chapters if chapter.volume))
    of_chapter = {chapter.id: chapter.volume for chapter in chapters}
    keys = {_key(title_words(name)) or _key(name): name for name in names}
    places = [at for at, part in enumerate(parts) if part.kind == "volume"]
    volumes: dict[int, str] = {}
    for at in places:
        if at in found:
            given = found[at][0]
            volumes[at] = of_chapter[given[0]] if given else ""
        elif name := keys.get(_key(parts[at].words) or _key(parts[at].title)):
            volumes[at] = name
    for at, (given, _by) in sorted(found.items()):
        if (parent := parts[at].parent) > 0 and given and of_chapter[given[0]]:
            volumes.setdefault(parent, of_chapter[given[0]])
    for count, at in enumerate(places, start=1):
        number = parts[at].number or count
        name = names[number - 1] if number <= len(names) else ""
        volumes.setdefault(at, name if name not in volumes.values() else "")
    return volumes


def _with_places(placed: Sequence[Placed], here: Mapping[ChapterId, Chapter], most: int) -> list[Placed]:
    """A part without a chapter has a place between its neighbours that have one; none where nothing is near."""
    result: list[Placed] = []
    following = _following(placed, here)
    before, since = 0, 0
    for each, after in zip(placed, following, strict=True):
        if each.part.kind != "chapter":
            result.append(each)
        elif each.chapters:
            place = min(here[chapter].position for chapter in each.chapters)
            before, since = max(here[chapter].position for chapter in each.chapters), 0
            result.append(Placed(each.part, each.chapters, each.by, place, each.volume))
        else:
            since += 1
            place_here = _guess(each.part, before, since, after)
            is_next = bool(before) and place_here is not None and place_here > most
            planned = is_next and not each.by and each.part.number is not None
            result.append(Placed(each.part, each.chapters, each.by, place_here, each.volume, planned))
    return _with_volume_places(result)


def _guess(part: OutlinePart, before: int, since: int, after: int) -> float | None:
    """The likely place of a part without a chapter, `since` parts after the chapter at `before`, ahead of `after`."""
    if not before:
        return after - _BETWEEN if after and part.number is not None else None
    if after <= before:
        return float(before + since)
    return float(before + since) if before + since < after else after - _BETWEEN


def _following(placed: Sequence[Placed], here: Mapping[ChapterId, Chapter]) -> list[int]:
    """For each part, the position of the next chapter that a later part has (0: none)."""
    found, after = [], 0
    for each in reversed(placed):
        found.append(after)
        if each.part.kind == "chapter" and each.chapters:
            after = min(here[chapter].position for chapter in each.chapters)
    return found[::-1]


def _with_volume_places(placed: Sequence[Placed]) -> list[Placed]:
    """A volume's place is that of its first chapter's part."""
    first: dict[int, float] = {}
    for each in placed:
        if each.place is not None and each.part.parent > 0:
            first[each.part.parent] = min(each.place, first.get(each.part.parent, each.place))
    return [replace(each, place=first[at]) if at in first else each for at, each in enumerate(placed)]
