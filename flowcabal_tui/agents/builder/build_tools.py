"""The tools that a model builds with. Nothing among them runs, sends, buys, reads files or opens the network."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from pydantic import BaseModel, Field

from flowcabal_tui.agents.builder.branches import Simulator
from flowcabal_tui.agents.builder.build_prompt import system_prompt, user_prompt
from flowcabal_tui.agents.builder.build_state import Build, BuildLimits
from flowcabal_tui.agents.builder.changes import changes_between
from flowcabal_tui.agents.builder.checks import ChecklistItem, check
from flowcabal_tui.agents.builder.edits import EDITS, Edit
from flowcabal_tui.agents.builder.refused import EditRefused, unknown
from flowcabal_tui.agents.builder.templates import named, nearest_templates
from flowcabal_tui.agents.builder.vocabulary import BuildTurn, Outcome, outcome_of
from flowcabal_tui.agents.builder.working_copy import WorkingCopy
from flowcabal_tui.agents.tool_calls import MOST_TEXT, Arguments, tool_of
from flowcabal_tui.domain.model_calls import Message, Tool, ToolCall
from flowcabal_tui.domain.text import clean
from flowcabal_tui.nodes.schema import help_text

MOST_ITEMS: Final = 12
_MOST_NEAR: Final = 3


class _Item(Arguments):
    id: str = Field(min_length=1, max_length=20)
    what: str = Field(min_length=1, max_length=300)
    needs: str = Field("", max_length=200)
    done_when: str = Field("", max_length=200)


class Checklist(Arguments):
    """Lists the points of the wish and your assumptions, before any edit. Each edit names the point that it serves."""

    items: list[_Item] = Field(min_length=1, max_length=MOST_ITEMS)
    assumptions: list[str] = Field(default_factory=list, max_length=8)


class StartFrom(Arguments):
    """Starts a new workflow from a template."""

    template: str


class DescribeKind(Arguments):
    """Describes the parameters of a kind of node."""

    kind: str


class AskWriter(Arguments):
    """Asks the writer. Use it only when the answer changes the graph, or when the wish names something unregistered."""

    questions: list[str] = Field(min_length=1)


class Check(Arguments):
    """Checks the copy: validation, a simulated run of each branch, unread outputs, points without a node."""


class Finish(Arguments):
    """Suggests the copy to the writer. Requires a check that passed, and no change since."""

    explanation: str = Field(description="Two or three sentences in the language of the wish.")


class BuildTools:
    """The program's own vocabulary: the eight edits and the tools that go with them."""

    def __init__(self, build: Build, simulate: Simulator, limits: BuildLimits) -> None:
        self._build, self._simulate, self._limits = build, simulate, limits
        self.tools = tools()

    def beginning(self) -> tuple[Message, ...]:
        """The guide, the request and the current copy."""
        return (Message("system", system_prompt()), Message("user", user_prompt(self._build)))

    async def after(self, text: str, calls: int) -> BuildTurn:
        """Returns an empty turn, since a turn without calls is a mistake."""
        return BuildTurn()

    async def call(self, call: ToolCall) -> Outcome:
        """Carries out one call. A refused call leaves the build unchanged."""
        return await outcome_of(call, _SHAPES, partial(self._carried, call.name))

    async def _carried(self, name: str, arguments: dict[str, Any]) -> str:
        if name in _OWN:
            shape, carry_out = _OWN[name]
            return (await carry_out(self, shape.model_validate(arguments)))[:MOST_TEXT]
        edit = _EDITS[name].model_validate({**arguments, "edit": name})
        ids = [each.id for each in self._build.items]
        if ids and edit.because not in ids:
            raise unknown("because must be a point of the checklist.", edit.because, ids)
        before, self._build.copied = self._build.copied.document, self._build.copied.with_edit(edit)
        if self._build.copied.document == before:
            return "This changes nothing: the workflow is so already."
        return f"Done. Nodes: {', '.join(self._build.copied.nodes) or 'none'}."[:MOST_TEXT]

    async def _checklist(self, arguments: Checklist) -> str:
        self._build.items = tuple(
            ChecklistItem(each.id, each.what, each.needs, each.done_when) for each in arguments.items
        )
        self._build.assumptions = tuple(arguments.assumptions)
        return f"Kept.{self._nearest()}"

    def _nearest(self) -> str:
        """The templates that cover most of the checklist, as long as one can still be chosen."""
        build = self._build
        if build.copied.base is not None or build.copied.made or not build.templates:
            return ""
        points = {each.id: each.what for each in build.items}
        near = [each for each in nearest_templates(points, build.templates, build.language) if each.covers]
        return f" Nearest templates, with the points that they cover:\n{named(near[:_MOST_NEAR])}" if near else ""

    async def _start(self, arguments: StartFrom) -> str:
        build = self._build
        if build.copied.base is not None or build.copied.made:
            raise EditRefused("A template can be taken only before the first edit of a new workflow.")
        if arguments.template not in build.templates:
            raise unknown("There is no such template.", arguments.template, build.templates)
        template = {**build.templates[arguments.template], "id": build.copied.document["id"], "version": 1}
        build.copied = WorkingCopy(copy.deepcopy(template), None, build.copied.known)
        return json.dumps(template, ensure_ascii=False)[:MOST_TEXT]

    async def _describe(self, arguments: DescribeKind) -> str:
        return help_text(arguments.kind)

    async def _ask(self, arguments: AskWriter) -> str:
        build = self._build
        if build.asks >= self._limits.asks:
            raise EditRefused("The writer was asked often enough: build on stated assumptions.")
        build.asks += 1
        build.status, build.questions = (
            "asks",
            tuple(clean(each) for each in arguments.questions[: self._limits.questions]),
        )
        return "The writer is asked; the build waits."

    async def _check(self, _arguments: Check) -> str:
        build = self._build
        build.report = await check(build.copied, build.items, self._simulate)
        build.checked = len(build.copied.made)
        if build.report.passed:
            notes = "".join(f"\n- {note}" for note in build.report.notes)
            return f"Passed, in {build.report.runs} simulated runs.{notes}"
        lines = "".join(f"\n- [{each.code}] {each.node}: {each.message}" for each in build.report.problems)
        return f"Not passed:{lines}"

    async def _finish(self, arguments: Finish) -> str:
        build = self._build
        if build.report is None or build.checked != len(build.copied.made):
            raise EditRefused("Check first: nothing was checked since the last change.")
        if not build.report.passed:
            lines = [f"[{each.code}] {each.node}: {each.message}" for each in build.report.problems]
            raise EditRefused("The checks did not pass.", "\n".join(lines))
        if not changes_between(build.copied.base, build.copied.document):
            raise EditRefused("Nothing was changed.")
        build.explanation, build.status = clean(arguments.explanation), "finished"
        return "The writer decides."


_OWN: Final[Mapping[str, tuple[type[Arguments], Callable[[BuildTools, Any], Awaitable[str]]]]] = {
    "set_checklist": (Checklist, BuildTools._checklist),
    "start_from": (StartFrom, BuildTools._start),
    "describe_kind": (DescribeKind, BuildTools._describe),
    "ask_writer": (AskWriter, BuildTools._ask),
    "check": (Check, BuildTools._check),
    "finish": (Finish, BuildTools._finish),
}
_EDITS: Final[Mapping[str, type[Edit]]] = {each.model_fields["edit"].default: each for each in EDITS}
_SHAPES: Final[Mapping[str, type[BaseModel]]] = {**{name: shape for name, (shape, _does) in _OWN.items()}, **_EDITS}


def tools() -> tuple[Tool, ...]:
    """The tools with the schemas of their arguments."""
    return tuple(tool_of(name, shape) for name, shape in _SHAPES.items())
