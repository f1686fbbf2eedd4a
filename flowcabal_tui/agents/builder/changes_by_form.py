"""Turns the alterations of a form into edits of the writer's workflow. Everything else stays unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from flowcabal_tui.agents.builder import edits
from flowcabal_tui.agents.builder.document import Json, PlacedNode, all_found, found, names_in, own_params, value_at
from flowcabal_tui.agents.builder.flow import Flow, There, of_node
from flowcabal_tui.agents.builder.form_steps import compile_step, join
from flowcabal_tui.agents.builder.forms import Alteration, Step
from flowcabal_tui.agents.builder.refused import EditRefused
from flowcabal_tui.agents.builder.words import words
from flowcabal_tui.agents.builder.working_copy import WorkingCopy
from flowcabal_tui.locale import _

_REVIEWED: Final = ("prompt", "recursive")
_PROMPTS: Final = ("prompt", "start", "draft.prompt", "write.prompt", "revise.prompt", "proposal", "question")


def alter(copied: WorkingCopy, alteration: Alteration, language: str, because: str) -> WorkingCopy:
    """Returns the copy with one alteration applied. Raises EditRefused."""
    match alteration.change:
        case "insert":
            made = _insert(copied, alteration, language)
        case "remove":
            made = _remove(copied, alteration.node)
        case "replace":
            field = alteration.field or _field_with(copied, alteration)
            old, new = alteration.find, str(alteration.to)
            made = iter([edits.SetPrompt(node=alteration.node, field=field, find=old, replace=new)])
        case "append":
            field = alteration.field or "prompt"
            made = iter([edits.SetPrompt(node=alteration.node, field=field, append=str(alteration.to))])
        case "set":
            made = iter([edits.SetParam(node=alteration.node, field=alteration.field, value=alteration.to)])
        case "pause":
            made = _pause(copied, alteration, language)
        case "rename":
            made = iter([edits.RenameNode(node=alteration.node, name=str(alteration.to))])
        case "keep":
            was = copied.document.get("keep") or {}
            made = iter([edits.SetMeta(field="keep", value={"mode": "replace", **was, "kind": alteration.to})])
    for edit in made:
        copied = copied.with_edit(edit.model_copy(update={"because": because}))
    return copied


def _field_with(copied: WorkingCopy, alteration: Alteration) -> str:
    """The name of the prompt that contains the words."""
    place = copied.require_node(copied.document, alteration.node)
    for field in (*_PROMPTS, "system"):
        if alteration.find in str(value_at(own_params(place.node), field) or ""):
            return field
    raise EditRefused(_("“{text}” does not occur in {node}.").format(text=alteration.find[:60], node=alteration.node))


def _readers(copied: WorkingCopy, place: PlacedNode) -> list[PlacedNode]:
    """The nodes of the same graph that read a node."""
    name = place.node["id"]
    nodes = [each for each in all_found(copied.document) if each.inside == place.inside]
    return [each for each in nodes if each.path != place.path and name in names_in(own_params(each.node), (name,))]


def _rewired(reader: PlacedNode, old: str, new: str, path: str) -> Iterator[edits.Edit]:
    """Edits that make a reader of `old` read `new`; `path` is the path of the text if it is not the plain output."""
    for field in _PROMPTS:
        value = value_at(own_params(reader.node), field)
        if value is None or old not in names_in(value, (old,)):
            continue
        if any(isinstance(block, dict) and block.get("node") == old for block in value):
            blocks = [_in_place(each, old, new, path) for each in value]
            yield edits.SetPrompt(node=reader.path, field=field, blocks=blocks)
        else:
            yield edits.SetPrompt(node=reader.path, field=field, find=f"result_of.{old}.text", replace=path)
    for key, value in own_params(reader.node).items():
        if key not in ("prompt", "system", "start", "proposal", "question") and _is_path(value, old):
            yield edits.SetParam(node=reader.path, field=key, value=_repointed(value, old, new))


def _in_place(block: Json, old: str, new: str, path: str) -> Json:
    if block.get("node") != old:
        return block
    if path == f"result_of.{new}.text":
        return {**block, "node": new}
    part = {"part": block["part"]} if block.get("part") else {}
    return {"kind": "text", **part, "text": "{{" + path + "}}"}


def _is_path(value: Any, old: str) -> bool:
    return old in names_in(value, (old,)) and "prompt" not in str(value)


def _repointed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _repointed(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [_repointed(each, old, new) for each in value]
    return value.replace(f"result_of.{old}", f"result_of.{new}") if isinstance(value, str) else value


def _insert(copied: WorkingCopy, alteration: Alteration, language: str) -> Iterator[edits.Edit]:
    step = alteration.step or Step(does="polish")
    place = copied.require_node(copied.document, alteration.node or _source_of(copied, alteration.before))
    readers = _readers(copied, place)
    also = step.does == "check" if alteration.also is None else alteration.also
    if alteration.before and also:  # it may not have read the text that the step checks
        readers = [copied.require_node(copied.document, alteration.before)]
    elif alteration.before:
        readers = [each for each in readers if each.path == alteration.before]
    flow = _flow_around(copied, place, language)
    if alteration.when:
        bound = {alteration.when: alteration.length}
        compile_step(flow, Step(does="measure", then=(step,), **bound))
        join(flow)
        path, new = flow.there.texts[-1].path, flow.nodes[-1]["id"]
    else:
        compile_step(flow, step)
        read = (flow.there.remarks or flow.there.texts)[-1]
        path, new = read.path, read.node
    yield from _added(flow, place)
    for reader in readers:
        if also:
            field = next(each for each in _PROMPTS if value_at(own_params(reader.node), each) is not None)
            name = next(node["name"] for node in flow.nodes if node["id"] == new)
            label = words(language)["remarks"].format(name=name)
            yield edits.SetPrompt(node=reader.path, field=field, append=label + "{{" + path + "}}")
        else:
            yield from _rewired(reader, place.node["id"], new, path)


def _source_of(copied: WorkingCopy, before: str) -> str:
    """The last output that a node reads; a step inserted before the node follows it."""
    place = copied.require_node(copied.document, before)
    ids = [node["id"] for node in place.graph["nodes"] if node is not place.node]
    read = [name for name in ids if name in names_in(own_params(place.node), (name,))]
    if not read:
        raise EditRefused(_("{node} reads no other node.").format(node=before))
    return f"{place.inside}/{read[-1]}" if place.inside else read[-1]


def _flow_around(copied: WorkingCopy, place: PlacedNode, language: str) -> Flow:
    taken = {each.node["id"] for each in all_found(copied.document)}
    flow = Flow(language, copied.known, taken)
    flow.there = There(texts=(of_node(place.node["id"]),))
    return flow


def _added(flow: Flow, place: PlacedNode) -> Iterator[edits.Edit]:
    after = place.node["id"]
    for node in flow.nodes:
        yield edits.AddNode(**node, inside=place.inside, after=after)
        after = node["id"]
    for edge in flow.edges:
        yield edits.ConnectNodes(**edge, inside=place.inside)


def _remove(copied: WorkingCopy, path: str) -> Iterator[edits.Edit]:
    """Removes a node; its readers read its sources instead."""
    place = copied.require_node(copied.document, path)
    readers = _readers(copied, place)
    if readers:
        source = found(copied.document, _source_of(copied, path))
        name = source.node["id"] if source else ""
        for reader in readers:
            already = name in names_in(own_params(reader.node), (name,))
            yield from (
                _without(reader, place.node["id"])
                if already
                else _rewired(reader, place.node["id"], name, f"result_of.{name}.text")
            )
    yield edits.RemoveNode(node=path)


def _without(reader: PlacedNode, name: str) -> Iterator[edits.Edit]:
    """Removes the blocks with a node's output."""
    for field in _PROMPTS:
        value = value_at(own_params(reader.node), field)
        if isinstance(value, list) and name in names_in(value, (name,)):
            yield edits.SetPrompt(
                node=reader.path, field=field, blocks=[each for each in value if not names_in(each, (name,))]
            )


def _pause(copied: WorkingCopy, alteration: Alteration, language: str) -> Iterator[edits.Edit]:
    """Lets the writer approve or change the output of a node before others read it."""
    path = alteration.node or _source_of(copied, alteration.before)
    place = copied.require_node(copied.document, path)
    if place.node.get("kind", "prompt") in _REVIEWED:
        yield edits.SetParam(node=path, field="review", value="always")
        return
    look = {"node": path, "step": Step(does="look"), "also": False}
    yield from _insert(copied, alteration.model_copy(update=look), language)
