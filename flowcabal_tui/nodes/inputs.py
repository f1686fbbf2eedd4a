"""The inputs that a workflow reads, so that the user can be asked for them before it runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import paths_in
from flowcabal_tui.domain.errors import BindingError, WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.prompt_text import block_paths
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.nodes.graph import dependencies, kind_and_params, needed_for

Parts = tuple[paths.Part, ...]
INPUT: Final = "input"
CHAPTER: Final = "chapter"
ALWAYS_THERE: Final = ("instruction",)
"""Inputs that every run has, though they may be empty."""


def inputs_of(workflow: Workflow, targets: Collection[NodeId] = ()) -> tuple[str, ...]:
    """The names behind `input.` that the nodes read, in order; with targets, those that are needed for them."""
    read = _read_by(workflow, targets)
    return tuple(dict.fromkeys(str(parts[1]) for parts in read if parts[0] == INPUT and len(parts) > 1))


def needs_chapter(workflow: Workflow, targets: Collection[NodeId] = ()) -> bool:
    """True when a node, or one that the targets need, reads a value of the chapter of the run."""
    return any(parts[0] == CHAPTER for parts in _read_by(workflow, targets))


def missing_inputs(
    workflow: Workflow, given: Mapping[str, Any] | Collection[str], targets: Collection[NodeId] = ()
) -> tuple[str, ...]:
    """The inputs that the nodes read and that are missing in `given`."""
    return tuple(name for name in inputs_of(workflow, targets) if name not in given and name not in ALWAYS_THERE)


def _read_by(workflow: Workflow, targets: Collection[NodeId]) -> tuple[Parts, ...]:
    """The paths that the nodes read, or those that the targets need."""
    try:
        wanted = needed_for(dependencies(workflow), targets)
        return tuple(_paths([node for node in workflow.nodes if node.id in wanted]))
    except (WorkflowError, RecursionError):
        return ()  # validation reports the error


def _paths(nodes: Sequence[Node]) -> Iterator[Parts]:
    for node in nodes:
        kind, params = kind_and_params(node)
        for path in (*block_paths(kind.blocks(params)), *(path for _place, path in paths_in(kind.bound(params)))):
            try:
                yield paths.parse(path).parts
            except BindingError:
                continue
        for _field, body in kind.bodies(params):
            yield from _paths(body.nodes)
