"""`comments`: the comments on passages of the chapters."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.naming import chapters_of, the_chapter
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_rows
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.comments import COMMENT_KINDS, Comment, CommentFilter, CommentId
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.quoting import quoted as between_marks
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.revision import AddComment, EditComments, RemoveComments

DONE, NONE = 0, 1


async def comments(arguments: Namespace) -> int:
    """Prints the comments, one on each line, after applying the options; exit code 1 when none matches."""
    require_beside("--add", arguments.add is not None, on=arguments.on)
    require_beside("--edit", arguments.edit is not None, to=arguments.to)
    if arguments.add is None and arguments.edit is None:
        require_beside("--add", False, **{"as": arguments.as_kind})
    if arguments.add is not None and arguments.kind and arguments.as_kind is None:
        raise BadArgument(_("--kind only filters the list."), "", _("Give the kind of the new comment with --as."))
    changes = list(_changes(arguments))
    async with await opened(
        arguments, read_only=not (changes or arguments.add is not None), knowledge=False
    ) as project:
        chapters = await chapters_of(project, arguments.chapter)
        if arguments.add is not None:
            changes.insert(0, await _added(project, arguments))
        for command in changes:
            made = await project.carry_out(command)
            if made and not arguments.json:
                say(_("Added comment {id}.").format(id=made))
        found = await project.revision.comments(_wish(arguments, chapters))
        await _print(project, found, as_json=arguments.json)
    return DONE if found or changes else NONE


def _wish(arguments: Namespace, chapters: tuple[ChapterId, ...]) -> CommentFilter:
    resolved = {"open": False, "resolved": True}.get(arguments.state)
    return CommentFilter(chapters, tuple(arguments.kind), arguments.words, resolved, arguments.state == "lost")


async def _added(project: Project, arguments: Namespace) -> AddComment:
    first, last = arguments.chapter or (None, None)
    if first is None or first != last:
        raise BadArgument(_("A comment belongs to one chapter."), "", _("Name it with --chapter N."))
    chapter = await the_chapter(project, first)
    return AddComment(chapter, arguments.add, arguments.as_kind or "note", arguments.on or "")


def _changes(arguments: Namespace) -> Iterator[Command]:
    if arguments.edit is not None:
        if arguments.to is None and arguments.as_kind is None:
            raise BadArgument(_("Nothing to change was given."), "", _("Give --to WORDS or --as KIND."))
        yield EditComments((CommentId(arguments.edit),), arguments.to, arguments.as_kind)
    for ids, resolved in ((arguments.resolve, True), (arguments.reopen, False)):
        if ids:
            yield EditComments(tuple(map(CommentId, ids)), resolved=resolved)
    if arguments.remove:
        yield RemoveComments(tuple(map(CommentId, arguments.remove)))


async def _print(project: Project, found: tuple[Comment, ...], *, as_json: bool) -> None:
    positions = {chapter.id: chapter.position for chapter in await project.book.chapters()}
    if as_json:
        say_json({"comments": [to_plain(each) | {"position": positions[each.chapter]} for each in found]}, indent=2)
        return
    say_rows(_cells(each, positions) for each in found)


def _cells(comment: Comment, positions: dict[ChapterId, int]) -> tuple[Any, ...]:
    state = _("passage gone") if comment.lost else _("resolved") if comment.resolved else _("unresolved")
    quoted = between_marks(clean_line(comment.quotation)) if comment.quotation else ""
    words = clean_line(comment.words)
    kind = _(COMMENT_KINDS[comment.kind])
    return (comment.id, positions[comment.chapter], kind, state, quoted, words, comment.author)
