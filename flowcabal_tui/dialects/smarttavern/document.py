"""SmartTavern's flow document: its shape, and the detection of all errors before it is converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from flowcabal_tui.dialects.smarttavern.conditions import condition_problem
from flowcabal_tui.domain.reaching import reached
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _

MAX_NODES: Final = 10_000
"""Greatest number of nodes in one flow; a node in several places counts each time."""
MAX_NESTING: Final = 100
"""Sequences and branches inside each other."""
NAME: Final = r"^[\w\-]+$"
REF: Final = r"^[\w\-]+@[0-9]+$"
ATOMS: Final = (
    *("Map", "Filter", "Merge", "Split", "Code", "LLMChat"),
    *("ReadState", "WriteState", "IncrementCounter"),
)
COMPOSITES: Final = ("Sequence", "If", "Subflow")


def _whole(value: Any) -> Any:
    """An integer as JSON Schema defines it: 1.0 is one, true and "1" are not. Raises ValueError."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise ValueError(_("it must be a whole number"))
    return int(value)


Name = Annotated[str, Field(pattern=NAME, max_length=80)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Branches(_Part):
    """An If: a condition in Python, and the nodes of either branch."""

    condition: str = Field(min_length=1)
    then: list[Name]
    otherwise: list[Name] = Field(default=[], alias="else")


class Call(_Part):
    """A Subflow: the flow, and the fields of the items that are passed in and returned, with their names."""

    ref: str = Field(pattern=REF)
    input_map: dict[Name, str] = {}
    output_map: dict[Name, str] = {}
    share_state: bool = True


class FlowNode(_Part):
    """A node; its type decides which fields are used."""

    id: Name
    type: str = Field(min_length=1)
    params: dict[str, Any] = {}
    children: list[Name] = []
    branches: Branches | None = Field(default=None, alias="if")
    subflow: Call | None = None

    @property
    def kind(self) -> str:
        return self.type.strip()

    @property
    def inner(self) -> tuple[tuple[str, str], ...]:
        """The nodes that it names, each with its field."""
        if self.kind == "Sequence":
            return tuple((f"children[{n}]", child) for n, child in enumerate(self.children))
        if self.kind == "If" and self.branches:
            return (
                *((f"if.then[{n}]", child) for n, child in enumerate(self.branches.then)),
                *((f"if.else[{n}]", child) for n, child in enumerate(self.branches.otherwise)),
            )
        return ()


class TavernFlow(_Part):
    """A flow; ids may be Chinese, which SmartTavern itself refuses."""

    id: Name
    version: Annotated[int, BeforeValidator(_whole), Field(ge=1)]
    entry: Name
    metadata: dict[str, Any] = {}
    nodes: list[FlowNode] = Field(min_length=1, max_length=MAX_NODES)

    @property
    def reference(self) -> str:
        return f"{self.id}@{self.version}"

    @property
    def by_id(self) -> Mapping[str, FlowNode]:
        return {node.id: node for node in self.nodes}


def shape(document: Any) -> TavernFlow | tuple[Problem, ...]:
    """The flow, or all errors in its shape."""
    if isinstance(document, Mapping) and isinstance(document.get("nodes"), list) and len(document["nodes"]) > MAX_NODES:
        message = _("There are {n} nodes; at most {most} are read.").format(n=len(document["nodes"]), most=MAX_NODES)
        return (Problem(code="TOO_LARGE", message=message, field="nodes"),)
    try:
        return TavernFlow.model_validate(document)
    except ValidationError as error:
        return tuple(_schema_finding(document, item["loc"], refusal(item)) for item in error.errors())


def _schema_finding(document: Any, place: tuple[int | str, ...], message: str) -> Problem:
    node = ""
    if len(place) > 1 and place[0] == "nodes" and isinstance(place[1], int):
        spec = document["nodes"][place[1]]
        node = str(spec.get("id", ""))[:80] if isinstance(spec, Mapping) else ""
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
    return Problem(code="SCHEMA_MISMATCH", message=message, node=node, field=field)


def check(flow: TavernFlow, known: Collection[str] = ()) -> tuple[Problem, ...]:
    """All errors of a flow with a valid shape. `known` are the existing flows, as `id@version`."""
    return tuple(
        finding
        for part in (_doubles(flow), _references(flow), _types(flow), _calls(flow, known), _circle(flow), _unused(flow))
        for finding in part
    )


def _doubles(flow: TavernFlow) -> Iterator[Problem]:
    for node, count in Counter(node.id for node in flow.nodes).items():
        if count > 1:
            yield Problem(code="DOUBLE_ID", node=node, message=_("{n} nodes have this id.").format(n=count))


def _references(flow: TavernFlow) -> Iterator[Problem]:
    ids = flow.by_id
    names = _(", ").join(list(ids)[:20])
    named = [("entry", flow.entry, "")]
    named += [(place, target, node.id) for node in flow.nodes for place, target in node.inner]
    for place, target, by in named:
        if target not in ids:
            message = _("There is no node {node}. Available: {names}").format(node=target, names=names)
            yield Problem(code="UNKNOWN_NODE", node=by, field=place, message=message)


def _types(flow: TavernFlow) -> Iterator[Problem]:
    for node in flow.nodes:
        if node.kind not in (*ATOMS, *COMPOSITES):
            message = _("Unknown type {kind}. Available: {names}").format(
                kind=node.type[:60], names=_(", ").join((*ATOMS, *COMPOSITES))
            )
            yield Problem(code="UNKNOWN_TYPE", node=node.id, field="type", message=message)
        needed = {"If": ("if", node.branches), "Subflow": ("subflow", node.subflow)}.get(node.kind)
        if needed and needed[1] is None:
            message = _("{kind} needs {field}.").format(kind=node.kind, field=needed[0])
            yield Problem(code="MISSING_PARAM", node=node.id, field=needed[0], message=message)
        if node.kind == "If" and node.branches and (problem := condition_problem(node.branches.condition)):
            yield Problem(code="CONDITION", node=node.id, field="if.condition", message=problem, severity="warning")
        for field in _idle(node):
            message = _("{kind} ignores {field}.").format(kind=node.kind, field=field)
            yield Problem(code="UNUSED_PARAM", node=node.id, field=field, message=message, severity="warning")


def _idle(node: FlowNode) -> Iterator[str]:
    """Fields that are set although this node type ignores them."""
    if node.children and node.kind != "Sequence":
        yield "children"
    if node.branches and node.kind != "If":
        yield "if"
    if node.subflow and node.kind != "Subflow":
        yield "subflow"
    if node.params and node.kind in COMPOSITES:
        yield "params"


def _calls(flow: TavernFlow, known: Collection[str]) -> Iterator[Problem]:
    for node in flow.nodes:
        if node.kind != "Subflow" or node.subflow is None:
            continue
        ref = node.subflow.ref
        if ref == flow.reference:
            message = _("The flow runs itself, and no depth is set.")
            yield Problem(code="ENDLESS_CALLS", node=node.id, field="subflow.ref", message=message, severity="warning")
        elif ref not in known:
            message = _("There is no flow {ref}. Available: {names}").format(
                ref=ref, names=_(", ").join(sorted(known)[:20]) or "-"
            )
            yield Problem(
                code="UNKNOWN_WORKFLOW", node=node.id, field="subflow.ref", message=message, severity="warning"
            )


def _circle(flow: TavernFlow) -> Iterator[Problem]:
    """Nodes that contain themselves, or are nested too deeply."""
    ids, done = flow.by_id, set[str]()
    for node in flow.nodes:
        waiting: list[tuple[str, bool]] = [(node.id, False)]
        way: dict[str, None] = {}
        while waiting:
            name, leaving = waiting.pop()
            if leaving:
                way.popitem()
                done.add(name)
            elif name in way:
                shown = " → ".join((*list(way)[list(way).index(name) :], name))
                yield Problem(code="CYCLE", node=name, message=_("A node contains itself: {way}").format(way=shown))
                return
            elif name in ids and name not in done:
                way[name] = None
                waiting += [(name, True), *((child, False) for _place, child in ids[name].inner)]


def _unused(flow: TavernFlow) -> Iterator[Problem]:
    ids = flow.by_id
    if flow.entry not in ids:
        return
    seen = reached([flow.entry], lambda name: (child for _place, child in ids[name].inner) if name in ids else ())
    for node in flow.nodes:
        if node.id not in seen:
            message = _("No edge leads from the entry to this node.")
            yield Problem(code="UNREACHABLE", node=node.id, message=message, severity="warning")
