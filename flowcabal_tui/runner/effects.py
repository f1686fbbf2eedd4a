"""What a node changes in the state, kept together with its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.state import DualState, StateEffect


async def with_effect(state: DualState, effect: StateEffect, keep: Callable[..., Awaitable[None]]) -> None:
    """Changes the state and keeps the change; at once, so that no node computes from what was before.

    When it cannot be kept, the keys get back what they held.
    """
    keys = (*effect.updates, *effect.keys)
    before = state.entries(keys)
    state.apply(effect)
    try:
        await keep(state=state.entries(keys) if state.durable else ())
    except FlowCabalError:
        state.put(before)
        raise
