"""The edits that turn one document into another."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from flowcabal_tui.agents.builder import edits
from flowcabal_tui.agents.builder.changes import Change, changes_between
from flowcabal_tui.agents.builder.document import Json, bodies, names_in


def edits_between(base: Json | None, document: Json, because: str = "") -> Iterator[edits.Edit]:
    """The edits that turn `base` into `document`, in an order in which each can be applied."""
    changes = list(changes_between(base, document))
    added = [each for each in changes if each.kind == "node_added"]
    for change in changes:
        if change.kind == "meta" and change.after is not None:
            yield edits.SetMeta.model_validate({"field": change.field, "value": change.after, "because": because})
    coming = {each.after["id"] for each in added}
    for change in _in_order(added):
        node, inside = change.after, change.node.rpartition("/")[0]
        coming.discard(node["id"])
        yield edits.AddNode(
            id=node["id"],
            kind=node.get("kind", "prompt"),
            name=node.get("name", ""),
            params=node.get("params", {}),
            inside=inside,
            after="" if base is None or change.behind in coming else change.behind,
            because=because,
        )
    for change in changes:
        if change.kind != "node_removed":
            yield from _edit_for(change, because)
    for change in changes:
        if change.kind == "node_removed":
            yield edits.RemoveNode(node=change.node, because=because)


def _edit_for(change: Change, because: str) -> Iterator[edits.Edit]:
    match change.kind:
        case "renamed":
            yield edits.RenameNode(node=change.node, name=change.after, because=because)
        case "param":
            yield edits.SetParam(node=change.node, field=change.field, value=change.after, because=because)
        case "prompt" | "wiring":
            yield edits.SetPrompt(node=change.node, field=change.field, blocks=change.after, because=because)
        case "edge_added":
            yield edits.ConnectNodes(**change.after, inside=change.node, because=because)
        case "edge_removed":
            yield edits.DisconnectNodes(**change.before, inside=change.node, because=because)
        case _:
            return


def _in_order(added: list[Change]) -> Iterator[Change]:
    """Orders added nodes after the nodes that they read; nodes in a cycle keep their order."""
    names = {each.after["id"] for each in added}
    waiting = list(added)
    while waiting:
        ready = next((each for each in waiting if not _reads(each, names)), waiting[0])
        names.discard(ready.after["id"])
        waiting.remove(ready)
        yield ready


def _reads(change: Change, names: Collection[str]) -> frozenset[str]:
    """The nodes still to be added that a change reads, without those inside it."""
    inside = {node["id"] for _path, graph in bodies(change.after) for node in graph["nodes"]}
    return names_in(change.after.get("params"), names) - {change.after["id"]} - inside
