"""One turn of the conversation: a bounded number of tool rounds; on any end the text so far is kept with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flowcabal_tui.agents.builder.vocabulary import Outcome
from flowcabal_tui.agents.conversation.messages import PROMPT, messages_of, shortened, with_sent
from flowcabal_tui.agents.conversation.ports import BookPort, TalkingModel
from flowcabal_tui.agents.conversation.tools import TalkTools, tools_at
from flowcabal_tui.agents.loop import Again, Agent
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.agents.tool_calls import as_sent_back
from flowcabal_tui.domain.conversation import StopReason, Turn, TurnState
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, ModelFault
from flowcabal_tui.domain.model_calls import Answer, Message, ModelRequest, Usage
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _

ANSWER_TOKENS: Final = 4_000
_ROUNDS, _TOKENS = 12, 120_000
"""The limits of one turn: calls of the model, and tokens of all its prompts and answers together."""
BETWEEN: Final = "\n\n"
"""Separates the model's texts of two rounds."""
_MOST_EMPTY: Final = 3
_MOST_BROKEN: Final = 3
_WARNED_AFTER: Final = 3
_MOST_EQUAL: Final = 5
_MOST_LOST: Final = 2
_LOST: Final = frozenset((ModelFault.TRUNCATED, ModelFault.NETWORK, ModelFault.STALLED, ModelFault.PROTOCOL))
_NO_MORE: Final = "Answer now with what you have read; no further tool is carried out."


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question with the turns before it."""

    turn: Turn
    earlier: tuple[Turn, ...] = ()


@dataclass
class Exchange:
    """The messages of a turn so far, and the counts that bound it."""

    messages: tuple[Message, ...]
    equal: Counter[tuple[str, str]] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    """Empty answers, broken arguments in a row, lost and too long calls."""


Keep = Callable[[Turn], Awaitable[None]]


class Talk(Agent[OpenQuestion, Exchange, Answer | ModelError | BudgetExceeded, Turn]):
    """Answers one question. `turn` is its current state, with the answer received so far."""

    def __init__(
        self,
        turn: Turn,
        model: TalkingModel,
        book: BookPort,
        tools: TalkTools,
        prompts: PromptLibrary,
        counter: TokenCounter,
        heard: Callable[[str], None],
        keep: Keep,
    ) -> None:
        """`heard` is called with each piece of the answer, `keep` after every round: the turn survives a crash."""
        self.turn, self.rounds = turn, _ROUNDS + _MOST_EMPTY + _MOST_LOST + 1
        self._model, self._book, self._tools, self._prompts = model, book, tools, prompts
        self._counter, self._heard, self._keep = counter, heard, keep
        self._fresh = True
        self._calls_before, self._tokens_before = turn.calls, turn.input_tokens + turn.output_tokens

    async def observe(self, goal: OpenQuestion) -> Exchange:
        sent = await self._book.sent(goal.turn.chips)
        around = await self._book.surroundings(goal.turn.asked, sent)
        self.turn = replace(self.turn, receipt=with_sent(around.receipt, sent, self._counter))
        messages = await messages_of(goal.turn, goal.earlier, self._book, sent, around, self._prompts, self._counter)
        return Exchange(messages)

    async def reason(
        self, goal: OpenQuestion, seen: Exchange, hints: tuple[str, ...]
    ) -> Answer | ModelError | BudgetExceeded:
        """One call of the model. Its exceptions are returned and handled like an answer."""
        tools = tools_at(self.turn.level)
        request = ModelRequest(seen.messages, PROMPT, max_tokens=ANSWER_TOKENS, tools=tools)
        if self._calls + 1 >= _ROUNDS and self._calls > 0:
            messages = (*seen.messages, Message("user", _NO_MORE))
            request = replace(request, messages=messages, tool_choice="none")
        self._fresh = True
        try:
            answer = await self._model.answer(request, self._hear)
        except (ModelError, BudgetExceeded) as error:
            return error
        if self._fresh and answer.text:  # it was paid for before, and did not stream
            self._hear(answer.text)
        return answer

    @property
    def _calls(self) -> int:
        """The number of calls of this try; a repeated question keeps the counts of its first try."""
        return self.turn.calls - self._calls_before

    def _hear(self, piece: str) -> None:
        piece = clean(piece)
        if self._fresh and piece and self.turn.answer:
            piece = BETWEEN + piece
        self._fresh = self._fresh and not piece
        self.turn = replace(self.turn, answer=self.turn.answer + piece)
        if piece:
            self._heard(piece)

    async def act(
        self, goal: OpenQuestion, seen: Exchange, thought: Answer | ModelError | BudgetExceeded, last: bool
    ) -> Turn | Again:
        if isinstance(thought, BudgetExceeded):
            self._stop("error", str(thought))
        elif isinstance(thought, ModelError):
            self._count(thought.usage)
            self._failed(seen, thought)
        else:
            self._count(None if thought.cached else thought.usage)
            await self._answered(seen, thought)
        if not self.turn.stop and last:
            self._stop("max_turn_requests", _("The limit of {n} rounds is reached.").format(n=_ROUNDS))
        await self._keep(self.turn)
        return self.turn if self.turn.stop else Again("")

    def _count(self, usage: Usage | None) -> None:
        used = usage or Usage(0, 0)
        self.turn = replace(
            self.turn,
            calls=self.turn.calls + 1,
            input_tokens=self.turn.input_tokens + (used.input_tokens or 0),
            output_tokens=self.turn.output_tokens + (used.output_tokens or 0),
        )

    def _stop(self, reason: StopReason, error: str = "") -> None:
        state: TurnState = "failed" if reason == "error" else "completed"
        self.turn = replace(self.turn, stop=reason, error=error, state=state, answer=clean(self.turn.answer))

    def _failed(self, seen: Exchange, error: ModelError) -> None:
        if error.fault is ModelFault.CONTEXT_LENGTH and not seen.counts["long"]:
            seen.counts["long"] += 1
            seen.messages = shortened((seen.messages[0], *seen.messages[_first_of_turn(seen.messages) :]))
        elif error.fault is ModelFault.CONTEXT_LENGTH:
            self._stop("error", _("The question does not fit into the window of the model. Send less with it."))
        elif error.fault is ModelFault.EMPTY:
            self._nothing(seen)
        elif error.fault in _LOST and self._fresh and seen.counts["lost"] < _MOST_LOST:
            seen.counts["lost"] += 1
        else:
            self._stop("error", str(error if self._fresh else error.with_partial_kept()))

    def _nothing(self, seen: Exchange) -> None:
        seen.counts["empty"] += 1
        if seen.counts["empty"] >= _MOST_EMPTY:
            self._stop("error", _("The model gave no answer."))

    async def _answered(self, seen: Exchange, answer: Answer) -> None:
        if answer.finish == "content_filter":
            self._stop("refusal", _("The provider refused to answer."))
        elif answer.finish == "length":
            counted = answer.usage.output_tokens
            cut = _("The answer was cut off after {n} tokens.").format(n=counted)
            self._stop("max_tokens", cut if counted else _("The answer was cut off at its length limit."))
        elif answer.tool_calls and self._calls < _ROUNDS:
            await self._carry_out(seen, answer)
        elif answer.text.strip():
            self._stop("end_turn")
        elif answer.tool_calls:
            self._stop("max_turn_requests", _("The limit of {n} rounds is reached.").format(n=_ROUNDS))
        else:
            self._nothing(seen)
        tokens = self.turn.input_tokens + self.turn.output_tokens - self._tokens_before
        if not self.turn.stop and tokens >= _TOKENS:
            self._stop("max_tokens", _("The limit of {n} tokens is reached.").format(n=_TOKENS))

    async def _carry_out(self, seen: Exchange, answer: Answer) -> None:
        """Carries out the calls in order; each gets its own answer, and a duplicate is carried out once."""
        calls = tuple(map(as_sent_back, answer.tool_calls))
        reply = Message("assistant", answer.text, calls, thinking=answer.thinking, signature=answer.signature)
        results: list[Message] = []
        done: set[str] = set()
        for call in answer.tool_calls:
            if self.turn.stop or call.id in done:
                outcome = Outcome("Not carried out: the turn has ended, or this call was carried out.", refused=True)
            else:
                outcome, used = await self._tools.call(call, self.turn)
                self.turn = replace(self.turn, used=(*self.turn.used, used))
                if used.proposals or used.permission:
                    seen.equal.clear()
                    await self._keep(self.turn)
                else:
                    outcome = self._repeated(seen, (call.name, call.arguments), outcome)
                seen.counts["broken"] = seen.counts["broken"] + 1 if outcome.broken else 0
            done.add(call.id)
            results.append(Message("tool", outcome.text, tool_call_id=call.id))
        seen.messages = (*seen.messages, reply, *results)
        if not self.turn.stop and seen.counts["broken"] >= _MOST_BROKEN:
            self._stop("error", _("The model gave arguments that cannot be read, {n} times.").format(n=_MOST_BROKEN))

    def _repeated(self, seen: Exchange, call: tuple[str, str], outcome: Outcome) -> Outcome:
        seen.equal[call] += 1
        if seen.equal[call] >= _MOST_EQUAL:
            self._stop("error", _("The model repeated the same call {n} times.").format(n=_MOST_EQUAL))
        elif seen.equal[call] >= _WARNED_AFTER:
            warning = f"{outcome.text}\nThis same call was made {seen.equal[call]} times. Do otherwise, or answer."
            return replace(outcome, text=warning)
        return outcome


def _first_of_turn(messages: Sequence[Message]) -> int:
    """The index of this turn's question: the last message of the writer."""
    return max(at for at, each in enumerate(messages) if each.role == "user")
