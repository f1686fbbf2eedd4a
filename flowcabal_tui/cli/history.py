"""`runs` and `replay`: past runs, their costs, and their events."""

from __future__ import annotations

from argparse import Namespace

from flowcabal_tui.cli.naming import the_run
from flowcabal_tui.cli.printing import JsonPrinter, PlainPrinter, Printer
from flowcabal_tui.cli.terminal import say_json, say_rows
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.run_details import RunDetails
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.versions import NodeTrace
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.runs.history import folds_to
from flowcabal_tui.project.words import NODE_STATES, RUN_STATES, money


async def runs(arguments: Namespace) -> int:
    """Prints the newest runs, or the nodes of one."""
    async with await Project.open(arguments.project, read_only=True) as project:
        if arguments.run:
            details = [await project.runs.run_details(await the_run(project, arguments.run))]
        else:
            details = [await project.runs.run_details(run.id) for run in await project.runs.summaries(arguments.limit)]
    if arguments.json:
        plain = [to_plain(one) for one in details]
        say_json(plain[0] if arguments.run else plain, indent=2)
    elif arguments.run:
        say_rows([_line(details[0]), *map(_node, details[0].nodes)])
    else:
        say_rows(map(_line, details))
    return 0


def _line(details: RunDetails) -> tuple[object, ...]:
    summary = details.summary
    return (
        summary.id,
        summary.workflow,
        summary.chapter or "-",
        _(RUN_STATES[summary.state]),
        summary.started_at.isoformat(timespec="seconds"),
        _("{n} nodes").format(n=len(details.nodes)),
        *_spent(details.totals),
    )


def _spent(totals: Totals) -> tuple[str, str]:
    tokens = _("{tokens_in} tokens in, {tokens_out} out").format(
        tokens_in=totals.input_tokens, tokens_out=totals.output_tokens
    )
    cost = f"{totals.about}{money(totals.cost, totals.currency)}"
    return tokens, _("cost unknown") if totals.cost is None else cost


def _node(node: NodeTrace) -> tuple[object, ...]:
    return (
        node.node,
        _("served") if node.served and node.state == "done" else _(NODE_STATES[node.state]),
        _("{n} attempts").format(n=node.attempts),
        f"{node.seconds:.1f} s",
        f"{node.usage.input_tokens or 0}/{node.usage.output_tokens or 0}",
        ", ".join(node.models),
        clean("; ".join(filter(None, (node.error, *node.item_errors)))).replace("\n", " "),
    )


async def replay(arguments: Namespace) -> int:
    """Prints the events of a run again, without a model; returns 1 if they do not lead to the state in the log."""
    async with await Project.open(arguments.project, read_only=True) as project:
        run = await the_run(project, arguments.run)
        events, details = await project.runs.replay(run), await project.runs.run_details(run)
    printer: Printer = JsonPrinter() if arguments.json else PlainPrinter(moving=False)
    for event in events:
        printer.event(event)
    seen = {node: known.state for node, known in folds_to(events).nodes.items()}
    return 0 if seen == {node.node: node.state for node in details.nodes} else 1
