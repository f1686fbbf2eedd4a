"""Running item kinds in tests: items in, what the node gave out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flowcabal_tui.domain.errors import RunError, WorkflowError
from flowcabal_tui.domain.workflow import Workflow
from tests.nodes.flows import FakeActions, bench, node
from tests.runner.fakes import flow


@dataclass
class Allowed(FakeActions):
    """Functions that may be called, and workflows by reference."""

    functions: dict[str, Callable[[Mapping[str, Any]], Any]] = field(default_factory=dict)
    workflows: tuple[Workflow, ...] = ()

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        if function not in self.functions:
            raise RunError(f"{function} is not allowed", ", ".join(self.functions))
        return self.functions[function](item)

    async def workflow(self, reference: str) -> Workflow:
        for workflow in self.workflows:
            if reference in (workflow.id, workflow.reference):
                return workflow
        raise WorkflowError(f"no workflow {reference}")


async def given(kind: str, items: Any, actions: FakeActions | None = None, **params: Any) -> dict[str, Any]:
    """What a node of this kind gives for these items."""
    made = bench(actions)
    run = await made.run(flow(node("it", kind, **params)), inputs={"items": items})
    assert await run.execute() == "done", list(made.events)
    return run.outputs["it"].value


async def items_of(kind: str, items: Any, **params: Any) -> list[dict[str, Any]]:
    """The items that it gives, when nothing is wrong with any."""
    value = await given(kind, items, **params)
    assert value["errors"] == []
    return value["items"]
