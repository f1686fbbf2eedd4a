"""The briefs of the bench for builders, and right answers as the edits that make them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from flowcabal_tui.agents.builder.changes import Change, changes_between
from flowcabal_tui.agents.builder.document import Json, names_in
from flowcabal_tui.agents.builder.edits import (
    AddNode,
    Connect,
    Disconnect,
    Edit,
    RemoveNode,
    Rename,
    SetMeta,
    SetParam,
    SetPrompt,
)
from flowcabal_tui.agents.builder.working_copy import Known

DEV = Path(__file__).parents[3] / "shared" / "bench" / "builder" / "dev"


def rows(name: str) -> dict[str, Json]:
    """The lines of a file of the bench by id; {} where the bench is absent."""
    file = DEV / f"{name}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {row["id"]: row for row in map(json.loads, lines)}


def known_in(brief: Json) -> Known:
    """The names that a brief allows."""
    actions = {each["action_id"]: _Shape(each) for each in brief.get("actions") or ()}
    flows = {each["ref"]: tuple(each["inputs"]) for each in brief.get("subflows") or ()}
    return Known(actions=actions, flows=list(flows), models=brief.get("models") or (), flow_inputs=flows)


class _Shape(SimpleNamespace):
    def __init__(self, action: Json) -> None:
        super().__init__(arg_schema=action["arg_schema"], output_schema=action["output_schema"], enabled=True)


def edits_for(base: Json | None, document: Json, because: str = "") -> Iterator[Edit]:
    """Edits that make the document of what the writer has, in an order in which each can be made."""
    changes = list(changes_between(base, document))
    added = [each for each in changes if each.kind == "node_added"]
    for change in changes:
        if change.kind == "meta" and change.after is not None:
            yield SetMeta(field=change.field, value=change.after, because=because)
    for change in _in_order(added):
        node, inside = change.after, change.node.rpartition("/")[0]
        yield AddNode(
            id=node["id"],
            kind=node.get("kind", "prompt"),
            name=node.get("name", ""),
            params=node.get("params", {}),
            inside=inside,
            after=change.behind if base else "",
            because=because,
        )
    for change in changes:
        if change.kind != "node_removed":
            yield from _edit_for(change, because)
    for change in changes:
        if change.kind == "node_removed":
            yield RemoveNode(node=change.node, because=because)


def _edit_for(change: Change, because: str) -> Iterator[Edit]:
    match change.kind:
        case "renamed":
            yield Rename(node=change.node, name=change.after, because=because)
        case "param":
            yield SetParam(node=change.node, field=change.field, value=change.after, because=because)
        case "prompt" | "wiring":
            yield SetPrompt(node=change.node, field=change.field, blocks=change.after, because=because)
        case "edge_added":
            yield Connect(**change.after, inside=change.node, because=because)
        case "edge_removed":
            yield Disconnect(**change.before, inside=change.node, because=because)
        case _:
            return


def _in_order(added: list[Change]) -> Iterator[Change]:
    """What is read before what reads it."""
    names = {each.after["id"] for each in added}
    waiting = list(added)
    while waiting:
        ready = next(
            each for each in waiting if not (names_in(each.after["params"], names) - {each.after["id"]} - _inner(each))
        )
        names.discard(ready.after["id"])
        waiting.remove(ready)
        yield ready


def _inner(change: Change) -> frozenset[str]:
    return frozenset(node["id"] for node in change.after["params"].get("body", {}).get("nodes", ()))
