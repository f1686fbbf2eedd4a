"""`evolution`: several candidates, sifted by facts; the writer picks, and the next round builds on the pick."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Final

from pydantic import BaseModel, Field

from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.prompt_text import bindings
from flowcabal_tui.domain.run import Angle, Attempt, Choice, Decision
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Blocks, Body, Node, Problem, PromptParams, TextBlock
from flowcabal_tui.locale import _, ngettext, sentences
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Rejected
from flowcabal_tui.nodes.kinds.candidates import CandidateText, facts, groups_in, numbered, origins, sifted
from flowcabal_tui.nodes.kinds.steps import AgentStep, WritingStep, identities, prompt_node

SIFT: Final = (
    "You compare texts that answer one request. Put those into one group that are nearly the same text: the same "
    "events in the same order with mostly the same words. Do not judge which is better. "
    'Answer as JSON, with the numbers of the texts: {"groups": [[1, 3], [2]]}'
)
"""The instruction to every sifting model: it names near-duplicates, and never judges which text is good."""
NAMES: Final = frozenset({"parent", "note", "round", "candidates"})


class Variation(BaseModel, frozen=True, extra="forbid"):
    """Instructions that make some of the candidates different from the others."""

    label: str = Field("", description="Its name where candidates are shown.")
    instruction: str = Field("", description="Appended to the prompt; {{...}} is filled in.")
    temperature: float | None = Field(None, ge=0, le=2, description="Replaces the step's own setting.")
    model: str | None = Field(None, description="Replaces the step's own setting.")


class EvolutionParams(BaseModel, frozen=True, extra="forbid"):
    """Several answers to one prompt; the writer picks one, which later rounds can use as {{parent}}."""

    write: WritingStep = Field(description="Writes a candidate; it can use {{parent}}, {{note}} and {{round}}.")
    next: Blocks = Field((), description="The prompt of the rounds after the first; default: the prompt of `write`.")
    candidates: int = Field(5, ge=2, le=12, description="The number of texts in a round.")
    rounds: int = Field(1, ge=1, le=5, description="The maximum number of picks.")
    variations: tuple[Variation, ...] = Field(
        (), max_length=12, description="The candidates use them in turn; default: the same prompt for all."
    )
    angles: tuple[Angle, ...] = Field(
        (), description="Angles from which the Monitor checks the facts of each candidate."
    )
    sift: AgentStep | None = Field(None, description="Marks near-duplicates; its prompt can use {{candidates}}.")
    offered: int | None = Field(
        None,
        ge=2,
        description="The number of candidates without a mark: those with the fewest contradictions; default: all.",
    )
    blind: bool = Field(False, description="Offer the candidates in random order, without naming their models.")
    automatic: bool = Field(
        False,
        description="Between rounds, continue with the first candidate that has the fewest "
        "contradictions, without asking.",
    )


_NOTHING: Final = CandidateText(0, "", Digest(""), NodeId(""))
"""The parent of the first round."""


@dataclass
class _History:
    """The choices so far, and their description for prompts."""

    parent: CandidateText = _NOTHING
    note: str = ""
    round: int = 0
    lineage: list[dict[str, Any]] = field(default_factory=list)


class Evolution(NodeKind):
    """Each candidate is the prompt node `<node>/<round>/candidate-<n>`, the sifting `<node>/<round>/sift`."""

    name: ClassVar[str] = "evolution"
    params: ClassVar[type[EvolutionParams]] = EvolutionParams

    def bodies(self, params: EvolutionParams) -> tuple[tuple[str, Body], ...]:
        found = [("write", _candidates(params, 1))]
        if params.rounds > 1:
            found.append(("next", _candidates(params, 2)))
        if params.sift:
            found.append(("sift", _sifting(params.sift)))
        return tuple(found)

    def unrolls(self, params: EvolutionParams) -> bool:
        return True

    def names(self, params: EvolutionParams) -> frozenset[str]:
        return NAMES

    def rounds(self, params: EvolutionParams) -> int:
        return params.rounds

    def output_schema(self, params: EvolutionParams) -> dict[str, Any]:
        line = {
            **{name: {"type": "string"} for name in ("node", "parent", "digest", "label")},
            **{name: {"type": "boolean"} for name in ("picked", "offered")},
            "round": {"type": "integer"},
            "candidate": {"type": ["integer", "null"]},
            "like": {"type": ["integer", "null"]},
            "checks": {"type": "object"},
            "findings": {"type": "array"},
            "paragraphs": {"type": "array"},
        }
        return {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "round": {"type": "integer"},
                "lineage": {"type": "array", "items": {"type": "object", "properties": line}},
            },
        }

    def check(self, params: EvolutionParams, node: Node) -> tuple[Problem, ...]:
        found = []
        if not params.write.prompt:
            found.append(Problem(code="EMPTY_PROMPT", field="write", message=_("The prompt is empty.")))
        later = params.next or params.write.prompt
        named = {path for block in later if isinstance(block, TextBlock) for path in bindings(block.text)}
        if params.rounds > 1 and "parent" not in named:
            message = _("Later rounds build on the pick, but none of their prompts contains {{parent}}.")
            found.append(Problem(code="MISSING_REFERENCE", field="next", message=message))
        return tuple(found)

    def fingerprint(self, context: NodeContext, params: EvolutionParams) -> Any:
        calls = [call for _node, call, _label in _prompts(params, 1)]
        return identities(context, (*calls, *([params.sift.params(instructions=SIFT)] if params.sift else [])))

    async def run(self, context: NodeContext, params: EvolutionParams) -> Produced:
        history = _History()
        for number in range(1, params.rounds + 1):
            context.iteration(number, params.rounds, "evolutionary", params.candidates)
            candidates = await _round(context, params, history, number)
            if params.automatic and number < params.rounds:
                pick = min((each for each in candidates if each.offered), key=lambda each: (each.found, each.number))
                _settle(history, candidates, pick, number)
                continue
            await _let_writer_pick(context, params, history, candidates, number)
            if history.round < number:
                break
        return Produced({"text": history.parent.text, "round": history.round, "lineage": history.lineage})


def _prompts(params: EvolutionParams, number: int) -> list[tuple[NodeId, PromptParams, str]]:
    """The prompt nodes of a round: id, params, and the label of their variation. Each is a sample of its own."""
    prompt = params.next if number > 1 and params.next else params.write.prompt
    turns = params.variations or (Variation(),)
    found = []
    for n in range(1, params.candidates + 1):
        variation = turns[(n - 1) % len(turns)]
        own = {name: value for name in ("temperature", "model") if (value := getattr(variation, name)) is not None}
        after = (TextBlock(text=f"\n\n{variation.instruction}"),) if variation.instruction else ()
        call = params.write.params(prompt=(*prompt, *after), sample=(number - 1) * params.candidates + n, **own)
        found.append((NodeId(f"candidate-{n}"), call, variation.label))
    return found


def _candidates(params: EvolutionParams, number: int, title: str = "") -> Body:
    nodes = (prompt_node(node, call, label and f"{title} · {label}") for node, call, label in _prompts(params, number))
    return Body(nodes=tuple(nodes))


def _sifting(step: AgentStep) -> Body:
    shown = () if step.prompt else (TextBlock(text="{{candidates}}"),)
    return Body(nodes=(prompt_node("sift", step.params(instructions=SIFT, prompt=(*step.prompt, *shown))),))


async def _round(
    context: NodeContext, params: EvolutionParams, history: _History, number: int
) -> tuple[CandidateText, ...]:
    """The candidates of a round, checked and sifted."""
    names = {"parent": history.parent.text, "note": history.note, "round": number, "candidates": ""}
    outputs = await context.body(_candidates(params, number, context.node.title), str(number), names)
    made = [
        CandidateText(n, outputs[node].text, outputs[node].digest, NodeId(f"{number}/{node}"), label)
        for n, (node, _call, label) in enumerate(_prompts(params, number), 1)
    ]
    made = list(await asyncio.gather(*(_checked(context, params, each, number) for each in made)))
    groups = None
    if params.sift:
        ran = await context.body(_sifting(params.sift), str(number), {**names, "candidates": numbered(made)})
        groups = groups_in(ran[NodeId("sift")].text, len(made))
    return sifted(made, groups, params.offered)


async def _checked(context: NodeContext, params: EvolutionParams, made: CandidateText, number: int) -> CandidateText:
    """The candidate with the verdict of the Monitor; it is not written again."""
    attempt = Attempt((number - 1) * params.candidates + made.number, made.text, digest=made.digest)
    evaluation = await context.models.evaluate(params.write.params(angles=params.angles), attempt)
    return CandidateText(made.number, made.text, made.digest, made.node, made.label, evaluation)


async def _let_writer_pick(
    context: NodeContext, params: EvolutionParams, history: _History, candidates: Sequence[CandidateText], number: int
) -> None:
    """Lets the writer pick. The pick of the previous round is offered too; choosing it ends the rounds."""
    shown = [each for each in candidates if each.offered]
    if params.blind:
        shown.sort(key=lambda each: each.digest)
    if history.round:
        shown.append(history.parent)
    choices = [
        Choice(
            _label(each, place, params.blind, history),
            each.text,
            NodeId(f"{context.path}/{each.node}") if each.node else context.path,
            each.evaluation,
            next((n for n, other in enumerate(shown, 1) if each.like and other.number == each.like), 0),
            _("others have fewer contradictions") if each.more_found else "",
        )
        for place, each in enumerate(shown, 1)
    ]
    ask = partial(
        context.ask,
        "choice",
        _reason(params, candidates, number),
        choices=choices,
        blind=params.blind,
        required=True,
        part=f"round {number}",
    )
    decision = await context.ask_once([number, [digest(choice.text) for choice in choices]], ask)
    if decision.kind == "reject":
        raise Rejected
    if decision.kind == "edit":
        _settle_edit(history, candidates, decision, number)
    else:
        _settle(history, candidates, shown[decision.attempt - 1], number)
    history.note = decision.note


def _label(candidate: CandidateText, place: int, blind: bool, history: _History) -> str:
    if candidate is history.parent:
        return _("Keep the pick of round {n}, and stop").format(n=history.round)
    if blind:
        return _("Text {n}").format(n=place)
    name = _("Candidate {n}").format(n=candidate.number)
    return f"{name} · {candidate.label}" if candidate.label else name


def _reason(params: EvolutionParams, candidates: Sequence[CandidateText], number: int) -> str:
    message = _("Round {n} of {of}: pick the text to continue with, or put one together.").format(
        n=number, of=params.rounds
    )
    copies = sum(1 for each in candidates if each.is_copy)
    if copies:
        message = sentences(message, _("Not shown again, because the text is the same: {n}.").format(n=copies))
    marked = sum(1 for each in candidates if each.offered and (each.like is not None or each.more_found))
    if marked:
        marks = ngettext("{n} text has a mark.", "{n} texts have a mark.", marked).format(n=marked)
        message = sentences(message, marks)
    return message


def _settle(history: _History, candidates: Sequence[CandidateText], pick: CandidateText, number: int) -> None:
    """Records the candidates and the pick among them, or that the pick of the previous round stays."""
    history.lineage += [_line(history, each, number, picked=each is pick) for each in candidates]
    if pick is not history.parent:
        history.parent, history.round = pick, number


def _settle_edit(history: _History, candidates: Sequence[CandidateText], decision: Decision, number: int) -> None:
    """Records the text that the writer composed, and the origin of its paragraphs."""
    parent = CandidateText(0, history.parent.text, history.parent.digest, history.parent.node)
    edit = CandidateText(0, decision.text, digest(decision.text), NodeId(""))
    line = _line(history, edit, number, picked=True)
    history.lineage += [_line(history, each, number, picked=False) for each in candidates]
    history.lineage.append(line | {"candidate": None, "paragraphs": origins(decision.text, (*candidates, parent))})
    history.parent, history.round = edit, number


def _line(history: _History, candidate: CandidateText, number: int, *, picked: bool) -> dict[str, Any]:
    """One line of the lineage; `node` is a relative path, `parent` the digest of the text on which the round was
    based."""
    return {
        "round": number,
        "candidate": candidate.number,
        "node": candidate.node,
        "label": candidate.label,
        "parent": history.parent.digest,
        "digest": candidate.digest,
        "picked": picked,
        "offered": candidate.offered,
        "like": candidate.like,
        **facts(candidate.evaluation),
    }


KIND = Evolution()
