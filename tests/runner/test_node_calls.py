"""The work of the runner for one node, counted in calls of its functions, which no load of the machine changes."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node
from flowcabal_tui.runner import run as runner
from tests.runner.fakes import Bench, FakeModel, flow

_RUNNER: Final = str(Path(runner.__file__).parent)
_MOST: Final = 38
"""Calls a node; 43 when each node made the parts that call models."""


async def _calls(nodes: int) -> Counter[str]:
    run = await Bench(FakeModel(str)).run(flow(*(Node(id=NodeId(f"n{n}"), kind="start") for n in range(nodes))))
    counted: Counter[str] = Counter()

    def count(frame, event, _argument) -> None:
        if event == "call" and _RUNNER in frame.f_code.co_filename:
            counted[frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        assert await run.execute() == "done"
    finally:
        sys.setprofile(None)
    return counted


async def test_a_node_that_calls_no_model_takes_few_steps():
    await _calls(2)  # fills the caches
    added = await _calls(40) - await _calls(20)
    assert added.total() <= 20 * _MOST, added.most_common()
