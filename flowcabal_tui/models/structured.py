"""Gets a validated value from a model that may not follow the format: by a ladder of modes, salvage, and repairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from flowcabal_tui.domain.answer_schema import StructuredAnswer, answer_schema
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, ModelFault
from flowcabal_tui.domain.model_calls import Answer, Message, ModelRequest, StructuredMode, Tool, Usage
from flowcabal_tui.domain.model_ports import ModelPort, T
from flowcabal_tui.models.collect import ARRIVED, BEFORE_REPEATING, total
from flowcabal_tui.models.failures import Failures
from flowcabal_tui.models.ladder import Ladder
from flowcabal_tui.models.salvage import SalvagedFields, read_before, read_text

REPAIRS: Final = 2
FEW: Final = 3
"""Maximum number of list items to request after an answer was cut off in its first item."""
TOOL_NAME: Final = "give_answer"
_NOT_SUPPORTED: Final = frozenset({ModelFault.REFUSED, ModelFault.NOT_FOUND})


async def structured(
    model: ModelPort, request: ModelRequest, shape: type[T], ladder: Ladder, failures: Failures
) -> tuple[T, Answer]:
    """A `shape`, and the answer from which it was read.

    Unreadable parts are requested again; those still unreadable are named in the value if `shape` is a
    `StructuredAnswer`. The usage, also an error's, is that of all tries except those that BEFORE_REPEATING took over.
    Raises ModelError: the call's own, or SCHEMA with the last raw text as `partial`.
    """
    schema = answer_schema(shape)
    asking = _Asking(model, replace(request, earlier=""), schema, ladder)
    in_parts = issubclass(shape, StructuredAnswer)
    best = read_before(request.earlier) if in_parts and request.earlier else None
    if best is not None:
        asking.resume(best)
    raw = problem = ""
    for repair in range(1 + REPAIRS):
        try:
            answer = await asking.once(repeated=repair > 0)
        except (ModelError, BudgetExceeded) as error:
            if isinstance(error, ModelError) and error.fault is ModelFault.TIME_LIMIT and in_parts:
                found, _problem = read_text(error.partial, shape, cut=True)
                best = best.completed_by(found) if best and found else best or found
            value = best.as_shape(shape) if best else None
            if best is None or value is None:
                asking.charge(error)
                raise
            return value, asking.kept(best)  # the readable parts of a paid answer are not lost
        given = answer.tool_calls[0].arguments if answer.tool_calls else answer.text
        raw = given or raw
        found, problem = read_text(given, shape, cut=answer.finish == "length")
        if found is not None and (in_parts or not found.unread):
            best = best.completed_by(found) if best else found
        if best is not None and not best.unread and (value := best.as_shape(shape)) is not None:
            return value, asking.kept(best)
        asking.repair(answer, best, problem)
    if best is not None and (value := best.as_shape(shape)) is not None:
        return value, asking.kept(best)
    failure = failures.error(ModelFault.SCHEMA, problem)
    failure.partial = raw
    asking.charge(failure)
    raise failure


class _Asking:
    """One question with its repairs: the turns so far, the remaining modes, and the cost of the tries."""

    def __init__(self, model: ModelPort, request: ModelRequest, schema: dict[str, Any], ladder: Ladder) -> None:
        self._model, self._request, self._schema, self._ladder = model, request, schema, ladder
        self._modes = ladder.modes
        self._rest = schema
        """The schema of the missing fields: a server that enforces the full one would repeat the first list."""
        self._turns: tuple[Message, ...] = ()
        self._usages: list[Usage] = []
        self._last = Answer("", "stop", Usage())
        self._effective = self._summed = False

    async def once(self, *, repeated: bool) -> Answer:
        """One answer in the first of the modes that the endpoint takes. Raises ModelError or BudgetExceeded."""
        if repeated and (take_over := BEFORE_REPEATING.get()):
            spent = total(self._usages)
            self._usages.clear()  # first: BEFORE_REPEATING books the failed try even when it raises
            await take_over(spent)
        refused: list[StructuredMode] = []
        for mode in self._modes:
            try:
                answer = await self._ask(mode)
            except ModelError as error:
                unsupported = error.fault in _NOT_SUPPORTED and error.status in (400, 404, 422)
                if mode == self._modes[-1] or not unsupported:
                    if error.usage is not None:
                        self._usages.append(error.usage)
                    raise
                refused.append(mode)
                continue
            break
        for mode_refused in refused:
            self._ladder.refused(mode_refused)
        self._modes = self._modes[len(refused) :]
        self._effective = self._ladder.answered(mode, answer)
        self._summed = answer.summed or repeated
        self._usages.append(answer.usage)
        self._last = answer
        return answer

    async def _ask(self, mode: StructuredMode) -> Answer:
        request = _in_mode(self._request, self._rest if mode == "native" else self._schema, mode)
        try:
            return await self._model.answer(replace(request, messages=request.messages + self._turns))
        except ModelError as error:
            if error.fault is not ModelFault.EMPTY:
                raise
            if arrived := ARRIVED.get():
                arrived.pieces.clear()
            return Answer("", "stop", error.usage or Usage())

    def repair(self, answer: Answer, found: SalvagedFields | None, problem: str) -> None:
        """Adds the turns that ask for the missing parts; replaces a mode without effect by the next one."""
        if not self._effective:
            self._modes = self._modes[1:] or self._modes
        cut = answer.finish == "length"
        if found is None and cut:
            words = _shorter()
            self._rest = _only(self._schema, tuple(self._schema["properties"]), FEW)
        elif found is None:
            words = _again(problem)
        else:
            most = _most(found) if cut else None
            self._rest = _only(self._schema, found.fields, most)
            words = _missing(found, problem, most, alone=self._modes[0] == "native")
        self._turns += _repair(answer, words)

    def resume(self, found: SalvagedFields) -> None:
        """Adds the turns that ask for what an earlier answer lacks. The model sees no empty list that it might copy."""
        self._rest = _only(self._schema, found.fields, None)
        form = _form(alone=self._modes[0] == "native")
        words = f"The answer is not complete. Still missing: {', '.join(found.unread)}.\n{form}"
        read = SalvagedFields({name: part for name, part in found.parts.items() if part})
        self._turns = _repair(Answer(_as_json(read), "stop", Usage()), words)

    def kept(self, found: SalvagedFields) -> Answer:
        """The last answer with all parts that were read, and the cost of all tries."""
        return replace(
            self._last, text=_as_json(found), usage=total(self._usages), summed=self._summed, whole=not found.unread
        )

    def charge(self, error: ModelError | BudgetExceeded) -> None:
        """Adds the cost of the tries to the error."""
        error.usage = total(self._usages) if self._usages else None


def _in_mode(request: ModelRequest, schema: dict[str, Any], mode: StructuredMode) -> ModelRequest:
    match mode:
        case "tool" if request.tools:
            return request
        case "tool":
            tool = Tool(TOOL_NAME, "Gives the answer.", schema)
            return replace(request, tools=(tool,), tool_choice=TOOL_NAME)
        case "native":
            return replace(request, tools=(), tool_choice="", json_schema=schema)
        case "prompted":
            *before, last = request.messages
            form = json.dumps(schema, ensure_ascii=False)
            rule = "Answer with one JSON object that fits this JSON Schema, and nothing else:"
            messages = (*before, replace(last, content=f"{last.content}\n\n{rule}\n{form}"))
            return replace(request, tools=(), tool_choice="", messages=messages)


def _again(problem: str) -> str:
    return f"That did not fit:\n{problem}\nGive the whole answer again, as JSON that fits the schema."


def _shorter() -> str:
    return (
        "The answer was cut off at its length limit before anything in it was complete. Give the whole answer again "
        f"and make it short: at most {FEW} items in each list, each value one short sentence or less, as JSON that "
        "fits the schema."
    )


def _most(found: SalvagedFields) -> int:
    """The number of items to ask for after a cut-off answer: half of its longest list, at least 1."""
    lengths = [len(part) for name, part in found.parts.items() if name in found.fields and isinstance(part, list)]
    return max(1, max(lengths, default=2) // 2)


def _missing(found: SalvagedFields, problem: str, most: int | None, *, alone: bool) -> str:
    """Asks for the parts that could not be read; with `most` after a cut answer, so that it is not cut again.

    `alone`: the schema has no other fields.
    """
    places, form = ", ".join(found.unread), _form(alone=alone)
    if most is None:
        return f"These parts did not fit: {places}.\n{problem}\nGive only them again. {form}"
    return (
        f"The answer was cut off at its length limit. Still missing: {places}.\n"
        f"Go on after the last whole item, with at most {most} more in each list. {form}"
    )


def _as_json(found: SalvagedFields) -> str:
    return json.dumps(dict(found.parts), ensure_ascii=False, default=str)


def _form(*, alone: bool) -> str:
    form = "Give only these fields" if alone else "Answer in the same form"
    return form + ", as JSON that fits the schema" + ("." if alone else "; leave every other list empty.")


def _only(schema: dict[str, Any], fields: Sequence[str], most: int | None) -> dict[str, Any]:
    """A schema of these fields alone; with `most` the lists among them have no more items."""
    kept = {name: part for name, part in schema["properties"].items() if name in fields}
    for name, part in kept.items():
        if most is not None and part.get("type") == "array":
            kept[name] = part | {"maxItems": min(most, part.get("maxItems", most))}
    narrow = schema | {"properties": kept, "required": list(kept)}
    if "$defs" in schema:
        narrow["$defs"] = _used(schema["$defs"], kept)
    return narrow


def _used(definitions: dict[str, Any], schema: Any) -> dict[str, Any]:
    """The definitions that a schema, or one of these, refers to."""
    text, used = json.dumps(schema), dict[str, Any]()
    while more := {
        name: part for name, part in definitions.items() if name not in used and f'"#/$defs/{name}"' in text
    }:
        used |= more
        text = json.dumps(more)
    return used


def _repair(answer: Answer, words: str) -> tuple[Message, ...]:
    """The answer as received, and its errors."""
    reply = Message("assistant", answer.text, answer.tool_calls, thinking=answer.thinking, signature=answer.signature)
    if answer.tool_calls:
        return reply, *(Message("tool", words, tool_call_id=call.id) for call in answer.tool_calls)
    return (reply, Message("user", words)) if answer.text.strip() else (Message("user", words),)
