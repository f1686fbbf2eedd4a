"""The conversations of a project: questions are queued, answers are streamed, can be stopped at once, and are
stored."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.conversation.messages import PROMPT, messages_of, with_sent
from flowcabal_tui.agents.conversation.permissions import may_apply
from flowcabal_tui.agents.conversation.places import citations
from flowcabal_tui.agents.conversation.talk import ANSWER_TOKENS, OpenQuestion, Talk
from flowcabal_tui.agents.conversation.tools import TalkTools, tools_at
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.conversation import (
    AskQuote,
    Chip,
    ChipCost,
    Conversation,
    ConversationId,
    ConversationLevel,
    Permission,
    PermissionOption,
    Scope,
    Turn,
)
from flowcabal_tui.domain.errors import FlowCabalError, Gone, RunError
from flowcabal_tui.domain.ids import ChapterId, RunId
from flowcabal_tui.domain.model_calls import Answer, ModelRequest
from flowcabal_tui.domain.proposals import Proposal, ProposalId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import bound_of_request
from flowcabal_tui.models.collect import TEXT_ARRIVES
from flowcabal_tui.project.conversation.changing import ProjectChanges
from flowcabal_tui.project.conversation.reading import ProjectBook
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.words import money
from flowcabal_tui.protocol.conversations import AnswerStreaming, TurnChanged
from flowcabal_tui.runner.effects import whole

log = logging.getLogger(__name__)
INSTRUCTION: Final = "instruction"
"""The input of a workflow that takes the writer's instruction."""


class Conversations:
    """Runs conversations. Lives on the engine's loop."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._store, self._clock = parts, parts.store.conversations, parts.base.clock
        self._book, self._changes = ProjectBook(parts), ProjectChanges(parts)
        self._levels: dict[ConversationId, tuple[ConversationLevel, Scope | None]] = {}
        """Levels that were set since the program started; those above "suggest" are stored nowhere else."""
        self._turns: defaultdict[ConversationId, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: dict[ConversationId, asyncio.Task[Turn]] = {}
        self._stopped: dict[ConversationId, int] = {}
        """Numbers up to which questions are not sent by themselves, because the writer has stopped them."""

    async def get(self, identity: ConversationId) -> Conversation:
        """A conversation with its present level. Raises Gone."""
        known = await self._store.get(identity)
        level, scope = self._levels.get(identity, (known.level, known.scope))
        return replace(known, level=level, scope=scope)

    async def set_level(self, identity: ConversationId, level: ConversationLevel, scope: Scope | None) -> None:
        """Sets the level. Raises RunError for "do" without a scope, Gone."""
        if level == "do" and (scope is None or (scope.kind != "lore" and not scope.target)):
            raise RunError(_("Name what may be changed: a chapter, the lore, or a workflow."))
        await self._store.set_level(identity, level, scope)
        self._levels[identity] = (level, scope)
        self._parts.base.emit(TurnChanged(identity, 0))

    async def ask(self, identity: ConversationId, text: str, chips: tuple[Chip, ...]) -> int:
        """Adds a question, answers it in its turn, and returns its number. Raises RunError, Gone."""
        question = clean(text).strip()
        if not question:
            raise RunError(_("There is no question."))
        await self.get(identity)
        turn = await self._store.add(Turn(identity, 0, question, self._clock(), chips))
        self._parts.base.emit(TurnChanged(identity, turn.number, "pending"))
        return await self._in_turn(identity, turn.number)

    async def send(self, identity: ConversationId, number: int) -> int:
        """Sends a waiting question, or repeats one whose answer was cut off; no answer is paid for twice."""
        turn = await self._store.turn(identity, number)
        if turn.state == "in_progress" or turn.stop == "end_turn":
            raise RunError(_("This question is answered."))
        await self._store.put(replace(turn, state="pending", answer="", stop="", error="", citations=()))
        return await self._in_turn(identity, number, again=True)

    async def _in_turn(self, identity: ConversationId, number: int, *, again: bool = False) -> int:
        async with self._turns[identity]:
            if number <= self._stopped.get(identity, 0) and not again:
                return number
            with suppress(Gone):  # it was deleted while it waited
                turn = await self._store.turn(identity, number)
                if turn.state == "pending":
                    await self._answer(await self.get(identity), turn)
        return number

    async def _answer(self, talk: Conversation, turn: Turn) -> None:
        level, scope = talk.level, talk.scope if talk.level == "do" else None
        used = tuple(each for each in turn.used if each.proposals)  # of a first try: they keep their undo, and count
        begun = replace(turn, state="in_progress", level=level, scope=scope, answer="", used=used, error="", stop="")
        await self._store.put(begun)
        self._parts.base.emit(TurnChanged(talk.id, turn.number, "in_progress"))
        task = self._tasks[talk.id] = asyncio.create_task(self._talked(begun))
        try:
            ended = await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            raise
        finally:
            self._tasks.pop(talk.id, None)
        self._parts.base.emit(TurnChanged(talk.id, turn.number, ended.state))

    async def _talked(self, turn: Turn) -> Turn:
        """Carries out the turn and stores its end: answered, stopped, or failed with a reason."""
        talk: Talk | None = None
        try:
            talk = await self._talk(turn)
            ended = await talk.pursue(OpenQuestion(turn, await self._earlier(turn)))
        except asyncio.CancelledError:
            ended = replace(talk.turn if talk else turn, state="completed", stop="cancelled")
        except FlowCabalError as error:
            ended = _failed(talk.turn if talk else turn, str(error))
        except Exception as error:  # the edge of a worker: a question is never left open by a mistake
            log.exception("conversation")
            why = _("The answer stopped because of an error in the program: {error}").format(error=repr(error))
            ended = _failed(talk.turn if talk else turn, why)
        ended = replace(ended, answer=clean(ended.answer))
        await whole(self._keep(ended))
        return ended

    async def _keep(self, ended: Turn) -> None:
        await self._store.put(replace(ended, citations=await citations(ended.answer, self._book)))

    async def _talk(self, turn: Turn) -> Talk:
        await self._parts.base.models.learn_windows()
        model, journal = HeardModel(self._parts.base.models.agent), _Journal(self._parts, turn)
        tools = TalkTools(self._book, self._changes)
        counter = self._parts.base.models.counter
        return Talk(turn, model, self._book, tools, self._parts.base.prompts, counter, journal.heard, journal.keep)

    async def _earlier(self, turn: Turn) -> tuple[Turn, ...]:
        turns = await self._store.turns(turn.conversation)
        return tuple(each for each in turns if each.number < turn.number)

    async def stop(self, identity: ConversationId) -> None:
        """Stops the running answer; questions queued behind it stay unsent."""
        self._stopped[identity] = sys.maxsize
        if (task := self._tasks.get(identity)) is not None:
            task.cancel()
        turns = await self._store.turns(identity)
        self._stopped[identity] = max((each.number for each in turns), default=0)

    async def permit(self, identity: ConversationId, number: int, call: str, option: PermissionOption) -> str:
        """Grants or refuses the permission of a call; returns the id of the run or build, or the number of findings.

        Raises RunError when it is already answered, and the errors of starting a run; then it can be answered again.
        """
        turn = await self._store.turn(identity, number)
        permission = next((each.permission for each in turn.used if each.id == call and each.permission), None)
        if permission is None or permission.answer:
            raise RunError(_("Nothing waits for an answer there."))
        if option in ("allow_always", "reject_always"):
            raise RunError(_("Each run, build or check must be allowed separately."))
        if option == "allow_once":
            await self._changes.require_sealed(permission, turn)
            await self._require_price(turn, call, permission)
        # It is answered before it begins: a kill in between starts nothing, and nothing begins twice.
        await self._store.put(turn.with_permission(call, replace(permission, answer=option)))
        made = ""
        if option == "allow_once":
            try:
                made = await self._begin(permission, turn, call)
            except FlowCabalError:
                await self._store.put(turn)
                raise
        answered = replace(permission, answer=option, made=made)
        latest = await self._store.turn(identity, number)
        await self._store.put(latest.with_permission(call, answered))
        self._parts.base.emit(TurnChanged(identity, number))
        return made

    async def _require_price(self, turn: Turn, call: str, permission: Permission) -> None:
        """Raises RunError when what was free, or without a limit, has another price by now; the card shows it then."""
        if permission.limit is not None or permission.kind == "build":
            return
        if permission.kind == "run":
            price, limit = await self._book.quote_run(permission.workflow, permission.chapter)
        else:
            chapter = await self._parts.store.book.chapter(permission.chapter or ChapterId(""))
            price, limit = await self._book.quote_check(chapter)
        if (price, limit) == (permission.price, None):
            return
        now = await self._changes.sealed(replace(permission, price=price, limit=limit), turn)
        await self._store.put(turn.with_permission(call, now))
        self._parts.base.emit(TurnChanged(turn.conversation, turn.number))
        raise RunError(_("The price has changed."), price, _("Nothing was started. Answer again if you agree."))

    async def _begin(self, permission: Permission, turn: Turn, call: str) -> str:
        if permission.kind == "build":
            proposal = await self._changes.build(permission)
            await self._raised(turn, call, (proposal.id,), applied=await self._applied(turn, proposal))
            return getattr(proposal.difference.after, "id", "")
        if permission.kind == "check":
            job = RunId(f"{turn.conversation}/{turn.number}/{call}")
            found = await self._changes.check(permission.chapter or ChapterId(""), permission, job)
            await self._raised(turn, call, found)
            return str(len(found))
        inputs = ((INSTRUCTION, permission.words),) if permission.words else ()
        request = RunRequest(permission.workflow, permission.chapter, inputs, limit=permission.limit)
        return await self._parts.runs.manager.start(request)

    async def _applied(self, turn: Turn, proposal: Proposal) -> bool:
        """Applies a change at once if both the level of the question and the present level allow it."""
        now = await self.get(turn.conversation)
        if not may_apply(turn, proposal) or not may_apply(replace(turn, level=now.level, scope=now.scope), proposal):
            return False
        await self._changes.apply(proposal)
        return True

    async def _raised(self, turn: Turn, call: str, proposals: tuple[ProposalId, ...], *, applied: bool = False) -> None:
        """Adds the effects of a call to the current turn."""
        latest = await self._store.turn(turn.conversation, turn.number)
        used = tuple(
            replace(each, proposals=(*each.proposals, *proposals), applied=applied) if each.id == call else each
            for each in latest.used
        )
        await self._store.put(replace(latest, used=used))

    async def delete(self, identity: ConversationId) -> None:
        """Deletes a conversation after stopping its running work. Raises Gone."""
        await self.stop(identity)
        await self._store.delete(identity)
        self._levels.pop(identity, None)
        self._parts.base.emit(TurnChanged(identity, 0))

    async def quote(self, identity: ConversationId | None, text: str, chips: tuple[Chip, ...]) -> AskQuote:
        """The highest price of the first call of a question; spends nothing."""
        talk = await self.get(identity) if identity else None
        level, scope = (talk.level, talk.scope) if talk else ("ask", None)
        turn = Turn(identity or ConversationId(""), 0, clean(text), self._clock(), chips, level, scope)
        earlier = await self._store.turns(identity) if identity else ()
        counter, sent = self._parts.base.models.counter, await self._book.sent(chips)
        around = await self._book.surroundings(turn.asked, sent)
        messages = await messages_of(turn, earlier, self._book, sent, around, self._parts.base.prompts, counter)
        request = ModelRequest(messages, PROMPT, max_tokens=ANSWER_TOKENS, tools=tools_at(level))
        costs = tuple(ChipCost(each.chip, each.title, counter.count(each.text)) for each in sent)
        endpoint = self._parts.base.models.endpoint("agent")
        bound = bound_of_request(counter, endpoint, request) if endpoint else None
        price = money(bound.cost, endpoint.currency) if endpoint and bound and bound.cost is not None else None
        return AskQuote(costs, counter.count_request(request), price, with_sent(around.receipt, sent, counter))

    async def close(self) -> None:
        """Stops all answers; the parts received so far are kept."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _failed(turn: Turn, why: str) -> Turn:
    return replace(turn, state="failed", stop="error", error=why)


class _Journal:
    """Stores a turn while it is answered: pieces as they arrive, its state after every round."""

    def __init__(self, parts: Parts, turn: Turn) -> None:
        self._parts, self._identity, self._number, self._offset = parts, turn.conversation, turn.number, 0

    def heard(self, piece: str) -> None:
        """Stores a piece of the answer."""
        self._parts.store.conversations.piece(self._identity, self._number, piece)
        self._parts.base.emit(AnswerStreaming(self._identity, self._number, self._offset, piece))
        self._offset += len(piece)

    async def keep(self, turn: Turn) -> None:
        """Stores the turn. Its end is stored with its citations instead."""
        if not turn.stop:
            await self._parts.store.conversations.put(turn)
            self._parts.base.emit(TurnChanged(self._identity, self._number, "in_progress"))


class HeardModel:
    """Implements the conversation's `TalkingModel`. `model` returns the agents' model and raises ModelError."""

    def __init__(self, model: Callable[[], PaidOnce]) -> None:
        self._model = model

    async def answer(self, request: ModelRequest, heard: Callable[[str], None]) -> Answer:
        before = TEXT_ARRIVES.set(heard)
        try:
            return await self._model().answer(request)
        finally:
            TEXT_ARRIVES.reset(before)
