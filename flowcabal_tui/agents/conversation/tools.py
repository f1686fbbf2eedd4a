"""The tools of the conversation. None of them runs, buys or deletes anything, reads files or opens connections."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from flowcabal_tui.agents.builder.vocabulary import Outcome, outcome_of
from flowcabal_tui.agents.conversation import changing, reading
from flowcabal_tui.agents.conversation.changing import ChangingTools, Raised
from flowcabal_tui.agents.conversation.ports import BookPort, ChangesPort
from flowcabal_tui.agents.conversation.reading import ReadingTools
from flowcabal_tui.agents.tool_calls import Arguments, tool_of
from flowcabal_tui.domain.conversation import ConversationLevel, ToolKind, Turn, UsedTool
from flowcabal_tui.domain.model_calls import Tool, ToolCall
from flowcabal_tui.domain.text import clean

KEPT: Final = 2_000
"""Characters of arguments and answers that a turn keeps."""
_READS: Final[Mapping[str, tuple[type[Arguments], ToolKind, Callable[[ReadingTools, Any], Awaitable[str]]]]] = {
    "read_chapter": (reading.ReadChapter, "read", ReadingTools.read_chapter),
    "search": (reading.Search, "search", ReadingTools.search),
    "read_receipt": (reading.ReadReceipt, "read", ReadingTools.receipt),
    "read_profile": (reading.ReadProfile, "read", ReadingTools.profile),
    "read_promises": (reading.ReadPromises, "read", ReadingTools.promises),
    "read_timeline": (reading.ReadTimeline, "read", ReadingTools.timeline),
    "check_chapter": (reading.CheckChapter, "think", ReadingTools.check),
    "quote_run": (reading.QuoteRun, "read", ReadingTools.quote),
}
_Proposes = Callable[[ChangingTools, Any, Turn, Raised], Awaitable[str]]
_PROPOSES: Final[Mapping[str, tuple[type[Arguments], ToolKind, _Proposes]]] = {
    "propose_edit": (changing.ProposeEdit, "edit", ChangingTools.edit),
    "propose_fact": (changing.ProposeFact, "edit", ChangingTools.fact),
    "propose_name": (changing.ProposeName, "edit", ChangingTools.name),
    "propose_outline": (changing.ProposeOutline, "edit", ChangingTools.outline),
    "propose_workflow": (changing.ProposeWorkflow, "edit", ChangingTools.workflow),
    "start_run": (changing.StartRun, "execute", ChangingTools.run),
    "start_check": (changing.StartCheck, "execute", ChangingTools.check),
}
_SHAPES: Final = {name: shape for table in (_READS, _PROPOSES) for name, (shape, *_rest) in table.items()}
_KINDS: Final = {name: kind for table in (_READS, _PROPOSES) for name, (_shape, kind, _does) in table.items()}


def tools_at(level: ConversationLevel) -> tuple[Tool, ...]:
    """The tools that a level offers."""
    return tuple(tool_of(name, shape) for name, shape in _offered(level).items())


def _offered(level: ConversationLevel) -> dict[str, type[Arguments]]:
    return {name: shape for name, shape in _SHAPES.items() if level != "ask" or name in _READS}


class TalkTools:
    """The tools of one turn."""

    def __init__(self, book: BookPort, changes: ChangesPort) -> None:
        self._reads = ReadingTools(book)
        self._changes = ChangingTools(book, changes, self._reads)

    async def call(self, call: ToolCall, turn: Turn) -> tuple[Outcome, UsedTool]:
        """Carries out one call for a turn. A refused call changes nothing."""
        raised = Raised()
        outcome = await self._outcome(call, turn, raised)
        used = UsedTool(
            f"{turn.calls}.{len(turn.used) + 1}",
            clean(call.name)[:60],
            _KINDS.get(call.name, "other"),
            "failed" if outcome.refused else "pending" if raised.permission else "completed",
            clean(call.arguments[:KEPT]),
            clean(outcome.text)[:KEPT],
            tuple(raised.proposals),
            raised.applied,
            raised.permission,
        )
        return outcome, used

    async def _outcome(self, call: ToolCall, turn: Turn, raised: Raised) -> Outcome:
        async def carry_out(arguments: dict[str, Any]) -> str:
            given = _SHAPES[call.name].model_validate(arguments)
            if call.name in _READS:
                return await _READS[call.name][2](self._reads, given)
            return await _PROPOSES[call.name][2](self._changes, given, turn, raised)

        return await outcome_of(call, _offered(turn.level), carry_out, f"The level {turn.level} has no tool")
