"""The copy that edits apply to. An edit that breaks something is refused and leaves the copy unchanged."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from flowcabal_tui.agents.builder import edits
from flowcabal_tui.agents.builder.document import (
    Json,
    PlacedNode,
    all_found,
    bodies,
    found,
    graph_at,
    graphs,
    is_text,
    names_in,
    own_params,
    remove_node,
    set_at,
    value_at,
    with_blocks,
)
from flowcabal_tui.agents.builder.refused import EditRefused, unknown
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.nodes.validation import Actions, check_document

MOST_NEW_NODES: Final = 60
"""Nodes that one build may add."""
_MOST_SHOWN: Final = 5
_GRAPHS: Final = ("body", "branches")


@dataclass(frozen=True, slots=True)
class Known:
    """The names that a workflow may use; None: not checked."""

    actions: Actions | None = None
    library: Mapping[str, Workflow] | None = None
    flows: Collection[str] | None = None
    """References of workflows that may be called, where no library is given."""
    models: Collection[str] | None = None
    flow_inputs: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The inputs of workflows that may be called, by reference."""

    @property
    def callable_flows(self) -> Collection[str] | None:
        """The references of the workflows that may be called; None: not checked."""
        return self.library if self.library is not None else self.flows


@dataclass(frozen=True)
class WorkingCopy:
    """A workflow under construction. `base` is the writer's document; None for a new workflow."""

    document: Json
    base: Json | None = None
    known: Known = field(default_factory=Known)
    made: tuple[edits.Edit, ...] = ()

    @classmethod
    def of(cls, base: Json | None, known: Known, *, language: str = "", name: str = "workflow") -> WorkingCopy:
        """A copy of the writer's workflow, or an empty one."""
        start = base or {"id": name, "version": 1, "name": "", "language": language, "nodes": [], "edges": []}
        return cls(copy.deepcopy(start), copy.deepcopy(base), known)

    @cached_property
    def findings(self) -> tuple[Problem, ...]:
        """The findings of validation for the copy."""
        return check_document(self.document, actions=self.known.actions, library=self.known.library)

    def errors(self) -> dict[tuple[str, str, str], Problem]:
        """The errors among the findings, by code, node and field."""
        return {(each.code, each.node, each.field): each for each in self.findings if each.severity == "error"}

    @property
    def nodes(self) -> tuple[str, ...]:
        """The paths of all nodes."""
        return tuple(each.path for each in all_found(self.document))

    def with_edit(self, edit: edits.Edit) -> WorkingCopy:
        """The copy with the edit applied. Raises EditRefused."""
        return self.with_edits((edit,))

    def with_edits(self, several: Sequence[edits.Edit]) -> WorkingCopy:
        """The copy with all of the edits, checked once after the last. Raises EditRefused; then none is applied."""
        changed = replace(self, document=copy.deepcopy(self.document))
        for edit in several:
            _MAKERS[type(edit)](changed, changed.document, edit)
            changed = replace(changed, made=(*changed.made, edit))
        for edit in several:
            changed.require_registered(edit)
        old = self.errors()
        new = [finding for key, finding in changed.errors().items() if key not in old and finding.code != "NO_NODES"]
        if new:
            lines = [_line(finding) for finding in new[:_MOST_SHOWN]]
            raise EditRefused(_("The edit would break the workflow."), "\n".join(lines))
        return changed

    def require_registered(self, edit: edits.Edit) -> None:
        """Raises EditRefused, with the available names, for an action, workflow or model that is not registered."""
        touched = {edits.AddNode: "id", edits.SetParam: "node"}.get(type(edit))
        if touched is None:
            return
        old = {model for each in all_found(self.base or {}) for _key, model in _named(own_params(each.node), "model")}
        for each in all_found(self.document):
            if each.path.split("/")[-1] == getattr(edit, touched).split("/")[-1] or isinstance(edit, edits.AddNode):
                self._require_node(each, old)

    def _require_node(self, place: PlacedNode, old: Collection[str]) -> None:
        params, known = own_params(place.node), self.known
        action = str(params.get("action", ""))
        if place.node.get("kind") == "action" and known.actions is not None and action not in known.actions:
            raise unknown(_("There is no action {name}.").format(name=action[:60] or '""'), action, known.actions)
        flows = known.callable_flows
        ref = str(params.get("ref", ""))
        if place.node.get("kind") == "subflow" and flows is not None:
            plain = {name.partition("@")[0] for name in flows} | {str(self.document.get("id"))}
            if ref not in flows and ref not in plain:
                raise unknown(_("There is no workflow {ref}.").format(ref=ref[:60]), ref, flows)
        for key, model in _named(params, "model"):
            if known.models is not None and model not in known.models and model not in old:
                message = _("{field}: there is no model {name}.").format(field=key, name=model[:60])
                raise unknown(message, model, (*known.models, *sorted(old)))

    def require_node(self, document: Json, path: str) -> PlacedNode:
        """The node with that path. Raises EditRefused with the existing paths."""
        place = found(document, path)
        if place is None:
            raise unknown(_("There is no node {node}.").format(node=path[:80]), path, self.nodes)
        return place

    def require_graph(self, document: Json, inside: str) -> Json:
        """The graph with that path. Raises EditRefused."""
        graph = graph_at(document, inside)
        if graph is None:
            there = [path for path, _graph in graphs(document)]
            raise unknown(_("There is no graph {name}.").format(name=inside[:80]), inside, there)
        return graph


def _add(copied: WorkingCopy, document: Json, edit: edits.AddNode) -> None:
    if edit.kind not in kinds():
        raise unknown(_("There is no kind {kind}.").format(kind=edit.kind[:60]), edit.kind, kinds())
    if sum(isinstance(each, edits.AddNode) for each in copied.made) >= MOST_NEW_NODES:
        raise EditRefused(_("A build adds at most {n} nodes.").format(n=MOST_NEW_NODES))
    graph = _branch(copied, document, edit.inside)
    nodes = graph.setdefault("nodes", [])
    ids = [each["id"] for each in nodes]
    if edit.id in ids:
        message = _("There is already a node {node}; it was not changed.").format(node=edit.id[:80])
        raise EditRefused(message, _("Taken: {names}").format(names=_(", ").join(ids)))
    was = found(copied.base or {}, f"{edit.inside}/{edit.id}" if edit.inside else edit.id)
    if was is not None and was.node.get("kind", "prompt") != edit.kind:
        raise EditRefused(_("{node} was a node of another kind. Choose another id.").format(node=edit.id[:80]))
    if edit.after and edit.after not in ids:
        raise unknown(_("There is no node {node}.").format(node=edit.after[:80]), edit.after, ids)
    node: Json = {
        "id": edit.id,
        "kind": edit.kind,
        "name": edit.name,
        "params": with_blocks(copy.deepcopy(edit.params)),
    }
    nodes.insert(ids.index(edit.after) + 1 if edit.after else len(nodes), node)


def _branch(copied: WorkingCopy, document: Json, inside: str) -> Json:
    """The graph; creates a branch that a parallel node lacks."""
    owner, _slash, name = inside.rpartition("/")
    holder = found(document, owner) if owner else None
    branches = (holder.node.get("params") or {}).get("branches") if holder else None
    if isinstance(branches, dict) and name:
        branch: Json = branches.setdefault(name, {"nodes": []})
        return branch
    return copied.require_graph(document, inside)


def _remove(copied: WorkingCopy, document: Json, edit: edits.RemoveNode) -> None:
    place = copied.require_node(document, edit.node)
    name = place.node["id"]
    readers = [
        each.path
        for each in all_found(place.graph)
        if each.node is not place.node and name in names_in(own_params(each.node), (name,))
    ]
    if readers:
        message = _("{node} is read by {names}.").format(node=edit.node, names=_(", ").join(readers))
        raise EditRefused(message, _("Change the nodes that read it first; nothing was removed."))
    remove_node(place)


def _connect(copied: WorkingCopy, document: Json, edit: edits.ConnectNodes) -> None:
    graph = copied.require_graph(document, edit.inside)
    ids = [each["id"] for each in graph.get("nodes", ())]
    for name in (edit.source, edit.target):
        if name not in ids:
            raise unknown(_("There is no node {node}.").format(node=name[:80]), name, ids)
    edge = _edge(edit)
    edges = graph.setdefault("edges", [])
    if edge in map(_plain_edge, edges):
        raise EditRefused(_("The edge already exists."))
    edges.append(edge)


def _disconnect(copied: WorkingCopy, document: Json, edit: edits.DisconnectNodes) -> None:
    graph = copied.require_graph(document, edit.inside)
    edges = graph.get("edges", [])
    at = next((n for n, each in enumerate(edges) if _plain_edge(each) == _edge(edit)), None)
    if at is None:
        there = [" → ".join(map(str, _plain_edge(each).values())) for each in edges]
        raise unknown(_("There is no such edge."), " → ".join(map(str, _edge(edit).values())), there)
    del edges[at]


def _edge(edit: edits.ConnectNodes | edits.DisconnectNodes) -> Json:
    return _plain_edge({"source": edit.source, "target": edit.target, "condition": edit.condition})


def _plain_edge(edge: Json) -> Json:
    return {key: edge[key] for key in ("source", "target", "condition") if edge.get(key) is not None}


def _set_param(copied: WorkingCopy, document: Json, edit: edits.SetParam) -> None:
    place = copied.require_node(document, edit.node)
    if is_text(edit.field):
        raise EditRefused(_("{field} contains a text: use set_prompt.").format(field=edit.field))
    if edit.field.split(".")[0] in _GRAPHS and any(True for _body in bodies(place.node)):
        raise EditRefused(_("Change its nodes one by one, by their paths."))
    set_at(place.node.setdefault("params", {}), edit.field, with_blocks(copy.deepcopy(edit.value)))


def _set_prompt(copied: WorkingCopy, document: Json, edit: edits.SetPrompt) -> None:
    place = copied.require_node(document, edit.node)
    if sum(each is not None for each in (edit.blocks, edit.append, edit.find)) != 1:
        raise EditRefused(_("Give either blocks, append or find."))
    if not is_text(edit.field):
        raise EditRefused(_("{field} is not a prompt: use set_param.").format(field=edit.field))
    params = place.node.setdefault("params", {})
    old = value_at(params, edit.field)
    last = edit.field.rpartition(".")[2]
    if edit.find is not None:
        new = _replaced(old, edit.find, edit.replace)
    elif edit.append is not None:
        added = with_blocks(edit.append, last)
        new = f"{old or ''}{added}" if isinstance(added, str) else [*(old or ()), *added]
    else:
        new = with_blocks(edit.blocks, last)
    set_at(params, edit.field, new)


def _replaced(old: Any, find: str, new: str) -> Any:
    """The blocks, or the text, with the found words replaced. Raises EditRefused unless they occur exactly once."""
    blocks = [old] if isinstance(old, str) else list(old or ())
    count = sum(_count(each, find) for each in blocks) if find else 0
    if count != 1:
        raise EditRefused(_("“{text}” occurs {n} times; it must occur once.").format(text=find[:80], n=count))
    made = [_in_block(each, find, new) for each in blocks]
    return made[0] if isinstance(old, str) else made


def _count(block: Any, find: str) -> int:
    if isinstance(block, str):
        return block.count(find)
    return int(block.get("node") == find) + str(block.get("text", "")).count(find)


def _in_block(block: Any, find: str, new: str) -> Any:
    if isinstance(block, str):
        return block.replace(find, new)
    if block.get("node") == find:
        return {**block, "node": new}
    return {**block, "text": block["text"].replace(find, new)} if "text" in block else block


def _rename(copied: WorkingCopy, document: Json, edit: edits.RenameNode) -> None:
    copied.require_node(document, edit.node).node["name"] = edit.name


def _set_meta(copied: WorkingCopy, document: Json, edit: edits.SetMeta) -> None:
    if edit.field == "id" and copied.base is not None:
        raise EditRefused(_("The id of an existing workflow cannot be changed."))
    if edit.field == "id" and edit.value in (copied.known.library or {}):
        raise EditRefused(_("There is a workflow {name} already.").format(name=str(edit.value)[:60]))
    document[edit.field] = edit.value


def _named(value: Any, wanted: str, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text under a key of that name, with its place."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key == wanted and isinstance(each, str) and each:
                yield f"{place}{key}", each
            else:
                yield from _named(each, wanted, f"{place}{key}.")
    elif isinstance(value, list):
        for each in value:
            yield from _named(each, wanted, place)


def _line(finding: Problem) -> str:
    place = ".".join(filter(None, (finding.node, finding.field)))
    fix = " " + _("Did you mean {near}?").format(near=finding.fix) if finding.fix else ""
    return f"[{finding.code}] {place}: {finding.message}{fix}"


_MAKERS: Final[Mapping[type[Any], Any]] = {
    edits.AddNode: _add,
    edits.RemoveNode: _remove,
    edits.ConnectNodes: _connect,
    edits.DisconnectNodes: _disconnect,
    edits.SetParam: _set_param,
    edits.SetPrompt: _set_prompt,
    edits.RenameNode: _rename,
    edits.SetMeta: _set_meta,
}
