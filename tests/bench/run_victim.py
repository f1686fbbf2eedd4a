"""The process that is killed: begins or takes up the run of a folder and answers its questions, until it ends.

`python -m tests.bench.run_victim FOLDER URL`. Prints JSON lines: {"opens": true}, {"resumed": seconds until the first
new node}, {"done": path} for each node whose end is told, and {"ended": state, "seconds": all of it}.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.garbage import begin_loading, end_loading
from flowcabal_tui.domain.ids import Generation, RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.domain.run import Question, RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.models.registry import make_model
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import NodeCompleted, NodeNeedsHuman, NodeStarted
from flowcabal_tui.runner.fold import fold
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.runner.run import Run
from flowcabal_tui.runner.scope import RunPorts, RunScope
from flowcabal_tui.store import Store
from tests.bench.run_document import CALLED, answer, document
from tests.runner.fakes import FakeSpend

RUN = RunId("killed")
LIMIT = 8
LEDGER = "ledger"
"""The file in which every action leaves a line: it outlives the process, as whatever an action does."""


def now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


class World:
    """The models and the actions of the run."""

    def __init__(self, folder: Path, url: str) -> None:
        endpoint = Endpoint(model="echo", base_url=f"{url}/v1", concurrency=LIMIT)
        self.http = make_model(endpoint, None)
        self._ledger = os.open(folder / LEDGER, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def model(self, role: Role, name: str | None = None) -> ModelPort:
        return self.http

    def gated(self, action: str) -> bool:
        return False

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        os.write(self._ledger, f"{params['name']}\n".encode())
        return {"noted": params["name"]}

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        raise WorkflowError(function)

    async def workflow(self, reference: str) -> Workflow:
        return CALLED


class Teller:
    """Says on standard output what the run tells, and has its questions answered."""

    def __init__(self, began: float) -> None:
        self._began, self._new = began, False
        self.questions: asyncio.Queue[Question] = asyncio.Queue()

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCompleted):
            say(done=event.node)
        elif isinstance(event, NodeNeedsHuman):
            self.questions.put_nowait(event.question)
        elif isinstance(event, NodeStarted) and not self._new:
            self._new = True
            say(resumed=time.perf_counter() - self._began)

    async def answers(self, run: Run, store: Store) -> None:
        """One answer after the other; a person takes a moment."""
        while True:
            question = await self.questions.get()
            await asyncio.sleep(0.01)
            given = answer(question)
            event = RunEvent(RUN, "answered", question.node, given.attempt, {"question": question.id})
            await store.journal.answer(question.id, given, event)
            run.answer(question.id, given)


def say(**line: Any) -> None:
    """One line of JSON, at once."""
    os.write(1, (json.dumps(line) + "\n").encode())


async def main(folder: Path, url: str) -> None:
    """Begins, or goes on with, the run."""
    kinds()
    world = World(folder, url)
    begin_loading()
    say(opens=True)
    began = time.perf_counter()
    store = await Store.open(folder, clock=now, language="en")
    history = await store.journal.history(RUN)
    workflow, request = document(), RunRequest("killed@1")
    end_loading()
    if not history:
        await store.journal.begin_run(RUN, request, workflow, Generation(0))
    teller = Teller(began)
    ports = RunPorts(
        store.journal,
        world,
        FakeSpend(sys.maxsize),
        Limits(LIMIT),
        teller.emit,
        now,
        lambda evaluation: "",
        actions=world,
    )
    scope = RunScope(RUN, workflow, request, Generation(0), {"input": {}}, ports, state=await store.states.load())
    run = Run(scope, fold(history))
    answering = asyncio.create_task(teller.answers(run, store))
    state = await run.execute()
    say(ended=state, seconds=time.perf_counter() - began)
    answering.cancel()
    await world.http.aclose()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
