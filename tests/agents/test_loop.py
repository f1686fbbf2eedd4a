from __future__ import annotations

import pytest

from flowcabal_tui.agents.loop import Again, Agent


class Guesser(Agent[int, int, int, str]):
    rounds = 3

    async def observe(self, goal: int) -> int:
        return goal

    async def reason(self, goal: int, seen: int, hints: tuple[str, ...]) -> int:
        return len(hints) + 1

    async def act(self, goal: int, seen: int, thought: int, last: bool) -> str | Again:
        return f"found in round {thought}" if thought == goal else Again("higher")


async def test_hints_of_earlier_rounds_reach_the_next_one() -> None:
    assert await Guesser().pursue(3) == "found in round 3"


async def test_the_loop_is_bounded() -> None:
    with pytest.raises(RuntimeError):
        await Guesser().pursue(4)
