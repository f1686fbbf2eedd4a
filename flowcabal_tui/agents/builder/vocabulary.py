"""The tools of a model that builds, its first messages, and the response to a turn. All vocabularies end in the same
edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from flowcabal_tui.agents.builder.build_state import BuildRound
from flowcabal_tui.domain.model_calls import Message, Tool, ToolCall


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
    """The tools of one build."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the next round."""

    def beginning(self) -> tuple[Message, ...]:
        """The first messages, made from the current copy."""

    async def call(self, call: ToolCall) -> Outcome:
        """Carries out one call. A refused call leaves the build unchanged."""

    async def after(self, text: str, calls: int) -> BuildTurn:
        """Called at the end of every turn, with the text of the model and the number of its calls."""
