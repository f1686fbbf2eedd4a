"""Records the outputs of a run's nodes as current while it runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.versions import CurrentOutput
from flowcabal_tui.nodes.marks import stale_after_run, stays_as_edited
from flowcabal_tui.nodes.plan import Plan
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.workflows import MarksChanged
from flowcabal_tui.runner.scope import RunScope
from flowcabal_tui.store import Store
from flowcabal_tui.store.runs.current_outputs import Mark, OutputChange

log = logging.getLogger(__name__)
PAUSE_SECONDS: Final = 0.2
"""Seconds during which completed nodes are collected before current outputs are written."""
SHARE: Final = 20
"""The pause as a multiple of the last writing time: writing must not slow a run of thousands of nodes down."""


class RunMarks:
    """Records the outputs of the nodes of one run as current, as they end."""

    def __init__(self, store: Store, emit: Callable[[Event], None], scope: RunScope, graph: Plan) -> None:
        """`graph` is the graph of the whole document."""
        self._store, self._emit, self._scope, self._graph = store, emit, scope, graph
        self._noted: set[NodeId] = set()
        self._took = 0.0
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def soon(self, outputs: Mapping[NodeId, Output]) -> None:
        """Schedules a write, which includes nodes that end meanwhile. `outputs` grows during the run."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._later(outputs))

    async def end(self, outputs: Mapping[NodeId, Output]) -> None:
        """Writes the outputs that are not recorded yet."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._write(outputs)

    async def _later(self, outputs: Mapping[NodeId, Output]) -> None:
        await asyncio.sleep(max(PAUSE_SECONDS, SHARE * self._took))
        await asyncio.shield(asyncio.ensure_future(self._write(outputs)))

    async def _write(self, outputs: Mapping[NodeId, Output]) -> None:
        """Writes the current outputs. A failure costs nothing, since content keys decide which nodes run."""
        async with self._turn:
            begun = asyncio.get_running_loop().time()
            try:
                await self._note(outputs)
            except FlowCabalError as error:
                log.warning("stale marks of run %s: %s", self._scope.id, error.title)
            self._took = asyncio.get_running_loop().time() - begun

    async def _note(self, outputs: Mapping[NodeId, Output]) -> None:
        if self._scope.request.aside:
            return
        fresh = [node for node in outputs if node not in self._noted]
        if not fresh:
            return
        name, chapter = self._scope.workflow.id, self._scope.request.chapter
        known = await self._store.current_outputs.all(name, chapter)
        stale = await self._store.current_outputs.stale(name, chapter)
        change = self._change(fresh, outputs, known, stale)
        if change:
            await self._store.current_outputs.write(name, {chapter: change})
        self._noted.update(fresh)  # last: what could not be written is noted with the next
        if not change:
            return
        touched = (*(output.node for output in change.put), *change.fresh, *(mark[0] for mark in change.marks))
        self._emit(MarksChanged(name, chapter, tuple(dict.fromkeys(touched))))

    def _change(
        self,
        nodes: Sequence[NodeId],
        outputs: Mapping[NodeId, Output],
        known: dict[NodeId, CurrentOutput],
        stale: Collection[NodeId],
    ) -> OutputChange:
        put: list[CurrentOutput] = []
        marks: list[Mark] = []
        at = self._scope.ports.now()
        for node in nodes:
            output, before, made = outputs[node], known.get(node), self._graph.steps[node].digest
            if before is not None and (before.frozen or (before.digest, before.made) == (output.digest, made)):
                continue
            stays = node in self._scope.edited and stays_as_edited(self._graph, node)
            if before is not None and before.digest == output.digest:
                put.append(replace(before, made=made, frozen=stays))
                continue
            run = RunId(self._scope.id)
            put.append(CurrentOutput(node, output.digest, output.form, at, frozen=stays, run=run, made=made))
            if before is not None:
                behind = stale_after_run(self._graph, node, has_output=known.__contains__)
                marks += [(each, node, "output") for each in behind if each not in outputs]
        return OutputChange(tuple(put), tuple(node for node in nodes if node in stale), tuple(marks))
