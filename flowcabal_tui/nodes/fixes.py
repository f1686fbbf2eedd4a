"""Applies the suggestions of findings that are safe: a name with only one possible meaning, a superfluous edge."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.domain import bindings, paths
from flowcabal_tui.domain.bindings import FROM
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.paths import RESULT, Part
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.nodes.nearest import unmistakable
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.nodes.validation.graph import DROP

_NEVER: Final = ("UNKNOWN_ACTION_ID", "UNKNOWN_WORKFLOW")
"""Findings without an automatic fix: only a person knows whether another action or version fits."""
_RENAMED: Final = ("BAD_PARAMS", "UNKNOWN_PARAM")
"""Findings whose field is a parameter with a misspelt name."""
Json = dict[str, Any]


def fixed(workflow: Workflow, findings: Iterable[Problem]) -> tuple[Workflow, tuple[Problem, ...]]:
    """Applies every safe suggestion; returns the workflow and the findings that were fixed. The rest is not changed."""
    document = workflow.model_dump(mode="json", exclude_unset=True)
    applied: list[Problem] = []
    dropped: list[tuple[list[Any], int]] = []
    for finding in findings:
        if not finding.fix or finding.code in _NEVER:
            continue
        if finding.fix == DROP and finding.code in ("DOUBLE_EDGE", "SELF_REFERENCE"):
            if (edge := _edge(document, finding)) is not None:
                dropped.append(edge)
                applied.append(finding)
        elif _apply(document, finding):
            applied.append(finding)
    for edges, number in sorted(dropped, key=lambda each: each[1], reverse=True):
        del edges[number]
    try:
        return (Workflow.model_validate(document), tuple(applied)) if applied else (workflow, ())
    except ValidationError:  # the changes together are not a valid workflow: none is applied
        return workflow, ()


def _apply(document: Json, finding: Problem) -> bool:
    """Makes one change in place; False when it is not safe."""
    holder: Any = document
    if finding.node:
        node = next(_nodes_at(document.get("nodes"), finding.node), None)
        if node is None:
            return False
        if finding.code == "UNKNOWN_KIND":
            safe = unmistakable(str(node.get("kind", "")), finding.fix, tuple(kinds()))
            return safe and _set(node, "kind", finding.fix)
        holder = node.get("params")
    try:
        *way, last = paths.parse(finding.field).parts
    except BindingError:
        return False
    for part in way:
        holder = _part(holder, part)
    if finding.code in _RENAMED:
        return isinstance(holder, dict) and _rename(holder, str(last), finding.fix)
    value = _part(holder, last)
    if isinstance(value, Mapping):
        new: Any = _in_binding(value, finding.fix)
    elif isinstance(value, str):
        new = finding.fix if unmistakable(value, finding.fix) and not _paths_in(value) else _in_text(value, finding.fix)
    else:
        return False
    return new is not None and _set(holder, last, new)


def _set(holder: Any, key: Part, value: Any) -> bool:
    holder[key] = value
    return True


def _part(holder: Any, part: Part) -> Any:
    if isinstance(holder, dict):
        return holder.get(str(part))
    listed = isinstance(holder, list) and isinstance(part, int) and part < len(holder)
    return holder[part] if listed else None


def _nodes_at(nodes: Any, path: str) -> Iterator[Json]:
    """The nodes with this path, those of bodies too."""
    for node in nodes if isinstance(nodes, list) else ():
        name = node.get("id") if isinstance(node, dict) else None
        if name == path:
            yield node
        elif isinstance(name, str) and path.startswith(f"{name}/"):
            for prefix, inner in _bodies(node.get("params")):
                rest = path[len(name) + 1 :]
                if rest.startswith(prefix):
                    yield from _nodes_at(inner, rest[len(prefix) :])


def _bodies(params: Any) -> Iterator[tuple[str, Any]]:
    """The graphs in a node's parameters, with the prefix of their ids in a path."""
    for field, value in params.items() if isinstance(params, dict) else ():
        if isinstance(value, dict) and "nodes" in value:
            yield "", value["nodes"]
            yield f"{field}/", value["nodes"]
        elif isinstance(value, dict):
            for name, part in value.items():
                if isinstance(part, dict) and "nodes" in part:
                    yield ("" if len(value) == 1 else f"{name}/"), part["nodes"]


def _edge(document: Json, finding: Problem) -> tuple[list[Any], int] | None:
    """The list that holds the edge of a finding, and its place in it; None when the name of a branch is no path."""
    holder: Any = document
    if finding.node:
        holder = next(_nodes_at(document.get("nodes"), finding.node), {}).get("params")
    try:
        *way, number = paths.parse(finding.field).parts
    except BindingError:
        return None
    for part in way:
        holder = _part(holder, part)
    return (holder, number) if isinstance(holder, list) and isinstance(number, int) and number < len(holder) else None


def _rename(holder: Json, old: str, new: str) -> bool:
    """Corrects the name of a parameter in place; returns False when the new name is taken."""
    if old not in holder or new in holder or not unmistakable(old, new):
        return False
    entries = [(new if key == old else key, value) for key, value in holder.items()]
    holder.clear()
    holder.update(entries)
    return True


def _paths_in(text: str) -> list[str]:
    """The paths that a text contains between braces, or the text itself if it is a path."""
    found = [path for _place, path in bindings.paths_in(text)]
    return found or ([text] if text.startswith(f"{RESULT}.") else [])


def _in_text(text: str, new: str) -> str | None:
    meant = [path for path in dict.fromkeys(_paths_in(text)) if _is_slip(path, new)]
    if len(meant) != 1:
        return None
    (old,) = meant
    if paths.unwrap(text.strip()) == old:
        return text.replace(old, new, 1)
    changed = re.sub(r"(\{\{\s*)" + re.escape(old) + r"(\s*\}\})", lambda match: match[1] + new + match[2], text)
    return changed if changed != text else None


def _in_binding(binding: Mapping[str, Any], new: str) -> Json | None:
    source = binding.get(FROM)
    if isinstance(source, str) and _is_slip(source, new):
        return {**binding, FROM: source.replace(paths.unwrap(source.strip()), new, 1)}
    slips = [n for n, path in enumerate(source) if _is_slip(path, new)] if isinstance(source, list) else []
    if len(slips) != 1 or not isinstance(source, list):
        return None
    return {**binding, FROM: [new if number == slips[0] else path for number, path in enumerate(source)]}


def _is_slip(old: Any, new: str) -> bool:
    """True when `new` is the path `old` with one name corrected, or with `result_of` in front."""
    try:
        was, now = paths.parse(str(old)).parts, paths.parse(new).parts
    except BindingError:
        return False
    if now == (RESULT, *was):
        return True
    differ = [(one, other) for one, other in zip(was, now, strict=False) if one != other]
    return len(was) == len(now) and len(differ) == 1 and unmistakable(str(differ[0][0]), str(differ[0][1]))
