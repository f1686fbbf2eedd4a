"""Simulated runs for the Builder's checks: no project, no money, no action is carried out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from flowcabal_tui.actions.simulation import Simulations
from flowcabal_tui.agents.builder.branches import SimulatedRun
from flowcabal_tui.agents.builder.working_copy import Known
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.inputs import inputs_of
from flowcabal_tui.project.runs.simulation import Simulated, Simulation, by_itself
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import NodeCompleted, WorkflowFailed

SECONDS: Final = 20.0
"""A simulated run that takes longer is cancelled."""
_DEPTH: Final = 6
_FLOW_TEXT: Final = "…"


class SimulatedRuns:
    """The `Simulator` of the Builder: actions answer with samples that fit their schemas."""

    def __init__(self, known: Known, price: Callable[[Workflow], Awaitable[str]] | None = None) -> None:
        """`price` gives the price of a real run in words."""
        self._price = price
        actions: Simulations = {
            name: {"result": sample(shape.output_schema)} for name, shape in (known.actions or {}).items()
        }
        names = {name for flow in known.flows or () for name in (flow, flow.partition("@")[0])}
        self._library = known.library or {name: _stand_in(name) for name in names}
        self._actions = actions

    async def price(self, workflow: Workflow) -> str:
        """The price of a real run in words; "" if it is free or unknown."""
        return await self._price(workflow) if self._price is not None else ""

    async def __call__(self, workflow: Workflow, picks: Mapping[str, int]) -> SimulatedRun:
        """Runs the workflow once. Raises WorkflowError when it cannot run."""
        completed: dict[str, int] = {}
        trouble: list[str] = []

        def count(event: Event) -> None:
            if isinstance(event, NodeCompleted):
                path = "/".join(part for part in event.node.split("/") if not part.isdigit())
                completed[path] = completed.get(path, 0) + 1
            elif isinstance(event, WorkflowFailed):
                trouble.append(f"{event.node}: {event.error} {event.detail}".strip())

        def answered(question: Question) -> Decision | None:
            pick = picks.get("/".join(part for part in question.node.split("/") if not part.isdigit()))
            return Decision("choose", attempt=pick) if pick and question.kind == "choice" else by_itself(question)

        inputs = dict.fromkeys(inputs_of(workflow), "1")
        library = {**self._library, workflow.id: workflow, workflow.reference: workflow}
        world = Simulated(self._actions, None, library)
        state = await Simulation(workflow, world, count, inputs=inputs, answer=answered).execute(SECONDS)
        return SimulatedRun(state, completed, trouble[0] if trouble else "")


def sample(schema: Any, depth: int = 0) -> Any:
    """A value of a JSON Schema: lists have two entries, one with small and one with large numbers."""
    return _sample(schema, 0, depth)


def _sample(schema: Any, number: int, depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return None
    if isinstance(choices := schema.get("enum"), (list, tuple)) and choices:
        return choices[number % len(choices)]
    match schema.get("type"):
        case "object":
            fields = schema.get("properties")
            return {
                name: _sample(each, number, depth + 1)
                for name, each in (fields if isinstance(fields, Mapping) else {}).items()
            }
        case "array":
            return [_sample(schema.get("items"), each, depth + 1) for each in range(2)]
        case "integer" | "number":
            return (1, 1_000_000)[number % 2]
        case "boolean":
            return number % 2 == 0
        case _:
            return f"text {number + 1}"


def _stand_in(reference: str) -> Workflow:
    """A placeholder for a workflow of which only the name is known."""
    node = {"id": "text", "kind": "end", "params": {"value": {"text": _FLOW_TEXT}}}
    return Workflow.model_validate({"id": reference.partition("@")[0], "nodes": [node]})
