"""`loop`: repeats a body for each item of a list, or while a condition holds."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, Field

from flowcabal_tui.domain import bindings, conditions, expressions, paths
from flowcabal_tui.domain.bindings import as_binding, paths_in
from flowcabal_tui.domain.errors import BindingError, FlowCabalError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.workflow import Body, Node, Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema
from flowcabal_tui.nodes.kinds import loop_exports
from flowcabal_tui.nodes.kinds.bodies import Over, as_bound, check_exit, exit_of, with_outputs
from flowcabal_tui.nodes.kinds.condition import ConditionParams
from flowcabal_tui.nodes.kinds.loop_exports import Gathered, LoopExports

_TAKEN: Final = ("loop", "index", "size", "accumulator", "result_of", *bindings.RUN_ROOTS)
"""Names that an alias would hide."""
Outputs = Mapping[NodeId, Output]


class Accumulator(BaseModel, frozen=True, extra="forbid"):
    """A value passed from round to round, as `loop.accumulator`."""

    initial: dict[str, Any] = Field(
        default_factory=dict, description="The value for the first round; may contain bindings."
    )
    set: dict[str, Any] = Field(default_factory=dict, description="Fields set after each round, from bindings.")
    compute: dict[str, str] = Field(
        default_factory=dict,
        description="Fields computed after each round, by expressions such as loop.accumulator.n + 1.",
    )


class LoopParams(BaseModel, frozen=True, extra="forbid"):
    """A body, its repetition, and the values collected from it."""

    mode: Literal["for_each", "while"] = Field("for_each", description="For each item, or while the condition holds.")
    source: Any = Field(None, description="for_each: the list, or a binding that yields one.")
    condition: ConditionParams | None = Field(
        None, description="while: evaluated before each round; it may use loop.index, loop.last, loop.accumulator."
    )
    item: str = Field("", max_length=80, description="Another name for the item; always there: item, loop.item.")
    body: Body = Field(description="The graph that is repeated.")
    exports: LoopExports = Field(
        default_factory=LoopExports, description="Items and aggregates that later nodes can name."
    )
    accumulator: Accumulator | None = Field(None, description="A value that each round may change.")
    max_iterations: int = Field(
        100, ge=1, le=100_000, description="while ends after this many rounds; for_each refuses a longer list."
    )
    side_by_side: int = Field(1, ge=1, le=64, description="for_each: the number of rounds that run at the same time.")


class Loop(NodeKind):
    """Yields the number of rounds, the accumulator, and the exports."""

    name: ClassVar[str] = "loop"
    params: ClassVar[type[LoopParams]] = LoopParams

    def bound(self, params: LoopParams) -> Any:
        inside = {node.id for node in params.body.nodes}
        initial = params.accumulator.initial if params.accumulator else None
        return {
            "source": as_binding(params.source),
            "accumulator": {"initial": initial},
            **as_bound(_paths(params), inside, self.names(params)),
        }

    def bodies(self, params: LoopParams) -> tuple[tuple[str, Body], ...]:
        return (("body", params.body),)

    def names(self, params: LoopParams) -> frozenset[str]:
        each = ("item", *([params.item] if params.item else [])) if params.mode == "for_each" else ()
        return frozenset(("loop", "index", "size", *each))

    def rounds(self, params: LoopParams) -> int:
        counted = params.mode == "for_each" and isinstance(params.source, (list, tuple))
        return len(params.source) if counted else params.max_iterations

    def unrolls(self, params: LoopParams) -> bool:
        """True only if no round depends on the one before."""
        return params.mode == "for_each" and params.accumulator is None

    def output_schema(self, params: LoopParams) -> Schema:
        taken = loop_exports.schema_of(params.exports)
        turn = {"index": {"type": "integer"}, "item": {}, "exit_result": {}}
        return {
            "type": "object",
            "properties": {
                "status": {"type": "string"},
                "loop_kind": {"type": "string"},
                "stopped": {"type": "string"},
                "iterations": {"type": "array", "items": {"type": "object", "properties": turn}},
                "accumulator": {"type": "object"},
                **taken,
                "exports": {"type": "object", "properties": taken, "additionalProperties": False},
            },
            "additionalProperties": False,
        }

    def check(self, params: LoopParams, node: Node) -> tuple[Problem, ...]:
        return tuple(_wrong(params))

    def fingerprint(self, context: NodeContext, params: LoopParams) -> None:
        """None: the nodes inside are looked up one by one, since some of them may act or ask."""

    async def run(self, context: NodeContext, params: LoopParams) -> Produced:
        return Produced(await _Rounds(context, params).run())


class _Rounds:
    """One run of a loop."""

    def __init__(self, context: NodeContext, params: LoopParams) -> None:
        self.context, self.params = context, params
        initial = params.accumulator.initial if params.accumulator else {}
        self.begin = context.names_at("begin")
        self.accumulator: dict[str, Any] = bindings.resolve(initial, self.begin)
        self.gathered = Gathered(params.exports, [node.id for node in params.body.nodes])
        self.turns: list[dict[str, Any]] = []
        self.last: Any = None

    async def run(self) -> dict[str, Any]:
        stopped = await (self.while_true() if self.params.mode == "while" else self.for_each())
        taken = {"items": self.gathered.items, "aggregates": self.gathered.aggregates}
        return {
            "status": "loop_completed",
            "loop_kind": self.params.mode,
            "stopped": stopped,
            "iterations": self.turns,
            "accumulator": self.accumulator,
            **taken,
            "exports": taken,
        }

    async def while_true(self) -> str:
        """Returns how the loop ended: "condition", or "bound" when the condition still held."""
        for index in range(self.params.max_iterations + 1):
            names = self.names({"index": index, "last": self.last, "size": self.params.max_iterations})
            if self.params.condition is None:
                raise BindingError("condition", _("a loop in mode while needs a condition."))
            if not conditions.check(self.params.condition, Over(names, self.context.names_at(f"round {index}"))).result:
                return "condition"
            if index < self.params.max_iterations:
                self.ended({"index": index}, names, await self.round(index, names))
        return "bound"

    async def for_each(self) -> str:
        turns = [{"index": index, "item": item} for index, item in enumerate(self.items())]
        if self.params.accumulator is not None:
            for index, turn in enumerate(turns):
                names = self.names({**turn, "size": len(turns)})
                self.ended(turn, names, await self.round(index, names))
            return "end"
        rounds = [self.names({**turn, "size": len(turns)}) for turn in turns]
        ended = await self.side_by_side(rounds)
        for index, turn in enumerate(turns):
            self.ended(turn, rounds[index], ended[index])
        return "end"

    async def side_by_side(self, rounds: list[dict[str, Any]]) -> dict[int, Outputs]:
        """Runs the rounds, several at a time. After a failure none begins; those running are completed."""
        waiting, ended = deque(range(len(rounds))), dict[int, Outputs]()
        failures: list[FlowCabalError] = []

        async def work() -> None:
            while waiting and not failures:
                index = waiting.popleft()
                try:
                    ended[index] = await self.round(index, rounds[index])
                except FlowCabalError as error:
                    failures.append(error)

        async with asyncio.TaskGroup() as group:
            for _worker in range(min(self.params.side_by_side, len(rounds))):
                group.create_task(work())
        if failures:
            raise failures[0]
        return ended

    def items(self) -> list[Any]:
        found = bindings.resolve(as_binding(self.params.source), self.begin)
        if not isinstance(found, list):
            raise BindingError("source", _("a loop needs a list, but got {kind}.").format(kind=paths.kind(found)))
        if len(found) > self.params.max_iterations:
            raise BindingError(
                "source",
                _("it has {n} items, and max_iterations allows {most} rounds.").format(
                    n=len(found), most=self.params.max_iterations
                ),
            )
        return found

    def names(self, turn: dict[str, Any]) -> dict[str, Any]:
        """The names that the body sees besides those around: `loop.outer` is the loop around, the size of a while loop
        its bound.
        """
        alias = {self.params.item: turn["item"]} if self.params.item and "item" in turn else {}
        around = {"outer": self.context.names["loop"]} if "loop" in self.context.names else {}
        bare = {name: value for name, value in turn.items() if name != "last"}
        return {**bare, **alias, "loop": {**turn, **alias, "accumulator": self.accumulator, **around}}

    async def round(self, index: int, names: dict[str, Any]) -> Outputs:
        return await self.context.body(self.params.body, str(index), names)

    def ended(self, turn: dict[str, Any], names: dict[str, Any], outputs: Outputs) -> None:
        """Collects the outputs of a round, in the order of the rounds."""
        result = exit_of(self.params.body, outputs)
        self.last = None if result is None else result.value
        self.turns.append(turn if result is None else {**turn, "exit_result": result.value})
        around = self.context.names_at(f"end of round {turn['index']}")
        seen = with_outputs(Over(names, around), outputs)
        self.gathered.add(outputs, seen)
        if (change := self.params.accumulator) is not None:
            set_fields = bindings.resolve(change.set, seen)
            computed = {name: expressions.evaluate(text, seen) for name, text in change.compute.items()}
            self.accumulator = {**self.accumulator, **set_fields, **computed}


def _paths(params: LoopParams) -> Iterator[tuple[str, str]]:
    """The paths that are read after or between rounds, with their places."""
    if params.condition is not None:
        yield from conditions.paths_in(params.condition, location="condition")
    yield from loop_exports.paths_of(params.exports)
    if params.accumulator is not None:
        yield from paths_in(params.accumulator.set, location="accumulator.set")
        for name, text in params.accumulator.compute.items():
            yield from ((f"accumulator.compute.{name}", path) for path in expressions.paths_in(text))


def _wrong(params: LoopParams) -> Iterator[Problem]:
    inside = [node.id for node in params.body.nodes]
    if params.mode == "for_each" and params.source is None:
        message = _("A loop of the mode for_each needs a source.")
        yield Problem(code="MISSING_REQUIRED_PARAM", message=message, field="source")
    if params.mode == "for_each" and not isinstance(params.source, (str, dict, list, tuple, type(None))):
        message = _("A loop needs a list, but got {kind}.").format(kind=paths.kind(params.source))
        yield Problem(code="SCHEMA_MISMATCH", message=message, field="source")
    if params.mode == "while" and params.condition is None:
        message = _("A loop of the mode while needs a condition.")
        yield Problem(code="MISSING_REQUIRED_PARAM", message=message, field="condition")
    if params.condition is not None:
        yield from conditions.check_shape(params.condition, location="condition")
    if params.item in _TAKEN:
        message = _("An item cannot be called {name}: that name is reserved.").format(name=params.item)
        yield Problem(code="NAME_CONFLICT", message=message, field="item")
    if params.side_by_side > 1 and (params.mode == "while" or params.accumulator is not None):
        message = _("The rounds run one after the other: each may depend on the previous one.")
        yield Problem(code="ONE_BY_ONE", message=message, field="side_by_side", severity="warning")
    for name, text in params.accumulator.compute.items() if params.accumulator else ():
        if (finding := expressions.check(text, field=f"accumulator.compute.{name}")) is not None:
            yield finding
    yield from check_exit(params.body, "body")
    yield from loop_exports.check(params.exports, inside)


KIND = Loop()
