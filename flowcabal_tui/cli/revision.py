"""`lock`, `unlock` and `passes`: a revision of the book, chapter by chapter."""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import replace
from typing import Any, Final, get_args

from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.naming import chapters_of
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row, say_rows
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.comments import COMMENT_KINDS
from flowcabal_tui.domain.errors import UnknownName, available
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.revision import WHOLE, PassChapter, PassId, PassProgress, RevisionPass, new_pass
from flowcabal_tui.domain.run import ANGLES, RuleName
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.revision import LockChapters, PutPasses, TickPass

DONE, NONE = 0, 1
_ITEMS: Final = re.compile("[;；]")
_NAMES: Final = re.compile("[,，、]")


async def lock(arguments: Namespace) -> int:
    """Locks or unlocks chapters and lists the locked ones; returns 1 when `lock` has none to list."""
    changes = arguments.chapters is not None
    async with await opened(arguments, read_only=not changes, knowledge=False) as project:
        if changes:
            chapters = await chapters_of(project, arguments.chapters)
            await project.carry_out(LockChapters(chapters, arguments.command == "lock"))
        locks = await project.revision.locks()
        rows = [(each, locks[each.id]) for each in await project.book.chapters() if each.id in locks]
    rows = [(chapter, lock) for chapter, lock in rows if lock.locked]
    if arguments.json:
        say_json({"locked": [to_plain(lock) | {"position": chapter.position} for chapter, lock in rows]}, indent=2)
    else:
        for chapter, lock in rows:
            version = _("version {n}").format(n=lock.version)
            say_row((chapter.position, chapter.title, version, f"{lock.at:%Y-%m-%d %H:%M}"))
    return DONE if rows or changes else NONE


async def passes(arguments: Namespace) -> int:
    """Prints the passes with their progress, or the chapters of one, after applying the options."""
    ticks = arguments.tick or arguments.untick
    require_beside("--tick", bool(ticks), item=arguments.item)
    changes = _changes(arguments)
    if not arguments.name and (ticks or (changes and "add" not in changes)):
        raise BadArgument(_("Which pass?"), "", _("Put its id after the project's folder."))
    async with await opened(arguments, read_only=not (ticks or changes), knowledge=False) as project:
        known = await project.revision.passes()
        one = _named(arguments.name, known) if arguments.name else None
        if changes:
            known, one = await _changed(project, arguments, known, one)
        if one is not None and ticks:
            await _tick(project, arguments, one)
        progress = {each.id: await project.revision.pass_progress(each.id) for each in known}
        chapters = await project.book.chapters()
    if arguments.json:
        rows = [to_plain(each) | {"title": _(each.title)} | to_plain(progress[each.id]) for each in known]
        say_json({"passes": [row for row in rows if one is None or row["id"] == one.id]}, indent=2)
    elif one is None:
        say_rows(_pass_cells(each, progress[each.id]) for each in known)
    else:
        _print_chapters(one, progress[one.id], chapters)
    return DONE


def _changes(arguments: Namespace) -> set[str]:
    """The options that change the list of passes."""
    names = ("add", "rename", "place", "checks", "kinds", "checklist")
    return {name for name in names if getattr(arguments, name) is not None} | (
        {"remove"} if arguments.remove else set()
    )


def _named(name: str, known: tuple[RevisionPass, ...]) -> RevisionPass:
    for each in known:
        if each.id == name:
            return each
    raise UnknownName(
        _("There is no pass {name}.").format(name=name),
        _("Passes: {names}").format(names=_(", ").join(p.id for p in known)),
    )


async def _changed(
    project: Project, arguments: Namespace, known: tuple[RevisionPass, ...], one: RevisionPass | None
) -> tuple[tuple[RevisionPass, ...], RevisionPass | None]:
    """The passes after the requested change, and the named one."""
    passes = list(known)
    if arguments.add is not None:
        one = new_pass(arguments.add, known)
        passes.append(one)
    assert one is not None
    at = passes.index(one)
    passes.remove(one)
    if not arguments.remove:
        one = replace(one, **_fields(arguments))
        passes.insert(at if arguments.place is None else arguments.place - 1, one)
    await project.carry_out(PutPasses(tuple(passes)))
    return tuple(passes), None if arguments.remove else one


def _fields(arguments: Namespace) -> dict[str, Any]:
    """The fields of a pass that are given. Raises BadArgument for unknown names."""
    fields: dict[str, Any] = {}
    if arguments.rename is not None:
        fields["title"] = arguments.rename
    if arguments.checks is not None:
        fields["checks"] = _known(arguments.checks, (*get_args(RuleName), *ANGLES))
    if arguments.kinds is not None:
        fields["kinds"] = _known(arguments.kinds, tuple(COMMENT_KINDS))
    if arguments.checklist is not None:
        fields["checklist"] = tuple(filter(None, map(str.strip, _ITEMS.split(arguments.checklist))))
    return fields


def _known(given: str, names: tuple[str, ...]) -> tuple[str, ...]:
    wanted = tuple(filter(None, map(str.strip, _NAMES.split(given))))
    if unknown := sorted(set(wanted) - set(names)):
        raise BadArgument(_("There is no {name}.").format(name=_(", ").join(unknown)), "", available(names))
    return wanted


async def _tick(project: Project, arguments: Namespace, one: RevisionPass) -> None:
    item = WHOLE
    if arguments.item is not None:
        if arguments.item > len(one.checklist):
            raise BadArgument(_("The checklist has {n} items.").format(n=len(one.checklist)))
        item = one.checklist[arguments.item - 1]
    for places, on in ((arguments.tick, True), (arguments.untick, False)):
        for chapter in await chapters_of(project, places) if places else ():
            await project.carry_out(TickPass(PassId(one.id), chapter, (item,), on))


def _pass_cells(each: RevisionPass, progress: PassProgress) -> tuple[Any, ...]:
    done = _("{done} of {total} chapters done").format(done=progress.done, total=len(progress.chapters))
    findings = sum(row.findings for row in progress.chapters)
    comments = sum(row.comments for row in progress.chapters)
    return (each.id, _(each.title), done, _("findings: {n}").format(n=findings), _("comments: {n}").format(n=comments))


def _print_chapters(one: RevisionPass, progress: PassProgress, chapters: tuple[Chapter, ...]) -> None:
    say_row(_pass_cells(one, progress))
    for number, item in enumerate(one.checklist, 1):
        say(f"{number}. {_(item)}")
    places: dict[ChapterId, Chapter] = {chapter.id: chapter for chapter in chapters}
    for row in progress.chapters:
        chapter = places[row.chapter]
        say_row((chapter.position, chapter.title, _state(row), _ticked(row, one), row.findings, row.comments))


def _state(row: PassChapter) -> str:
    return _("changed since") if row.outdated else _("done") if row.done else _("to do")


def _ticked(row: PassChapter, one: RevisionPass) -> str:
    """The numbers of the items that are ticked."""
    return ",".join(str(number) for number, item in enumerate(one.checklist, 1) if item in row.items)
