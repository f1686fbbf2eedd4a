"""The names available to the nodes of a graph: the nodes of their own graph and of those around, and the other
names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, Protocol

from pydantic import BaseModel

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.prompt_text import RUN_VALUES
from flowcabal_tui.domain.schemas import Schema
from flowcabal_tui.domain.workflow import Node
from flowcabal_tui.nodes.base import NodeKind

_NAMES_LISTED: Final = 500


class ActionShape(Protocol):
    """The properties of an action that validation needs."""

    @property
    def arg_schema(self) -> dict[str, Any]: ...

    @property
    def output_schema(self) -> dict[str, Any]: ...

    @property
    def enabled(self) -> bool: ...


@dataclass(frozen=True)
class CheckedNode:
    """A node with its kind and checked parameters; both are None if they cannot be read. `path` is its place in the
    run.
    """

    node: Node
    path: str
    kind: NodeKind | None = None
    params: BaseModel | None = None
    action: ActionShape | None = None

    @cached_property
    def schema(self) -> Schema | None:
        """The schema of its output; None: anything. If the node of an action declares none, that of the registry."""
        if self.kind is None or self.params is None:
            return None
        params: Any = self.params
        if self.action is not None and self.action.output_schema and params.output is None:
            params = params.model_copy(update={"output": self.action.output_schema})
        try:
            return self.kind.output_schema(params)
        except Exception:  # the edge: a kind of a plug-in, or a schema in the document that is none
            return None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of its branches."""
        try:
            return () if self.kind is None or self.params is None else self.kind.labels(self.params)
        except Exception:  # the edge: a kind of a plug-in
            return ()


class NodeSchemas(Mapping[NodeId, "Schema | None"]):
    """The schemas of all nodes that can be named. Iteration yields only the first of them, for messages."""

    def __init__(self, own: Mapping[NodeId, CheckedNode], around: Mapping[NodeId, Schema | None] | None = None) -> None:
        self._own, self._around = own, around or {}
        self.of: Callable[[CheckedNode], Schema | None] = lambda read: read.schema
        """Returns the schema of a node's output; replaced by a more precise function once the scope of the graph is
        known."""

    def __getitem__(self, node: NodeId) -> Schema | None:
        return self.of(self._own[node]) if node in self._own else self._around[node]

    def __contains__(self, node: object) -> bool:
        return node in self._own or node in self._around

    def __iter__(self) -> Iterator[NodeId]:
        return islice(chain(self._own, (node for node in self._around if node not in self._own)), _NAMES_LISTED)

    def __len__(self) -> int:
        return sum(1 for _node in self)


def _run_value(name: str) -> Schema:
    fields = [path.partition(".")[2] for path in RUN_VALUES if path.startswith(f"{name}.")]
    texts = {field: {"type": "string"} for field in fields}
    return {"type": "object", "properties": texts, "additionalProperties": False}


RUN_ROOTS: Final[Mapping[str, Schema | None]] = {
    "input": None,
    "state": None,
    "chapter": _run_value("chapter"),
    "project": _run_value("project"),
}
"""The names that every node finds."""


@dataclass(frozen=True)
class GraphScope:
    """A graph: the owner of the body (`owner` and `field`, empty for the workflow itself), and the names available to
    its nodes."""

    own: Mapping[NodeId, CheckedNode]
    schemas: NodeSchemas
    roots: Mapping[str, Schema | None] = field(default_factory=lambda: RUN_ROOTS)
    owner: str = ""
    field: str = ""

    def place(self, field: str) -> str:
        """A field of the graph as a field of its owner."""
        return f"{self.field}.{field}" if self.field else field
