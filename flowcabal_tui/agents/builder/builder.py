"""The Builder with a model: a limited number of rounds with tools on a copy, which can be reviewed in any case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, Protocol

from flowcabal_tui.agents.builder.branches import Simulator
from flowcabal_tui.agents.builder.build_state import Build, BuildLimits, BuildRound, ToolUse
from flowcabal_tui.agents.builder.build_tools import BuildTools
from flowcabal_tui.agents.builder.changes import changes_between
from flowcabal_tui.agents.builder.vocabulary import BuildTurn, BuildVocabulary, Outcome
from flowcabal_tui.agents.tool_calls import as_sent_back
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, ModelFault
from flowcabal_tui.domain.model_calls import Answer, Message, ModelRequest, Usage
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, sentences

USUAL: Final = BuildLimits()
Keep = Callable[[Build], Awaitable[None]]
Priced = Callable[[Usage], Decimal | None]
_PAID_BEFORE: Final = Usage(0, 0)
PURPOSE: Final = "builder"
_MOST_PROSE: Final = 2
_MOST_EMPTY: Final = 3
_MOST_BROKEN: Final = 3
_WARN_AFTER: Final = 3
_MOST_EQUAL: Final = 5
_MOST_LOST: Final = 2
_KEPT_ARGUMENTS: Final = 2_000
ANSWER_TOKENS: Final = 8_000
_KEPT_REQUEST: Final = 20_000
"""Characters of its request that a round keeps."""
_LOST: Final = frozenset((ModelFault.TRUNCATED, ModelFault.NETWORK, ModelFault.STALLED, ModelFault.PROTOCOL))
_REMINDER: Final = "Use the tools: edit the copy, check it, finish; or ask_writer. Text alone changes nothing."


class AnsweringModel(Protocol):
    """The interface of the model that the Builder calls."""

    async def answer(self, request: ModelRequest) -> Answer:
        """The whole answer. Raises ModelError, BudgetExceeded."""


class ModelBuilder:
    """Builds with a model. `keep` is called after every round, so that a build survives the program."""

    def __init__(
        self,
        model: AnsweringModel,
        simulate: Simulator,
        keep: Keep,
        limits: BuildLimits = USUAL,
        priced: Priced = lambda _usage: None,
    ) -> None:
        """`priced` returns the cost of a call, or None if it is unknown."""
        self._model, self._simulate, self._keep = model, simulate, keep
        self._limits, self._priced = limits, priced

    async def build(self, build: Build, vocabulary: BuildVocabulary | None = None) -> Build:
        """Continues until the build is finished, asks or is stopped; a failing model stops it. `vocabulary`: tools."""
        build.status, build.stopped = "building", ""
        does = vocabulary or BuildTools(build, self._simulate, self._limits)
        rounds = _Rounds(build, self._model, does, self._limits, self._priced)
        while build.status == "building":
            await rounds.one()
            await self._keep(build)
        if build.status == "stopped" and not changes_between(build.copied.base, build.copied.document):
            build.stopped = sentences(build.stopped, _("Nothing was changed."))
            await self._keep(build)
        return build


class _Rounds:
    """The rounds of one build and their limits."""

    def __init__(
        self, build: Build, model: AnsweringModel, does: BuildVocabulary, limits: BuildLimits, priced: Priced
    ) -> None:
        self._build, self._model, self._does, self._limits, self._priced = build, model, does, limits, priced
        self._messages: tuple[Message, ...] = does.beginning()
        self._earlier: tuple[Message, ...] = ()
        """The messages of the round before."""
        self._sent = self._messages
        self._equal: Counter[tuple[str, str]] = Counter()
        self._counts: Counter[str] = Counter()
        """Answers in prose, empty ones, broken arguments in a row, lost and too long ones."""

    async def one(self) -> None:
        """Makes one call of the model and carries out the tool calls in its answer."""
        build, limits = self._build, self._limits
        if len(build.rounds) >= limits.rounds:
            build.stop(_("The limit of {n} rounds is reached.").format(n=limits.rounds))
            return
        if build.tokens >= limits.tokens:
            build.stop(_("The limit of {n} tokens is reached.").format(n=limits.tokens))
            return
        tools, self._sent = self._does.tools, self._messages
        request = ModelRequest(self._sent, PURPOSE, max_tokens=ANSWER_TOKENS, temperature=0.2, tools=tools)
        try:
            answer = await self._model.answer(request)
        except BudgetExceeded as error:
            build.stop(str(error))
        except ModelError as error:
            self._failed(error)
        else:
            await self._answered(answer)

    def _failed(self, error: ModelError) -> None:
        self._note("", (), error.usage or Usage(), error.title)
        if error.fault is ModelFault.CONTEXT_LENGTH:
            self._too_long(_("The build does not fit into the window of the model."))
        elif error.fault is ModelFault.EMPTY:
            self._nothing()
        elif error.fault in _LOST and self._counts["lost"] < _MOST_LOST:
            self._counts["lost"] += 1
        else:
            self._build.stop(str(error))

    async def _answered(self, answer: Answer) -> None:
        used = _PAID_BEFORE if answer.cached else answer.usage
        if answer.text.strip():
            self._build.remarks = (*self._build.remarks, clean(answer.text.strip())[:_KEPT_ARGUMENTS])
        if answer.finish == "length":
            self._note(answer.text, (), used, _("The answer was cut off."))
            counted = answer.usage.output_tokens
            cut = _("The answers of the model are cut off after {n} tokens.").format(n=counted)
            self._too_long(cut if counted else _("The answers of the model are cut off at their length limit."))
        elif answer.tool_calls:
            await self._calls(answer, used)
        else:
            await self._no_calls(answer, used)

    async def _no_calls(self, answer: Answer, used: Usage) -> None:
        turn = await self._does.after(answer.text, 0)
        if turn.settled:
            self._note(answer.text, (), used)
            self._messages = (*self._messages, Message("assistant", answer.text))
            self._follow(turn)
        elif answer.text.strip():
            self._note(answer.text, (), used)
            self._prose(answer)
        else:
            self._note("", (), used, _("The model gave no answer."))
            self._nothing()

    def _follow(self, turn: BuildTurn) -> None:
        if self._build.status == "building":
            self._messages = self._does.beginning() if turn.restart else (*self._messages, *turn.messages)

    async def _calls(self, answer: Answer, used: Usage) -> None:
        """Carries out the calls in order; each gets its own answer."""
        calls = tuple(map(as_sent_back, answer.tool_calls))
        reply = Message("assistant", answer.text, calls, thinking=answer.thinking, signature=answer.signature)
        results, uses, rounds = [], [], list[BuildRound]()
        done: set[str] = set()
        for call in answer.tool_calls:
            if self._build.status != "building" or call.id in done:
                outcome = Outcome("Not carried out: the build has ended, or this call was carried out.", refused=True)
            else:
                made = len(self._build.copied.made)
                outcome = self._repeated((call.name, call.arguments), await self._does.call(call), made)
                self._counts["broken"] = self._counts["broken"] + 1 if outcome.broken else 0
            done.add(call.id)
            results.append(Message("tool", outcome.text, tool_call_id=call.id))
            uses.append(ToolUse(call.name, call.arguments[:_KEPT_ARGUMENTS], outcome.text, outcome.refused))
            rounds += outcome.rounds
        self._messages = (*self._messages, reply, *results)
        self._note(answer.text, uses, used)
        for each in rounds:
            price = self._priced(Usage(each.input_tokens, each.output_tokens))
            self._build.rounds.append(replace(each, number=len(self._build.rounds) + 1, cost=price))
        if self._build.status == "building":
            self._follow(await self._does.after(answer.text, len(answer.tool_calls)))
        if self._build.status == "building" and self._counts["broken"] >= _MOST_BROKEN:
            self._build.stop(_("The model gave arguments that cannot be read, {n} times.").format(n=_MOST_BROKEN))

    def _repeated(self, call: tuple[str, str], outcome: Outcome, made: int) -> Outcome:
        """Answers repeated calls that change nothing with a warning, then ends the build."""
        if len(self._build.copied.made) != made or self._build.status != "building":
            self._equal.clear()
            return outcome
        self._equal[call] += 1
        if self._equal[call] >= _MOST_EQUAL:
            self._build.stop(_("The model repeated the same call {n} times.").format(n=_MOST_EQUAL))
        elif self._equal[call] >= _WARN_AFTER:
            return replace(
                outcome, text=f"{outcome.text}\nThis same call was made {self._equal[call]} times. Do otherwise."
            )
        return outcome

    def _prose(self, answer: Answer) -> None:
        self._counts["prose"] += 1
        if self._counts["prose"] < _MOST_PROSE:
            self._messages = (*self._messages, Message("assistant", answer.text), Message("user", _REMINDER))
            return
        question = clean(answer.text.strip())[:_KEPT_ARGUMENTS]
        if not any(mark in question for mark in "?？"):
            question = _("The model changed nothing and answered: {words}").format(words=question)
        self._build.status, self._build.questions = "asks", (question,)

    def _nothing(self) -> None:
        self._counts["empty"] += 1
        if self._counts["empty"] >= _MOST_EMPTY:
            self._build.stop(_("The model gave no answer."))

    def _too_long(self, why: str) -> None:
        """Drops the messages so far, once; the state is described again from the copy."""
        self._counts["long"] += 1
        if self._counts["long"] > 1:
            self._build.stop(why)
        self._messages = self._does.beginning()

    def _note(self, text: str, calls: Sequence[ToolUse], used: Usage, failed: str = "") -> None:
        """Records the round: the new part of the request, its result, and its tokens."""
        new = [each.content for each in self._sent if each.role == "user" and each not in self._earlier]
        made = BuildRound(
            len(self._build.rounds) + 1,
            clean(text)[:_KEPT_ARGUMENTS],
            tuple(calls),
            used.input_tokens,
            used.output_tokens,
            failed,
            clean("\n\n".join(new))[:_KEPT_REQUEST],
            self._build.covered,
            self._priced(used),
        )
        self._earlier = self._sent
        self._build.rounds.append(made)


def plain_round(made: BuildRound) -> Mapping[str, Any]:
    """A round as JSON."""
    calls = [
        {"tool": use.name, "arguments": use.arguments, "answer": use.answer, "refused": use.refused}
        for use in made.calls
    ]
    used: dict[str, Any] = {"input_tokens": made.input_tokens, "output_tokens": made.output_tokens}
    used |= {"cost": None if made.cost is None else str(made.cost)}
    fields = {"round": made.number, "request": made.request, "text": made.text, "calls": calls}
    return {**fields, "covered": list(made.covered), **used, "failed": made.failed}
