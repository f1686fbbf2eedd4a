"""FlowCabal's recorded cases: its Python engine (`v4_*`), today's application (`head_*`), and real documents."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any

from flowcabal_tui.dialects.flowcabal import dependency_problem, read, write
from flowcabal_tui.dialects.flowcabal.known import kept
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.versions import StaleKind
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.nodes.graph import dependencies, order
from flowcabal_tui.nodes.marks import stale_after_edit, stale_after_run, todo
from flowcabal_tui.nodes.plan import Plan, plan
from flowcabal_tui.nodes.validation import validate
from tests.compat.flowcabal_fakes import Memory, checked, ran, refusal
from tests.compat.result import CaseResult

Marks = Mapping[NodeId, StaleKind]

HERE = "flowcabal"
Case = dict[str, Any]
Found = tuple[str, str]
"""An outcome, and what there is to say."""
PASS: Found = ("pass", "")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SAMPLES = {
    "sample_workflow.9734ba7.json": ("python", ()),
    "workflow_template.head.json": ("template", ("MISSING_REFERENCE",)),
    "workspace.head.json": ("workspace", ()),
}
"""The form of each, and what validation finds in it."""


def run(folder: Path) -> list[CaseResult]:
    """The results for `folder`, which holds a `flowcabal` folder; files that are not there are passed over."""
    judges: dict[str, Callable[[Case], Found]] = {
        "v4_engine_cases.json": lambda case: asyncio.run(_engine(case)),
        "v4_prompt_cases.json": lambda case: asyncio.run(_prompt(case)),
        "v4_monitor_parse_cases.json": lambda case: asyncio.run(_monitor(case)),
        "head_run_cases.json": lambda case: asyncio.run(_run(case)),
        "head_schema_cases.json": _schema,
        "head_workspace_ops.json": _operation,
    }
    results = []
    for name, judge in judges.items():
        path = folder / HERE / name
        for case in json.loads(path.read_text(encoding="utf-8")) if path.exists() else []:
            results.append(CaseResult(f"{HERE}/{name}", case["id"], *_tried(judge, case)))
    for path in sorted((folder / HERE / "samples").glob("*.json")):
        results.append(CaseResult(f"{HERE}/samples/{path.name}", "is read and written", *_sample(path)))
    return results


def _tried(judge: Callable[[Case], Found], case: Case) -> Found:
    """One case that cannot be run fails alone."""
    try:
        return judge(case)
    except Exception as error:  # the edge: a file of the folder may hold anything
        return "fail", f"{type(error).__name__}: {error}"


def _differs(what: str, ours: object, recorded: object) -> Found:
    return "fail", f"{what}: {ours!r}, recorded {recorded!r}"


async def _engine(case: Case) -> Found:
    workflow, expected = read(case["workflow"]).workflow, case["expected"]
    needed = {node: list(sources) for node, sources in dependencies(workflow).items()}
    if needed != expected["deps"]:
        return _differs("deps", needed, expected["deps"])
    if (problem := _sorting(workflow)) != (recorded := _recorded_sorting(expected["sort"])):
        return _differs("sort", problem, recorded)
    written = write(workflow, "python")[0]
    if not _same_document(written, expected["roundtrip"]):
        return _differs("roundtrip", written, expected["roundtrip"])

    def says(number: int, prompt: str) -> str | Exception:
        return WorkflowError("api down") if "BOOM" in prompt else f"<{number}:{prompt[-20:]}>"

    try:
        found = await ran(workflow, says)
    except WorkflowError as error:
        return PASS if "raises" in expected else ("fail", error.title)
    if "quirk" in case:
        kept = found.state == "failed" and set(found.outputs) == {"b"}
        return ("deliberate", "a node that fails stops only what stands behind it") if kept else ("fail", found.state)
    if (found.outputs, found.calls) != (expected["outputs"], expected["calls"]):
        return _differs("run", (found.outputs, found.calls), (expected["outputs"], expected["calls"]))
    if codes := sorted({each.code for each in validate(workflow)}):
        return "deliberate", f"the values agree; but before a run this is found: {', '.join(codes)}"
    return PASS


def _sorting(workflow: Workflow) -> object:
    problem = dependency_problem(workflow)
    return [problem.kind, *problem.nodes] if problem else list(order(dependencies(workflow)))


def _recorded_sorting(sort: dict[str, Any]) -> object:
    return sort["order"] if sort["success"] else [sort["error"]["type"], *sort["error"]["nodeIds"]]


def _same_document(ours: Any, theirs: Any) -> bool:
    """Equal but for ids that the original made up, because the document had none."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        made_up = {key for key, value in theirs.items() if key == "id" and _UUID.fullmatch(str(value))}
        return ours.keys() == theirs.keys() and all(_same_document(ours[k], theirs[k]) for k in ours.keys() - made_up)
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(_same_document, ours, theirs))
    return bool(ours == theirs)


async def _prompt(case: Case) -> Found:
    blocks = {"blocks": case["blocks"]}
    nodes = [{"id": "x", "apiConfig": {"systemPrompt": blocks, "userPrompt": blocks}}, {"id": "a", "apiConfig": {}}]
    workflow = read({"id": "w", "nodes": nodes}).workflow
    if any(block["type"] == "virtual" and block["sourceNodeId"] not in case["cache"] for block in case["blocks"]):
        waits = dependencies(workflow)["x"] == ("a",)
        return (
            ("deliberate", "no prompt is sent with a hole in it: the node waits for the output")
            if waits
            else (
                "fail",
                "it does not wait for the output",
            )
        )
    context = case["agent_ctx"]
    memory = Memory(context["system_prefix"], context["user_suffix"]) if context else None
    found = await ran(workflow, lambda _n, _p: "said", memory=memory, pins={"a": "", **case["cache"]}, targets=("x",))
    asked = {"system": found.calls[0]["system"], "user": found.calls[0]["user"]}
    return PASS if asked == case["expected"] else _differs("prompt", asked, case["expected"])


async def _monitor(case: Case) -> Found:
    """There a model decides; here it reports what it found, and the decision follows from how sure it is."""
    expected = case["expected"]
    readable = case["text"].startswith("{")
    evaluation = await checked({"confidence": expected["confidence"]} if readable else None)
    decided = {"approve": "approve", "retry": "retry", "ask": "flag_human"}[evaluation.verdict]
    if not readable:
        unread = decided != "approve" and evaluation.checks[0].outcome == "not checked"
        return (
            ("deliberate", "an answer that cannot be read is not checked: a person is asked")
            if unread
            else (
                "fail",
                decided,
            )
        )
    if decided != expected["decision"]:
        return _differs("decision", decided, expected["decision"])
    return "deliberate", "the decision agrees; but the model gives two quotations, and the program decides"


async def _run(case: Case) -> Found:
    workflow, expected = read(case["before"]).workflow, case["expected"]
    if expected["raised"]:
        problem = dependency_problem(workflow)
        named = problem is not None and problem.kind == "missing" and problem.nodes == ("b", "ghost")
        return ("deliberate", "what leads nowhere is called so, not a circle") if named else ("fail", str(problem))
    outputs, wanted = kept(workflow).outputs, kept(workflow).targets or ()
    prepared = plan(workflow.nodes)
    levels = [list(level) for level in todo(prepared, wanted, outputs.__contains__)]
    names = [node for level in levels for node in level]
    answers = Memory(answers=lambda question: "" if question == "空" else f"INJ<{question}>")
    pins = {node: text for node, text in outputs.items() if node not in names}
    found = (
        await ran(workflow, lambda _n, prompt: f"O[{prompt}]", memory=answers, pins=pins, targets=tuple(names))
        if (names)
        else await _nothing()
    )
    marks = kept(workflow).stale
    for node in found.outputs:
        marks = _after_run(prepared, NodeId(node), marks, outputs)
    after = expected["after"]
    ours = {
        "done": list(found.outputs),
        "outputs": outputs | found.outputs,
        "target_nodes": [node for node in wanted if node not in found.outputs],
        "calls": [{"system": call["system"], "prompt": call["user"]} for call in found.calls],
    }
    recorded = {"done": expected["final"]["done"], "calls": expected["calls"]} | {
        name: after[name] for name in ("outputs", "target_nodes")
    }
    if ours != recorded:
        return _differs("run", ours, recorded)
    return _same_marks(marks, after["stale_nodes"], "what stands behind a new output is stale")


async def _nothing() -> Any:
    return await ran(Workflow(id="none"), lambda _n, _p: "")


def _same_marks(ours: Marks, recorded: list[dict[str, str]], why: str) -> Found:
    """Ours hold all that was recorded, and more only where theirs come late."""
    theirs = {mark["id"]: mark["kind"] for mark in recorded}
    if ours == theirs:
        return PASS
    if ours.items() >= theirs.items() and all(ours[node] == "propagated" for node in ours.keys() - theirs.keys()):
        return "deliberate", why
    return _differs("stale", ours, theirs)


def _schema(case: Case) -> Found:
    why, expected = refusal(lambda: read(case["value"])), case["expected"]
    if bool(why) == expected["ok"]:
        return _differs("refused", why, expected["issues"])
    if expected["ok"]:
        return PASS
    parts = expected["issues"][0]["path"]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")
    if why.startswith(f"{place}: "):
        return PASS
    if "configs" in case["value"]:
        return "deliberate", "a list of models is not read at all: keys stand in it"
    return _differs("place", why, place)


def _operation(case: Case) -> Found:
    workflow = read(case["before"]).workflow
    name, *given = case["op"]
    expected = case["expected"]
    if name in ("todoList", "fullTopoQueue"):
        return _queue(workflow, name, expected)
    after, marks = _edited(workflow, name, given)
    document = write(after, "workspace")[0]
    for field in ("nodes", "upstream", "downstream"):
        recorded = expected["after"][field]
        if isinstance(recorded, dict):
            recorded = {node: others for node, others in recorded.items() if others}
        if document[field] != recorded:
            return _differs(field, document[field], recorded)
    if any(each.code == "SELF_REFERENCE" for each in validate(after)):
        return "deliberate", "a node that asks for its own output is found before a run"
    return _same_marks(marks, expected["after"]["stale_nodes"], "all that stands behind an edit is marked at once")


def _queue(workflow: Workflow, name: str, expected: dict[str, Any]) -> Found:
    if name == "fullTopoQueue":
        ours = _sorting(workflow)
        circle = expected["message"].rpartition(": ")[2].split(", ")
        return PASS if ours == ["cycle", *circle] else _differs("sort", ours, circle)
    outputs = kept(workflow).outputs
    levels = todo(plan(workflow.nodes), kept(workflow).targets or (), outputs.__contains__)
    names = [node for level in levels for node in level]
    return PASS if names == expected["returned"] else _differs("todo", names, expected["returned"])


def _edited(workflow: Workflow, name: str, given: list[Any]) -> tuple[Workflow, Marks]:
    """The workflow after an operation on it, and the stale marks."""
    before, outputs, prepared = kept(workflow).stale, kept(workflow).outputs, plan(workflow.nodes)

    def marked(node: str) -> Marks:
        return _after_edit(prepared, NodeId(node), before, outputs)

    match name, given:
        case "insertBlock" | "addBlock", [node, block, system, *at]:
            added, place = _block(block), at[0] if at and at[0] is not None else None
            return _with_blocks(workflow, node, system, lambda blocks: _inserted(blocks, added, place)), marked(node)
        case "updateBlock" | "replaceBlock", [node, system, int(at), block]:
            new = _block(block)
            return _with_blocks(workflow, node, system, lambda blocks: [*blocks[:at], new, *blocks[at + 1 :]]), marked(
                node
            )
        case "moveBlock", [node, system, int(at), int(to)]:

            def moved(blocks: list[Any]) -> list[Any]:
                return _inserted(blocks[:at] + blocks[at + 1 :], blocks[at], to)

            return _with_blocks(workflow, node, system, moved), marked(node)
        case "addNode" | "insertNode", [dict(definition)]:
            (added_node,) = read({"name": "t", "nodes": [definition]}).workflow.nodes
            return workflow.model_copy(update={"nodes": (*workflow.nodes, added_node)}), before
        case "renameNode" | "setLabel", [node, str(label)]:
            named = [each.model_copy(update={"name": label}) if each.id == node else each for each in workflow.nodes]
            return workflow.model_copy(update={"nodes": tuple(named)}), before
        case "removeBlock", [node, system, at]:
            return _with_blocks(workflow, node, system, lambda blocks: blocks[:at] + blocks[at + 1 :]), marked(node)
        case "removeNode", [node]:
            marks = _after_run(prepared, NodeId(node), before, outputs)
            return _without(workflow, node), marks
        case "markBlockEdited", [node]:
            return workflow, marked(node)
        case "calcStale", []:
            marks = before
            for node, kind in before.items():
                if kind == "direct":
                    marks = _after_edit(prepared, node, marks, outputs)
            return workflow, marks
    raise KeyError(name)


def _block(block: Any) -> Any:
    """A block of a document as ours."""
    (made,) = read({"name": "t", "nodes": [_node_def("n", block)]}).workflow.nodes[0].params["prompt"]
    return made


def _inserted(blocks: list[Any], block: Any, place: int | None) -> list[Any]:
    """A block at a place from 0, or at the end."""
    at = len(blocks) if place is None else min(max(place, 0), len(blocks))
    return [*blocks[:at], block, *blocks[at:]]


def _node_def(node: str, block: Any) -> dict[str, Any]:
    return {"id": node, "label": node, "systemPrompt": [], "userPrompt": [block]}


def _with_blocks(workflow: Workflow, node: str, system: bool, change: Callable[[list[Any]], list[Any]]) -> Workflow:
    field = "system" if system else "prompt"
    nodes = [
        each.model_copy(update={"params": {**each.params, field: change(each.params[field])}})
        if each.id == node
        else each
        for each in workflow.nodes
    ]
    return workflow.model_copy(update={"nodes": tuple(nodes)})


def _without(workflow: Workflow, gone: str) -> Workflow:
    def stripped(node: Node) -> Node:
        kept = {
            field: [block for block in node.params[field] if block.get("node") != gone]
            for field in ("system", "prompt")
        }
        return node.model_copy(update={"params": {**node.params, **kept}})

    return workflow.model_copy(update={"nodes": tuple(stripped(each) for each in workflow.nodes if each.id != gone)})


def _sample(path: Path) -> Found:
    document = json.loads(path.read_text(encoding="utf-8"))
    workflow = read(document).workflow
    form = workflow.metadata["flowcabal"]["form"]
    found = form, tuple(sorted({each.code for each in validate(workflow)}))
    if found != SAMPLES.get(path.name, found):
        return _differs("form and findings", found, SAMPLES[path.name])
    written = write(workflow, form)[0]
    return PASS if written == document else _differs("written", written, document)


def _after_run(graph: Plan, node: NodeId, before: Marks, outputs: Container[str]) -> Marks:
    """The marks of the original after a run of a node: earlier ones stay, its own is removed."""
    marks = {**stale_after_run(graph, node, has_output=outputs.__contains__), **before}
    return {each: kind for each, kind in marks.items() if each != node}


def _after_edit(graph: Plan, node: NodeId, before: Marks, outputs: Container[str]) -> Marks:
    """The marks of the original after an edit of a node: earlier ones stay, its own is direct."""
    marks = stale_after_edit(graph, node, has_output=outputs.__contains__)
    return {**marks, **before, **{each: kind for each, kind in marks.items() if each == node}}
