"""VelvetFlow's planner as it was recorded: its tools, its structure pass and its repairs, against ours.

A transcript is played by a scripted model through the product's own loop: ours must give the recorded answers to every
call, in their order, use as many rounds, and leave the recorded skeleton.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from flowcabal_tui.actions.registry import Action, ActionRegistry
from flowcabal_tui.agents.builder.branches import SimulatedRun
from flowcabal_tui.agents.builder.build_state import Build
from flowcabal_tui.agents.builder.builder import ModelBuilder
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.dialects.velvetflow.planner.repair import repaired
from flowcabal_tui.dialects.velvetflow.planner.schemas import param_tools, repair_tools, structure_tools
from flowcabal_tui.dialects.velvetflow.planner.skeleton import read_coverage
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import (
    Answer,
    ModelRequest,
    Tool,
    ToolCall,
    Usage,
)
from flowcabal_tui.project.builder.velvetflow_planner import LIMITS, VelvetFlowPlanner
from tests.compat.result import CaseResult

HERE = "velvetflow"
TOOLS, TRANSCRIPTS, REPAIRS = "planner_tools.json", "planner_transcripts.json", "repair_cases.json"
Json = dict[str, Any]
REFUSED_TWICE = "an id that is taken is refused, and the node stays as it was"
WITHOUT_SYSTEM = (
    "reminders come as the user's, after all answers of a turn: strict services refuse them as the system's"
)
REASONS = (REFUSED_TWICE, WITHOUT_SYSTEM)


class Script:
    """A model that plays the calls of a transcript, and the recorded answers about coverage."""

    def __init__(self, rounds: Sequence[Sequence[Json]], coverage: Sequence[Json]) -> None:
        self._rounds, self._coverage = list(rounds), list(coverage)
        self._tools = [tool.name for tool in structure_tools()]
        self.requests: list[ModelRequest] = []
        """Those of the structure pass."""

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(model="script")

    async def answer(self, request: ModelRequest) -> Answer:
        usage = Usage(1, 1)
        if not request.tools:
            text = json.dumps(self._coverage.pop(0), ensure_ascii=False) if self._coverage else ""
            return Answer(text, "stop", usage, "script")
        if [tool.name for tool in request.tools] != self._tools:
            return Answer("", "stop", usage, "script")  # the recording ends with the structure
        self.requests.append(request)
        calls = self._rounds.pop(0) if self._rounds else []
        number = len(self.requests)
        made = tuple(
            ToolCall(f"c{number}_{n}", each["tool"], json.dumps(each["arguments"], ensure_ascii=False))
            for n, each in enumerate(calls)
        )
        return Answer("", "tool" if made else "stop", usage, "script", tool_calls=made)


def run(folder: Path) -> list[CaseResult]:
    """The results for `folder`, which holds a `velvetflow` folder; files that are not there are passed over."""
    root = folder / HERE
    actions = ActionRegistry.load(sorted(root.glob("actions/business_actions*.json"))).all() if root.is_dir() else ()
    results: list[CaseResult] = []
    if (root / TOOLS).exists():
        results += _tools(_read(root / TOOLS), actions)
    if (root / TRANSCRIPTS).exists():
        recorded = _read(root / TRANSCRIPTS)
        results += [_transcript(case, actions) for case in recorded["scenarios"]]
        results += [_coverage(case) for case in recorded["coverage_parse"]]
    if (root / REPAIRS).exists():
        results += [_repair(case, actions) for case in _read(root / REPAIRS)]
    return results


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _result(file: str, case: str, ours: Any, theirs: Any, deliberate: str = "") -> CaseResult:
    if ours != theirs:
        return CaseResult(f"{HERE}/{file}", case, "fail", f"ours {_short(ours)}; theirs {_short(theirs)}")
    return CaseResult(f"{HERE}/{file}", case, "deliberate" if deliberate else "pass", deliberate)


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:1_500]


def _tools(recorded: Json, actions: Sequence[Action]) -> Iterator[CaseResult]:
    known = {action.action_id: action for action in actions}
    ours = [*structure_tools(), *repair_tools()]
    for tool, theirs in zip(ours, [*recorded["PLANNER_TOOLS"], *recorded["REPAIR_TOOLS"]], strict=True):
        yield _result(TOOLS, tool.name, _plain(tool), theirs)
    for kind, name in (("action", "n"), ("condition", "c"), ("loop", "l")):
        node = {"id": name, "type": kind, "action_id": "hr.get_today_temperatures.v1", "params": {}}
        submit, validate = param_tools(node, known, ("a",))
        yield _result(TOOLS, f"submit_node_params of {kind}", _plain(submit), recorded[f"param_tool_{kind}"])
        yield _result(TOOLS, f"{validate.name} of {kind}", _plain(validate), recorded["validate_node_params_tool"])


def _plain(tool: Tool) -> Json:
    told = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": told}


class Simulated:
    """Every simulated run is done, and a real one is free."""

    async def __call__(self, workflow: Any, picks: Any) -> SimulatedRun:
        return SimulatedRun("done", {}, "")

    async def price(self, workflow: Any) -> str:
        return ""


def _transcript(case: Json, actions: Sequence[Action]) -> CaseResult:
    """A case with a mark differs in what the mark excuses; all else of it is compared."""
    script, planner = asyncio.run(_played(case, actions))
    expected = case["expected"]
    last = script.requests[-1].messages
    ours = {
        "skeleton": planner.draft.skeleton.document(),
        "rounds_used": len(script.requests),
        "answers_before_last_round": [
            {"role": each.role, "tool_call_id": each.tool_call_id or None, "content": _content(each.content)}
            for each in last[2:]
            if each.role != "assistant"
        ],
    }
    theirs, reason = dict(expected), ""
    if case["id"] == "duplicate-id-overwrites":
        theirs, reason = _refusing_twice(expected), REFUSED_TWICE
    if any(each["role"] == "system" for each in expected["answers_before_last_round"]):
        theirs, reason = _without_system(expected), WITHOUT_SYSTEM
    return _result(TRANSCRIPTS, case["id"], ours, theirs, reason)


async def _played(case: Json, actions: Sequence[Action]) -> tuple[Script, VelvetFlowPlanner]:
    async def search(query: str, most: int) -> list[Json]:
        wanted = query.lower()
        hits = [each for each in actions if wanted in f"{each.action_id} {each.name}".lower()]
        return [each.model_dump(mode="json") for each in hits[:most]]

    async def keep(_build: Build) -> None:
        """Nothing is kept."""

    known = Known(actions={action.action_id: action for action in actions})
    build = Build("a wish", "zh", WorkingCopy.of(None, known))
    script = Script(case["rounds"], case["coverage"])
    planner = VelvetFlowPlanner(build, script, Simulated(), search)
    await ModelBuilder(script, Simulated(), keep, LIMITS).build(build, planner)
    return script, planner


def _content(text: str) -> Any:
    """An answer as it was recorded: full records of actions are only counted there."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if isinstance(value, dict) and isinstance(value.get("actions"), list):
        value["actions"] = f"<{len(value['actions'])} full action records>"
    return value


def _refusing_twice(expected: Json) -> Json:
    """What is recorded, with the second node of the same id refused: the first one stays."""
    theirs: Json = json.loads(json.dumps(expected))
    for graph in (theirs["skeleton"], theirs["answers_before_last_round"][-1]["content"]["workflow"]):
        graph["nodes"][0]["action_id"] = "hr.get_today_temperatures.v1"
    theirs["answers_before_last_round"][2]["content"] = {
        "status": "error",
        "message": "节点 a 已存在，未作改动；请换一个 id，或使用 update_* 工具。",
        "existing_ids": ["a"],
    }
    return theirs


def _without_system(expected: Json) -> Json:
    answers = [
        {**each, "role": "user"} if each["role"] == "system" else each for each in expected["answers_before_last_round"]
    ]
    return {**expected, "answers_before_last_round": answers}


def _coverage(case: Json) -> CaseResult:
    return _result(
        TRANSCRIPTS, f"coverage · {case['id']}", read_coverage(case["model_answer"]), case["expected"]["value"]
    )


def _repair(case: Json, actions: Sequence[Action]) -> CaseResult:
    known = {action.action_id: action for action in actions}
    workflow = json.loads(json.dumps(case["workflow"]))
    document, summary = repaired(workflow, case["tool"], case["args"], known)
    if workflow != case["workflow"]:
        return CaseResult(f"{HERE}/{REPAIRS}", case["id"], "fail", "the given document was changed")
    return _result(REPAIRS, case["id"], {"workflow": document, "summary": summary}, case["expected"])
