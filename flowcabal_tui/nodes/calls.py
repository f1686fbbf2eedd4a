"""Calls between workflows through `subflow` nodes, and a check that they terminate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, field_validator

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import FROM
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.reaching import reached
from flowcabal_tui.domain.workflow import Node, Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import kind_and_params


class SubflowParams(BaseModel, frozen=True, extra="forbid"):
    """The workflow, its inputs, and the outputs to take."""

    ref: str = Field(min_length=1, description="The workflow, as id@version; an id alone means its newest version.")
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="Its inputs by name; bindings are filled in. It sees nothing else."
    )
    outputs: dict[str, Any] = Field(
        default_factory=dict,
        description="Name to a binding that is read inside it (result_of.NODE..., input...); default: what its "
        "last node yields.",
    )
    share_state: bool = Field(
        True, description="Reads and writes the state of the caller; false: starts with an empty state."
    )
    depth: Any = Field(
        None,
        description="For a workflow that calls itself: the binding input.NAME of the whole number that says how many "
        "levels may follow. The called workflow gets one less under that name; at 0 nothing is called.",
    )
    bottom: Any = Field(
        None, description="The output of this node where `depth` ends the calls; bindings are filled in."
    )

    @field_validator("depth")
    @classmethod
    def _depth_is_an_input(cls, depth: Any) -> Any:
        if depth is not None and depth_name(depth) is None:
            raise ValueError(_("depth must be the binding of an input, such as input.depth"))
        return depth


def depth_name(depth: Any) -> str | None:
    """The input that a depth binding reads: "levels" for `input.levels` in any of the three forms; None for others."""
    source = depth.get(FROM) if isinstance(depth, Mapping) and set(depth) <= {FROM} else depth
    try:
        parts = paths.parse(source).parts if isinstance(source, str) else ()
    except BindingError:
        return None
    return parts[1] if len(parts) == 2 and parts[0] == "input" and isinstance(parts[1], str) else None


@dataclass(frozen=True, slots=True)
class SubflowCall:
    """A sub-flow node: the caller (`id@version`), the called workflow, and the input that bounds the depth."""

    caller: str
    node: Node
    ref: str
    bound: str | None


def calls(workflow: Workflow) -> tuple[SubflowCall, ...]:
    """The calls that a workflow makes, those in bodies too. Raises WorkflowError for a node that cannot be read."""
    return tuple(_calls(workflow.reference, workflow.nodes))


def _calls(caller: str, nodes: Iterable[Node]) -> Iterator[SubflowCall]:
    for node in nodes:
        kind, params = kind_and_params(node)
        if isinstance(params, SubflowParams):
            yield SubflowCall(caller, node, params.ref, depth_name(params.depth))
        for _field, body in kind.bodies(params):
            yield from _calls(caller, body.nodes)


def check_calls(workflow: Workflow, library: Mapping[str, Workflow]) -> tuple[Problem, ...]:
    """Finds calls of missing workflows, and cycles of calls without one decreasing depth.

    `library` holds workflows by every reference that may name them; the workflow itself need not be in it.
    """
    known = {workflow.id: workflow, **library, workflow.reference: workflow}
    made = _reached(workflow, known)
    found = [_unknown(call, known) for call in calls(workflow) if call.ref not in known]
    targets: dict[str, set[str]] = {}
    for call in made:
        targets.setdefault(call.caller, set()).add(known[call.ref].reference)
    round_trips = [
        call
        for call in made
        if call.caller in reached([known[call.ref].reference], lambda caller: targets.get(caller, ()))
    ]
    names = {call.bound for call in round_trips}
    if round_trips and (None in names or len(names) > 1):
        found += [_endless(call) for call in round_trips if call.bound is None or None not in names]
    return tuple(found)


def _reached(workflow: Workflow, known: Mapping[str, Workflow]) -> list[SubflowCall]:
    """The calls of known workflows that can occur, by any caller."""
    seen, waiting, made = {workflow.reference}, [workflow], []
    while waiting:
        for call in calls(waiting.pop()):
            if (called := known.get(call.ref)) is None:
                continue
            made.append(call)
            if called.reference not in seen:
                seen.add(called.reference)
                waiting.append(called)
    return made


def _unknown(call: SubflowCall, known: Mapping[str, Workflow]) -> Problem:
    return Problem(
        code="UNKNOWN_WORKFLOW",
        node=call.node.id,
        field="ref",
        message=_("There is no workflow {ref}. Available: {names}").format(
            ref=call.ref, names=_(", ").join(sorted({one.reference for one in known.values()})[:20])
        ),
    )


def _endless(call: SubflowCall) -> Problem:
    return Problem(
        code="ENDLESS_CALLS",
        node=call.node.id,
        field="depth",
        message=_("{caller} calls itself through {ref}, and no decreasing depth ends it.").format(
            caller=call.caller, ref=call.ref
        ),
        fix='{"__from__": "input.depth"}',
    )
