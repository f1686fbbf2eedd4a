"""Splits a question that is too long for the window of its model, and joins the answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from flowcabal_tui.agents.prompt_library import Fenced
from flowcabal_tui.agents.tokens import cut
from flowcabal_tui.domain.answer_schema import answer_schema
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.windows import prompt_room

T = TypeVar("T", bound=BaseModel)
FRAME: Final = 64
"""Tokens around the texts of the messages, such as those of a chat template."""
LEAST: Final = 120
"""Smaller parts are not asked about: then the model's own error is shown."""
SHRINKS: Final = (1.0, 0.5, 0.25)
"""Factors of the space for a part, tried in turn when the model rejects a question as too long."""
_FULL: Final = 0.6
"""Share of a part's space after which the part may end with a sentence."""
_END: Final = re.compile(r"\n+|[。！？!?…]+[”’」』\"]*\n*|[.][”’\"]*(?=\s)")
_SOURCE: Final = re.compile(r"\n(?=<source )")


def space_of(endpoint: Endpoint) -> int | None:
    """The tokens available to a question; None if the window is unknown."""
    if endpoint.context_window is None:
        return None
    return prompt_room(endpoint.context_window, endpoint.max_output)


def tokens_of(request: ModelRequest, shape: type[BaseModel], counter: TokenCounter, endpoint: Endpoint) -> int:
    """The tokens of a question with its frame and its tools, or the schema of its answer."""
    schemas = [tool.parameters for tool in request.tools]
    schema = schema_tokens(shape, counter, endpoint, schemas)
    return sum(counter.count(message.content) for message in request.messages) + schema + FRAME


def schema_tokens(
    shape: type[BaseModel], counter: TokenCounter, endpoint: Endpoint, tools: Sequence[Mapping[str, Any]] = ()
) -> int:
    """The tokens of the schemas of the tools, or of the answer.

    A server on this machine enforces a schema by a grammar, which its model does not read. If that has no effect, the
    schema goes into the prompt; a question that is then too long is asked in smaller parts.
    """
    if endpoint.is_local and endpoint.structured in (None, "native"):
        return 0
    return sum(counter.count(json.dumps(each, ensure_ascii=False)) for each in tools or [answer_schema(shape)])


def pieces(text: str, tokens: int, counter: TokenCounter) -> tuple[str, ...]:
    """`text` in parts of at most `tokens` tokens, cut between sentences if possible; no character is lost."""
    found = []
    while text:
        end = cut(text, tokens, counter).end
        if end == 0:  # not even a clause fits
            end = max(1, int(len(text) * tokens / max(1, counter.count(text))))
        elif end < len(text):
            ends = (match.end() for match in _END.finditer(text, 0, end))
            end = max((each for each in ends if each >= end * _FULL), default=end)
        found.append(text[:end])
        text = text[end:]
    return tuple(found) or ("",)


def parts_at_most(length: int, question: int, space: int | None) -> int:
    """The most parts in which a text of `length` tokens is read, beside a question of `question` tokens."""
    left = length if space is None else max(LEAST, space - question)
    return 1 if length <= left else math.ceil(length / (left * _FULL))


def parts_of(value: str | Fenced, tokens: int, counter: TokenCounter) -> tuple[str | Fenced, ...]:
    """Splits a value of a prompt into parts of at most `tokens`, between sentences or between fenced sources."""
    if isinstance(value, str):
        return pieces(value, tokens, counter)
    groups: list[list[str]] = [[]]
    left = tokens
    for source in _SOURCE.split(value.text):
        size = counter.count(source)
        if groups[-1] and size > left:
            groups.append([])
            left = tokens
        groups[-1].append(source)
        left -= size
    return tuple(Fenced("\n".join(group)) for group in groups)


def questions_of(
    question: Callable[[Mapping[str, str | Fenced]], ModelRequest],
    values: Mapping[str, str | Fenced],
    parts: str,
    shape: type[BaseModel],
    counter: TokenCounter,
    endpoint: Endpoint,
    shrink: float = 1,
) -> list[ModelRequest]:
    """The question as a whole if it fits the model's window, else one question for each part of the value `parts`.

    A part has `shrink` times the largest possible length; if the window is unknown, that share of the whole.
    """
    whole, space = question(values), space_of(endpoint)
    if not parts or (space is None and shrink == 1):
        return [whole]
    value = values[parts]
    length = counter.count(value.text if isinstance(value, Fenced) else value)
    taken = tokens_of(whole, shape, counter, endpoint)
    left = max(LEAST, int(((space - (taken - length)) if space is not None else length) * shrink))
    if length <= left:
        return [whole]
    return [question({**values, parts: each}) for each in parts_of(value, left, counter)]


def joined(answers: Sequence[T], whole: Collection[str]) -> T:
    """One answer from those to all parts, with their lists concatenated.

    A field that is not a list, and one of `whole`, needs the whole text, so it has its default.
    """
    if len(answers) == 1:
        return answers[0]
    first = answers[0]
    fields = type(first).model_fields
    values = {}
    for name, field in fields.items():
        values_of = [getattr(answer, name) for answer in answers]
        if name == "unread" or (isinstance(values_of[0], list) and name not in whole):
            values[name] = type(values_of[0])(each for one in values_of for each in one)
        else:
            values[name] = field.get_default(call_default_factory=True)
    return first.model_copy(update=values)


def is_too_long(error: ModelError) -> bool:
    """True when the model refused the question because of its length."""
    return error.fault is ModelFault.CONTEXT_LENGTH
