"""Commands that only read."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence

from flowcabal_tui.cli.adding import add_chapter, add_workflow
from flowcabal_tui.cli.answers import require_beside
from flowcabal_tui.cli.terminal import say, say_json, say_rows
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project import Project
from flowcabal_tui.project.memory.bootstrap_words import progress_words
from flowcabal_tui.project.words import RUN_STATES, TASK_STATES, TASKS, money, skipped_words
from flowcabal_tui.protocol.book import AddChapter


def task_rows(tasks: Sequence[BackgroundTask]) -> Iterator[tuple[object, ...]]:
    """A row for each task with an error; the others are counted by kind and state: an import has hundreds."""
    counts = Counter((task.kind, task.state) for task in tasks if not task.error)
    for (kind, state), n in counts.items():
        many = ngettext("{n} task", "{n} tasks", n).format(n=n)
        yield _("background work"), _(TASKS[kind]), many, _(TASK_STATES[state])
    for task in tasks:
        if task.error:
            yield _("background work"), _(TASKS[task.kind]), task.subject, _(TASK_STATES[task.state]), task.error


async def status(arguments: Namespace) -> int:
    """Prints runs, open questions, background work and totals."""
    async with await Project.open(arguments.project, read_only=True) as project:
        runs, questions = await project.runs.summaries(10), await project.runs.questions()
        tasks, totals = await project.memory.background(), await project.runs.totals()
        reading, stale = await project.memory.bootstrap(), await project.memory.stale()
        unsaved = await project.drafts.all()
        found = await project.findings.findings(FindingFilter(notes=True), 0, 1)
        skipped = await project.skipped_rows()
    if arguments.json:
        say_json(
            {
                "runs": [to_plain(run) for run in runs],
                "questions": [to_plain(question) for question in questions],
                "background": [to_plain(task) for task in tasks],
                "stale": [to_plain(text) for text in stale],
                "unsaved": [
                    {"chapter": chapter.id, "title": chapter.title, "base": draft.base, "newest": draft.newest}
                    for chapter, draft in unsaved
                ],
                "bootstrap": to_plain(reading) if reading else None,
                "findings": dict(found.counts),
                "skipped": skipped,
                "totals": to_plain(totals),
            },
            indent=2,
        )
        return 0
    say_rows(
        (run.id, run.workflow, _(RUN_STATES[run.state]), run.started_at.isoformat(timespec="seconds")) for run in runs
    )
    say_rows((_("waits"), question.id, question.node_title, question.reason) for question in questions)
    say_rows(task_rows(tasks))
    say_rows(
        (_("memory"), _(TASK_STATES["stale"]), text.uri, _("as of chapter {n}").format(n=text.position))
        for text in stale
    )
    say_rows((_("unsaved"), chapter.position, chapter.title) for chapter, _draft in unsaved)
    if waiting := found.counts.get("waiting", 0):
        say(ngettext("{n} new finding", "{n} new findings", waiting).format(n=waiting))
    for what, n in skipped.items():
        say(skipped_words(what, n))
    if reading is not None and reading.state not in ("done", "dropped"):
        say(_("reading: {words}").format(words=progress_words(reading)))
    cost = f"{totals.about}{money(totals.cost, totals.currency)}"
    say(
        _("{calls} paid calls, {tokens_in} tokens in, {tokens_out} out, cost {cost}").format(
            calls=totals.paid_calls, tokens_in=totals.input_tokens, tokens_out=totals.output_tokens, cost=cost
        )
    )
    return 0


async def chapters(arguments: Namespace) -> int:
    """Lists the chapters in story order, or the deleted ones; `--add` first adds one."""
    require_beside("--add", arguments.add is not None, at=arguments.at, volume=arguments.volume)
    if arguments.add is not None:
        await add_chapter(arguments, AddChapter(arguments.add, arguments.volume, arguments.at))
    async with await Project.open(arguments.project, read_only=True) as project:
        found = await (project.book.deleted_chapters() if arguments.deleted else project.book.chapters())
        unsaved = {chapter.id for chapter, _draft in await project.drafts.all()}
    if arguments.json:
        say_json([{**to_plain(chapter), "unsaved": chapter.id in unsaved} for chapter in found], indent=2)
    else:
        say_rows(
            (
                *(chapter.position, chapter.id, chapter.title, chapter.length, f"v{chapter.version}"),
                *((_("unsaved"),) if chapter.id in unsaved else ()),
            )
            for chapter in found
        )
    return 0


async def workflows(arguments: Namespace) -> int:
    """Lists the newest version of each workflow; `--add` first stores a document or an example."""
    if arguments.add:
        await add_workflow(arguments, arguments.add)
    async with await Project.open(arguments.project, read_only=True) as project:
        found = await project.workflows.newest()
    if arguments.json:
        say_json([workflow.model_dump(mode="json") for workflow in found], indent=2)
    else:
        say_rows((workflow.reference, workflow.name, workflow.description) for workflow in found)
    return 0
