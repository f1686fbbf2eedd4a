"""Resolves names on the command line: a chapter, workflow, node or run; an error lists the existing ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator

from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.calls import calls
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.project.project import Project

_RUNS_SHOWN = 10


async def chapter_at(project: Project, number: int | None) -> ChapterId | None:
    """The chapter at a position of the story; None if no position is given. Raises UnknownName."""
    return None if number is None else await the_chapter(project, number)


async def the_chapter(project: Project, number: int) -> ChapterId:
    """The chapter at a position of the story. Raises UnknownName."""
    chapters = await project.book.chapters()
    for chapter in chapters:
        if chapter.position == number:
            return chapter.id
    raise UnknownName(
        _("There is no chapter {n}.").format(n=number),
        _("The book has {n} chapters.").format(n=len(chapters)),
        _("Add it in the screen, or give another number."),
    )


async def chapters_of(project: Project, places: tuple[int | None, int | None] | None) -> tuple[ChapterId, ...]:
    """The chapters between two positions of the story; () for all. Raises UnknownName."""
    if places is None:
        return ()
    first, last = places
    for named in filter(None, places):
        await the_chapter(project, named)
    return tuple(
        chapter.id
        for chapter in await project.book.chapters()
        if (first or 1) <= chapter.position and (last is None or chapter.position <= last)
    )


async def the_workflow(project: Project, reference: str) -> Workflow:
    """The workflow with an id or id@version. Raises UnknownName."""
    try:
        return await project.workflows.get(reference)
    except UnknownName as error:
        known = [workflow.reference for workflow in await project.workflows.newest()]
        raise UnknownName(
            _("There is no workflow {name}.").format(name=reference), _("Available: {names}").format(names=_all(known))
        ) from error


def the_node(workflow: Workflow, path: str) -> NodeId:
    """A node of the workflow; nodes inside a container are known only when it runs. Raises UnknownName."""
    nodes = [node.id for node in workflow.nodes]
    if path.split("/")[0] not in nodes:
        raise UnknownName(
            _("The workflow {name} has no node {node}.").format(name=workflow.id, node=path),
            _("Its nodes: {names}").format(names=_all(nodes)),
        )
    return NodeId(path)


async def the_run(project: Project, name: str) -> RunId:
    """A run of the history. Raises UnknownName."""
    try:
        await project.runs.run_workflow(RunId(name))
    except UnknownName as error:
        newest = [run.id for run in await project.runs.summaries(_RUNS_SHOWN)]
        raise UnknownName(
            _("There is no run {run}.").format(run=name),
            _("The newest: {names}").format(names=_all(newest)),
            _("See `flowcabal-tui runs PROJECT`."),
        ) from error
    return RunId(name)


async def require_nodes(paths: Iterable[str], workflow: Workflow, called: Callable[[str], Awaitable[Workflow]]) -> None:
    """Raises UnknownName for a path that no node of a run can have, also inside its nodes and called workflows."""
    top = [node.id for node in workflow.nodes]
    for path in (path for path in paths if path.partition("/")[0] not in top):
        inner = await _inner(workflow, called)
        if path not in inner:
            raise UnknownName(
                _("The workflow {name} has no node {node}.").format(name=workflow.id, node=path),
                _("Its nodes: {names}").format(names=_all([*top, *sorted(inner - {*top})])),
            )


async def _inner(workflow: Workflow, called: Callable[[str], Awaitable[Workflow]]) -> set[NodeId]:
    """The ids of all nodes, of those inside them, and of the workflows that are called."""
    seen, waiting, found = {workflow.reference}, [workflow], set[NodeId]()
    while waiting:
        one = waiting.pop()
        found |= set(_ids(one.nodes))
        for reference in {call.ref for call in calls(one)} - seen:
            seen.add(reference)
            waiting.append(await called(reference))
    return found


def _ids(nodes: Iterable[Node]) -> Iterator[NodeId]:
    for node in nodes:
        yield node.id
        kind, params = kind_and_params(node)
        for _field, body in kind.bodies(params):
            yield from _ids(body.nodes)


def _all(names: Iterable[str]) -> str:
    return _(", ").join(names) or _("none")
