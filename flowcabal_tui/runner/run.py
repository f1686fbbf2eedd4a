"""A run: executes its nodes from start to end, writes its log and events, and stops it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import FlowCabalError, ModelError, RunError, StepFailed
from flowcabal_tui.domain.ids import Digest, NodeId, QuestionId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.run import Attempt, Decision, NodeState, RunState
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import Produced, Rejected
from flowcabal_tui.nodes.plan import Plan, PlannedNode, plan
from flowcabal_tui.protocol.runs import (
    NodeCompleted,
    NodeStateChanged,
    QuestionAnswered,
    RunStarted,
    RunStateChanged,
    WorkflowCompleted,
    WorkflowFailed,
)
from flowcabal_tui.runner.attempts import produced_result, served_attempt, served_payload, stored_result
from flowcabal_tui.runner.effects import again, whole, with_effect
from flowcabal_tui.runner.fold import NodeFold, RunFold
from flowcabal_tui.runner.node_run import NodeRun
from flowcabal_tui.runner.ports import CALLER
from flowcabal_tui.runner.schedule import Schedule
from flowcabal_tui.runner.scope import Frame, RunScope

log = logging.getLogger(__name__)


class Run:
    """Executes one run. `past` is the fold of its log: empty for a new run."""

    def __init__(self, scope: RunScope, past: RunFold, prepared: Plan | None = None) -> None:
        """`prepared` is the plan of the scope's workflow, when it was made before. Raises WorkflowError."""
        self.scope, self._past = scope, past
        whole = prepared or plan(scope.workflow.nodes, scope.workflow.edges, durations=scope.durations)
        self._frame = Frame(scope, whole.part(scope.request.targets), scope.workflow, scope.values, scope.state)
        self._schedule = Schedule(self, self._frame, 0 if scope.request.step else None)
        self._resumed = bool(past.nodes)
        scope.effects = past.effects
        again(scope.state, past.effects.get("", {}))
        for known in past.nodes.values():
            known.state = known.state if known.state in ("done", "skipped") else "pending"
        self._texts: Mapping[Digest, str] = {}
        self._tasks: dict[NodeId, Callable[[], None]] = {}
        """The nodes that are under way, with what stops each."""
        self._prepared: dict[NodeId, NodeRun] = {}
        """Nodes that were looked up without an output: they run next."""
        self._waiting: set[NodeId] = set()
        self._inside: list[tuple[NodeId, Schedule]] = []
        """The inner graphs that are under way, with the nodes that contain them."""
        self._stopped_before: set[NodeId] = set()
        self._served: dict[str, Mapping[str, Any] | Digest] = {}
        self._unwritten: FlowCabalError | None = None
        self._failed = False
        self._cancelled = self._cut = False

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        return tuple(self._frame.plan.steps)

    @property
    def outputs(self) -> Mapping[NodeId, Output]:
        """The outputs of the workflow's own nodes so far."""
        return self._frame.outputs

    @property
    def only_waits(self) -> bool:
        """True when the run can only continue after a person's answer."""
        if not self._waiting:
            return False
        rest = {node for node, schedule in self._inside if schedule.busy}  # these only wait for their graphs
        return len(self._tasks) - len(rest) == len(self._waiting)

    @property
    def stopped(self) -> bool:
        return self._cancelled

    async def execute(self) -> RunState:
        """Runs to the end and returns the state; nodes that ended earlier do not run again.

        Raises FlowCabalError when the log could not be written: then the run can be resumed.
        """
        ports = self.scope.ports
        if self._resumed:
            await ports.journal.record(RunEvent(self.scope.id, "run-resumed", at=ports.now()))
            await self._read_texts()
        ports.emit(
            RunStarted(
                self.scope.id, self.scope.workflow.reference, self.scope.request.chapter, self.nodes, self._resumed
            )
        )
        await self._schedule.execute()
        if not self.scope.closing:
            await self._block(self._frame, self._schedule)
        self._tell_served()
        if self.scope.closing:
            return "interrupted"
        if self._unwritten is not None:
            raise self._unwritten
        state: RunState = "cancelled" if self._cancelled or self._cut else "failed" if self._failed else "done"
        await ports.journal.record(RunEvent(self.scope.id, "run-ended", payload={"state": state}, at=ports.now()))
        if state == "done":
            ends = tuple((node, self.outputs[node].text) for node in self._frame.plan.ends if node in self.outputs)
            ports.emit(WorkflowCompleted(self.scope.id, ends))
        ports.emit(RunStateChanged(self.scope.id, state))  # the last event: a client may stop listening here
        return state

    async def _read_texts(self) -> None:
        """Reads, in one query, the outputs that were current when the earlier process ended."""
        done = {state.digest for state in self._past.nodes.values() if state.state == "done" and state.digest}
        self._texts = await self.scope.ports.journal.texts(tuple(done)) if done else {}

    async def execute_inside(self, frame: Frame, node: NodeId) -> None:
        """Runs the graph inside a node. Raises StepFailed when one of its nodes failed or was stopped."""
        schedule = Schedule(self, frame)
        self._inside.append((node, schedule))
        try:
            await schedule.execute()
            if not self.scope.closing:
                await self._block(frame, schedule)
        finally:
            self._inside.remove((node, schedule))
        if unfinished := schedule.unfinished:
            raise StepFailed(
                _("A step inside it did not finish: {node}").format(node=frame.path + unfinished[0]),
                self._past.node(NodeId(frame.path + unfinished[0])).error,
                _("The outputs of the other steps are kept. Run it again when the cause is fixed."),
            )

    async def _block(self, frame: Frame, schedule: Schedule) -> None:
        """Marks nodes that could not run because of a failure, a rejection or a cancel above them.

        A node that ended in an earlier process has its output, even if a cancel came before its turn.
        """
        for node in schedule.unfinished:
            if (past := self._past.node(path := NodeId(frame.path + node))).state == "done":
                frame.outputs[node] = self._restored(path, past)
        paths = [NodeId(frame.path + node) for node in schedule.unfinished]
        blocked = [path for path in paths if self._past.node(path).state not in ("failed", "cancelled")]
        ports = self.scope.ports
        for path in blocked:
            self._past.node(path).state = "blocked"
            ports.emit(NodeStateChanged(self.scope.id, path, "blocked"))
        if blocked:  # last: a cancel during the write finds everything reported
            await self._note(*(RunEvent(self.scope.id, "node-blocked", path, at=ports.now()) for path in blocked))

    # The methods that a schedule calls

    def began(self, path: NodeId, stop: Callable[[], None]) -> None:
        self._tasks[path] = stop

    def left(self, path: NodeId) -> None:
        self._tasks.pop(path, None)
        self._waiting.discard(path)
        if not self._tasks and self._schedule.paused and not self._cancelled:
            self._tell_served()
            self.scope.ports.emit(RunStateChanged(self.scope.id, "paused"))
        if self._waiting:
            self._tell_if_waiting()

    async def cancelled(self, path: NodeId) -> None:
        """Logs a cancellation before the scope closes. When the process ends, nothing is logged, so the node can be
        resumed.
        """
        if self.scope.closing:
            return
        self._past.node(path).state = "cancelled"
        self._cut = True
        ports = self.scope.ports
        await self._note(RunEvent(self.scope.id, "cancelled", path, at=ports.now()))
        ports.emit(NodeStateChanged(self.scope.id, path, "cancelled"))

    def skipped(self, path: NodeId) -> None:
        past = self._past.node(path)
        if past.state != "skipped":
            past.state = "skipped"
            self.scope.ports.journal.post(RunEvent(self.scope.id, "node-skipped", path))
        self.scope.ports.emit(NodeStateChanged(self.scope.id, path, "skipped"))

    def refused(self, path: NodeId) -> bool:
        if path not in self._stopped_before:
            return False
        self._past.node(path).state = "cancelled"
        self._cut = True
        self.scope.ports.journal.post(RunEvent(self.scope.id, "cancelled", path))
        self.scope.ports.emit(NodeStateChanged(self.scope.id, path, "cancelled"))
        return True

    def at_once(self, frame: Frame, step: PlannedNode, path: NodeId) -> Output | None:
        past = self._past.node(path)
        if (pinned := self.scope.pins.get(path)) is not None:
            past.state = "done"
            self._serve(path, {"digest": pinned.digest, "form": pinned.form, "frozen": True})
            self._emit_done(path, pinned, None, "frozen")
            return pinned
        if past.state == "done":
            return self._restored(path, past)
        return self._from_earlier_run(frame, step, path, past)

    def _restored(self, path: NodeId, past: NodeFold) -> Output:
        """The output with which the node ended in an earlier process."""
        output = Output(self._texts[past.digest], past.form, past.digest)
        attempts = past.attempts.get(past.chosen)
        self.scope.edited.update([path] if attempts and attempts.done.get("author") == "human" else [])
        self._emit_done(path, output, attempts.attempt(output.stored) if attempts else None)
        return output

    def _from_earlier_run(self, frame: Frame, step: PlannedNode, path: NodeId, past: NodeFold) -> Output | None:
        """The output of an equal node, unless a new sample was requested or attempts of this run have begun."""
        if past.attempts or not step.kind.reusable:
            return None
        run = self._prepared[path] = NodeRun(self, frame, step, past)
        try:
            stored = run.stored_result()
        except Exception:  # the kind cannot compute its key; the same error ends only this node when it runs
            return None
        if stored is None:
            return None
        del self._prepared[path]
        past.state = "done"
        output = Output(stored.text, stored.form, stored.digest)
        if not stored.model and stored.author == "model":  # no attempt: a program made it
            text = output.form == "text"
            self._serve(path, output.digest if text else {"digest": output.digest, "form": output.form})
            self._emit_done(path, output, None)
            return output
        attempt = served_attempt(1, stored)
        past.attempt(1).done, past.chosen = served_payload(attempt), 1
        self._serve(path, past.attempts[1].done)
        self._emit_done(path, output, attempt)
        return output

    def _serve(self, path: NodeId, served: Mapping[str, Any] | Digest) -> None:
        if not self._served:
            asyncio.get_running_loop().call_soon(self._tell_served)
        self._served[path] = served

    def _tell_served(self) -> None:
        """Logs the served outputs in one event; it need not wait for the disk, since they could be found again."""
        if self._served:
            self.scope.ports.journal.post(
                RunEvent(self.scope.id, "nodes-served", payload={"nodes": self._served}, at=self.scope.ports.now())
            )
            self._served = {}

    async def node(self, frame: Frame, step: PlannedNode, path: NodeId) -> Output | None:
        past = self._past.node(path)
        run = self._prepared.pop(path, None) or NodeRun(self, frame, step, past)
        try:
            output, attempt = await self._run_kind(frame, step, run, past)
        except asyncio.CancelledError:
            await self.cancelled(path)
        except Rejected:
            self._failed = True
            past.state = "failed"
            await self._note(run.report.event("node-failed", title="rejected", detail=""))
            run.report.state("failed", "rejected")
        except FlowCabalError as error:
            await self._was_failed(run, path, error)
        except Exception as error:  # a kind may come from a plug-in: its error must not end the other branches
            log.exception("node %s", path)
            await self._was_failed(
                run, path, RunError(_("The node stopped because of an error in the program."), repr(error))
            )
        else:
            self._emit_done(path, output, attempt)
            return output
        finally:
            run.let_go()
        return None

    async def _run_kind(
        self, frame: Frame, step: PlannedNode, run: NodeRun, past: NodeFold
    ) -> tuple[Output, Attempt | None]:
        """Runs the kind and records how the node ended: output, event and key in one transaction."""
        journal = self.scope.ports.journal
        begun = asyncio.get_running_loop().time()
        before = run.key() if step.reads_state else None
        if self.scope.ports.context is not None and getattr(step.params, "context", False):
            run.report.state("running", _("gathering the context"))
        CALLER.set(run)  # for the task of this node alone
        result = await step.kind.run(run, step.params)
        key = run.key() if step.kind.reusable else None
        if step.reads_state and key != before:
            key = None  # the state has changed since it was read
        if isinstance(result, Produced):
            output, effect = Output.of(result.value), result.effect
            seconds = round(asyncio.get_running_loop().time() - begun, 3)
            payload: dict[str, Any] = {"digest": output.digest, "form": output.form, "seconds": seconds}
            if key:
                payload["keys"] = [key]
            if effect:
                payload |= {"effect": to_plain(effect), "state": frame.state_of}
            outcome = (key, produced_result(key, output, seconds)) if key else None
            kept = partial(journal.keep_output, output, run.report.event("node-done", **payload), outcome=outcome)
            if effect is not None:
                await with_effect(frame.state, effect, kept)
            else:
                await (kept() if step.kind.reusable else whole(kept()))
            past.state, past.digest, past.form = "done", output.digest, output.form
            return output, None
        keys = [each for each in (key, run.models.last_outcome_key) if each]
        done = run.report.event("node-done", result.number, digest=result.digest, keys=keys)
        if key is None:
            await journal.record(done)
        else:
            await journal.keep_output(result.output, done, outcome=(key, stored_result(result.key, result)))
        past.state, past.chosen, past.digest, past.form = "done", result.number, result.digest, result.form
        return result.output, result

    async def _note(self, *events: RunEvent) -> None:
        """Logs the ends of nodes. On a failure the other nodes continue, and the run reports it at its end."""
        try:
            await self.scope.ports.journal.record(*events)
        except FlowCabalError as error:
            log.warning("run %s: %s", self.scope.id, error.title)
            self._unwritten = error

    # the host of a node

    def waits(self, node: NodeId) -> None:
        self._waiting.add(node)
        self._tell_if_waiting()

    def goes_on(self, node: NodeId) -> None:
        self._waiting.discard(node)
        self.scope.ports.emit(RunStateChanged(self.scope.id, "running"))

    def _tell_if_waiting(self) -> None:
        if self.only_waits:
            self.scope.ports.emit(RunStateChanged(self.scope.id, "waiting"))

    def _emit_done(self, path: NodeId, output: Output, attempt: Attempt | None, state: NodeState = "done") -> None:
        emit, run = self.scope.ports.emit, self.scope.id
        emit(NodeStateChanged(run, path, state))
        if attempt is None:
            chosen = self._past.node(path).chosen
            emit(NodeCompleted(run, path, chosen, output.text, False, errors=output.errors))
            return
        known = self._past.node(path).attempts.get(attempt.number)
        evaluation = attempt.evaluation or (known.evaluated() if known else None)
        receipt, errors = attempt.receipt, output.errors
        emit(NodeCompleted(run, path, attempt.number, output.text, attempt.cached, evaluation, receipt, errors))

    async def _was_failed(self, run: NodeRun, node: NodeId, error: FlowCabalError) -> None:
        self._failed = True
        past = self._past.node(node)
        past.state, past.error = "failed", error.title
        fault = error.fault.value if isinstance(error, ModelError) else ""
        await self._note(run.report.event("node-failed", title=error.title, detail=error.detail, fault=fault))
        run.report.state("failed", error.title)
        self.scope.ports.emit(
            WorkflowFailed(self.scope.id, error.title, error.detail, error.advice, node, isinstance(error, ModelError))
        )

    # The methods for the owner of the run

    def cancel(self, node: NodeId | None = None) -> bool:
        """Stops one node with its inner nodes, or the run: streams are closed at once, partial text is journalled.

        A node that has not begun will not begin. Its dependents are blocked. Returns False when the node has ended or
        is unknown.
        """
        if node is None:
            self._cancelled = True
            for path, stop in tuple(self._tasks.items()):
                if "/" not in path:
                    stop()
            self._schedule.go_on()
            return True
        if node in self._tasks:
            self._tasks[node]()
            return True
        begun = self._past.nodes.get(node)
        if node not in self._frame.plan.steps or (begun and begun.state not in ("pending", "ready")):
            return False
        self._stopped_before.add(node)
        return True

    def advance(self) -> bool:
        """In step mode: starts the next level. Returns False when no level is held back."""
        if not self._schedule.paused:
            return False
        self.scope.ports.emit(RunStateChanged(self.scope.id, "running"))
        self._schedule.advance()
        return True

    def close(self) -> None:
        """Stops without an event in the log, so that the next process can continue."""
        self.scope.closing = True
        self.cancel()

    def answer(self, question: QuestionId, decision: Decision) -> bool:
        """Passes a recorded answer to the node that waits for it; returns False if none does."""
        node, answer = self.scope.waiting.get(question, (None, None))
        if node is None or answer is None or answer.done():
            return False
        answer.set_result(decision)
        self._waiting.discard(node)
        self.scope.ports.emit(RunStateChanged(self.scope.id, "running"))
        self.scope.ports.emit(QuestionAnswered(question, decision))
        return True
