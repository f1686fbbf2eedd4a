"""A validated value out of a model that may not keep to the form: a ladder of modes, and repairs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, ModelFault
from flowcabal_tui.domain.model_calls import (
    Answer,
    Message,
    ModelPort,
    ModelRequest,
    StructuredMode,
    T,
    Tool,
    Usage,
)
from flowcabal_tui.models.cleaning import clean_value
from flowcabal_tui.models.collect import BEFORE_REPEATING, total
from flowcabal_tui.models.failures import Failures

LADDER: Final[tuple[StructuredMode, ...]] = ("tool", "native", "prompted")
REPAIRS: Final = 2
TOOL_NAME: Final = "give_answer"
_UNSAID: Final = frozenset({"title", "default"})
_FENCE: Final = re.compile(r"```[A-Za-z]*\s*\n(.*?)```", re.DOTALL)
_DECODER: Final = json.JSONDecoder(strict=False)
_NOT_SUPPORTED: Final = frozenset({ModelFault.REFUSED, ModelFault.NOT_FOUND})


class Ladder:
    """What an endpoint can do, as set or as found out: the mode that is tried first."""

    def __init__(self, mode: StructuredMode | None) -> None:
        self.mode: StructuredMode = mode or LADDER[0]


async def structured(
    model: ModelPort, request: ModelRequest, shape: type[T], ladder: Ladder, failures: Failures
) -> tuple[T, Answer]:
    """A `shape`, and the answer that it was read from.

    The usage, also an error's, is that of all tries but those that BEFORE_REPEATING took over. Raises ModelError: the
    call's own, or SCHEMA with the last raw text as `partial`.
    """
    schema = _closed(shape.model_json_schema())
    usages: list[Usage] = []
    turns: tuple[Message, ...] = ()
    modes = LADDER[LADDER.index(ladder.mode) :]
    raw = problem = ""
    for repair in range(1 + REPAIRS):
        if repair and (take_over := BEFORE_REPEATING.get()):
            await take_over(total(usages))
            usages.clear()
        try:
            answer, mode = await _ask(model, request, schema, modes, turns)
        except (ModelError, BudgetExceeded) as error:
            if error.usage is not None:
                usages.append(error.usage)
            error.usage = total(usages) if usages else None
            raise
        modes, ladder.mode = (mode,), mode
        said = answer.tool_calls[0].arguments if answer.tool_calls else answer.text
        usages.append(answer.usage)
        raw, problem = said or raw, "no answer was given"
        for value in _values(said, cut=answer.finish == "length"):
            try:
                kept = replace(answer, text=said, usage=total(usages), summed=answer.summed or repair > 0)
                return shape.model_validate(value), kept
            except ValidationError as error:
                problem = _problem(error)
        turns += _repair(answer, problem)
    failure = failures.error(ModelFault.SCHEMA, problem)
    failure.partial, failure.usage = raw, total(usages)
    raise failure


async def _ask(
    model: ModelPort,
    request: ModelRequest,
    schema: dict[str, Any],
    modes: tuple[StructuredMode, ...],
    turns: tuple[Message, ...],
) -> tuple[Answer, StructuredMode]:
    """One answer in the first of `modes` that the endpoint takes, and that mode."""
    *better, last = modes
    for mode in better:
        try:
            return await _ask_in(model, _in_mode(request, schema, mode), turns), mode
        except ModelError as error:
            if error.fault not in _NOT_SUPPORTED or error.status not in (400, 404, 422):
                raise
    return await _ask_in(model, _in_mode(request, schema, last), turns), last


async def _ask_in(model: ModelPort, asked: ModelRequest, turns: tuple[Message, ...]) -> Answer:
    try:
        return await model.answer(replace(asked, messages=asked.messages + turns))
    except ModelError as error:
        if error.fault is not ModelFault.EMPTY:
            raise
        return Answer("", "stop", error.usage or Usage())


def _in_mode(request: ModelRequest, schema: dict[str, Any], mode: StructuredMode) -> ModelRequest:
    match mode:
        case "tool":
            tool = Tool(TOOL_NAME, "Gives the answer.", schema)
            return replace(request, tools=(tool,), tool_choice=TOOL_NAME)
        case "native":
            return replace(request, json_schema=schema)
        case "prompted":
            *before, last = request.messages
            form = json.dumps(schema, ensure_ascii=False)
            rule = "Answer with one JSON object that fits this JSON Schema, and nothing else:"
            return replace(request, messages=(*before, replace(last, content=f"{last.content}\n\n{rule}\n{form}")))


def _repair(answer: Answer, problem: str) -> tuple[Message, ...]:
    """The answer as it was and what is wrong with it."""
    words = f"That did not fit:\n{problem}\nGive the whole answer again, as JSON that fits the schema."
    said = Message("assistant", answer.text, answer.tool_calls, thinking=answer.thinking, signature=answer.signature)
    if answer.tool_calls:
        return said, *(Message("tool", words, tool_call_id=call.id) for call in answer.tool_calls)
    return (said, Message("user", words)) if answer.text.strip() else (Message("user", words),)


def _values(text: str, *, cut: bool) -> Iterator[Any]:
    """JSON objects in a text with fences, chatter or thoughts around them, best guess first."""
    text = text.rpartition("</think>")[2]
    for candidate in (*_FENCE.findall(text), text):
        position = 0
        while (position := candidate.find("{", position)) >= 0:
            try:
                value, position = _DECODER.raw_decode(candidate, position)
                yield clean_value(value)
            except (ValueError, RecursionError):
                if cut or re.match(r'\{\s*["}]', candidate[position:]):
                    break  # a broken object: what lies within it is not the answer
                position += 1


def _problem(error: ValidationError) -> str:
    lines = [f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}" for each in error.errors()[:10]]
    return "\n".join(lines)


def _closed(schema: Any) -> Any:
    """The schema with no further properties allowed: native modes insist on it.

    Without pydantic's titles and defaults and the docstrings of classes, which tell a model nothing and are paid for
    in every call.
    """
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    unsaid = _UNSAID | {"description"} if "properties" in schema else _UNSAID
    closed = {name: _closed(each) for name, each in schema.items() if name not in unsaid or isinstance(each, dict)}
    if closed.get("type") == "object" and "properties" in closed:
        closed.setdefault("additionalProperties", False)
    return closed
