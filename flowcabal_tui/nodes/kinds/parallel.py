"""`parallel`: branches that run at the same time; the node ends when all of them have."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from pydantic import BaseModel, Field, field_validator

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.workflow import Body, Node, Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, Schema
from flowcabal_tui.nodes.kinds.bodies import check_exit, exit_of


class ParallelParams(BaseModel, frozen=True, extra="forbid"):
    """Branches by name."""

    branches: dict[str, Body] = Field(min_length=1, description="The branches by name; each is a separate graph.")

    @field_validator("branches")
    @classmethod
    def _names(cls, branches: dict[str, Body]) -> dict[str, Body]:
        """A branch's name is part of its nodes' paths."""
        if bad := [name for name in branches if not name.strip() or "/" in name or len(name) > 80]:
            raise ValueError(_("A branch cannot be called {name}.").format(name=repr(bad[0][:80])))
        return branches


class Parallel(NodeKind):
    """Yields an object: each branch's name with the value of its exit, null when that was skipped."""

    name: ClassVar[str] = "parallel"
    params: ClassVar[type[ParallelParams]] = ParallelParams

    def bodies(self, params: ParallelParams) -> tuple[tuple[str, Body], ...]:
        return tuple((f"branches.{name}", body) for name, body in params.branches.items())

    def unrolls(self, params: ParallelParams) -> bool:
        return True

    def output_schema(self, params: ParallelParams) -> Schema:
        return {
            "type": "object",
            "properties": {name: {} for name in params.branches},
            "additionalProperties": False,
        }

    def check(self, params: ParallelParams, node: Node) -> tuple[Problem, ...]:
        return tuple(found for field, body in self.bodies(params) for found in check_exit(body, field))

    def fingerprint(self, context: NodeContext, params: ParallelParams) -> None:
        """None: the nodes inside are looked up one by one, since some of them may act or ask."""

    async def run(self, context: NodeContext, params: ParallelParams) -> Produced:
        failures: list[FlowCabalError] = []

        async def branch(name: str, body: Body) -> Any:
            try:
                exit_output = exit_of(body, await context.body(body, name))
            except FlowCabalError as error:  # the other branches run to their ends first
                failures.append(error)
                return None
            return None if exit_output is None else exit_output.value

        async with asyncio.TaskGroup() as group:
            tasks = {name: group.create_task(branch(name, body)) for name, body in params.branches.items()}
        if failures:
            raise failures[0]
        return Produced({name: task.result() for name, task in tasks.items()})


KIND = Parallel()
