"""The tools of a model that builds, its first messages, and the response to a turn; one call of any tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from flowcabal_tui.agents.builder.build_state import BuildRound
from flowcabal_tui.agents.builder.refused import unknown
from flowcabal_tui.agents.tool_calls import MOST_ARGUMENTS, read_arguments, refused_with, wrong_arguments
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.model_calls import Message, Tool, ToolCall
from flowcabal_tui.domain.text import clean


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to a call. `broken`: its arguments could not be read. `rounds`: the model calls that it made."""

    text: str
    refused: bool = False
    broken: bool = False
    rounds: tuple[BuildRound, ...] = ()


@dataclass(frozen=True, slots=True)
class BuildTurn:
    """The response to a turn: further messages, or a restart. `settled`: a turn without calls was correct."""

    messages: tuple[Message, ...] = ()
    restart: bool = False
    settled: bool = False


class BuildVocabulary(Protocol):
    """The tools of one build. All vocabularies end in the same edits."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the next round."""

    def beginning(self) -> tuple[Message, ...]:
        """The first messages, made from the current copy."""

    async def call(self, call: ToolCall) -> Outcome:
        """Carries out one call. A refused call leaves the build unchanged."""

    async def after(self, text: str, calls: int) -> BuildTurn:
        """Called at the end of every turn, with the text of the model and the number of its calls."""


async def outcome_of(
    call: ToolCall,
    shapes: Mapping[str, type[BaseModel]],
    carry_out: Callable[[dict[str, Any]], Awaitable[str]],
    none: str = "There is no tool",
) -> Outcome:
    """The outcome of a call of one of the tools in `shapes`; refused calls and unreadable arguments are explained.

    `carry_out` validates the arguments, and may raise FlowCabalError. `none` begins the refusal of another tool.
    """
    if call.name not in shapes:
        refused = unknown(f"{none} {clean(call.name)[:60]}. Nothing was done.", call.name, shapes)
        return Outcome(refused_with(refused), refused=True)
    if len(call.arguments) > MOST_ARGUMENTS:
        message = f"The arguments have {len(call.arguments)} characters; at most {MOST_ARGUMENTS} are read."
        return Outcome(message, refused=True)
    try:
        arguments = read_arguments(call.arguments)
    except (ValueError, RecursionError) as error:
        return Outcome(f"The arguments are no JSON object: {error}", refused=True, broken=True)
    try:
        return Outcome(await carry_out(arguments))
    except ValidationError as error:
        return Outcome(wrong_arguments(shapes[call.name], error), refused=True)
    except FlowCabalError as error:
        return Outcome(refused_with(error), refused=True)
