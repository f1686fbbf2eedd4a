"""Commands that change a project: new, export, keep."""

from __future__ import annotations

import sys
from argparse import Namespace

from flowcabal_tui.cli.agreeing import memory_settled
from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.naming import chapters_of, the_node, the_run
from flowcabal_tui.cli.notes import note_replaced, note_unsaved
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.printing import advice
from flowcabal_tui.cli.terminal import say, say_row
from flowcabal_tui.domain.ids import OutputId
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.project.words import KEEP_KINDS
from flowcabal_tui.protocol.book import OutputChecked, PersistOutput, TagOutput
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from flowcabal_tui.settings.recent import remember_project
from flowcabal_tui.settings.user_file import load_user


async def new(arguments: Namespace) -> int:
    """Creates a project folder."""
    folder = arguments.project.expanduser()
    models = ModelsSettings(user=OFFLINE, agent=OFFLINE) if arguments.offline else load_user().models
    await create_project(
        folder, name=arguments.name or folder.resolve().name, language=arguments.language, models=models
    )
    remember_project(folder)
    say(_("Created {folder}.").format(folder=folder))
    if models.user is None:
        say(_("No model is set yet: see `flowcabal-tui models {folder}`.").format(folder=folder))
    return 0


async def export(arguments: Namespace) -> int:
    """Exports the book; the suffix of the file determines the format."""
    async with await Project.open(arguments.project, read_only=True) as project:
        if arguments.platform:
            await _lay_out(project, arguments)
            return 0
        form = arguments.target.suffix.lstrip(".").lower()
        chapters = await chapters_of(project, arguments.chapter)
        say(await project.book.export(arguments.target, form, chapters, comments=arguments.comments))
        await note_unsaved(project, _("The file has the saved text."))
    return 0


async def _lay_out(project: Project, arguments: Namespace) -> None:
    """Writes chapters in the layout of a platform; what it may refuse goes to standard error and blocks nothing."""
    target = arguments.target.expanduser()
    export = await project.book.lay_out(arguments.platform, await chapters_of(project, arguments.chapter), target)
    say(arguments.target)
    for line in export.report:
        say(line, file=sys.stderr)
    await note_unsaved(project, _("The file has the saved text."))


async def _list_kept(arguments: Namespace) -> int:
    async with await Project.open(arguments.project, read_only=True) as project:
        places = {chapter.id: chapter.position for chapter in await project.book.chapters()}
        kept = await project.book.kept()
    for one in [each for each in kept if {*arguments.tag} <= {*each.tags}]:
        place = places.get(one.chapter, "-") if one.chapter else "-"
        made = f"{one.run}/{one.node}#{one.attempt}" if one.run else _("by hand")
        out = _("keep undone") if one.deleted else ""
        tags = " ".join(f"#{clean_line(tag)}" for tag in one.tags)
        say_row((one.id, _(KEEP_KINDS[one.kind]), place, f"{one.at:%Y-%m-%d %H:%M}", made, out, tags))
    return 0


async def _set_tags(arguments: Namespace) -> None:
    output, tags = arguments.set_tags
    async with await opened(arguments, knowledge=False) as project:
        await project.carry_out(TagOutput(OutputId(output), tuple(tags.split(","))))


async def keep(arguments: Namespace) -> int:
    """Keeps an output in the memory of the book; without a run, lists the kept ones with their ids."""
    if arguments.set_tags is not None:
        await _set_tags(arguments)
    if not arguments.run:
        return await _list_kept(arguments)
    if not arguments.node:
        raise BadArgument(
            _("Which node's output?"), _("Nothing was changed."), _("See `flowcabal-tui runs PROJECT RUN`.")
        )
    async with await opened(arguments, knowledge=False) as project:
        run = await the_run(project, arguments.run)
        node = the_node(await project.runs.run_workflow(run), arguments.node)
        before = {chapter.id: chapter for chapter in await project.book.chapters()}
        tags = tuple(arguments.tag)
        command = PersistOutput(run, node, arguments.attempt, tags=tags, partial=arguments.partial)
        output = await project.carry_out(command)
        say(_("Kept as {output}.").format(output=output))
        await note_replaced(project, before)
        if arguments.wait:
            await memory_settled(project, yes=arguments.yes)
            for event in project.take():
                if isinstance(event, OutputChecked):
                    say(advice(event))
    return 0
