"""The tools of the conversation. None of them runs, buys or deletes anything, reads a file or opens a network
connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.agents.builder.refused import unknown
from flowcabal_tui.agents.builder.vocabulary import Outcome
from flowcabal_tui.agents.conversation import changing, reading
from flowcabal_tui.agents.conversation.changing import ChangingTools, Raised
from flowcabal_tui.agents.conversation.ports import BookPort, ChangesPort
from flowcabal_tui.agents.conversation.reading import ReadingTools
from flowcabal_tui.agents.tool_calls import (
    MOST_ARGUMENTS,
    Arguments,
    read_arguments,
    refused_with,
    tool_of,
    wrong_arguments,
)
from flowcabal_tui.domain.conversation import ConversationLevel, ToolKind, Turn, UsedTool
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.model_calls import Tool, ToolCall
from flowcabal_tui.domain.text import clean

KEPT: Final = 2_000
"""Characters of arguments and answers that a turn keeps."""
_READS: Final[Mapping[str, tuple[type[Arguments], ToolKind]]] = {
    "read_chapter": (reading.ReadChapter, "read"),
    "search": (reading.Search, "search"),
    "read_receipt": (reading.ReadReceipt, "read"),
    "read_profile": (reading.ReadProfile, "read"),
    "read_promises": (reading.ReadPromises, "read"),
    "read_timeline": (reading.ReadTimeline, "read"),
    "check_chapter": (reading.CheckChapter, "think"),
    "quote_run": (reading.QuoteRun, "read"),
}
_PROPOSES: Final[Mapping[str, tuple[type[Arguments], ToolKind]]] = {
    "propose_edit": (changing.ProposeEdit, "edit"),
    "propose_fact": (changing.ProposeFact, "edit"),
    "propose_name": (changing.ProposeName, "edit"),
    "propose_outline": (changing.ProposeOutline, "edit"),
    "propose_workflow": (changing.ProposeWorkflow, "edit"),
    "start_run": (changing.StartRun, "execute"),
    "start_check": (changing.StartCheck, "execute"),
}
_ALL: Final = {**_READS, **_PROPOSES}


def tools_at(level: ConversationLevel) -> tuple[Tool, ...]:
    """The tools that a level offers."""
    offered = _READS if level == "ask" else _ALL
    return tuple(tool_of(name, shape) for name, (shape, _kind) in offered.items())


class TalkTools:
    """The tools of one turn."""

    def __init__(self, book: BookPort, changes: ChangesPort) -> None:
        reads = ReadingTools(book)
        changes_made = ChangingTools(book, changes, reads)
        self._reads: Mapping[str, Callable[[Any], Awaitable[str]]] = {
            "read_chapter": reads.read_chapter,
            "search": reads.search,
            "read_receipt": reads.receipt,
            "read_profile": reads.profile,
            "read_promises": reads.promises,
            "read_timeline": reads.timeline,
            "check_chapter": reads.check,
            "quote_run": reads.quote,
        }
        self._proposes: Mapping[str, Callable[[Any, Turn, Raised], Awaitable[str]]] = {
            "propose_edit": changes_made.edit,
            "propose_fact": changes_made.fact,
            "propose_name": changes_made.name,
            "propose_outline": changes_made.outline,
            "propose_workflow": changes_made.workflow,
            "start_run": changes_made.run,
            "start_check": changes_made.check,
        }

    async def call(self, call: ToolCall, turn: Turn) -> tuple[Outcome, UsedTool]:
        """Carries out one call for a turn. A refused call changes nothing."""
        raised = Raised()
        outcome = await self._outcome(call, turn, raised)
        used = UsedTool(
            f"{turn.calls}.{len(turn.used) + 1}",
            clean(call.name)[:60],
            _ALL[call.name][1] if call.name in _ALL else "other",
            "failed" if outcome.refused else "pending" if raised.permission else "completed",
            clean(call.arguments[:KEPT]),
            clean(outcome.text)[:KEPT],
            tuple(raised.proposals),
            raised.applied,
            raised.permission,
        )
        return outcome, used

    async def _outcome(self, call: ToolCall, turn: Turn, raised: Raised) -> Outcome:
        offered = [tool.name for tool in tools_at(turn.level)]
        if call.name not in offered:
            at_level = f"The level {turn.level} has no tool {clean(call.name)[:60]}. Nothing was done."
            return Outcome(refused_with(unknown(at_level, call.name, offered)), refused=True)
        if len(call.arguments) > MOST_ARGUMENTS:
            problem = f"The arguments have {len(call.arguments)} characters; at most {MOST_ARGUMENTS} are read."
            return Outcome(problem, refused=True)
        try:
            arguments = read_arguments(call.arguments)
        except (ValueError, RecursionError) as error:
            return Outcome(f"The arguments are no JSON object: {error}", refused=True, broken=True)
        shape = _ALL[call.name][0]
        try:
            given = shape.model_validate(arguments)
            if call.name in self._reads:
                return Outcome(await self._reads[call.name](given))
            return Outcome(await self._proposes[call.name](given, turn, raised))
        except ValidationError as error:
            return Outcome(wrong_arguments(shape, error), refused=True)
        except FlowCabalError as error:
            return Outcome(refused_with(error), refused=True)
