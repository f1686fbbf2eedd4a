"""The modes of requesting a structured answer, and which of them work at an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import Answer, StructuredMode

LADDER: Final[tuple[StructuredMode, ...]] = ("tool", "native", "prompted")
_LOCAL: Final[tuple[StructuredMode, ...]] = ("native", "tool", "prompted")
"""Servers on this machine (llama.cpp, vLLM, Ollama, LM Studio) enforce a schema; many ignore a tool choice."""


class Ladder:
    """The modes of one endpoint in the order in which they are tried.

    Each mode gets one trial: `known` records whether it had an effect. A mode that once worked stays, regardless of
    single answers; the last mode, which asks in words, always stays.
    """

    def __init__(self, endpoint: Endpoint, known: Mapping[StructuredMode, bool] | None = None) -> None:
        """`known` is the result of an earlier session; the settings take precedence."""
        first = endpoint.structured
        self._order = LADDER[LADDER.index(first) :] if first else _LOCAL if endpoint.is_local else LADDER
        self.known: dict[StructuredMode, bool] = {
            mode: known[mode] for mode in get_args(StructuredMode) if known and mode in known
        }

    @property
    def modes(self) -> tuple[StructuredMode, ...]:
        """The modes to try, best first; never empty."""
        return tuple(mode for mode in self._order if mode == self._order[-1] or self.known.get(mode) is not False)

    @property
    def mode(self) -> StructuredMode:
        """The first mode to try."""
        return self.modes[0]

    def refused(self, mode: StructuredMode) -> None:
        """Records that the endpoint answered a mode with an error, and that another mode then worked."""
        self.known[mode] = False

    def answered(self, mode: StructuredMode, answer: Answer) -> bool:
        """Records and returns whether the mode had an effect on this answer. A cut-off answer proves nothing."""
        effective = _had_effect(mode, answer)
        if effective or answer.finish != "length":
            self.known.setdefault(mode, effective)
            self.known[mode] = self.known[mode] or effective
        return effective


def _had_effect(mode: StructuredMode, answer: Answer) -> bool:
    match mode:
        case "tool":
            return bool(answer.tool_calls)
        case "native":
            return answer.text.rpartition("</think>")[2].lstrip().startswith(("{", "["))
        case "prompted":
            return True
