"""`recursive`: draft, criticise, revise, until the critic finds nothing more or the depth is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, Field

from flowcabal_tui.domain import conditions
from flowcabal_tui.domain.bindings import FROM
from flowcabal_tui.domain.condition_forms import Condition
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.run import Angle
from flowcabal_tui.domain.text import clean, digest
from flowcabal_tui.domain.workflow import Block, Blocks, Body, Node, Problem, PromptParams
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Rejected
from flowcabal_tui.nodes.kinds.steps import AgentStep, WritingStep, identities, json_object, prompt_node

VERDICT: Final = (
    'End with JSON of this form: {"done": false, "points": ["what is to be changed, one point a string"]}. '
    '"done" is true only when no point is left. Write the points in the language of the text.'
)
"""The instruction to every critic that makes its verdict readable."""
NAMES: Final = frozenset({"draft", "critique", "round"})


class RecursiveParams(BaseModel, frozen=True, extra="forbid"):
    """Draft, criticise, revise. The three prompts can use {{draft}}, {{critique}}, {{round}} and the usual names."""

    start: Blocks = Field((), description="The starting text, such as an upstream output; default: see `draft`.")
    draft: WritingStep | None = Field(None, description="Writes the starting text when `start` is empty.")
    criticise: AgentStep = Field(description="Says what to change; its verdict ends the rounds.")
    revise: WritingStep = Field(description="Rewrites the text after the critique.")
    depth: int = Field(3, ge=1, le=10, description="Maximum rounds of critique and revision.")
    until: Condition | None = Field(
        None,
        description="Ends the rounds too. It can use `verdict` (done, points), `critique`, `draft` and `round`; "
        "it is not evaluated when the critique cannot be read.",
    )
    angles: tuple[Angle, ...] = Field((), description="Angles from which the Monitor checks the text.")
    review: Literal["never", "doubt", "always"] = Field(
        "doubt", description="When a human is asked: never, when a check is in doubt, or always at the end."
    )


@dataclass(frozen=True, slots=True)
class CriticVerdict:
    """The critic's answer; `checked` is False when it contains no readable verdict."""

    critique: str
    checked: bool = False
    done: bool = False
    points: tuple[str, ...] = ()

    @property
    def feedback(self) -> str:
        """The critique for the next revision: the points, or the whole answer."""
        return "\n".join(f"{n}. {point}" for n, point in enumerate(self.points, 1)) or self.critique


def verdict_of(critique: str) -> CriticVerdict:
    """Reads a critic's answer. Anything but `done` as true or false with a list of points counts as not checked."""
    found = json_object(critique) or {}
    done, points = found.get("done"), found.get("points", [])
    if not isinstance(done, bool) or not isinstance(points, list) or not all(isinstance(each, str) for each in points):
        return CriticVerdict(critique)
    return CriticVerdict(critique, True, done, tuple(text for each in points if (text := clean(each).strip())))


class Recursive(NodeKind):
    """Each step is the prompt node `<node>/<round>/draft`, `criticise` or `revise`."""

    name: ClassVar[str] = "recursive"
    params: ClassVar[type[RecursiveParams]] = RecursiveParams

    def blocks(self, params: RecursiveParams) -> tuple[Block, ...]:
        return params.start

    def bound(self, params: RecursiveParams) -> Any:
        read = conditions.paths_in(params.until) if params.until else ()
        roots = {path: path.replace("[", ".").partition(".")[0].strip() for _field, path in read}
        return [{FROM: path} for path, root in roots.items() if root not in {*NAMES, "verdict"}]

    def bodies(self, params: RecursiveParams) -> tuple[tuple[str, Body], ...]:
        return tuple((name, _body(name, call)) for name, call in _calls(params).items())

    def unrolls(self, params: RecursiveParams) -> bool:
        return True

    def names(self, params: RecursiveParams) -> frozenset[str]:
        return NAMES

    def output_schema(self, params: RecursiveParams) -> dict[str, Any]:
        texts = {"type": "array", "items": {"type": "string"}}
        turn = {
            **{name: {"type": "string"} for name in ("critique", "draft", "revision")},
            **{name: {"type": "boolean"} for name in ("checked", "done")},
            "round": {"type": "integer"},
            "points": texts,
        }
        return {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "stopped": {"type": "string", "enum": ["good", "depth"]},
                "edited": {"type": "boolean"},
                "rounds": {"type": "array", "items": {"type": "object", "properties": turn}},
            },
        }

    def check(self, params: RecursiveParams, node: Node) -> tuple[Problem, ...]:
        found = [
            Problem(code="EMPTY_PROMPT", field=name, message=_("The prompt is empty."))
            for name, call in _calls(params).items()
            if not call.prompt
        ]
        if bool(params.start) == bool(params.draft):
            message = _("It needs either a starting text (start) or a step that writes it (draft).")
            found.append(Problem(code="SCHEMA_MISMATCH", field="start", message=message))
        if params.until:
            shape = conditions.check_shape(params.until.model_dump(exclude_unset=True))
            found += [each.model_copy(update={"field": f"until.{each.field}"}) for each in shape]
            found += _misread(params.until)
        return tuple(found)

    def fingerprint(self, context: NodeContext, params: RecursiveParams) -> Any:
        return identities(context, tuple(_calls(params).values()))

    async def run(self, context: NodeContext, params: RecursiveParams) -> Produced:
        text = await self._begin(context, params)
        turns: list[dict[str, Any]] = []
        stopped, critique = "depth", ""
        for number in range(1, params.depth + 1):
            context.iteration(number, params.depth, "recursive")
            names = {"draft": text.text, "critique": critique, "round": number}
            verdict = verdict_of((await _step(context, params, "criticise", names)).text)
            turns.append(_turn(number, text, verdict))
            if verdict.done or _holds(context, params, verdict, names):
                stopped = "good"
                break
            critique = verdict.feedback
            text = await _step(context, params, "revise", {**names, "critique": critique})
            turns[-1]["revision"] = text.digest
        value: dict[str, Any] = {"text": text.text, "stopped": stopped, "edited": False, "rounds": turns}
        if params.review == "always":
            value |= await _reviewed(context, text.text, stopped)
        return Produced(value)

    async def _begin(self, context: NodeContext, params: RecursiveParams) -> Output:
        if params.draft is None:
            return Output(context.resolve(params.start))
        return await _step(context, params, "draft", {"draft": "", "critique": "", "round": 1})


def _misread(until: Condition) -> list[Problem]:
    """References to fields that the verdict does not have, found before a critique is paid for."""
    read = [(place, path) for place, path in conditions.paths_in(until) if path.startswith("verdict.")]
    message = _("The verdict has no field {name}. Its fields: done, points")
    return [
        Problem(code="SCHEMA_MISMATCH", field=f"until.{place}", message=message.format(name=path[8:]))
        for place, path in read
        if path.replace("[", ".").split(".")[1] not in ("done", "points")
    ]


def _calls(params: RecursiveParams) -> dict[str, PromptParams]:
    """The params of the prompt nodes inside, by step. Writing steps are checked for facts, the critic is not."""
    doubt: Literal["never", "doubt"] = "never" if params.review == "never" else "doubt"
    calls = {"criticise": params.criticise.params(instructions=VERDICT)}
    writing = {"draft": params.draft, "revise": params.revise}
    return calls | {
        name: step.params(angles=params.angles, review=doubt) for name, step in writing.items() if step is not None
    }


def _body(step: str, call: PromptParams, name: str = "") -> Body:
    return Body(nodes=(prompt_node(step, call, name),))


async def _step(context: NodeContext, params: RecursiveParams, step: str, names: Mapping[str, Any]) -> Output:
    titles = {"draft": _("draft"), "criticise": _("critique"), "revise": _("revision")}
    title = f"{context.node.title} · {names['round']} · {titles[step]}"
    outputs = await context.body(_body(step, _calls(params)[step], title), str(names["round"]), names)
    return outputs[NodeId(step)]


def _turn(number: int, text: Output, verdict: CriticVerdict) -> dict[str, Any]:
    """One round as part of the output; texts are given by digest, since they are the outputs of the steps."""
    return {
        "round": number,
        "critique": verdict.critique,
        "checked": verdict.checked,
        "done": verdict.done,
        "points": list(verdict.points),
        "draft": text.digest,
    }


def _holds(context: NodeContext, params: RecursiveParams, verdict: CriticVerdict, names: Mapping[str, Any]) -> bool:
    if params.until is None or not verdict.checked:
        return False
    read = {"done": verdict.done, "points": list(verdict.points)}
    known = {**context.names, **names, "critique": verdict.critique, "verdict": read}
    return conditions.check(params.until, known).result


async def _reviewed(context: NodeContext, text: str, stopped: str) -> dict[str, Any]:
    """Asks the writer to review the last revision, and returns the outcome."""
    reason = (
        _("The critique has no more points. Approve the text, or change it.")
        if stopped == "good"
        else _("The last round is over, and the critique still has points. Approve the text, or change it.")
    )
    decision = await context.ask_once(
        [stopped, digest(text)], partial(context.ask, "input", reason, proposal=text, required=True)
    )
    if decision.kind == "reject":
        raise Rejected
    return {"text": decision.text, "edited": True} if decision.kind == "edit" else {}


KIND = Recursive()
