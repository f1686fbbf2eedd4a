"""Changes of the state by a node, stored together with the node's end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.state import DualState, StateEffect


async def with_effect(state: DualState, effect: StateEffect, keep: Callable[..., Coroutine[Any, Any, None]]) -> None:
    """Changes the state and stores the change at once, so that no node computes from the earlier state.

    If it cannot be stored, the keys get their earlier values back.
    """
    keys = (*effect.updates, *effect.keys)
    before = state.entries(keys)
    state.apply(effect)
    try:
        await whole(keep(state=state.entries(keys) if state.durable else ()))
    except Exception:  # an invalid text or a full disk: in any case nothing is on disk
        state.put(before)
        raise


def again(state: DualState, effects: Mapping[NodeId, StateEffect]) -> None:
    """Replays the logged changes in order, unless the state itself was stored."""
    if not state.durable:
        for effect in effects.values():
            state.apply(effect)


async def whole(ending: Coroutine[Any, Any, None]) -> None:
    """Awaits the record of the end of a node that acted on the outside world or changed the state.

    Ignores cancellation meanwhile, so that no action runs twice and no change is separated from its record.
    """
    task = asyncio.ensure_future(ending)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    task.result()
