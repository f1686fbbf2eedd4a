"""A model that plays right answers of the bench through the real tools, and what that takes."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from flowcabal_tui.agents.builder.build_state import Build
from flowcabal_tui.agents.builder.builder import ModelBuilder
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.edits import Edit
from flowcabal_tui.agents.builder.edits_between import edits_between
from flowcabal_tui.agents.builder.working_copy import WorkingCopy
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import (
    Answer,
    ModelEvent,
    ModelRequest,
    ToolCall,
    Usage,
)
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.project.builder.simulated_runs import SimulatedRuns
from tests.agents.builder_briefs import known_in

Turn = list[tuple[str, Json]]


@dataclass
class Player:
    """A ModelPort that takes a turn a call; the tokens of its prompts are counted with the schemas of the tools."""

    turns: list[Turn]
    counter: TokenCounter
    prompts: list[int] = field(default_factory=list)

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint("openai", "player")

    async def answer(self, request: ModelRequest) -> Answer:
        said = "".join(each.content + "".join(call.arguments for call in each.tool_calls) for each in request.messages)
        schemas = json.dumps([[each.name, each.description, each.parameters] for each in request.tools])
        self.prompts.append(self.counter.count(said) + self.counter.count(schemas))
        turn = self.turns.pop(0)
        calls = [ToolCall(f"call_{n}", name, json.dumps(given)) for n, (name, given) in enumerate(turn)]
        return Answer("", "tool", Usage(self.prompts[-1], 100), "player", tool_calls=tuple(calls))

    async def structured(self, request: ModelRequest, shape: Any) -> NoReturn:
        raise NotImplementedError

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        raise NotImplementedError
        yield


def turns_for(brief: Json, answer: Json) -> list[Turn]:
    """Checklist; all edits in one turn; check; finish. Or the question."""
    if not answer["workflow"]:
        return [[("ask_writer", {"questions": [answer["question"]]})]]
    items = {"items": [{"id": "i1", "what": brief["intent"][:200]}]}
    edits = [call_of(each) for each in edits_between(brief["workflow"], answer["workflow"], "i1")]
    return [[("set_checklist", items)], edits, [("check", {})], [("finish", {"explanation": "."})]]


def call_of(edit: Edit) -> tuple[str, Json]:
    given = edit.model_dump(exclude_defaults=True)
    return edit.edit, {key: value for key, value in given.items() if key != "edit"}


async def played(brief: Json, answer: Json, counter: TokenCounter) -> tuple[Build, Player]:
    """The build that the answer makes."""
    player = Player(turns_for(brief, answer), counter)
    known = known_in(brief)
    build = Build(brief["intent"], brief["lang"], WorkingCopy.of(brief["workflow"], known, language=brief["lang"]))

    async def kept(_build: Build) -> None:
        """Nothing is kept."""

    await ModelBuilder(player, SimulatedRuns(known), kept).build(build)
    return build, player
