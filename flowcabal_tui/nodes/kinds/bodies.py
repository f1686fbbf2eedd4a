"""Shared by the kinds that contain graphs: a body's output, shadowed names, and the names visible from outside."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from flowcabal_tui.domain.bindings import FROM, references
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.paths import RESULT
from flowcabal_tui.domain.workflow import Body, Problem
from flowcabal_tui.locale import _


def exit_of(body: Body, outputs: Mapping[NodeId, Output]) -> Output | None:
    """The output of a body: its exit's, else the last node's that was not skipped; None when there is none."""
    if body.exit is not None:
        return outputs.get(body.exit)
    return next((outputs[node.id] for node in reversed(body.nodes) if node.id in outputs), None)


def check_exit(body: Body, field: str) -> Iterator[Problem]:
    """Yields a finding when a body's exit is none of its nodes."""
    known = [node.id for node in body.nodes]
    if body.exit is not None and body.exit not in known:
        yield Problem(
            code="UNKNOWN_NODE",
            message=_("The exit {node} is not in the body. Nodes: {names}").format(
                node=body.exit, names=_(", ").join(known[:20])
            ),
            field=f"{field}.exit",
        )


class Over(Mapping[str, Any]):
    """Names that shadow others; each value is computed on access."""

    def __init__(self, upper: Mapping[str, Any], lower: Mapping[str, Any]) -> None:
        self._upper, self._lower = upper, lower

    def __getitem__(self, name: str) -> Any:
        return self._upper[name] if name in self._upper else self._lower[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._upper, *self._lower)))

    def __len__(self) -> int:
        return len({*self._upper, *self._lower})


def with_outputs(names: Mapping[str, Any], outputs: Mapping[NodeId, Output]) -> Mapping[str, Any]:
    """`names` with the outputs of a body added to the results."""
    inside = {str(node): output.value for node, output in outputs.items()}
    return Over({RESULT: Over(inside, names.get(RESULT, {}))}, names)


def as_bound(found: Iterable[tuple[str, str]], inside: Collection[NodeId], names: Collection[str]) -> dict[str, Any]:
    """Converts paths to bindings, by place, omitting nodes and names that exist only inside the body."""
    bound: dict[str, list[dict[str, str]]] = {}
    for place, path in found:
        if any(node in inside for node in references({FROM: path}, inside)) or root_of(path) in names:
            continue
        bound.setdefault(place, []).append({FROM: path})
    return {place: many[0] if len(many) == 1 else many for place, many in bound.items()}


def root_of(path: str) -> str:
    """The first name of a path as written."""
    return path.replace("[", ".").partition(".")[0].strip()
