"""Documents, kinds, actions and answers that mean harm, or are broken: refused or failed with a reason, never hung."""

from __future__ import annotations

import asyncio
import random
import threading
import tracemalloc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, ConfigDict

from flowcabal_tui.actions.executor import ActionExecutor
from flowcabal_tui.actions.registry import Action
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId, QuestionId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.state import DualState, StateEffect
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced
from flowcabal_tui.nodes.kinds.subflow import MAX_DEPTH
from flowcabal_tui.nodes.plan import plan
from flowcabal_tui.nodes.registry import kind_named, kinds
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.protocol.runs import NodeNeedsHuman, WorkflowFailed
from flowcabal_tui.runner.effects import with_effect
from flowcabal_tui.runner.fold import fold
from tests.actions.functions import RegistryWithFunctions
from tests.effort import effort
from tests.nodes.flows import FakeActions, act, answered, bench, body, edge, failure, node, values
from tests.nodes.item_flows import Allowed
from tests.runner.fakes import flow, prompt, texts, until
from tests.waiting import PATIENCE, soon

MIB = 1024 * 1024


class AnyParams(BaseModel):
    """Whatever a test needs."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Hostile(NodeKind):
    """A plug-in's kind that does what the test says."""

    name: ClassVar[str] = "hostile"
    params: ClassVar[type[BaseModel]] = AnyParams

    def __init__(self, does: Any, fingerprint: Any = lambda: ()) -> None:
        self._does, self._fingerprint = does, fingerprint

    def fingerprint(self, context: NodeContext, params: Any) -> Any:
        return self._fingerprint()

    async def run(self, context: NodeContext, params: Any) -> Produced:
        return Produced(await self._does(context))


@pytest.fixture
def hostile(monkeypatch):
    """Makes `hostile` a kind that does this."""

    def made(does: Any, fingerprint: Any = lambda: ()) -> Node:
        monkeypatch.setitem(kinds(), "hostile", Hostile(does, fingerprint))
        kind_named.cache_clear()
        return node("bad", "hostile")

    return made


async def beside(bad: Node, run: str = "r1", made=None):
    """The bad node with a good one beside it and one behind each."""
    made = made or bench()
    workflow = flow(bad, act("good"), node("after", "end", value="result_of.bad"), edges=())
    going = await made.run(workflow, run=run)
    return made, going, await soon(going.execute())


def loops(depth: int, kind: str = "loop") -> Node:
    """Graphs inside each other."""
    inner = node("leaf", "end", value=1)
    for n in range(depth):
        if kind == "loop":
            inner = node(f"l{n}", "loop", source=[1], body=body(inner))
        else:
            inner = node(f"p{n}", "parallel", branches={"b": body(inner)})
    return inner


@contextmanager
def memory_below(most: int) -> Iterator[None]:
    """Fails when the block holds more than so many bytes at any time."""
    tracemalloc.start()
    try:
        yield
    finally:
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert taken < most


# documents


def test_a_million_nodes_are_refused_at_once_with_a_reason():
    one = node("n", "end", value=1)
    million = Workflow.model_construct(id="w", nodes=(one,) * 1_000_000, edges=())
    with pytest.raises(WorkflowError, match="cannot run"), memory_below(MIB), effort(1000):
        require_valid(million)
    with pytest.raises(WorkflowError, match="1000000 nodes"), memory_below(MIB), effort(1000):
        plan(million.nodes)


@pytest.mark.parametrize("kind", ["loop", "parallel"])
def test_two_hundred_graphs_inside_each_other_are_an_error_and_no_overflow(kind):
    with pytest.raises(WorkflowError):
        require_valid(flow(loops(200, kind)))
    with suppress(WorkflowError):  # an overflow would be a RecursionError
        plan((loops(200, kind),))


async def test_a_called_workflow_that_is_nested_too_deep_fails_the_call_alone():
    deep = Workflow(id="deep", nodes=(loops(200),))
    made = bench(Allowed(workflows=(deep,)))
    run = await made.run(flow(node("it", "subflow", ref="deep"), act("good")))
    assert await run.execute() == "failed"
    assert values(run) == {"good": {"did": "good", "params": {}}} and "deep" in failure(made)


def tower(height: int) -> tuple[Workflow, ...]:
    """Workflows that call each other, the last of them calling nobody."""
    floors = [Workflow(id=f"f{n}", nodes=(node("call", "subflow", ref=f"f{n + 1}"),)) for n in range(1, height)]
    return (*floors, Workflow(id=f"f{height}", nodes=(node("top", "end", value="reached"),)))


@pytest.mark.parametrize(("height", "state"), [(MAX_DEPTH, "done"), (MAX_DEPTH + 1, "failed")])
async def test_ten_workflows_inside_each_other_run_and_eleven_do_not(height, state):
    made = bench(Allowed(workflows=tower(height)))
    run = await made.run(flow(node("it", "subflow", ref="f1")))
    assert await run.execute() == state
    if state == "done":
        assert values(run) == {"it": "reached"}
    else:
        assert any("more than 10 levels deep" in event.error for event in made.of(WorkflowFailed))


async def test_a_workflow_that_includes_itself_without_a_bound_is_refused_before_it_begins():
    itself = Workflow(id="itself", nodes=(act("acts"), node("again", "subflow", ref="itself")))
    actions = Allowed(workflows=(itself,))
    made = bench(actions)
    run = await made.run(flow(node("it", "subflow", ref="itself")))
    assert await run.execute() == "failed"
    assert "endlessly" in failure(made) and actions.done == []


async def test_references_to_references_cannot_fill_the_memory():
    """Each node holds the one before ten times: 10^12 values at the twelfth."""
    nodes = [node("n0", "end", value="x" * 100)]
    nodes += [node(f"n{n}", "end", value=[f"result_of.n{n - 1}"] * 10) for n in range(1, 13)]
    made = bench()
    run = await made.run(flow(*nodes))
    with memory_below(500 * MIB):
        state = await run.execute()
    assert state == "failed" and "the result would be" in failure(made)


async def test_a_forbidden_function_is_an_error_that_names_the_allowed_ones():
    called = []
    made = bench(Allowed(functions={"shout": called.append}))
    run = await made.run(flow(node("it", "code", source=[{"a": 1}], function="os.system"), act("good")))
    assert await run.execute() == "failed"
    assert "os.system" in failure(made) and "shout" in failure(made) and called == []


# actions


class Executed(FakeActions):
    """Actions that go through the real executor."""

    def __init__(self, folder: Path, function: Any, timeout: float) -> None:
        super().__init__()
        bad = Action(action_id="bad", description="", arg_schema={}, function="f")
        registry = RegistryWithFunctions([bad], f=function)
        self._executor = ActionExecutor(registry, {}, folder=folder, timeout=timeout)

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        if action != "bad":
            return await super().act(action, params, approved=approved)
        return await self._executor.run(action, params, role="", approved=approved)


async def hangs(params: Mapping[str, Any]) -> Any:
    await asyncio.Event().wait()


async def test_an_action_that_hangs_fails_when_its_time_is_over_and_holds_up_no_other(tmp_path):
    made, run, state = await beside(act("bad"), made=bench(Executed(tmp_path, hangs, 0.05)))
    assert state == "failed" and set(run.outputs) == {"good"} and "0.05 s" in failure(made)


@pytest.mark.parametrize("whole", [True, False], ids=["run", "node"])
@pytest.mark.parametrize("stuck", [True, False], ids=["thread", "async"])
async def test_a_hanging_action_is_cancelled_at_once(tmp_path, whole, stuck):
    release, ended = threading.Event(), threading.Event()

    def sticks(params: Mapping[str, Any]) -> Any:
        release.wait(PATIENCE)
        ended.set()

    made = bench(Executed(tmp_path, sticks if stuck else hangs, 60))
    run = await made.run(flow(act("bad"), node("after", "end", value="result_of.bad")))
    task = asyncio.create_task(run.execute())
    await until(lambda: run._tasks)
    await asyncio.sleep(0)
    assert run.cancel(None if whole else NodeId("bad"))
    assert await task == "cancelled" and not ended.is_set()
    release.set()


# outputs


NESTED: Any = "deep"
for _level in range(100_000):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "value",
    [float("nan"), {"a": [float("inf")]}, {1, 2}, b"bytes", object(), {"a": NESTED}, {1: 1, "a": 2}],
    ids=["nan", "inf", "set", "bytes", "object", "deep", "keys"],
)
async def test_an_output_that_is_no_json_fails_its_node_and_no_other(hostile, value):
    async def gives(context: NodeContext) -> Any:
        return value

    made, run, state = await beside(hostile(gives))
    assert state == "failed" and set(run.outputs) == {"good"}
    told = fold(made.journal.events)
    assert [told.node(NodeId(name)).state for name in ("bad", "good", "after")] == ["failed", "done", "blocked"]


async def test_an_output_of_fifty_megabytes_is_kept_and_passed_on():
    big = "长" * (50 * MIB // 3)
    made = bench(FakeActions({"big": lambda given: {"text": big}}))
    run = await made.run(flow(act("big"), prompt("next", "@big", review="never")))
    state = await run.execute()
    assert state == "done" and len(texts(run)["next"]) == len(big) + 2


# kinds


@pytest.mark.parametrize(
    "error", [RuntimeError("boom"), KeyError("x"), RecursionError("deep"), MemoryError(), StopAsyncIteration()]
)
async def test_a_kind_that_raises_fails_its_node_and_no_other(hostile, error):
    async def raises(context: NodeContext) -> Any:
        raise error

    made, run, state = await beside(hostile(raises))
    assert state == "failed" and set(run.outputs) == {"good"} and type(error).__name__ in failure(made)


async def test_a_kind_that_cannot_say_what_it_depends_on_fails_its_node_and_no_other(hostile):
    def raises() -> Any:
        raise RuntimeError("boom")

    async def gives(context: NodeContext) -> Any:
        return 1

    made, run, state = await beside(hostile(gives, raises))
    assert state == "failed" and set(run.outputs) == {"good"} and "boom" in failure(made)


async def test_a_kind_that_swallows_a_cancel_does_not_hold_up_the_end_of_the_run(hostile):
    begun = asyncio.Event()

    async def swallows(context: NodeContext) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "I go on"

    made = bench()
    run = await made.run(flow(hostile(swallows), node("after", "end", value="result_of.bad")))
    task = asyncio.create_task(run.execute())
    await begun.wait()
    run.cancel()
    assert await soon(task) == "cancelled"
    assert "after" not in run.outputs


async def test_a_kind_that_cancels_itself_ends_cancelled(hostile):
    async def cancels(context: NodeContext) -> Any:
        raise asyncio.CancelledError

    _made, run, state = await beside(hostile(cancels))
    assert state == "cancelled" and set(run.outputs) == {"good"}


async def test_a_node_whose_end_is_being_written_is_not_done_again_after_a_cancel():
    """The cancel comes while the journal writes what an action gave: then it is done, not stopped."""
    actions = FakeActions()
    made = bench(actions)
    for turns in range(40):
        name = f"r{turns}"
        before = len(actions.done)
        run = await made.run(flow(act("acts")), run=name)
        task = asyncio.create_task(run.execute())
        for _turn in range(turns):
            await asyncio.sleep(0)
        run.cancel(NodeId("acts"))
        await task
        log = await made.journal.history(run.scope.id)
        kept = any(event.kind == "node-done" for event in log)
        again = await made.run(flow(act("acts")), run=name)
        task = asyncio.create_task(again.execute())
        asked = len(made.of(NodeNeedsHuman))
        await until(lambda: task.done() or len(made.of(NodeNeedsHuman)) > asked)  # noqa: B023  # awaited in its turn
        if not task.done():  # it may have been carried out: a person says that it is to be done again
            await answered(made, again, Decision("approve"), asked)
        assert await task == "done"
        assert not kept or len(actions.done) == before + 1, f"done again after a cancel in turn {turns}"


# state


async def test_what_was_written_before_the_state_changed_does_not_stand_for_what_came_after():
    """A prompt read the state, and the state changed while the model wrote: in the new state it is written anew."""
    made = bench()
    writer = prompt("p", "The mood is {{state.mood}}.", review="never")
    made.model.gates["calm"] = asyncio.Event()
    state = DualState.of({"mood": "calm"})
    run = await made.run(flow(writer), scope={"state": state})
    task = asyncio.create_task(run.execute())
    await until(lambda: made.model.calls)
    state.apply(StateEffect("write", {"mood": "angry"}))
    made.model.gates["calm"].set()
    assert await task == "done" and "calm" in texts(run)["p"]
    later = await made.run(flow(writer), run="r2", scope={"state": state})
    assert await later.execute() == "done" and "angry" in texts(later)["p"]


async def test_the_own_state_of_a_called_workflow_is_after_a_crash_what_it_was():
    """The counters ended in another order than the one in which they are restored."""
    called = Workflow(
        id="called",
        nodes=(
            prompt("slow", "write", review="never"),
            node("second", "state_write", increment=["n"]),
            node("first", "state_write", increment=["n"]),
            node("ask", "human", question="{{state.n}}?"),
        ),
        edges=(edge("slow", "second"), edge("second", "ask"), edge("first", "ask")),
    )
    made = bench(Allowed(workflows=(called,)))
    workflow = flow(node("it", "subflow", ref="called", share_state=False))
    for _process in range(2):
        run = await made.run(workflow)
        task = asyncio.create_task(run.execute())
        asked = len(made.of(NodeNeedsHuman))
        await until(lambda: len(made.of(NodeNeedsHuman)) > asked)  # noqa: B023  # awaited within the round
        assert made.of(NodeNeedsHuman)[-1].question.reason == "2?"
        run.close()
        assert await task == "interrupted"


async def test_a_state_that_cannot_be_kept_is_as_it_was():
    state = DualState.of({"mood": "calm"})

    async def cannot(**_state: Any) -> None:
        "\ud800".encode()

    with pytest.raises(UnicodeEncodeError):
        await with_effect(state, StateEffect("write", {"mood": "\ud800"}), cannot)
    assert state.view() == {"mood": "calm"}


# questions


async def test_a_hundred_questions_are_answered_in_any_order():
    made = bench()
    nodes = [node(f"q{n}", "human", question=f"{n}?") for n in range(100)]
    run = await made.run(flow(*nodes, node("all", "end", value=[f"{{{{q{n}.text}}}}" for n in range(100)])))
    task = asyncio.create_task(run.execute())
    await until(lambda: run.only_waits and len(made.of(NodeNeedsHuman)) == 100)
    order = list(range(100))
    random.Random(3).shuffle(order)
    for number in order:
        asked = made.of(NodeNeedsHuman)[number].question
        await until(lambda: run.only_waits)
        await answered(made, run, Decision("edit", text=f"to {asked.node}"), number)
    assert await task == "done"
    assert values(run)["all"] == [f"to q{n}" for n in range(100)]
    assert not run.only_waits and run.scope.waiting == {}


async def test_a_question_of_a_run_that_was_stopped_is_asked_anew_when_the_run_goes_on():
    """It was asked, the process ended, and the next one was stopped before the node began again."""
    made = bench()
    workflow = flow(prompt("before", "x", review="never"), node("q", "human", question="?"))
    run = await made.run(workflow)
    task = asyncio.create_task(run.execute())
    await until(lambda: run.only_waits)
    run.close()
    await task
    run = await made.run(workflow)
    task = asyncio.create_task(run.execute())
    await asyncio.sleep(0)
    run.cancel()
    assert await task == "cancelled"
    run = await made.run(workflow)
    task = asyncio.create_task(run.execute())
    asked = len(made.of(NodeNeedsHuman))
    await answered(made, run, Decision("edit", text="yes"), asked)
    assert await soon(task) == "done" and made.journal.answers


async def test_no_node_of_a_run_that_was_stopped_waits_any_more():
    """It stands in a called workflow that the stopped process did not get to."""
    called = Workflow(id="called", nodes=(node("q", "human", question="?"),))
    made = bench(Allowed(workflows=(called,)))
    workflow = flow(prompt("before", "x", review="never"), node("it", "subflow", ref="called"))
    for cancel in (False, True):
        run = await made.run(workflow)
        task = asyncio.create_task(run.execute())
        await (asyncio.sleep(0) if cancel else until(lambda: run.only_waits))  # noqa: B023  # awaited within the round
        (run.cancel if cancel else run.close)()
        await task
    assert fold(made.journal.events).node(NodeId("it/q")).state == "pending"


async def test_answers_to_questions_that_nobody_asked_or_that_were_answered_change_nothing():
    made = bench()
    run = await made.run(flow(node("q", "human", question="?"), node("p", "human", question="??")))
    task = asyncio.create_task(run.execute())
    assert not run.answer(QuestionId("never"), Decision("edit", text="x"))
    await until(lambda: len(made.of(NodeNeedsHuman)) == 2)
    first = made.of(NodeNeedsHuman)[0].question
    assert run.answer(first.id, Decision("edit", text="first"))
    assert not run.answer(first.id, Decision("edit", text="second"))
    await until(lambda: "q" in run.outputs)
    assert not run.answer(first.id, Decision("edit", text="third"))
    await answered(made, run, Decision("edit", text="mine"), 1)
    assert await task == "done" and texts(run) == {"q": "first", "p": "mine"}
    assert not run.answer(first.id, Decision("edit", text="fourth"))
