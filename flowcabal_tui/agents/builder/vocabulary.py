"""What a model builds with: tools, what it is told, what follows a turn. All of them end in the same edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from flowcabal_tui.agents.builder.build_state import BuildRound
from flowcabal_tui.domain.model_calls import Message, Tool, ToolCall


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to a call. `broken`: its arguments could not be read. `asked`: calls of the model that it took."""

    text: str
    refused: bool = False
    broken: bool = False
    asked: tuple[BuildRound, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What follows a turn: further messages, or a beginning anew. `settled`: a turn without calls was as it should."""

    messages: tuple[Message, ...] = ()
    anew: bool = False
    settled: bool = False


class Vocabulary(Protocol):
    """The tools of one build."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Those that the model has in the next round."""
        ...

    def beginning(self) -> tuple[Message, ...]:
        """What the model is told first, made from the copy as it is."""
        ...

    async def call(self, call: ToolCall) -> Outcome:
        """Carries out one call. What is refused leaves the build as it was."""
        ...

    async def after(self, text: str, calls: int) -> Turn:
        """Called at the end of every turn, with what the model said and how many calls it made."""
        ...
