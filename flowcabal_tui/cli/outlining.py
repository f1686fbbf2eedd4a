"""`outline`: its parts with their chapters, the text of one part, editing and assigning parts."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Final

from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.beats import progress
from flowcabal_tui.cli.naming import chapter_at, the_chapter
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.cli.text_files import text_from
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.outline import NOWHERE, BookOutline, Placed
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project import Project
from flowcabal_tui.project.words import belongs
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.book import AssignOutline, WriteMeta, WriteOutlinePart

_TO_NONE: Final = "none"
_BY_RULES: Final = "rules"
_KINDS: Final = {"book": mark("book"), "volume": mark("volume"), "chapter": mark("chapter")}


async def outline(arguments: Namespace) -> int:
    """Prints a line for each part, or the text of one, after applying the options; returns 1 if there are none."""
    if arguments.progress:
        return await progress(arguments)
    require_beside("--progress", False, model=arguments.model)
    changes = arguments.write is not None or arguments.assign is not None
    async with await opened(arguments, read_only=not changes, knowledge=False) as project:
        if changes:
            await project.carry_out(await _command(arguments, project))
        book, _version = await project.book.outline()
        chapter = await chapter_at(project, arguments.chapter)
    selects_parts = any(one is not None for one in (arguments.chapter, arguments.part, arguments.volume))
    if arguments.part is not None:
        shown = [_placed(book, arguments.part)] if not changes else []
    elif arguments.volume is not None:
        of_volume = book.part_of_volume(_volume(book, arguments.volume))
        shown = [of_volume] if of_volume is not None else []
    else:
        shown = [*(book.of(chapter) if chapter is not None else book.placed)]
    if arguments.json:
        say_json(_plain(book, shown), indent=2)
    elif changes:
        return 0
    elif arguments.whole:
        say(book.text, end="")
        return 0 if book.text.strip() else 1
    elif selects_parts:
        for each in shown:
            say(book.outline.beats(each.part))
    else:
        _print(book)
    return 0 if changes or not selects_parts or any(book.outline.beats(each.part).strip() for each in shown) else 1


async def _command(arguments: Namespace, project: Project) -> Command:
    book, version = await project.book.outline()
    if arguments.assign is not None:
        name, place = arguments.assign
        assigned = _placed(book, name).part
        return AssignOutline(assigned.title, assigned.nth, await _chapter(project, place))
    chapter = await chapter_at(project, arguments.chapter)
    part = _placed(book, arguments.part).part if arguments.part is not None else None
    text = text_from(arguments.write)
    if arguments.volume is not None:
        volume = _volume(book, arguments.volume)
        of_volume = book.part_of_volume(volume)
        if of_volume is None:
            return WriteOutlinePart(text, volume=volume, expected_version=version)
        part = of_volume.part
    if part is not None:
        return WriteOutlinePart(text, part.title, part.nth, expected_version=version)
    return WriteMeta("outline", text, version) if chapter is None else _for_chapter(book, chapter, text, version)


def _volume(book: BookOutline, name: str) -> str:
    """A volume of the book by its name or its number. Raises UnknownName."""
    named = {clean_line(volume): volume for volume in book.volumes}
    numbers = {str(n): volume for n, volume in enumerate(book.volumes, start=1)}
    found = named.get(clean_line(name)) or numbers.get(name)
    if found is None:
        raise UnknownName(
            _("The book has no volume {name}.").format(name=name),
            _("Available: {names}").format(names=_(", ").join(named) or _("none")),
        )
    return found


def _for_chapter(book: BookOutline, chapter: ChapterId, text: str, version: int) -> WriteOutlinePart:
    """The command that writes the only part of a chapter, or a new part. Raises BadArgument if it has several parts."""
    parts = [each.part for each in book.of(chapter)]
    if len(parts) > 1:
        raise BadArgument(
            _("Several parts of the outline belong to this chapter."),
            _("Nothing was changed."),
            _("Name one with --part: {names}").format(
                names=_(", ").join(str(book.outline.parts.index(part)) for part in parts)
            ),
        )
    if parts:
        return WriteOutlinePart(text, parts[0].title, parts[0].nth, expected_version=version)
    return WriteOutlinePart(text, chapter=chapter, expected_version=version)


async def _chapter(project: Project, place: str) -> ChapterId | None:
    """The named chapter: NOWHERE for none, None for the rules. Raises BadArgument, UnknownName."""
    if place in (_TO_NONE, _BY_RULES):
        return NOWHERE if place == _TO_NONE else None
    if not (place.isascii() and place.isdigit()):
        raise BadArgument(
            _("{name} is not a chapter.").format(name=place),
            _("Nothing was changed."),
            _("Give the number of a chapter, `none` or `rules`."),
        )
    return await the_chapter(project, int(place[:9]))


def _placed(book: BookOutline, name: str) -> Placed:
    """A part by its number in the list or by its title. Raises UnknownName, BadArgument for a title of several."""
    places = {str(at): each for at, each in enumerate(book.placed)}
    titled = [each for each in book.placed if each.part.title and clean_line(each.part.title) == clean_line(name)]
    if len(titled) > 1 and name not in places:
        raise BadArgument(
            _("Several parts of the outline have this title."),
            _("Nothing was changed."),
            _("Give its number in the list of `outline PROJECT`."),
        )
    if (found := places.get(name)) is not None:
        return found
    if titled:
        return titled[0]
    raise UnknownName(
        _("The outline has no such heading: {title}").format(title=name),
        _("`outline PROJECT` lists the parts."),
    )


def _print(book: BookOutline) -> None:
    """Prints number, kind, title and place of each part; then the volumes and chapters without a part."""
    titles = {chapter.id: f"{chapter.position} {clean_line(chapter.title)}" for chapter in book.chapters}
    for at, each in enumerate(book.placed):
        where = "" if each.part.kind == "book" else belongs(each, titles)
        say_row((at, _(_KINDS[each.part.kind]), each.part.title or _("The whole book"), where))
    for volume in book.volumes:
        if book.part_of_volume(volume) is None:
            say_row(("-", _("volume"), volume, _("nothing in the outline yet")))
    for chapter in book.chapters:
        if not book.of(chapter.id):
            say_row(("-", _("chapter"), titles[chapter.id], _("nothing in the outline yet")))


def _plain(book: BookOutline, shown: list[Placed]) -> dict[str, Any]:
    positions = {chapter.id: chapter.position for chapter in book.chapters}
    numbers = {id(each): at for at, each in enumerate(book.placed)}
    return {
        "parts": [
            {
                "n": numbers[id(each)],
                "kind": each.part.kind,
                "title": each.part.title,
                "parent": each.part.parent if each.part.parent >= 0 else None,
                "volume": each.volume,
                "chapters": [positions[chapter] for chapter in each.chapters],
                "by": each.by,
                "planned": each.planned,
                "unassigned": each.is_unassigned,
                "text": book.outline.body(each.part),
            }
            for each in shown
        ],
        "volumes_without": [volume for volume in book.volumes if book.part_of_volume(volume) is None],
        "without": [chapter.position for chapter in book.chapters if not book.of(chapter.id)],
    }
