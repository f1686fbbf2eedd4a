"""Whatever the graph and whatever goes wrong in it: once each, in order, and the log tells how it stands."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.graph import dependencies, needed_for
from flowcabal_tui.nodes.validation import validate
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from flowcabal_tui.runner.fold import fold
from flowcabal_tui.runner.run import Run
from tests.runner.fakes import Bench, FakeModel, flow, prompt, texts

ENDS = {"done", "failed", "blocked", "cancelled"}


@dataclass(frozen=True)
class Upset:
    """What happens after so many turns of the loop: the process ends, a cancel of all or of one node, or nothing."""

    kind: str
    turns: int
    node: int = 0


@dataclass
class World:
    """A journal that outlives processes, a model that fails for some prompts a few times, a human who answers some."""

    workflow: Workflow
    failures: dict[str, int]
    answers: list[str]
    bench: Bench = field(init=False)
    begun: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bench = Bench(FakeModel(self._says), concurrency=2)

    def _says(self, request):
        asked = request.messages[-1].content
        word = asked.partition(":")[0]
        self.begun.append(asked)
        if self.failures.get(word, 0):
            self.failures[word] -= 1
            return ModelError(ModelFault.STALLED, "stalled")
        return f"({asked})"

    async def process(self, upset: Upset, targets: tuple[NodeId, ...]) -> tuple[Run, str]:
        """One process's try at the run, upset as told; then the human answers what waits, or it ends."""
        run = await self.bench.run(self.workflow, targets=targets)
        told = len(self.bench.events)
        task = asyncio.create_task(run.execute())
        turns = 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
            assert turns < 20_000, "the run hangs"
            if turns == upset.turns:
                self._upset(run, upset)
            if run.only_waits and turns > upset.turns and not await self._answered(run, told):
                run.close()
        return run, await task

    def _upset(self, run: Run, upset: Upset) -> None:
        if upset.kind == "close":
            run.close()
        elif upset.kind == "cancel":
            run.cancel()
        elif upset.kind == "node":
            run.cancel(run.nodes[upset.node % len(run.nodes)])

    async def _answered(self, run: Run, told: int) -> bool:
        """The human answers the first question that waits; False when they are away."""
        asked = [e.question for e in self.bench.events[told:] if isinstance(e, NodeNeedsHuman)]
        question = next((one for one in asked if one.id in run.scope.waiting), None)
        if question is None:
            return True  # the process is ending
        answer = self.answers.pop() if self.answers else "approve"
        if answer == "away":
            return False
        decision = Decision("approve") if answer == "approve" else Decision("edit", text=f"mine {question.node}")
        assert await self.bench.journal.answer(question.id, decision, _answered_event(question))
        assert run.answer(question.id, decision)
        return True


def _answered_event(question):
    from flowcabal_tui.domain.journal import RunEvent

    return RunEvent(question.run, "answered", question.node, 0, {"question": question.id})


@st.composite
def worlds(draw):
    """Nodes n0, n1, ...; each reads any of those before it, and some wait for approval."""
    count = draw(st.integers(1, 7))
    nodes = []
    for n in range(count):
        above = draw(st.lists(st.integers(0, n - 1), unique=True, max_size=3)) if n else []
        same = draw(st.booleans())  # prompts of different nodes may be equal: then one call is enough
        review = draw(st.sampled_from(["never", "doubt", "always"]))
        nodes.append(prompt(f"n{n}", f"w{0 if same else n}:", *(f"@n{m}" for m in above), review=review))
    failures = draw(st.dictionaries(st.sampled_from([f"w{n}" for n in range(count)]), st.integers(1, 2), max_size=2))
    return World(flow(*nodes), failures, draw(st.lists(st.sampled_from(["approve", "edit", "away"]), max_size=6)))


upsets = st.builds(Upset, st.sampled_from(["none", "close", "cancel", "node"]), st.integers(0, 60), st.integers(0, 6))


@settings(deadline=None, max_examples=150)
@given(worlds(), st.lists(upsets, max_size=4), st.lists(st.integers(0, 6), max_size=2))
def test_every_needed_node_ends_once_in_order_and_the_log_tells_the_same(world, troubles, wanted):
    asyncio.run(_followed(world, troubles, wanted))


async def _followed(world: World, troubles: list[Upset], wanted: list[int]) -> None:
    assert validate(world.workflow) == ()
    graph = dependencies(world.workflow)
    names = tuple(graph)
    targets = tuple({names[n % len(names)] for n in wanted})
    state = ""
    for upset in [*troubles, *[Upset("none", 0)] * 20]:
        run, state = await world.process(upset, targets)
        _holds(world, run, state)
        if state == "done":
            break
    assert state == "done", "in the end nothing goes wrong any more"
    assert set(texts(run)) == needed_for(graph, targets)
    kept = [result for result in world.bench.journal.results.values() if result.author == "model"]
    assert {result.text for result in kept} <= {f"({asked})" for asked in world.begun}
    assert world.bench.spend.booked == len(kept), "no call that was answered is made again"


def _holds(world: World, run: Run, state: str) -> None:
    """What is true after every process."""
    log = [event for event in world.bench.journal.events if event.run == RunId("r1")]
    told = fold(log)
    graph = {node: sources for node, sources in dependencies(world.workflow).items() if node in run.nodes}
    if state == "interrupted":
        assert log[-1].kind != "run-ended"
    else:
        assert told.state == state
        assert {node: told.node(node).state for node in graph} == {node: run._past.node(node).state for node in graph}
        assert {told.node(node).state for node in graph} <= ENDS
    served = {node for event in log if event.kind == "nodes-served" for node in event.payload["nodes"]}
    done = [event.node for event in log if event.kind == "node-done" and event.node not in served]
    begun = {node: next(e.seq for e in log if e.node == node and e.kind == "attempt-started") for node in done}
    ended = {node: next(e.seq for e in log if e.node == node and e.kind == "node-done") for node in done}
    for node in done:
        assert all(ended[source] < begun[node] for source in graph[node] if source in ended), (
            "nothing begins before its inputs ended"
        )
    for node in texts(run):
        assert told.node(node).state == "done" or state in ("cancelled", "interrupted")
