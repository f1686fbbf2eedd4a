"""Commands that maintain a book and its file: delete, undelete, rebuild, purge, backup, restore."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncIterator

from flowcabal_tui.cli.agreeing import memory_settled
from flowcabal_tui.cli.embeddings import settle_embeddings
from flowcabal_tui.cli.knowledge import knowledge_decided
from flowcabal_tui.cli.notes import note_unsaved
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_row
from flowcabal_tui.cli.trusting import print_brought
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.text import clean, clean_line, unbroken
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project import Project
from flowcabal_tui.project.book.backup import restore
from flowcabal_tui.project.memory.bootstrap_words import quoted
from flowcabal_tui.project.views import RebuildPlan
from flowcabal_tui.project.words import TASKS, text_stays
from flowcabal_tui.protocol.book import DeleteOutput, EditChapter
from flowcabal_tui.protocol.memory import BackgroundChanged, Purge, PurgeFinished, Rebuild, RebuildProgress, TextPurged
from flowcabal_tui.settings.recent import remember_project

TICK_SECONDS = 0.2
PURGE_SECONDS = 10.0
_SHOWN = 80
"""Characters of a text that is named by its beginning."""


async def rebuild(arguments: Namespace) -> int:
    """Regenerates derived texts and waits for them; returns 1 when a step failed or the server did not start."""
    async with await opened(
        arguments,
        read_only=arguments.dry_run,
        knowledge=arguments.knowledge,
        uses_models=not arguments.dry_run and arguments.what != "index",
    ) as project:
        plan = await project.memory.rebuild_plan(arguments.what)
        _print_plan(plan, arguments.what)
        if arguments.dry_run:
            return 0
        if arguments.what == "stale" and not plan.stale:
            await memory_settled(project, yes=arguments.yes)
            return 0
        await settle_embeddings(project, arguments)
        absent = await knowledge_decided(project) if arguments.knowledge else ""
        work = asyncio.create_task(_rebuild(project, arguments.what, yes=arguments.yes))
        while not work.done():
            _print_progress(project)
            await asyncio.wait([work], timeout=TICK_SECONDS)
        await work
        _print_progress(project)
        failed = [task for task in await project.memory.background() if task.state == "failed"]
        for task in failed:
            say_row((_(TASKS[task.kind]), task.subject, task.error), file=sys.stderr)
        say(_("Rebuilt."))
        async for note in _left(project, arguments, absent):
            say(_("note: {text}").format(text=note), file=sys.stderr)
        return 1 if failed or absent else 0


async def _left(project: Project, arguments: Namespace, absent: str) -> AsyncIterator[str]:
    """The parts that this rebuild could not make, and the command that makes them."""
    owed = sum(task.kind == "knowledge" for task in await project.memory.background())
    if absent:
        yield _("the knowledge server is not available ({reason}); {n} still to send to it.").format(
            reason=absent, n=owed
        )
    elif owed and arguments.what in ("knowledge", "all"):
        yield _("{n} still to send to the knowledge server; --knowledge starts it and waits.").format(n=owed)
    if arguments.what not in ("profiles", "all"):
        return
    if not any(role == "agent" for role, _endpoint in project.info.models):
        yield _("no model of the agents is set: profiles and story records are not made.")
    elif (quote := await project.memory.quote_bootstrap()).calls:
        yield _("the agents' model has never read the imported chapters: `flowcabal-tui bootstrap`, {quote}.").format(
            quote=quoted(quote)
        )


async def _rebuild(project: Project, what: str, *, yes: bool) -> None:
    await project.carry_out(Rebuild(what))  # type: ignore[arg-type]  # the parser knows the parts
    await memory_settled(project, yes=yes)


def _print_plan(plan: RebuildPlan, what: str) -> None:
    if plan == RebuildPlan(0, (), (), ()):
        say(_("There is nothing to regenerate."))
    if plan.chapters:
        say(ngettext("index: {n} chapter", "index: {n} chapters", plan.chapters).format(n=plan.chapters))
    for kind, count in plan.steps:
        say(ngettext("{kind}: {n} step", "{kind}: {n} steps", count).format(kind=_(TASKS[kind]), n=count))
    for uri in plan.damaged:
        say(_("cannot be read, will be regenerated: {uri}").format(uri=uri))
    for text in plan.stale:
        words = _("made from text that has been changed since: {uri}, as of chapter {n}")
        say(words.format(uri=text.uri, n=text.position))
    if plan.stale and what != "stale":
        say(_("These are not changed; `rebuild --what stale` regenerates them."))


def _print_progress(project: Project) -> None:
    """Prints the latest progress of each kind since the last call; not part of the result."""
    events = project.take()
    for event in [event for event in events if isinstance(event, RebuildProgress)][-1:]:
        say(_("index: {done} of {total}").format(done=event.done, total=event.total), file=sys.stderr)
        if event.wrong:
            say(ngettext("corrected in {n} chapter", "corrected in {n} chapters", event.wrong).format(n=event.wrong))
    for changed in [event for event in events if isinstance(event, BackgroundChanged)][-1:]:
        words = _("steps left: {n}; still to send to the knowledge server: {owed}")
        left, owed = dict(changed.counts).get("waiting", 0), dict(changed.owed).get("waiting", 0)
        say(words.format(n=left, owed=owed), file=sys.stderr)


async def delete(arguments: Namespace) -> int:
    """Removes a text from the book, or restores it, and waits until the memory is up to date."""
    back = arguments.command == "undelete"
    async with await opened(arguments, knowledge=False) as project:
        named, _name, words = await _named(project, arguments.text, deleted=back)
        stays = ""
        if named.output is not None:
            stays = await project.carry_out(DeleteOutput(named.output, restore=back))
        elif named.chapter is not None:
            await project.carry_out(EditChapter(named.chapter, deleted=not back))
        say(words)
        gone = _(
            "Its keep was undone: it is no longer in the book or its memory; `undelete {project} {id}` restores it."
        )
        name = named.output or named.chapter
        if stays:
            gone = _("Its keep was undone; `undelete {project} {id}` keeps it again.")
        say(_("It is available again.") if back else gone.format(project=arguments.project, id=name))
        if stays:
            say(text_stays())
        await memory_settled(project, yes=arguments.yes)
    return 0


async def purge(arguments: Namespace) -> int:
    """Purges a text after its name was typed, or with `--yes`.

    Returns 1 when it was not confirmed, 3 when the purge will finish later.
    """
    async with await opened(arguments, read_only=arguments.dry_run, knowledge=False) as project:
        command, name, words = await _named(project, arguments.text)
        say(words)
        if command.build is not None:
            say(_("It is removed with its request, its prompts and its rounds. A workflow made from it stays."))
        else:
            say(_("It is removed with all its versions, everything derived from it, and the runs that made it."))
            say(_("The local knowledge server's folder is emptied; it is filled again from the book."))
        if arguments.dry_run:
            return 0
        if not arguments.yes:
            say(_("It cannot be undone. Type {name} to purge it:").format(name=name), flush=True)
            if (await asyncio.to_thread(sys.stdin.readline)).strip() != name:
                say(_("Nothing was purged."))
                return 1
        await project.carry_out(command)
        code = await _purged(project)
        await memory_settled(project)
        return code


async def _purged(project: Project) -> int:
    """Prints the removed and the remaining contents of a purge.

    Waits a few seconds for the rest, then leaves it to the next opening.
    """
    loop = asyncio.get_running_loop()
    until, reported, pending = loop.time() + PURGE_SECONDS, False, False
    while True:
        for event in project.take():
            if isinstance(event, TextPurged):
                _print_purged(event)
                reported, pending = True, bool(event.pending)
            elif isinstance(event, PurgeFinished):
                say(_("The purge is finished."))
                pending = False
        if reported and not pending:
            return 0
        if loop.time() >= until:
            say(_("The purge continues when the project is opened again."), file=sys.stderr)
            return 3
        await asyncio.sleep(TICK_SECONDS)


def _print_purged(event: TextPurged) -> None:
    words = _("Purged: {versions} versions, {runs} runs, {derived} derived texts, {answers} answers.")
    counts = {"versions": event.versions, "runs": event.runs, "derived": event.derived, "answers": event.answers}
    say(words.format(**counts))
    for path in event.left:
        say(_("left as it is: {path}").format(path=path))
    for reason in event.pending:
        say(_("not finished: {reason}").format(reason=reason), file=sys.stderr)


async def _named(project: Project, text: str, *, deleted: bool = False) -> tuple[Purge, str, str]:
    """The purge of the named text, the name that must be typed, and the message about it. Raises UnknownName.

    A number is a place among the chapters of the book, or among the `deleted` ones.
    """
    for output in await project.book.kept():
        if output.id == text:
            part = (await project.book.kept_text(output.id)).strip()
            return (
                Purge(output=output.id),
                output.id,
                _("Kept output {id}: {text}").format(id=output.id, text=beginning(part)),
            )
    for build in await project.builds.build_rows():
        if build.id == text:
            return Purge(build=text), text, _("Build {id}: {wish}").format(id=text, wish=beginning(build.wish))
    gone, here = await project.book.deleted_chapters(), await project.book.chapters()
    for chapter in (*here, *gone):
        if text == chapter.id or (text == str(chapter.position) and chapter in (gone if deleted else here)):
            words = _("Chapter {n}, {title}: {length} words")
            return (
                Purge(chapter=chapter.id),
                chapter.title or chapter.id,
                words.format(n=chapter.position, title=chapter.title, length=chapter.length),
            )
    raise UnknownName(
        _("There is nothing named {name}.").format(name=text),
        _("Nothing was changed."),
        _("Give a chapter's place in the story or its id, or the id of a kept output or a build."),
    )


def beginning(text: str) -> str:
    """The beginning of a text, on one line."""
    line = unbroken(clean(text))
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1].rstrip()}…"


async def backup(arguments: Namespace) -> int:
    """Writes a backup; meanwhile, the project may be open in another process."""
    async with await Project.open(arguments.project, read_only=True) as project:
        manifest = await project.book.back_up(arguments.target)
        await note_unsaved(project, _("The backup contains it as unsaved text; its chapters have the saved text."))
    say(
        _("{file}: {n} files, {size} MiB.").format(
            file=arguments.target, n=len(manifest.members), size=round(manifest.size / 2**20, 1)
        )
    )
    return 0


async def restore_command(arguments: Namespace) -> int:
    """Makes a project from a backup, if its files match its manifest."""
    manifest = await restore(arguments.source, arguments.project)
    remember_project(arguments.project.expanduser())
    say(
        _("Restored {name}, as it was on {at}, in {folder}.").format(
            name=clean_line(manifest.name),
            at=manifest.made.astimezone().strftime("%Y-%m-%d %H:%M"),
            folder=arguments.project,
        )
    )
    async with await Project.open(arguments.project, read_only=True) as project:
        print_brought((await project.models.trust()).asked.items)
    words = _("It is restricted until you confirm it: `flowcabal-tui trust {folder}`.")
    say(words.format(folder=arguments.project), file=sys.stderr)
    return 0
