"""The runner in a comparison of workflow engines: graphs whose nodes call a function of the harness.

The graph becomes a workflow document whose nodes refer to each other by virtual blocks, the node's body a kind of
its own; without a store the journal is the one in memory, with one it is the project's database. The runner is
always strict: an output is on disk before a dependent starts.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from flowcabal_tui import __version__
from flowcabal_tui.domain.garbage import begin_loading, end_loading
from flowcabal_tui.domain.ids import Generation, NodeId, RunId
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.domain.workflow import Block, Blocks, Node, TextBlock, VirtualBlock, Workflow
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Produced, TextSink
from flowcabal_tui.nodes.plan import plan
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import NodeNeedsHuman, NodeStateChanged, NodeStreaming, RunStateChanged
from flowcabal_tui.runner.fold import RunFold, fold
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.runner.memory_journal import MemoryJournal
from flowcabal_tui.runner.run import Run
from flowcabal_tui.runner.scope import RunPorts, RunScope
from flowcabal_tui.store.file.connection import Durability
from flowcabal_tui.store.store import Store

_NUMBERS = itertools.count()
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class BodyParams(BaseModel):
    """A prompt, and the nodes whose outputs it takes in."""

    model_config = ConfigDict(frozen=True)
    prompt: Blocks


class Body(NodeKind):
    """Calls the harness's function as a node would call a model."""

    name: ClassVar[str] = "harness"
    params: ClassVar[type[BaseModel]] = BodyParams

    def __init__(self, function: Any, call: Any, cached: bool, limited: bool) -> None:
        self._function, self._call, self._cached, self._limited = function, call, cached, limited
        self.sinks: dict[str, TextSink] = {}
        """The texts that grow, by node: a client takes the new pieces after an event."""
        self.entered: Callable[[NodeId], object] | None = None

    def blocks(self, params: BodyParams) -> tuple[Block, ...]:
        return params.prompt

    def fingerprint(self, context: NodeContext, params: BodyParams) -> Any:
        return () if self._cached else None

    async def run(self, context: NodeContext, params: BodyParams) -> Produced:
        results = context.names["result_of"]
        inputs = {b.node: results[b.node]["text"] for b in params.prompt if isinstance(b, VirtualBlock)}
        if self._limited:
            await context.hold()
        if self.entered is not None:
            self.entered(NodeId(context.node.id))
        sinks: list[TextSink] = []

        def emit(piece: str) -> None:
            if not sinks:
                sinks.append(context.streamed(1))
                self.sinks[context.node.id] = sinks[0]
            sinks[0].append(piece)

        async def ask(question: str) -> str:
            return (await context.ask("input", question)).text

        text = await self._function(self._call(context.node.id, inputs, emit, ask))
        for sink in sinks:
            sink.end()
        return Produced({"text": text})


class Engine:
    """What the harness opens graphs with."""

    name = "flowcabal"
    features = frozenset({"chain", "fan", "dag", "parallel", "limit", "durable", "resume", "cache", "stream", "ask"})

    def version(self) -> str:
        return __version__

    async def open(self, graph: Any, node: Any, options: Any) -> Session:
        from enginebench.protocol import Call, Result

        begin_loading()
        end_loading()  # as the program does when it has opened a project
        kind = f"harness{next(_NUMBERS)}"
        body = Body(node, Call, options.cache, options.limit is not None)
        kinds()[kind] = body
        store, workflow = None, _workflow(graph, kind)
        if options.store is not None:
            durability: Durability = "FULL" if options.synchronous == "FULL" else "NORMAL"
            store = await Store.open(options.store, clock=lambda: NOW, language="en", durability=durability)
            workflow = await store.workflows.save(workflow)
        return Session(workflow, body, store, options.limit, Result)


class Learned(Engine):
    """The same, when a run before has told how long each node takes: the critical path in seconds, not in steps."""

    name = "flowcabal-learned"
    features = Engine.features - {"cache", "resume", "ask", "stream"}

    async def open(self, graph: Any, node: Any, options: Any) -> Session:
        session = await super().open(graph, node, options)
        await session.learn()
        return session


def _workflow(graph: Any, kind: str) -> Workflow:
    nodes = []
    for node, sources in graph.deps.items():
        blocks = [TextBlock(text=graph.prompts[node]), *(VirtualBlock(node=NodeId(each)) for each in sources)]
        nodes.append(Node(id=node, kind=kind, params={"prompt": [block.model_dump() for block in blocks]}))
    return Workflow(id="bench", nodes=tuple(nodes))


class Session:
    """One graph, run many times."""

    def __init__(self, workflow: Workflow, body: Body, store: Store | None, limit: int | None, result: Any) -> None:
        self._workflow, self._body, self._store, self._result = workflow, body, store, result
        self._journal = store.journal if store else MemoryJournal()
        self._plan = plan(workflow.nodes, workflow.edges)
        self._limits = Limits(limit or len(workflow.nodes))
        self._live: dict[str, tuple[Run, asyncio.Task[Any], asyncio.Event, dict[str, Any]]] = {}

    async def learn(self) -> None:
        """One run whose times are kept."""
        ended: dict[NodeId, float] = {}
        began: dict[NodeId, float] = {}

        def told(event: Event) -> None:
            if isinstance(event, NodeStateChanged):
                ended[event.node] = time.perf_counter()

        self._body.entered = lambda node: began.setdefault(node, time.perf_counter())
        await self.run("learning", told=told)
        self._body.entered = None
        durations = {node: ended[node] - began[node] for node in began}
        self._plan = plan(self._workflow.nodes, self._workflow.edges, durations=durations)

    async def run(self, run_id: str, *, resume: bool = False, told: Any = None) -> Any:
        run, request = RunId(run_id), RunRequest(self._workflow.reference)
        quiet, asked = asyncio.Event(), {}

        def emit(event: Event) -> None:
            if told is not None:
                told(event)
            if isinstance(event, NodeNeedsHuman):
                asked[event.question.node] = event.question
            elif isinstance(event, RunStateChanged) and event.state == "waiting":
                quiet.set()

        ports = RunPorts(self._journal, None, None, self._limits, emit, lambda: NOW, str)
        scope = RunScope(run, self._workflow, request, Generation(0), {}, ports)
        if resume:
            past = fold(await self._journal.history(run))
        else:
            past = RunFold()
            await self._journal.begin_run(run, request, self._workflow, Generation(0))
        executed = Run(scope, past, self._plan)
        return await self._until_quiet(run_id, executed, asyncio.ensure_future(executed.execute()), quiet, asked)

    async def _until_quiet(self, run_id: str, run: Run, task: Any, quiet: asyncio.Event, asked: dict[str, Any]) -> Any:
        task.add_done_callback(lambda _: quiet.set())
        try:
            await quiet.wait()
        except asyncio.CancelledError:
            run.cancel()
            await task
            raise
        if task.done():
            task.result()
            return self._result({node: output.text for node, output in run.outputs.items()})
        self._live[run_id] = (run, task, quiet, asked)
        return self._result(
            {node: output.text for node, output in run.outputs.items()},
            {node: question.reason for node, question in asked.items()},
        )

    async def answer(self, run_id: str, answers: dict[str, str]) -> Any:
        run, task, quiet, asked = self._live.pop(run_id)
        quiet.clear()
        for node, text in answers.items():
            question, decision = asked.pop(node).id, Decision("edit", text=text)
            await self._journal.answer(question, decision)
            run.answer(question, decision)
        return await self._until_quiet(run_id, run, task, quiet, asked)

    async def stream(self, run_id: str) -> AsyncIterator[str]:
        grown: dict[str, int] = {}
        wake = asyncio.Event()

        def told(event: Event) -> None:
            if type(event) is NodeStreaming:
                grown.setdefault(event.node, 0)
                wake.set()

        task = asyncio.ensure_future(self.run(run_id, told=told))
        task.add_done_callback(lambda _: wake.set())
        over = False
        while not over:
            await wake.wait()
            wake.clear()
            over = task.done()
            for node, taken in tuple(grown.items()):
                pieces = self._body.sinks[node].pieces
                grown[node] = len(pieces)
                for piece in pieces[taken:]:
                    yield piece
        task.result()

    async def close(self) -> None:
        if self._store is not None:
            await self._store.close()
