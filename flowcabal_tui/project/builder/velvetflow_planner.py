"""VelvetFlow's planner as recorded, on our copy: structure, coverage, parameters, repair, last valid version.

Every tool writes the skeleton in VelvetFlow's terms; after each call, a valid skeleton becomes edits of the copy. The
copy is therefore always the last valid version.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from flowcabal_tui.agents.builder.branches import Simulator
from flowcabal_tui.agents.builder.build_state import Build, BuildLimits, BuildRound
from flowcabal_tui.agents.builder.builder import AnsweringModel
from flowcabal_tui.agents.builder.changes import changes_between
from flowcabal_tui.agents.builder.checks import check
from flowcabal_tui.agents.builder.vocabulary import BuildTurn, Outcome
from flowcabal_tui.agents.tool_calls import MOST_ARGUMENTS, read_arguments
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.planner.repair import repaired
from flowcabal_tui.dialects.velvetflow.planner.schemas import (
    param_tools,
    planner_sentence,
    repair_tools,
    structure_tools,
)
from flowcabal_tui.dialects.velvetflow.planner.skeleton import Skeleton, coverage_request, missing_points, read_coverage
from flowcabal_tui.dialects.velvetflow.planner.structure import Search, StructureTools, error
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError
from flowcabal_tui.domain.model_calls import Message, ModelRequest, Tool, ToolCall
from flowcabal_tui.domain.prompt_parts import escaped
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.builder.velvetflow_draft import VelvetFlowDraft

LIMITS: Final = BuildLimits(rounds=40)
STRUCTURE_ROUNDS: Final = 10
COVERAGE_ROUNDS: Final = 2
PARAM_ROUNDS: Final = 4
"""Maximum rounds for the parameters of each node."""
REPAIR_ROUNDS: Final = 3
_PURPOSE: Final = "builder"
_COVERAGE_TOKENS: Final = 2_000
_MOST_PROBLEMS: Final = 20
_MOST_SHOWN: Final = 40_000
_LONGEST_ANSWER: Final = 8_000
_OF_EDGES: Final = ("INVALID_EDGE", "DISCONNECTED_GRAPH", "UNREACHABLE_NODE", "BRANCH_MAY_NOT_RUN")
"""Findings about edges, which parameters cannot correct."""
Pass = Literal["structure", "params", "repair"]


@dataclass
class _Submitted:
    """The submissions for the node that is being completed."""

    params: Document | None = None
    valid: bool = False


class VelvetFlowPlanner:
    """The recorded vocabulary for one build."""

    def __init__(self, build: Build, model: AnsweringModel, simulate: Simulator, search: Search) -> None:
        """Raises DialectError when the workflow to change holds nodes that VelvetFlow does not have."""
        self._build, self._model, self._simulate = build, model, simulate
        self.draft = VelvetFlowDraft(build)
        self._structure = StructureTools(self.draft.skeleton, self.draft.actions, search)
        self._pass: Pass = "structure"
        self._turns = self._refined = 0
        self._reviewed = self._finalized = False
        self._missing: tuple[str, ...] = ()
        self._reminders: list[str] = []
        self._nodes: list[str] = []
        self._submitted = _Submitted()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the pass."""
        match self._pass:
            case "structure":
                return structure_tools()
            case "params":
                skeleton, name = self.draft.skeleton, self._nodes[0]
                return param_tools(skeleton.nodes[name], self.draft.actions, skeleton.readable(name))
            case _:
                return repair_tools()

    def beginning(self) -> tuple[Message, ...]:
        """The first messages of a pass, or of a node."""
        wish, shown = self._build.wish, escaped(self.draft.shown())[:_MOST_SHOWN]
        match self._pass:
            case "structure":
                parts = [planner_sentence("structure_task", wish=wish)]
                if self._build.answers:
                    parts.append(planner_sentence("answers", answers="\n".join(self._build.answers)))
                if self.draft.skeleton.nodes:
                    parts.append(planner_sentence("structure_now", workflow=shown))
                task = "\n\n".join(parts)
            case "params":
                name = self._nodes[0]
                problems = "\n".join(self.draft.findings().get(name, ()))
                task = planner_sentence("params_task", id=name, problems=problems, workflow=shown, wish=wish)
            case _:
                task = planner_sentence("repair_task", problems="\n".join(self._problems()), workflow=shown)
        return (Message("system", planner_sentence(f"{self._pass}_role")), Message("user", task))

    async def call(self, call: ToolCall) -> Outcome:
        """Carries out one call in the skeleton."""
        if len(call.arguments) > MOST_ARGUMENTS:
            return Outcome(_json(error("missing")), refused=True)
        try:
            given = read_arguments(call.arguments)
        except (ValueError, RecursionError) as problem:
            return Outcome(_json({"status": "error", "message": str(problem)[:200]}), refused=True, broken=True)
        rounds: tuple[BuildRound, ...] = ()
        match self._pass:
            case "structure" if call.name == "finalize_workflow":
                answer, rounds = await self._finalize(given)
            case "structure":
                answer = await self._structure.call(call.name, given)
            case "params":
                answer = self._param_call(call.name, given)
            case _:
                answer = self._repair_call(call.name, given)
        self.draft.take_over()
        text = _json(answer)
        return Outcome(text, refused=answer.get("status") == "error", rounds=rounds)

    async def after(self, text: str, calls: int) -> BuildTurn:
        """Continues with the next pass when this one is done."""
        self._turns += 1
        match self._pass:
            case "structure":
                return await self._after_structure(text, calls)
            case "params":
                return await self._after_params(calls)
            case _:
                return await self._after_repair(text)

    async def _finalize(self, given: Document) -> tuple[Document, tuple[BuildRound, ...]]:
        """Asks whether the request is covered. Missing parts are fed back a limited number of times; then the pass ends
        anyway."""
        coverage, rounds = await self._covered()
        alone = self.draft.skeleton.without_upstream()
        covered = coverage.get("is_covered") is True
        self._missing = () if covered else tuple(clean(each) for each in missing_points(coverage))
        if not covered and self._refined < COVERAGE_ROUNDS:
            self._refined += 1
            self._remind_of(alone)
            points, analysis = _json(missing_points(coverage)), str(coverage.get("analysis") or "")
            self._reminders.append(
                planner_sentence("not_covered", points=points, analysis=analysis, workflow=self.draft.shown())
            )
        elif covered and alone and not self._reviewed:
            self._remind_of(alone)
        else:
            self._finalized = True
        status = "ok" if covered else "needs_more_coverage"
        notes = given.get("notes")
        answer = {"status": status, "type": "finalized", "notes": notes, "coverage": coverage}
        answer |= {"nodes_without_upstream": alone}
        gates = [planner_sentence("needs_approval", action=name) for name in self._gated()]
        return {**answer, **({"approvals": gates} if gates else {})}, rounds

    def _remind_of(self, alone: list[Document]) -> None:
        if alone:
            self._reviewed = True
            self._reminders.append(planner_sentence("no_upstream", nodes=_json(alone), workflow=self.draft.shown()))

    async def _covered(self) -> tuple[Document, tuple[BuildRound, ...]]:
        request = coverage_request(self._build.wish, self.draft.skeleton.document())
        messages = (
            Message("system", planner_sentence("coverage_role")),
            Message("user", planner_sentence("coverage_task", request=escaped(request)[:_MOST_SHOWN])),
        )
        try:
            answer = await self._model.answer(
                ModelRequest(messages, _PURPOSE, max_tokens=_COVERAGE_TOKENS, temperature=0.1)
            )
        except BudgetExceeded as failed:
            self._build.stop(str(failed))
            return read_coverage(""), ()
        except ModelError as failed:
            usage = failed.usage
            used = (usage.input_tokens, usage.output_tokens) if usage else (None, None)
            return read_coverage(""), (BuildRound(0, "", (), *used, failed.title),)
        used = (0, 0) if answer.cached else (answer.usage.input_tokens, answer.usage.output_tokens)
        return read_coverage(answer.text), (BuildRound(0, clean(answer.text)[:_LONGEST_ANSWER], (), *used),)

    async def _after_structure(self, text: str, calls: int) -> BuildTurn:
        if not calls and text.strip() and not self._build.copied.made and not self.draft.problems:
            return BuildTurn()  # nothing was built: the text is a question, or a mistake
        reminders, self._reminders = self._reminders, []
        most = STRUCTURE_ROUNDS + self._refined + self._reviewed
        if calls and not self._finalized and self._turns < most:
            return BuildTurn(tuple(Message("user", each) for each in reminders))
        found = self.draft.findings(but=_OF_EDGES)
        self._nodes = [name for name in self.draft.skeleton.nodes if name in found]
        return await self._next_node()

    async def _after_params(self, calls: int) -> BuildTurn:
        if calls and not self._submitted.valid and self._turns < PARAM_ROUNDS:
            return BuildTurn()
        self._nodes.pop(0)
        return await self._next_node()

    async def _next_node(self) -> BuildTurn:
        """Continues with the next incomplete node, else with repair, else with the end."""
        self._turns, self._submitted = 0, _Submitted()
        if self._nodes:
            self._pass = "params"
            return BuildTurn(restart=True, settled=True)
        self._mend_plainly()
        return await self._checked()

    async def _after_repair(self, text: str) -> BuildTurn:
        self._take_whole(text)
        if self._turns >= REPAIR_ROUNDS:
            await self._end()
            return BuildTurn(settled=True)
        return await self._checked()

    async def _checked(self) -> BuildTurn:
        """Ends the build if it is valid, otherwise requests a repair."""
        if await self._is_well():
            await self._end()
            return BuildTurn(settled=True)
        if self._pass != "repair":
            self._pass, self._turns = "repair", 0
        return BuildTurn(restart=True, settled=True)

    async def _is_well(self) -> bool:
        """True when all of the skeleton is applied to the copy and the copy passes the checks."""
        if self.draft.problems or not self.draft.skeleton.nodes:
            return not self.draft.skeleton.nodes
        await self._check()
        return self._build.is_checked

    async def _check(self) -> None:
        build = self._build
        report = await check(build.copied, (), self._simulate)
        gates = [_("The action {name} asks you before it runs.").format(name=name) for name in self._gated()]
        missing = [_("The request may not be fulfilled: {point}").format(point=each[:200]) for each in self._missing]
        build.report = replace(report, notes=(*report.notes, *gates, *missing))
        build.checked = len(build.copied.made)

    async def _end(self) -> None:
        """Ends with the current copy: the whole plan, or its last valid version with the parts left out; never
        nothing."""
        build = self._build
        if build.status != "building":
            return
        if not changes_between(build.copied.base, build.copied.document):
            invalid = _("The model's plan is not a valid workflow.") + "".join(f" {each}" for each in self._why())
            build.stop(invalid if self.draft.problems else _("Nothing was changed."))
            return
        await self._check()
        if not build.is_checked:
            build.stop(_("The checks did not pass."))
            return
        build.status = "finished"
        build.explanation = clean(self.draft.skeleton.description)
        if self.draft.problems:
            left_out = _("This is the last valid version of the plan; later changes could not be repaired:")
            build.explanation = "\n".join((left_out, *self._why()))

    def _why(self) -> tuple[str, ...]:
        return tuple(clean(each)[:300] for each in self.draft.problems[:3])

    def _problems(self) -> tuple[str, ...]:
        """The problems to repair."""
        found = [f"{name}: {line}" for name, lines in self.draft.findings().items() for line in lines]
        report = self._build.report
        checked = [each.message for each in report.problems] if report is not None and not self.draft.problems else []
        return tuple(dict.fromkeys((*found, *self.draft.problems, *checked)))[:_MOST_PROBLEMS]

    def _gated(self) -> tuple[str, ...]:
        """The actions of the skeleton that need confirmation before they are carried out."""
        named = dict.fromkeys(str(node.get("action_id")) for node in self.draft.skeleton.nodes.values())
        return tuple(name for name in named if getattr(self.draft.actions.get(name), "requires_approval", False))

    def _param_call(self, tool: str, given: Document) -> Document:
        name = self._nodes[0]
        if given.get("id") != name:
            return error("params_node", id=name)
        params = given.get("params", self._submitted.params)
        match tool:
            case "submit_node_params" if isinstance(params, dict):
                self._submitted = _Submitted(params)
                return {"status": "ok", "type": "params_submitted", "node_id": name}
            case "validate_node_params" if isinstance(params, dict):
                return self._validated(name, params)
            case "submit_node_params" | "validate_node_params":
                return error("params_missing")
            case _:
                return error("unknown_tool", tool=tool[:60])

    def _validated(self, name: str, params: Document) -> Document:
        """Sets the parameters of the node and returns its remaining errors."""
        node = self.draft.skeleton.nodes[name]
        body = node["params"].get("body_subgraph") if node["type"] == "loop" else None
        inside = {} if body is None else {"body_subgraph": body}
        node["params"] = {key: value for key, value in params.items() if key != "body_subgraph"} | inside
        wrong = self.draft.findings(but=_OF_EDGES).get(name, ())
        self._submitted = _Submitted(params, valid=not wrong)
        if wrong:
            return error("params_wrong", errors=list(wrong))
        return {"status": "ok", "type": "params_valid", "node_id": name}

    def _repair_call(self, tool: str, given: Document) -> Document:
        document, summary = repaired(self.draft.skeleton.document(derived=False), tool, given, self.draft.actions)
        done = summary["applied"] and self._replace(document)
        return {"status": "ok" if done else "error", **summary, "applied": done}

    def _mend_plainly(self) -> None:
        """Fixes errors that need no model: adds missing braces around paths."""
        document, summary = repaired(
            self.draft.skeleton.document(derived=False), "normalize_binding_paths", {}, self.draft.actions
        )
        if summary["applied"]:
            self._replace(document)
            self.draft.take_over()

    def _take_whole(self, text: str) -> None:
        """Takes a whole document, which a model may give when no tool helps; ignores text that is not a document."""
        start, end = text.find("{"), text.rfind("}")
        try:
            document = json.loads(text[start : end + 1]) if 0 <= start < end else None
        except (ValueError, RecursionError):
            return
        if isinstance(document, dict) and document.get("nodes") and self._replace(document):
            self.draft.take_over()

    def _replace(self, document: Document) -> bool:
        """Replaces the skeleton by a document; False for a document without the form of a skeleton."""
        try:
            made = Skeleton.of(document)
        except DialectError:
            return False
        kept = self.draft.skeleton
        kept.name, kept.description, kept.nodes, kept.edges = made.name, made.description, made.nodes, made.edges
        return True


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
