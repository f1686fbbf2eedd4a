"""Whatever the document, the edits, the cancels, the crashes and the answers: what the runner promises holds."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcabal_tui.domain.errors import ModelError, ModelFault, RunError
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.nodes.plan import Plan
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from flowcabal_tui.runner.fold import RunFold, fold
from flowcabal_tui.runner.run import Run
from tests.nodes.flows import FakeActions, body, edge, node
from tests.runner.fakes import Bench, FakeJournal, FakeModel, flow, prompt

QUIET = 60
"""Turns of the loop after which a run in which nothing happens waits for a person, or hangs."""


# documents


@dataclass
class Drawing:
    """A document on its way; ids are unique in the whole of it, so that an action tells which node it was."""

    draw: Any
    library: list[Workflow]
    ids: Any = field(default_factory=lambda: count())

    def graph(self, depth: int, around: tuple[str, ...] = ()) -> tuple[list[Node], list[Edge]]:
        """Up to four nodes that read each other and those around; conditions lead to some."""
        nodes: list[Node] = []
        edges: list[Edge] = []
        for _number in range(self.draw(st.integers(1, 4))):
            seen = (*around, *(each.id for each in nodes))
            above = self.draw(st.lists(st.sampled_from(seen), unique=True, max_size=2)) if seen else []
            made = self.one(depth, above, seen)
            for source in nodes:
                if self.draw(st.integers(0, 1 if source.kind == "condition" else 5)) == 0:
                    label = self.draw(st.sampled_from(["true", "false"])) if source.kind == "condition" else None
                    edges.append(edge(source.id, made.id, label))
            nodes.append(made)
        return nodes, edges

    def one(self, depth: int, above: list[str], seen: tuple[str, ...]) -> Node:
        kinds = ["prompt", "action", "end", "human", "condition", "condition", "state_write"]
        kinds += ["loop", "while", "parallel", "subflow"] if depth < 2 else []
        kind, name = self.draw(st.sampled_from(kinds)), f"n{next(self.ids)}"
        read = [f"{{{{result_of.{each}}}}}" for each in above]
        if kind == "prompt":
            review = self.draw(st.sampled_from(["never", "never", "always"]))
            return prompt(name, f"{name}:", *(f"@{each}" for each in above), review=review)
        if kind == "human":
            return node(name, "human", question=f"{name}? {' '.join(read)}")
        if kind == "condition":
            return node(name, "condition", kind="equals", source="input.flag", value=self.draw(st.booleans()))
        if kind == "state_write":
            return node(name, "state_write", updates={name: read})
        if kind == "end":
            return node(name, "end", value={"read": read})
        if kind == "action":
            return node(name, "action", action=name, params={"read": read})
        if kind == "subflow":
            share = self.draw(st.booleans())
            called = self.draw(st.sampled_from(self.library))
            return node(name, "subflow", ref=called.id, inputs={"flag": True, "read": read}, share_state=share)
        if kind == "parallel":
            branches = {f"b{n}": self.body(depth, seen) for n in range(self.draw(st.integers(1, 2)))}
            return node(name, "parallel", branches=branches)
        times = self.draw(st.integers(0, 2))
        if kind == "while":
            until = {"kind": "expression", "expression": f"loop.index < {times}"}
            return node(name, "loop", mode="while", condition=until, body=self.body(depth, seen))
        side_by_side = self.draw(st.integers(1, 2))
        source = [list(read) for _n in range(times)]
        return node(name, "loop", source=source, side_by_side=side_by_side, body=self.body(depth, seen))

    def body(self, depth: int, seen: tuple[str, ...]) -> dict[str, Any]:
        nodes, edges = self.graph(depth + 1, seen)
        return body(*nodes, edges=tuple(edges))


@st.composite
def documents(draw: Any) -> tuple[Workflow, list[Workflow]]:
    """A workflow, and those that it may call."""
    drawing = Drawing(draw, [])
    called_nodes, called_edges = drawing.graph(2)
    drawing.library.append(Workflow(id="called", nodes=tuple(called_nodes), edges=tuple(called_edges)))
    nodes, edges = drawing.graph(0)
    return flow(*nodes, edges=tuple(edges)), drawing.library


# the world around a run


@dataclass
class Acts(FakeActions):
    """Actions that fail as often as they are told to, and that are told of in the order of all that happens."""

    failures: dict[str, int] = field(default_factory=dict)
    library: tuple[Workflow, ...] = ()
    told: list[tuple[str, str]] = field(default_factory=list)

    async def act(self, action: str, params: Any, *, approved: bool) -> Any:
        self.told.append(("acts", action))
        if self.failures.get(action, 0):
            self.failures[action] -= 1
            raise RunError(f"{action} failed")
        return await super().act(action, params, approved=approved)

    async def workflow(self, reference: str) -> Workflow:
        return next(each for each in self.library if each.id == reference)


@dataclass(frozen=True)
class Upset:
    """What happens after so many turns of the loop."""

    kind: str
    turns: int
    node: int = 0


class World:
    """A journal that outlives processes; models and actions that fail a few times; a person who is away at times."""

    def __init__(self, library: list[Workflow], failures: dict[str, int], away: list[bool]) -> None:
        self._failures, self._away = failures, away
        self.acts = Acts(failures=failures, library=tuple(library))
        self.asked: list[str] = []
        self.bench = Bench(FakeModel(self._says), concurrency=2)
        self.bench.ports = replace(self.bench.ports, actions=self.acts)

    @property
    def journal(self) -> FakeJournal:
        return self.bench.journal

    def _says(self, request: Any) -> Any:
        word = request.messages[-1].content.partition(":")[0]
        if self._failures.get(word, 0):
            self._failures[word] -= 1
            return ModelError(ModelFault.STALLED, "stalled")
        return f"({request.messages[-1].content})"

    async def begin(self, workflow: Workflow, name: str) -> Run:
        return await self.bench.run(workflow, name, inputs={"flag": True}, scope={"state": DualState()})

    async def process(self, workflow: Workflow, name: str, upset: Upset) -> tuple[Run, str]:
        """One process's try, upset as told; then the person answers what waits, or it ends. Watches over it."""
        run = await self.begin(workflow, name)
        first, others = len(self.bench.events), asyncio.all_tasks()
        task = asyncio.create_task(run.execute())
        turns = quiet = happened = 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
            now = len(self.bench.events) + len(self.journal.events) + len(self.acts.told)
            quiet, happened = (quiet + 1, happened) if now == happened else (0, now)
            if turns == upset.turns:
                self._upset(run, upset)
                quiet = 0
            if quiet > QUIET:
                assert run.only_waits, "it hangs, or waits and does not say so"
                quiet = 0
                if not await self._answered(run, first):
                    run.close()
            assert turns < 60_000, "the run does not end"
        for _turn in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() <= others, "a task was left behind"
        assert not run._tasks and not run.scope.waiting and not run._waiting
        assert self.bench.ports.limits.work._free == 2, "a place was not given back"
        return run, await task

    def _upset(self, run: Run, upset: Upset) -> None:
        if upset.kind == "close":
            run.close()
        elif upset.kind == "cancel":
            run.cancel()
        elif upset.kind == "node":
            run.cancel(run.nodes[upset.node % len(run.nodes)])
        elif upset.kind == "inside" and run._tasks:
            run.cancel(sorted(run._tasks)[upset.node % len(run._tasks)])

    async def _answered(self, run: Run, first: int) -> bool:
        """The person answers one question that waits, not the first asked at all times; False when they are away."""
        if self._away and self._away.pop():
            return False
        asked = [e.question for e in self.bench.events[first:] if isinstance(e, NodeNeedsHuman)]
        open_ones = [one for one in asked if one.id in run.scope.waiting]
        question = open_ones[len(self.journal.answers) % len(open_ones)]
        approves = question.kind in ("review", "gate")
        decision = Decision("approve") if approves else Decision("edit", text=f"<{question.reason}>")
        event = RunEvent(question.run, "answered", question.node, 0, {"question": question.id})
        assert await self.journal.answer(question.id, decision, event)
        assert run.answer(question.id, decision) and not run.answer(question.id, decision)
        return True

    async def to_the_end(self, workflow: Workflow, name: str, upsets: list[Upset]) -> Run:
        """Processes until it is done. Holds its promises after each."""
        for upset in [*upsets, *[Upset("none", 0)] * 30]:
            run, state = await self.process(workflow, name, upset)
            promises_hold(self, run, state)
            if state == "done":
                return run
        raise AssertionError(f"in the end nothing goes wrong any more, and it is {state}")


def promises_hold(world: World, run: Run, state: str) -> None:
    """What is true after every process."""
    log = [event for event in world.journal.events if event.run == run.scope.id]
    told, known = fold(log), run._past
    if state != "interrupted":
        assert told.state == state
        states = {path: each.state for path, each in known.nodes.items()}
        assert {path: told.node(path).state for path in states} == states, "the log tells what is in memory"
        assert all(any(f"{path}/flow/".startswith(of) for path in known.nodes) for of in told.effects)
        ended_rightly(run, told, state)
    acted = Counter(name for name, _params, _approved in world.acts.done)
    ends = Counter(e.node.rpartition("/")[2] for e in world.journal.events if e.kind == "node-done")
    assert all(number == ends[name] for name, number in acted.items()), "each action once for each of its ends"
    twice = Counter(e.node for e in log if e.kind == "node-done" and e.node.rpartition("/")[2] in acted)
    assert set(twice.values()) <= {1}, "no node that acts ends twice"
    paid = [result for result in world.journal.results.values() if result.author == "model"]
    assert world.bench.spend.booked == len(paid), "no call that was answered is made again"
    in_order(world, run, log)


def ended_rightly(run: Run, told: RunFold, state: str) -> None:
    """Each node of the workflow itself is in the state that those above it lead to."""
    made: Plan = run._frame.plan
    for name, step in made.steps.items():
        now = told.node(name).state
        above = {source: told.node(source).state for source in step.sources}
        if now == "done":
            assert set(above.values()) <= {"done", "skipped"}
        elif now == "skipped":
            assert step.sources and set(above.values()) <= {"done", "skipped"}
            assert taken(run, step) is False
        elif now == "blocked":
            assert state == "cancelled" or {"failed", "cancelled", "blocked"} & set(above.values())
        else:
            assert now in ("failed", "cancelled")
        if now == "done":
            assert taken(run, step) is True


def taken(run: Run, step: Any) -> bool:
    """Do the branches above lead to this node? All its sources have ended."""
    outputs = run.outputs
    if any(need not in outputs for need in step.needs):
        return False
    return not step.controls or any(
        each.source in outputs and each.condition in (None, (outputs[each.source].value or {}).get("label"))
        for each in step.controls
    )


def in_order(world: World, run: Run, log: list[RunEvent]) -> None:
    """The first sign of a node comes after the ends of all that it needs."""
    ended: dict[str, int] = {}
    for event in log:
        if event.kind in ("node-done", "node-skipped"):
            ended.setdefault(event.node, event.seq)
        for path in event.payload.get("nodes", ()) if event.kind == "nodes-served" else ():
            ended.setdefault(path, 0)
    for event in log:
        step = run._frame.plan.steps.get(event.node)
        if step is not None and event.kind in ("attempt-started", "asked", "node-done"):
            assert all(ended.get(source, event.seq) < event.seq for source in step.sources)


upsets = st.builds(
    Upset,
    st.sampled_from(["none", "close", "cancel", "node", "inside"]),
    st.integers(0, 24) | st.integers(0, 90),
    st.integers(0, 8),
)
troubles = st.tuples(
    st.lists(upsets, max_size=4),
    st.dictionaries(st.sampled_from([f"n{n}" for n in range(12)]), st.integers(1, 2), max_size=2),
    st.lists(st.booleans(), max_size=4),
)
fast = settings(deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))


@fast
@given(documents(), troubles)
def test_whatever_goes_wrong_it_ends_as_if_nothing_had(drawn, trouble):
    asyncio.run(_as_if_nothing_had(drawn, trouble))


async def _as_if_nothing_had(drawn: tuple[Workflow, list[Workflow]], trouble: Any) -> None:
    workflow, library = drawn
    happens, failures, away = trouble
    calm = await World(library, {}, []).to_the_end(workflow, "r1", [])
    run = await World(library, dict(failures), list(away)).to_the_end(workflow, "r1", happens)
    assert run.outputs == calm.outputs
    assert run.scope.state.view() == calm.scope.state.view()


async def test_a_cancel_right_after_a_resume_leaves_what_had_ended_done() -> None:
    workflow = flow(node("act", "action", action="act", params={}), prompt("text", "text:", "@act", review="never"))
    for turns in range(1, 30):
        world = World([], {}, [])
        for upset in (Upset("close", turns), Upset("cancel", 1), Upset("none", 0)):
            run, state = await world.process(workflow, "r1", upset)
            promises_hold(world, run, state)
        assert state == "done"
        assert [name for name, _params, _approved in world.acts.done] == ["act"], turns
