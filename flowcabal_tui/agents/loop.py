"""The loop shared by all agents: observe, reason, act; repeated a limited number of times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

Goal = TypeVar("Goal")
Seen = TypeVar("Seen")
Thought = TypeVar("Thought")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Again:
    """Returned by `act` when a further round may help: a hint for the next `reason`."""

    hint: str


class Agent(ABC, Generic[Goal, Seen, Thought, Outcome]):
    """One agent in three phases. It observes once; reasoning and acting repeat up to `rounds` times."""

    rounds: int = 1

    @abstractmethod
    async def observe(self, goal: Goal) -> Seen:
        """Reads the inputs of the goal. Calls no model and writes nothing."""

    @abstractmethod
    async def reason(self, goal: Goal, seen: Seen, hints: tuple[str, ...]) -> Thought:
        """Decides the next action, by rule or with a model; `hints` come from earlier rounds."""

    @abstractmethod
    async def act(self, goal: Goal, seen: Seen, thought: Thought, last: bool) -> Outcome | Again:
        """Turns the thought into the outcome. In the `last` round it must not ask for another."""

    async def pursue(self, goal: Goal) -> Outcome:
        """Runs the loop to its outcome. Raises the exceptions of its phases."""
        seen = await self.observe(goal)
        hints: tuple[str, ...] = ()
        for number in range(1, self.rounds + 1):
            thought = await self.reason(goal, seen, hints)
            outcome = await self.act(goal, seen, thought, number == self.rounds)
            if not isinstance(outcome, Again):
                return outcome
            hints = (*hints, outcome.hint)
        raise RuntimeError(f"{type(self).__name__} asked for another round in its last one")
