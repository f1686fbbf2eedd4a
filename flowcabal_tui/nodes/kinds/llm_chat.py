"""`llm_chat`: a call of a language model for each item, with the messages that the item holds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from pydantic import Field

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.formats import text_of
from flowcabal_tui.domain.items import items_of
from flowcabal_tui.domain.model_calls import Message, ModelRequest, Role
from flowcabal_tui.domain.sampling import FrequencyPenalty, PresencePenalty, Sampled, Seed, Stop, TopP
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, Produced
from flowcabal_tui.nodes.kinds.chat_context import messages_of
from flowcabal_tui.nodes.kinds.item_kinds import Carried, Item, ItemError, ItemKind, ItemParams, OnError, field_of
from flowcabal_tui.nodes.kinds.prompt import cut_words

ROLES: Final = ("system", "user", "assistant")


class LlmChatParams(ItemParams, Sampled):
    """The messages to send, and the model that answers."""

    messages_from: str = Field(
        "messages", description="The field that contains a list of {role, content}, or a text for one message."
    )
    response_field: str = Field("response", description="The field that receives the answer.")
    world: bool = Field(
        False, description="Items without a list of messages: send the state and the field `user_input`."
    )
    role: Role = Field("user", description="Which of the project's models answers: user or agent.")
    model: str | None = Field(None, description="Another configured model, or one of the same provider.")
    temperature: float | None = Field(None, ge=0, le=2, description="How freely the model chooses its words.")
    top_p: TopP = None
    frequency_penalty: FrequencyPenalty = None
    presence_penalty: PresencePenalty = None
    stop: Stop = ()
    seed: Seed = None
    max_tokens: int | None = Field(None, ge=1, description="The maximum length of an answer.")
    sample: int = Field(0, ge=0, description="The number of this answer; equal numbers are paid for once.")
    on_error: OnError = Field("fail", description="As for every item kind; a call that fails stops the node.")


class LlmChat(ItemKind):
    """The calls run in parallel; their answers are stored even if another call fails."""

    name: ClassVar[str] = "llm_chat"
    params: ClassVar[type[LlmChatParams]] = LlmChatParams
    bounded: ClassVar[bool] = True

    def model_calls(self, params: LlmChatParams) -> tuple[PromptParams, ...]:
        return (_prompt(params),)

    def fingerprint(self, context: NodeContext, params: LlmChatParams) -> Any:
        return [context.models.identity(_prompt(params)), context.memory.view(prompt=True) if params.world else None]

    async def run(self, context: NodeContext, params: LlmChatParams) -> Produced:
        items = items_of(context.bind(params.source))
        answers = await asyncio.gather(
            *(_answer(context, params, item, number) for number, item in enumerate(items, 1)), return_exceptions=True
        )
        carried = Carried(params.on_error)
        for number, (item, answer) in enumerate(zip(items, answers, strict=True)):
            if isinstance(answer, FlowCabalError):
                carried.failed(item, number, answer)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                text, cut = answer
                carried.add(({**item, params.response_field: text},))
                if cut:
                    carried.add_error(cut, number)
        return Produced(carried.value)


async def _answer(context: NodeContext, params: LlmChatParams, item: Item, number: int) -> tuple[str, str]:
    """The answer, and why it is cut off; "" for a whole one. Raises FlowCabalError."""
    request = ModelRequest(
        messages=tuple(_messages(context, params, item)),
        purpose=f"node:{context.node.id}",
        max_tokens=params.max_tokens,
        temperature=params.temperature,
        parameters=params.sampling,
    )
    attempt = await context.models.generate(request, _prompt(params), None, number=number)
    return attempt.text, cut_words(attempt)


def _messages(context: NodeContext, params: LlmChatParams, item: Item) -> list[Message]:
    if params.world and not isinstance(item.get(params.messages_from), list):
        return [_message(one) for one in messages_of(context.memory.view(prompt=True), item)]
    given = field_of(item, params.messages_from)
    if isinstance(given, str):
        return [Message("user", given)]
    if not isinstance(given, list) or not given:
        raise ItemError(_("{field} contains no messages.").format(field=params.messages_from))
    return [_message(one) for one in given]


def _message(given: Any) -> Message:
    if not isinstance(given, Mapping) or given.get("role") not in ROLES or not isinstance(given.get("content"), str):
        raise ItemError(
            _("A message needs a role ({names}) and a text as its content.").format(names=_(", ").join(ROLES)),
            text_of(given)[:200],
        )
    return Message(given["role"], given["content"])


def _prompt(params: LlmChatParams) -> PromptParams:
    return PromptParams(
        role=params.role,
        model=params.model,
        temperature=params.temperature,
        **dict(params.sampling),
        max_tokens=params.max_tokens,
        sample=params.sample,
        context=False,
    )


KIND = LlmChat()
