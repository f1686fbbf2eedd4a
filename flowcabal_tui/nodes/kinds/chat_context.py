"""`chat_context`: makes messages for a chat from the state and the user's input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import Field

from flowcabal_tui.nodes.base import NodeContext
from flowcabal_tui.nodes.kinds.item_kinds import Item, ItemKind, ItemParams


class ChatContextParams(ItemParams):
    """The fields for the messages."""

    into: str = Field("messages", description="The field for the messages; empty: none.")
    slots: str = Field("", description="A field for the state itself, as {state_for_prompt}; empty: none.")


class ChatContext(ItemKind):
    """A system message with the state as prompts see it, and a user message with the item's `user_input`."""

    name: ClassVar[str] = "chat_context"
    params: ClassVar[type[ChatContextParams]] = ChatContextParams

    def fingerprint(self, context: NodeContext, params: ChatContextParams) -> Any:
        return [context.memory.view(prompt=True)]

    async def work(self, context: NodeContext, params: ChatContextParams, item: Item) -> Iterable[Item]:
        state = context.memory.view(prompt=True)
        made = {params.into: messages_of(state, item), params.slots: {"state_for_prompt": state}}
        return ({**item, **{field: value for field, value in made.items() if field}},)


def messages_of(state: Mapping[str, Any], item: Item) -> list[dict[str, str]]:
    """The state as `key=value` lines in the order of the keys, and the user's input: SmartTavern's own format."""
    lines = [f"{key}={state[key]}" for key in sorted(state)] or ["(empty)"]
    text = str(item.get("user_input", "")).strip()
    user = [{"role": "user", "content": text}] if text else []
    return [{"role": "system", "content": "\n".join(("[world_state]", *lines))}, *user]


KIND = ChatContext()
