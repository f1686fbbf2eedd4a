"""Past runs: the outcomes of their nodes, their costs, and their events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from flowcabal_tui.domain.codec import from_plain
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.ids import Digest, NodeId, QuestionId, RunId
from flowcabal_tui.domain.items import Form, Output
from flowcabal_tui.domain.journal import RunEvent, served_nodes
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import Decision, Evaluation, Question, node_state_in
from flowcabal_tui.domain.run_details import RunDetails
from flowcabal_tui.domain.versions import NodeTrace
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependencies, last_nodes
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import (
    NodeCompleted,
    NodeEvaluated,
    NodeIteration,
    NodeNeedsHuman,
    NodeStarted,
    NodeStateChanged,
    NodeStreaming,
    QuestionAnswered,
    RunStarted,
    RunStateChanged,
    WorkflowCompleted,
    WorkflowFailed,
)
from flowcabal_tui.runner.fold import NodeFold, RunFold, fold
from flowcabal_tui.store import Store


class History:
    """Reads logs of past runs. Lives on the engine's loop."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def details(self, run: RunId) -> RunDetails:
        """The details of a run. Raises Gone if there is no such run."""
        request = await self._store.runs.run_request(run)
        log = await self._store.journal.history(run)
        served = {node for event in log if event.kind == "nodes-served" for node in event.payload["nodes"]}
        took = {event.node: event.payload["seconds"] for event in log if "seconds" in event.payload}
        nodes = fold(log).nodes
        items = {
            known.digest for known in nodes.values() if known.form == "json" and known.digest and not known.attempts
        }
        errors = {digest: Output(text, "json").errors for digest, text in (await self._texts(items)).items()}
        summary = await self._store.runs.summary(run)
        for known in nodes.values():
            known.state = node_state_in(summary.state, known.state)
        return RunDetails(
            summary,
            request,
            await self._store.runs.workflow_of(run),
            tuple(
                replace(
                    _trace(node, known, node in served, took.get(node, 0.0)), item_errors=errors.get(known.digest, ())
                )
                for node, known in nodes.items()
            ),
            await self._store.usage.totals(run),
        )

    async def _texts(self, digests: set[Digest]) -> Mapping[Digest, str]:
        return await self._store.journal.texts(tuple(digests)) if digests else {}

    async def replay(self, run: RunId) -> tuple[Event, ...]:
        """The events in the order of the log. Raises UnknownName if there is no such run."""
        log = await self._store.journal.history(run)
        if not log:
            raise UnknownName(_("There is no run {run}.").format(run=run))
        decisions = {
            identity: await self._store.journal.decision(QuestionId(identity))
            for event in log
            if event.kind == "answered" and (identity := event.payload["question"])
        }
        texts = await self._store.journal.texts(tuple(_digests(log)))
        workflow = await self._store.runs.workflow_of(run)
        chapter = (await self._store.runs.run_request(run)).chapter
        replayed = _Telling(run, workflow, texts, decisions)
        first = RunStarted(run, workflow.reference, chapter, tuple(node.id for node in workflow.nodes))
        return (first, *(event for line in log for event in replayed.again(line)))


def _trace(node: NodeId, known: NodeFold, served: bool, took: float) -> NodeTrace:
    """`took`: seconds from start to end of a node that makes no attempts."""
    done = [attempt.done for attempt in known.attempts.values() if attempt.done and not served]
    usages = [from_plain(Usage, each["usage"]) for each in done if each.get("usage") and not each.get("cached")]
    return NodeTrace(
        node=node,
        state=known.state,
        attempts=len(known.attempts),
        served=served or any(each.get("stands") for each in done),
        models=tuple(dict.fromkeys(each["model"] for each in done if each.get("model"))),
        seconds=round(sum(each.get("seconds", 0.0) for each in done if not each.get("cached")), 3) if done else took,
        usage=Usage(
            _sum(usage.input_tokens for usage in usages),
            _sum(usage.output_tokens for usage in usages),
            _sum(usage.cached_tokens for usage in usages),
            _sum(usage.written_tokens for usage in usages),
        ),
        error=known.error,
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _digests(log: Iterable[RunEvent]) -> Iterator[Digest]:
    """The digests of all texts that the events of a log name."""
    for event in log:
        if event.kind in ("attempt-done", "node-done") and event.payload.get("digest"):
            yield Digest(event.payload["digest"])
        elif event.kind == "nodes-served":
            yield from (Digest(payload["digest"]) for payload in served_nodes(event.payload).values())


class _Telling:
    """Turns the lines of a log into the events that clients received, and folds them as well."""

    def __init__(
        self, run: RunId, workflow: Workflow, texts: Mapping[Digest, str], decisions: Mapping[str, Decision | None]
    ) -> None:
        self._run, self._workflow, self._texts, self._decisions = run, workflow, texts, decisions
        self._titles = {node.id: node.title for node in workflow.nodes}
        self._past: dict[NodeId, list[RunEvent]] = {}
        self._outputs: dict[NodeId, str] = {}

    def again(self, line: RunEvent) -> Iterator[Event]:
        """The events of one line."""
        self._past.setdefault(line.node, []).append(line)
        match line.kind:
            case "run-resumed":
                nodes = tuple(node.id for node in self._workflow.nodes)
                yield RunStarted(self._run, self._workflow.reference, None, nodes, resumed=True)
            case "attempt-started":
                yield NodeStarted(self._run, line.node, self._title(line.node), line.attempt)
                yield NodeStateChanged(self._run, line.node, "running")
            case "attempt-done":
                text = self._texts[Digest(line.payload["digest"])]
                yield NodeStreaming(self._run, line.node, line.attempt, 0, text)
            case "iteration":
                yield NodeIteration(self._run, line.node, **line.payload["round"])
            case "evaluated":
                evaluation = from_plain(Evaluation, line.payload["evaluation"])
                yield NodeEvaluated(self._run, line.node, line.attempt, evaluation)
            case "asked":
                yield NodeStateChanged(self._run, line.node, "waiting", line.payload["question"]["reason"])
                yield NodeNeedsHuman(from_plain(Question, line.payload["question"]))
            case "answered":
                decision = self._decisions.get(line.payload["question"])
                yield NodeStateChanged(self._run, line.node, "running")
                if decision is not None:
                    yield QuestionAnswered(QuestionId(line.payload["question"]), decision)
            case "node-done":
                yield from self._done(line.node, line.payload, line.attempt)
            case "nodes-served":
                for node, payload in served_nodes(line.payload).items():
                    yield from self._done(node, payload, 1 if "key" in payload else 0, served=True)
            case "node-skipped":
                yield NodeStateChanged(self._run, line.node, "skipped")
            case "node-blocked":
                yield NodeStateChanged(self._run, line.node, "blocked")
            case "cancelled":
                yield NodeStateChanged(self._run, line.node, "cancelled")
            case "node-failed":
                yield NodeStateChanged(self._run, line.node, "failed", line.payload["title"])
                yield WorkflowFailed(
                    self._run,
                    line.payload["title"],
                    line.payload["detail"],
                    node=line.node,
                    by_model=bool(line.payload.get("fault")),
                )
            case "run-ended":
                if line.payload["state"] == "done":
                    ends = last_nodes(dependencies(self._workflow))
                    yield WorkflowCompleted(
                        self._run, tuple((node, self._outputs[node]) for node in ends if node in self._outputs)
                    )
                yield RunStateChanged(self._run, line.payload["state"])

    def _title(self, node: NodeId) -> str:
        return self._titles.get(node) or node.rsplit("/", 1)[-1]

    def _done(self, node: NodeId, payload: Mapping[str, Any], attempt: int, *, served: bool = False) -> Iterator[Event]:
        folded = fold(self._past.get(node, ())).node(node)
        made = folded.attempts.get(attempt)
        form: Form = payload.get("form") or (made.done.get("form", "text") if made else "text")
        digest = Digest(payload.get("digest", ""))
        output = Output(self._texts[digest], form) if digest else None
        text = output.text if output else ""
        self._outputs[node] = text
        yield NodeStateChanged(self._run, node, "frozen" if payload.get("frozen") else "done")
        yield NodeCompleted(
            self._run,
            node,
            attempt,
            text,
            served or bool(made and made.done.get("cached")),
            made.evaluated() if made else None,
            made.attempt(text).receipt if made else None,
            output.errors if output else (),
        )


def folds_to(events: Iterable[Event]) -> RunFold:
    """The last state of each node in these events, to be compared with the fold of the log."""
    seen = RunFold()
    for event in events:
        match event:
            case RunStarted(resumed=True):
                seen.state = "running"
                for known in seen.nodes.values():
                    if known.state not in ("done", "skipped", "waiting"):
                        known.state = "pending"
            case NodeStateChanged(node=node, state=state):
                seen.node(node).state = "done" if state == "frozen" else state
            case RunStateChanged(state=state):
                seen.state = state
    return seen
