"""The background work after a keep: one step of a lane at a time, each safe to repeat, all of it durable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, get_args

from flowcabal_tui.domain.errors import DiskFull, FlowCabalError, Gone, KnowledgeError
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.memory import BY_RULE, LONGEST_WAIT, TASK_KINDS, BackgroundTask, Freshness, TaskKind
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.memory.step_runner import TRIES, StepEnd, run_step, wait_before
from flowcabal_tui.project.models.memory_gate import MEMORY_WORK, MemoryWork
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.memory import BackgroundChanged, MemoryWaits

log = logging.getLogger(__name__)
IDLE_SECONDS: Final = 1.0
MODEL: Final[tuple[TaskKind, ...]] = ("story", "l1", "l0", "profile", "arc", "check")
"""Steps that may call the agents' model."""
KNOWLEDGE: Final[tuple[TaskKind, ...]] = ("knowledge",)
LOCAL: Final = (*BY_RULE, *MODEL)
_READ_BY_MODEL_STEPS: Final[tuple[TaskKind, ...]] = ("index", "entities")


class Background:
    """Three lanes of tasks: those by rule, those that may call a model, and those for the knowledge server.

    Lives on the engine's loop.
    """

    def __init__(
        self,
        base: ProjectBase,
        do: Callable[[BackgroundTask], Awaitable[None]],
        knowledge_is_up: Callable[[], bool],
    ) -> None:
        """`do` carries out a step; it raises FlowCabalError, or Gone when its subject no longer exists."""
        self._base, self._outbox, self._emit, self._clock = base, base.store.outbox, base.emit, base.clock
        self._step, self._knowledge_is_up, self._wake = do, knowledge_is_up, base.work.wake
        self._not_confirmed: set[int] = set()
        """Tasks that wait until the user confirms what they use."""
        self._unpaid: set[int] = set()
        """Tasks that wait because a call would cost money that the user has not agreed to."""
        self._announced = 0
        self._lanes: dict[tuple[TaskKind, ...], asyncio.Event] = {
            kinds: base.work.lane() for kinds in (BY_RULE, MODEL, KNOWLEDGE)
        }
        self._running: dict[BackgroundTask, asyncio.Task[None]] = {}
        self._unrecorded: set[int] = set()
        """Tasks whose ends could not be stored; they are set to waiting as soon as the store can be written."""
        self._workers: list[asyncio.Task[None]] = []
        self._hindrance: FlowCabalError | None = None
        """The error of the store at the last try; None if it worked."""
        self._unwritten: DiskFull | None = None
        """The error of a step that failed for lack of space since the last `settled`."""

    def start(self) -> None:
        """Starts with the tasks that an earlier process left; does nothing when it is already started."""
        if self._workers:
            return
        self._workers = [
            asyncio.create_task(self._lane(kinds, event), name=f"background {kinds[0]}")
            for kinds, event in self._lanes.items()
        ]

    async def _lane(self, kinds: tuple[TaskKind, ...], event: asyncio.Event) -> None:
        begun, idle = False, True
        while True:
            event.clear()
            worked = not idle
            try:
                if not begun:
                    await self._outbox.hasten()  # tasks that waited for an answer in an earlier process are tried again
                    begun = True
                idle = not await self._one(kinds)
                if idle and kinds is MODEL:
                    await self._follow_gates()
                if idle and worked and kinds is BY_RULE:
                    self._lanes[MODEL].set()
                elif not idle and kinds is MODEL:
                    self._lanes[BY_RULE].set()  # a reading may have found names
            except FlowCabalError as error:  # the store itself cannot be read or written just now
                self._hindered(error)
                idle = True
            else:
                self._hindrance = None if not idle else self._hindrance
            if idle:
                try:
                    await asyncio.wait_for(event.wait(), IDLE_SECONDS)
                except TimeoutError:
                    continue

    def _hindered(self, error: FlowCabalError) -> None:
        log.warning("background: %s", error.title)
        if self._hindrance is None:
            self._emit(Status("error", error.title))
        self._hindrance = error

    @property
    def _may_work(self) -> bool:
        """False in a restricted project: nothing is done or awaited."""
        return self._base.trust.state != "restricted"

    async def _one(self, kinds: tuple[TaskKind, ...]) -> bool:
        """Does the next task of a lane; returns False when none can be done now."""
        if not self._may_work or (kinds is KNOWLEDGE and not self._knowledge_is_up()):
            return False
        for left in sorted(self._unrecorded):
            await self._outbox.move(("running",), "waiting", left)
            self._unrecorded.discard(left)
        due = await self._outbox.next(1, self._now(), kinds, after=_READ_BY_MODEL_STEPS if kinds is MODEL else ())
        if not due:
            return False
        (task,) = due
        read = await self._text_of(task)
        work = asyncio.create_task(self._do(task))
        self._running[task] = work
        try:
            if kinds is MODEL:
                await self._until_superseded(task, work, read)
            await asyncio.wait([work])
        finally:
            self._running.pop(task, None)
            work.cancel()
        if not work.cancelled() and (error := work.exception()) is not None:
            self._unrecorded.add(task.id)
            raise error
        return True

    async def _until_superseded(self, task: BackgroundTask, work: asyncio.Task[None], read: Digest | None) -> None:
        """Returns when a step has ended, and cancels it as soon as it would read another text.

        Its question, which may wait long for the model, is therefore not sent, and a sent one no longer occupies the
        model.
        """
        event = self._lanes[MODEL]
        while not work.done():
            event.clear()
            if await self._is_superseded(task, read):
                work.cancel()
                await asyncio.wait([work])
                self._unrecorded.add(task.id)
                await self._outbox.begin_later(task.id)
                self._unrecorded.discard(task.id)
                await self.emit_counts()
                return
            woken = asyncio.create_task(event.wait())
            try:
                await asyncio.wait([work, woken], return_when=asyncio.FIRST_COMPLETED)
            finally:
                woken.cancel()

    async def _is_superseded(self, task: BackgroundTask, read: Digest | None) -> bool:
        """True when a task for another source has replaced this one, or its chapter has another text."""
        try:
            return not await self._outbox.has(task.id) or await self._text_of(task) != read
        except FlowCabalError:  # the store cannot be read just now, which the step meets by itself
            return False

    async def _text_of(self, task: BackgroundTask) -> Digest | None:
        """The digest of the text of the task's chapter; None if it has no chapter."""
        try:
            return (await self._base.store.book.chapter(ChapterId(task.subject.rpartition("@")[2]))).digest
        except Gone:
            return None

    def _now(self) -> float:
        return self._clock().timestamp()

    async def _do(self, task: BackgroundTask) -> None:
        if not await self._outbox.begin(task.id):
            return
        await self.emit_counts(replace(task, state="running"))
        MEMORY_WORK.set(work := MemoryWork())
        end = await run_step(self._step, task)
        if work.refused is not None:  # also when the step continued without the answer
            end = StepEnd("unpaid", work.refused.title, work.refused)
        self._unwritten = end.error if isinstance(end.error, DiskFull) else self._unwritten
        match end.ending:
            case "done" | "gone":
                await self._mark(replace(task, state="fresh", error=""))
            case "later":
                await self._later(task, end)
            case "unconfirmed":
                await self._until_answered(task, end.why, self._not_confirmed)
            case "unpaid":
                await self._until_answered(task, end.why, self._unpaid)
            case _:
                await self._failed(task, end.why)

    async def _later(self, task: BackgroundTask, end: StepEnd) -> None:
        tries = task.tries + 1
        if tries >= TRIES and not isinstance(end.error, KnowledgeError):
            await self._failed(task, end.why)
            return
        not_before = self._now() + wait_before(tries)
        await self._mark(replace(task, state="waiting", tries=tries, error=end.why, not_before=not_before))

    async def _until_answered(self, task: BackgroundTask, why: str, waiting: set[int]) -> None:
        """Postpones a task until the user answers; it is retried regularly, since the user may answer in another
        process."""
        waiting.add(task.id)
        not_before = self._now() + LONGEST_WAIT
        await self._mark(replace(task, state="waiting", error=why, not_before=not_before))

    async def unpaid(self) -> tuple[BackgroundTask, ...]:
        """The tasks that wait until the user agrees to what they cost."""
        return tuple(task for task in await self._outbox.all(("waiting",)) if task.id in self._unpaid and not task.job)

    async def pay(self, limit: SpendLimit) -> None:
        """Resumes the tasks that wait for money; until no task is left, the work may cost `limit` in all."""
        if await self._outbox.all(("waiting", "running")):
            self._base.models.spending.gate.allow(limit)
        await self._resume_unpaid()

    async def _resume_unpaid(self) -> None:
        self._unpaid.clear()
        await self._outbox.hasten()
        await self.emit_counts()
        self._wake()

    async def _follow_gates(self) -> None:
        """Ends the user's answers with their work; announces tasks that wait for one, and resumes them when the rule or
        the day is another."""
        spending = self._base.models.spending
        gates = spending.gate, spending.vectors_gate
        if self._unpaid and any(gate.has_changed() for gate in gates):
            await self._resume_unpaid()
            return
        waiting = await self.unpaid() if self._unpaid else ()
        if len(waiting) != self._announced:
            self._announced = len(waiting)
            self._emit(MemoryWaits(len(waiting)))
        sends = self._knowledge_is_up() and await self._is_open(KNOWLEDGE, waiting)
        if gates[0].has_answer and not sends and not await self._is_open(LOCAL, waiting):
            gates[0].lapse()
        if gates[1].has_answer and self._knowledge_is_up() and not sends:
            gates[1].lapse()

    async def _is_open(self, kinds: tuple[TaskKind, ...], unpaid: Collection[BackgroundTask]) -> bool:
        """True when tasks of these kinds are open that do not wait for an answer."""
        counts = await self._outbox.counts(kinds)
        return counts.get("waiting", 0) + counts.get("running", 0) > sum(task.kind in kinds for task in unpaid)

    async def confirmed(self) -> None:
        """Resumes at once the tasks that wait for the user's confirmation."""
        self._not_confirmed.clear()
        await self._outbox.move(("waiting",), "waiting")
        await self.emit_counts()
        self._wake()

    async def _failed(self, task: BackgroundTask, why: str) -> None:
        await self._mark(replace(task, state="failed", tries=task.tries + 1, error=why))

    async def _mark(self, task: BackgroundTask) -> None:
        await self._outbox.set_state(task.id, task.state, task.error, task.not_before, task.pinned)
        await self.emit_counts(task)

    async def emit_counts(self, task: BackgroundTask | None = None) -> None:
        """Emits the counts of tasks, with those for the knowledge server separate, since it may be down."""
        counts, owed = await self._outbox.counts_of((LOCAL, KNOWLEDGE))
        self._emit(BackgroundChanged(tuple(sorted(counts.items())), task, tuple(sorted(owed.items()))))

    async def heal(self, stored: Mapping[str, str]) -> None:
        """Brings the content of the knowledge server up to date: its folder is only a cache.

        `stored` maps its subjects to the sources from which they were made. Outdated ones are sent again; subjects
        without a task are examined, and removed if the book does not have them.
        """
        known = [task for task in await self._outbox.all(get_args(Freshness)) if task.kind == "knowledge"]
        lacking = [task.subject for task in known if task.state == "fresh" and stored.get(task.subject) != task.source]
        postponed = [task.subject for task in known if task.state == "waiting" and task.not_before]
        await self._outbox.again(KNOWLEDGE, [*lacking, *postponed])
        unknown = stored.keys() - {task.subject for task in known}
        new = [BackgroundTask(0, "knowledge", subject, Digest("unknown"), "waiting") for subject in sorted(unknown)]
        await self._outbox.add(new)
        await self.emit_counts()
        self._wake()

    async def retry(self, identity: int | None = None) -> None:
        """Retries failed or cancelled tasks (all, or one), and delayed ones now."""
        self._unpaid.clear()
        await self._outbox.move(("failed", "cancelled", "waiting"), "waiting", identity)
        await self.emit_counts()
        self._wake()

    async def cancel(self, identity: int | None, *, only_model: bool = False) -> None:
        """Cancels one task, or all that are not done; with `only_model`, all of them that may call a model.

        Earlier results stay.
        """
        kinds = (*MODEL, *KNOWLEDGE) if only_model else TASK_KINDS
        await self._outbox.move(("waiting", "running"), "cancelled", identity, kinds)
        for task, work in tuple(self._running.items()):
            if identity in (None, task.id) and task.kind in kinds:
                work.cancel()
        await self.emit_counts()

    async def settled(self, but: TaskKind | None = None) -> None:
        """Returns when the memory has no open tasks and the knowledge server none that can be done now.

        Tasks of the kind `but` are ignored. Raises DiskFull, or another error that prevents writing to the store: the
        open tasks are resumed later.
        """
        self._wake()
        local = tuple(kind for kind in LOCAL if kind != but)
        while await self._due(local):
            self.require_writable()
            await asyncio.sleep(0.05)
        unwritten, self._unwritten = self._unwritten, None
        if unwritten is not None:
            raise unwritten

    def require_writable(self) -> None:
        """Raises the error of the last failed write to the store, usually DiskFull."""
        if self._hindrance is not None:
            raise self._hindrance

    async def _due(self, local: Collection[TaskKind]) -> bool:
        if not self._may_work:
            return False
        counts, now = await self._outbox.counts(local), self._now()
        blocked = self._not_confirmed | self._unpaid
        if ("waiting" in counts or "running" in counts) and (not blocked or await self._local_due(local)):
            return True
        return self._knowledge_is_up() and any(
            task.kind in KNOWLEDGE and not task.job and (task.state == "running" or task.is_due(now))
            for task in await self._outbox.all(("waiting", "running"))
        )

    async def _local_due(self, local: Collection[TaskKind]) -> bool:
        """True when there is work for the memory that does not wait for an answer of the user."""
        return any(
            task.kind in local and not task.job and task.id not in self._not_confirmed | self._unpaid
            for task in await self._outbox.all(("waiting", "running"))
        )

    @asynccontextmanager
    async def suspended(self) -> AsyncIterator[None]:
        """Suspends the work within the context; running tasks are resumed afterwards."""
        worked = bool(self._workers)
        await self.close()
        try:
            yield
        finally:
            if worked:
                await self._outbox.reset_running()
                self.start()

    async def close(self) -> None:
        """Stops at once; the next process resumes the running tasks."""
        tasks = (*self._workers, *self._running.values())
        for worker in tasks:
            worker.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._workers = []
        self._unrecorded.clear()
