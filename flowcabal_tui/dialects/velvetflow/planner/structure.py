"""The first pass of VelvetFlow's planner: tools that make nodes, with the recorded guards and answers.

Stricter than the original: refuses an id that is in use, and a parent that is not a loop. An action never replaces
another.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow.document import BRANCHES, Document
from flowcabal_tui.dialects.velvetflow.planner.schemas import condition_kinds, fields_of, planner_sentence
from flowcabal_tui.dialects.velvetflow.planner.skeleton import BODY, Skeleton
from flowcabal_tui.nodes.validation import Actions

Search = Callable[[str, int], Awaitable[Sequence[Document]]]
"""Takes a query and a limit; returns the records of matching actions, best first."""
CONDITION_FIELDS: Final = ("kind", "source", "field", "value", "threshold", "min", "max", "bands")
LOOP_FIELDS: Final = ("loop_kind", "source", "condition", "item_alias", "body_subgraph", "exports")
_EXPORTS: Final = ("items", "aggregates")
_LOOPS: Final = ("for_each", "while")
_MOST_FOUND: Final = 20
_NEW: Final[Mapping[str, Document]] = {
    "action": {
        "action_id": None,
        "display_name": None,
        "params": {},
        "out_params_schema": None,
        "parent_node_id": None,
    },
    "condition": {
        "display_name": None,
        "params": {},
        "true_to_node": None,
        "false_to_node": None,
        "parent_node_id": None,
    },
    "loop": {"display_name": None, "params": {}, "parent_node_id": None},
}
"""The fields of a new node, in the order in which they are shown."""


class StructureTools:
    """Carries out the tools on a skeleton. `finalize_workflow` belongs to the pass, which asks for coverage."""

    def __init__(self, skeleton: Skeleton, actions: Actions, search: Search) -> None:
        self.skeleton, self._actions, self._search = skeleton, actions, search
        self._candidates: tuple[str, ...] | None = None

    async def call(self, name: str, given: Document) -> Document:
        """The answer to a call; `status` is "ok" or "error"."""
        match name:
            case "search_business_actions":
                return await self._searched(given)
            case "set_workflow_meta":
                return self._meta(given)
            case "add_action_node" | "add_condition_node" | "add_loop_node":
                return self._added(name, given)
            case "update_action_node" | "update_condition_node" | "update_loop_node":
                return self._updated(name, given)
            case "dump_model":
                return self._dumped()
            case _:
                return error("unknown_tool", tool=name[:60])

    async def _searched(self, given: Document) -> Document:
        query, most = given.get("query"), given.get("top_k", 5)
        if not isinstance(query, str):
            return error("missing", missing_fields=["query"])
        count = most if isinstance(most, int) and 0 < most <= _MOST_FOUND else 5
        found = list(await self._search(query, count))
        self._candidates = tuple(each["action_id"] for each in found)
        candidates = [
            {
                "id": each["action_id"],
                "name": each.get("name", ""),
                "description": each.get("description", ""),
                "category": each.get("domain", ""),
            }
            for each in found
        ]
        return {"status": "ok", "query": query, "actions": found, "candidates": candidates}

    def _meta(self, given: Document) -> Document:
        name, about = given.get("workflow_name"), given.get("description")
        if not isinstance(name, str) or not name.strip():
            return error("missing", missing_fields=["workflow_name"])
        self.skeleton.name = name
        if isinstance(about, str):
            self.skeleton.description = about
        return {"status": "ok", "type": "meta_set"}

    def _dumped(self) -> Document:
        document = self.skeleton.document()
        counts = {"node_count": len(document["nodes"]), "edge_count": len(document["edges"])}
        return {"status": "ok", "type": "dump_model", "summary": counts, "workflow": document}

    def _added(self, tool: str, given: Document) -> Document:
        kind, name = _kind_of(tool), given.get("id")
        if not isinstance(name, str) or not name or name != "".join(name.split()) or "/" in name:
            return error("bad_id", invalid_fields=["id"])
        if name in self.skeleton.nodes:
            return error("taken", id=name, existing_ids=list(self.skeleton.nodes))
        return self._stored(tool, {"id": name, "type": kind, **copy.deepcopy(_NEW[kind])}, given, "node_added")

    def _updated(self, tool: str, given: Document) -> Document:
        kind, name = _kind_of(tool), str(given.get("id"))
        node = self.skeleton.nodes.get(name)
        if node is None:
            return error("unknown_node", id=name[:60], existing_ids=list(self.skeleton.nodes))
        if node["type"] != kind:
            return error("wrong_type", id=name, type=kind, tool=tool)
        return self._stored(tool, dict(node), given, "node_updated")

    def _stored(self, tool: str, node: Document, given: Document, kind: str) -> Document:
        """Puts the fields into the node and the node into the skeleton, unless one of them is refused."""
        wrong = self._refused(tool, node, given)
        if wrong is not None:
            return wrong
        for key in ("display_name", "out_params_schema", "action_id", "parent_node_id", *BRANCHES.values()):
            if key in given and key in fields_of(tool):
                node[key] = given[key]
        removed: list[str] = []
        if node["type"] == "action":
            node["params"], removed = self._action_params(node, given)
        elif node["type"] == "condition":
            node["params"], removed = _condition_params(node, given)
        else:
            node["params"], removed = _loop_params(node, given)
        self.skeleton.nodes[node["id"]] = node
        for inner in given.get("sub_graph_nodes") or () if node["type"] == "loop" else ():
            self.skeleton.nodes[inner]["parent_node_id"] = node["id"]
        unknown = [key for key in given if key not in fields_of(tool)]
        if removed or unknown:
            names = "removed_param_fields" if node["type"] == "action" else "removed_fields"
            lists = {names: removed, "removed_node_fields": unknown}
            return error(f"{node['type']}_fields", **lists, node_id=node["id"])
        return {"status": "ok", "type": kind, "node_id": node["id"]}

    def _refused(self, tool: str, node: Document, given: Document) -> Document | None:
        wrong = [key for key in ("params", "out_params_schema") if not isinstance(given.get(key) or {}, dict)]
        if not isinstance(given.get("display_name") or "", str) or wrong:
            return error("missing", invalid_fields=wrong or ["display_name"])
        parent = given.get("parent_node_id")
        if parent is not None and self._type(parent) != "loop":
            loops = [name for name in self.skeleton.nodes if self._type(name) == "loop"]
            return error("parent", invalid_fields=["parent_node_id"], allowed_parent_ids=loops)
        match node["type"]:
            case "action":
                return self._refused_action(tool, given)
            case "condition":
                return self._refused_condition(tool, given)
            case _:
                return self._refused_loop(tool, node, given)

    def _refused_action(self, tool: str, given: Document) -> Document | None:
        if "action_id" not in given and tool.startswith("update"):
            return None
        if self._candidates is None:
            return error("search_first")
        if given.get("action_id") not in self._candidates:
            return error("no_candidate", allowed_action_ids=list(self._candidates))
        return None

    def _refused_condition(self, tool: str, given: Document) -> Document | None:
        kind = given.get("kind", (given.get("params") or {}).get("kind"))
        if (kind is not None or tool.startswith("add")) and kind not in condition_kinds():
            return error("condition_kind", invalid_fields=["kind"], allowed_kinds=list(condition_kinds()))
        wrong = [key for key in BRANCHES.values() if not isinstance(given.get(key), str | None)]
        return error("missing", invalid_fields=wrong) if wrong else None

    def _refused_loop(self, tool: str, node: Document, given: Document) -> Document | None:
        values = {key: given.get(key, (given.get("params") or {}).get(key)) for key in _LOOP_NEEDS}
        missing = [key for key in _LOOP_NEEDS if values[key] in (None, "")] if tool.startswith("add") else []
        invalid = ["loop_kind"] if values["loop_kind"] is not None and values["loop_kind"] not in _LOOPS else []
        if missing or invalid:
            return error("loop_params", missing_fields=missing, invalid_fields=invalid)
        if given.get("parent_node_id") is not None:
            return error("nested", invalid_fields=["parent_node_id"])
        inner = given.get("sub_graph_nodes") or []
        many = inner if isinstance(inner, list) else [inner]
        bad = [number for number, each in enumerate(many) if not isinstance(each, str)]
        names = [each for each in many if isinstance(each, str)]
        lost = [each for each in names if each not in self.skeleton.nodes]
        loops = [each for each in names if self._type(each) == "loop" or each == node["id"]]
        if bad or lost or loops:
            details = {"invalid_indices": bad, "missing_nodes": lost, "loop_nodes": loops}
            return error("sub_graph", **details, hint=planner_sentence("nested"))
        return None

    def _type(self, name: Any) -> str:
        return str(self.skeleton.nodes[name]["type"]) if isinstance(name, str) and name in self.skeleton.nodes else ""

    def _action_params(self, node: Document, given: Document) -> tuple[Document, list[str]]:
        """The parameters that the action takes, and the names of those that it does not."""
        if "params" not in given:
            return node["params"], []
        shape = self._actions.get(str(node["action_id"]))
        known = (shape.arg_schema.get("properties") or {}) if shape is not None else {}
        params = given["params"] or {}
        removed = [key for key in params if known and key not in known]
        return {key: value for key, value in params.items() if key not in removed}, removed


_LOOP_NEEDS: Final = ("loop_kind", "source", "item_alias")


def _condition_params(node: Document, given: Document) -> tuple[Document, list[str]]:
    params = dict(given["params"] or {}) if "params" in given else dict(node["params"])
    kind = given.get("kind") or params.get("kind") or node["params"].get("kind")
    removed = [key for key in params if key not in CONDITION_FIELDS]
    return {**{key: value for key, value in params.items() if key not in removed}, "kind": kind}, removed


def _loop_params(node: Document, given: Document) -> tuple[Document, list[str]]:
    """Fields next to `params` override those inside. The inner graph is made of `sub_graph_nodes` only."""
    params = {**node["params"], **(given.get("params") or {})}
    params |= {key: given[key] for key in _LOOP_NEEDS if key in given}
    removed = [key for key in params if key not in LOOP_FIELDS]
    exports = params.get("exports")
    if isinstance(exports, Mapping):
        removed += [f"exports.{key}" for key in exports if key not in _EXPORTS]
        params["exports"] = {key: value for key, value in exports.items() if key in _EXPORTS}
    if BODY in (given.get("params") or {}):
        removed.append(BODY)
        params[BODY] = node["params"].get(BODY)
    kept = {key: value for key, value in params.items() if key in LOOP_FIELDS and (key, value) != (BODY, None)}
    return kept, removed


def _kind_of(tool: str) -> str:
    return tool.split("_")[1]


def error(sentence: str, /, **details: Any) -> Document:
    """An error answer with the allowed values. Texts fill the sentence, lists are separate fields."""
    plain = {key: value for key, value in details.items() if isinstance(value, str) and key not in _BESIDE}
    beside = {key: value for key, value in details.items() if key not in plain}
    return {"status": "error", "message": planner_sentence(sentence, **plain), **beside}


_BESIDE: Final = ("hint", "node_id")
