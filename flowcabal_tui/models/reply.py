"""The received part of one answer, for all providers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from flowcabal_tui.domain.model_calls import Finish, Finished, ToolCall, Usage

_MOST_TOKENS: Final = 1_000_000_000


@dataclass(slots=True)
class PartialCall:
    """A tool call whose arguments arrive in pieces."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Reply:
    """Everything received except the text. `ended`: the provider's end mark was seen; `finish` alone also makes an
    answer complete."""

    finish: Finish | None = None
    ended: bool = False
    model: str = ""
    signature: str = ""
    usage: Usage = Usage()
    calls: dict[int, PartialCall] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return self.ended or self.finish is not None

    @property
    def spent(self) -> Usage | None:
        """The usage to book if nothing more arrives; None when it was cut before its tokens were counted."""
        counted = self.usage.input_tokens is not None and self.usage.output_tokens is not None
        return self.usage if self.whole or counted else None

    def finished(self) -> Finished:
        """The last event of a whole answer."""
        calls = tuple(
            ToolCall(call.id or f"call_{index}", call.name, "".join(call.arguments) or "{}")
            for index, call in sorted(self.calls.items())
        )
        finish = self.finish or "stop"
        if calls and finish == "stop":  # some servers say so after a forced call
            finish = "tool"
        return Finished(finish, self.usage, self.model, calls, self.signature)


class ReplyReader(Protocol):
    """Reads one provider's events into a reply."""

    reply: Reply

    def read(self, name: str, payload: str) -> tuple[str, str] | None:
        """The (text, thinking) of one event; None for a mere sign of life.

        Raises ModelError for an error that the provider reports, and ValueError, TypeError, KeyError, IndexError,
        AttributeError or RecursionError for an event that violates the protocol.
        """


def count_of(value: object) -> int | None:
    """A number of tokens; None for anything else, and for a number that no call can have."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def text_of(value: object) -> str:
    """A text that may be absent (""). Raises TypeError for other values."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"text expected, not {type(value).__name__}")
    return value
