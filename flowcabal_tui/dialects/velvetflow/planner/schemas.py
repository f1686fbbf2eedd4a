"""The schemas of the planner's tools as they were recorded, and the sentences of their answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from copy import deepcopy
from functools import cache
from importlib import resources
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.domain.model_calls import Tool
from flowcabal_tui.nodes.validation import Actions

_ACTION_FIELDS: Final = ("properties", "required")


def structure_tools() -> tuple[Tool, ...]:
    """The tools of the first pass."""
    return tuple(map(_tool, _schemas()["planner"]))


def repair_tools() -> tuple[Tool, ...]:
    """The tools that repair an invalid document."""
    return tuple(map(_tool, _schemas()["repair"]))


def param_tools(node: Mapping[str, Any], actions: Actions, allowed: Collection[str]) -> tuple[Tool, ...]:
    """The tools of the second pass for one node; it may read the outputs of the `allowed` ones."""
    action = actions.get(str(node.get("action_id"))) if node["type"] == "action" else None
    named = ""
    if action is not None:
        named = planner_sentence(
            "submit_action", id=node["action_id"], name=getattr(action, "name", "") or node["action_id"]
        )
    about = planner_sentence("submit", id=node["id"], type=node["type"], action=named, allowed=", ".join(allowed))
    shape = {"id": {"type": "string", "enum": [node["id"]]}, "params": _params(node["type"], action)}
    submit = Tool("submit_node_params", about, {"type": "object", "properties": shape, "required": ["id", "params"]})
    return submit, _tool(_schemas()["validate"])


def condition_kinds() -> tuple[str, ...]:
    """The comparisons that the planner may name, in alphabetical order."""
    return tuple(sorted(_schemas()["condition_params"]["properties"]["kind"]["enum"]))


def fields_of(tool: str) -> tuple[str, ...]:
    """The arguments that a tool of the first pass takes."""
    return tuple(next(each for each in structure_tools() if each.name == tool).parameters.get("properties", {}))


def planner_sentence(name: str, /, **values: object) -> str:
    """A sentence of the planner."""
    text = _sentences()[name]
    for key, value in values.items():
        text = text.replace("{" + key + "}", str(value))
    return text


def _params(type_: str, action: Any) -> Document:
    if type_ in ("condition", "loop"):
        found: Document = deepcopy(_schemas()[f"{type_}_params"])
        return found
    schema = action.arg_schema if action is not None else {}
    fields = {"type": "object", **{key: deepcopy(schema[key]) for key in _ACTION_FIELDS if key in schema}}
    return {**fields, "additionalProperties": True}


def _tool(schema: Mapping[str, Any]) -> Tool:
    return Tool(schema["name"], schema["description"], deepcopy(schema["parameters"]))


@cache
def _schemas() -> Any:
    return _data("schemas.json")


@cache
def _sentences() -> dict[str, str]:
    found: dict[str, str] = _data("sentences.json")
    return found


def _data(name: str) -> Any:
    return json.loads((resources.files(__package__) / name).read_text(encoding="utf-8"))
