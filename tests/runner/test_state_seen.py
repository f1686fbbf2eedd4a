"""A node that runs others looks at the state between them; entered again after a crash it sees what it saw."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowcabal_tui.domain.state import DualState
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.runner.run import Run
from tests.nodes.flows import bench, body, edge, node, values
from tests.nodes.item_flows import Allowed
from tests.runner.fakes import Bench, flow

COUNT = node("count", "state_write", increment=["n"])
LOOP = node(
    "loop",
    "loop",
    mode="while",
    condition={"kind": "expression", "expression": "state.n < 3"},
    accumulator={"initial": {"from": "state.n"}, "set": {"seen": "state.n"}},
    body=body(COUNT),
)
ADD = Workflow(
    id="add",
    nodes=(COUNT, node("after", "end", value=["{{input.before}}", "result_of.count.written.n"])),
)
CALL = node("call", "subflow", ref="add", inputs={"before": "state.n"})


async def process(made: Bench, workflow: Workflow, ends: Callable[[int], bool]) -> tuple[Run, str]:
    """One process over the journal; it ends without a trace after so many events as `ends` says."""
    state = DualState(made.journal.states.values(), durable=True)
    run = await made.run(workflow, scope={"state": state})
    keep = made.journal.keep_output

    async def kept(*given, **more):
        await keep(*given, **more)
        if ends(len(made.journal.events)):
            run.close()

    made.journal.keep_output = kept
    try:
        return run, await run.execute()
    finally:
        made.journal.keep_output = keep


def world() -> Bench:
    made = bench(Allowed(workflows=(ADD,)))
    made.journal.states = {entry.key: entry for entry in DualState.of({"n": 0}).entries(["n"])}
    return made


@pytest.mark.parametrize("step", [LOOP, CALL], ids=["loop", "call"])
async def test_a_crash_at_any_moment_changes_nothing_of_what_comes_out(step: Node):
    workflow = flow(step, node("end", "end", value={"__from__": f"result_of.{step.id}"}), edges=(edge(step.id, "end"),))
    run, state = await process(made := world(), workflow, lambda count: False)
    assert state == "done"
    wanted, length = values(run), len(made.journal.events)
    for moment in range(2, length):
        made = world()
        _run, state = await process(made, workflow, lambda count, moment=moment: count >= moment)
        run, state = await process(made, workflow, lambda count: False) if state == "interrupted" else (_run, state)
        assert state == "done" and values(run) == wanted, moment


async def test_the_state_is_logged_only_where_it_is_looked_at():
    made = world()
    await process(made, flow(node("loop", "loop", source=[1, 2], body=body(COUNT))), lambda count: False)
    assert not [event for event in made.journal.events if event.kind == "state-seen"]
