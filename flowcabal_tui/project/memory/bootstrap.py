"""The reading of imported chapters by the agents' model: a paid job that the writer starts, pauses and resumes.

Its steps are those of a keep, as rows of the outbox that carry its id. Each reads the memory as of the generation in
which it first began, so a step that is repeated after a kill asks questions that are already paid for.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence, Set
from dataclasses import replace
from decimal import Decimal
from typing import Final, Literal

from flowcabal_tui.agents.arcs import arcs_of
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import DiskFull, FlowCabalError, LimitReached, RunError
from flowcabal_tui.domain.ids import ChapterId, Generation, RunId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapQuote, BootstrapStatus
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.following import tasks
from flowcabal_tui.project.memory import bootstrap_plan as plan
from flowcabal_tui.project.memory.background import Background
from flowcabal_tui.project.memory.bootstrap_limit import hold, known_pace, learn_pace, past_quote
from flowcabal_tui.project.memory.step_runner import TRIES, StepEnd, run_step, wait_before
from flowcabal_tui.project.memory.step_tools import StepTools
from flowcabal_tui.project.memory.steps import Steps
from flowcabal_tui.project.memory.summary_steps import MOST_OF_MANY
from flowcabal_tui.project.models.spending import PAYING_RUN
from flowcabal_tui.protocol.memory import BootstrapChanged

log = logging.getLogger(__name__)
JOB: Final = "bootstrap"
LOOK_SECONDS: Final = 0.05


class Bootstrap:
    """Runs one reading at a time. Lives on the engine's loop."""

    def __init__(self, tools: StepTools, background: Background) -> None:
        base = tools.base
        self._tools, self._base, self._store, self._models = tools, base, base.store, base.models
        self._emit, self._clock, self._chapters = base.emit, base.clock, tools.read_chapters
        self._wake, self._require_writable = base.work.wake, background.require_writable
        self._job: plan.Job | None = None
        self._worker: asyncio.Task[None] | None = None
        self._beginning, self._begun = asyncio.Lock(), False
        self._stopping = asyncio.Event()
        self._unwritten: FlowCabalError | None = None
        """The error that prevented storing the last reading."""
        self._weight_done, self._began = 0.0, 0.0

    async def begin(self) -> None:
        """Loads, once, the state of an earlier process: an unfinished reading is paused."""
        async with self._beginning:
            if not self._begun:
                await self._begin()
                self._begun = True

    async def _begin(self) -> None:
        await self._chapters.begin()
        self._job = await self._store.values.get(JOB, plan.Job)
        if self._job and self._job.state == "running" and (self._store.is_left or not self._store.read_only):
            self._job = replace(self._job, state="paused", reason=_("The program ended before it was finished."))

    def _steps(self, pinned: Generation | None) -> Steps:
        """The steps that ask the model and read a generation."""
        return Steps(self._tools.for_job(pinned))

    async def unread(self, first: int | None, last: int | None) -> list[Chapter]:
        """Imported chapters between two places in the story (both included) that no model has read.

        The offline model reads them after an import, unless it was chosen only later.
        """
        if not self._base.settings.agents.curator:
            return []
        known = await self._read_offline() if self._models.is_offline("agent") else frozenset()
        return [
            chapter
            for chapter in await self._store.book.chapters()
            if chapter.digest
            and chapter.author == "import"
            and chapter.id not in known
            and not self._chapters.has_read(chapter)
            and (first or 0) <= chapter.position <= (last or chapter.position)
        ]

    async def _read_offline(self) -> Set[str]:
        """Chapters that were read, by any model, or that the background work will read."""
        to_come = await self._store.outbox.all(("waiting", "running"))
        return await self._store.records.read() | {task.subject for task in to_come if task.kind == "story"}

    async def quote(self, first: int | None, last: int | None) -> BootstrapQuote:
        """The likely and the highest price; for a paused reading, that of the rest.

        Raises RunError for other chapters than those of a paused reading, and ModelError(NOT_CONFIGURED).
        """
        endpoint = self._models.model("agent").endpoint
        if (rows := await self._unfinished(first, last)) is None:
            rows = plan.first_rows(await self.unread(first, last))
            chapters, planned = len({row.subject for row in rows}), 0
        else:
            chapters, planned = (len(self._job.chapters), self._job.planned) if self._job else (0, 0)
        wanted = {row.subject for row in rows if row.kind in plan.CHAPTER_STEPS}
        written = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        texts = [await self._store.book.text(chapter.id) for chapter in written if chapter.id in wanted]
        lengths = await asyncio.to_thread(lambda: [self._models.counter.count(text) for text in texts])
        arcs, pace = arcs_of(written), await known_pace(self._store, endpoint)
        due = plan.profiles_due(self._base.kinds.all(), await self._store.memory.names())
        most = plan.questions((*rows, *self._to_come(chapters, planned)), arcs)
        usual = plan.usual_questions((*rows, *self._to_come(chapters, planned, due)), arcs)
        return plan.quote(most, usual, lengths, plan.Price(self._models.counter, endpoint, pace))

    def _to_come(self, chapters: int, planned: int, most: int = MOST_OF_MANY) -> list[BackgroundTask]:
        return plan.rows_to_come(chapters, planned, self._base.settings.agents.profiles, most)

    async def _unfinished(self, first: int | None, last: int | None) -> list[BackgroundTask] | None:
        """The open steps of the reading to resume: one that was paused, or that has failed steps."""
        job, named = self._job, (first, last) != (None, None)
        if job is None or job.state == "dropped" or (job.state == "done" and named):
            return None
        if job.state == "paused" and named:
            raise RunError(
                _("Another reading is paused."),
                _("Nothing was sent."),
                _("Continue it without naming chapters, or cancel it: bootstrap --drop, or B on the screen."),
            )
        rows = list(await self._store.jobs.open(job.id))
        return rows if rows or job.state != "done" else None

    def expect(self) -> None:
        """Announces a start, so that a pause sent from now on takes effect even if it is carried out first."""
        if self._worker is None or self._worker.done():
            self._stopping.clear()

    async def start(self, first: int | None, last: int | None, max_cost: Decimal | None) -> str:
        """Begins a reading, or resumes the paused one. Raises RunError, ModelError(NOT_CONFIGURED)."""
        endpoint = self._models.model("agent").endpoint
        if self._worker and not self._worker.done():
            raise RunError(_("The chapters are already being read."), "", _("Pause it first to change what it covers."))
        if self._stopping.is_set():
            raise RunError(_("The reading was paused before it began."), _("Nothing was sent."))
        is_unknown = not endpoint.is_free and (endpoint.price_in is None or endpoint.price_out is None)
        if max_cost is not None and is_unknown:
            raise RunError(
                _("The cap on money cannot be enforced: the price of {model} is unknown.").format(model=endpoint.model),
                _("Nothing was sent."),
                _("Set price_in and price_out of the agents' model in flowcabal.toml."),
            )
        quote = await self.quote(first, last)
        job = self._job
        if job and await self._unfinished(first, last) is not None:
            await self._store.jobs.move(job.id, ("failed", "cancelled", "waiting", "running"), "waiting")
            job = replace(job, max_cost=job.max_cost if max_cost is None else max_cost)
        else:
            job = await self._new(await self.unread(first, last), max_cost)
        await self._put(replace(job, state="running", reason=""))
        await hold(self._store, self._models, RunId(job.id), quote)
        self._unwritten = None
        self._worker = asyncio.create_task(self._work(), name="bootstrap")
        return job.id

    async def ended(self) -> None:
        """Returns when no reading is in progress. Raises DiskFull when its state could not be written."""
        if self._worker is not None:
            await asyncio.wait([self._worker])
        if self._unwritten is not None:
            raise self._unwritten

    async def _new(self, chapters: Sequence[Chapter], max_cost: Decimal | None) -> plan.Job:
        if not chapters:
            raise RunError(_("All imported chapters have been read."), _("Nothing was sent."))
        job = f"{JOB}-{await self._store.memory.generation()}"
        rows = plan.first_rows(chapters)
        await self._store.jobs.add(job, rows)
        expected = len(rows) + len(self._to_come(len(chapters), 0))
        return plan.Job(job, tuple(chapter.id for chapter in chapters), expected, max_cost)

    async def pause(self, *, drop: bool = False) -> None:
        """Starts no further steps; running ones are completed.

        With `drop`, returns when the rest is cancelled; raises RunError when there is none.
        """
        self._stopping.set()
        await self.tell()
        if drop:
            await self._drop()

    async def _drop(self) -> None:
        """Returns unread chapters to their state after the import; what was read and paid for stays."""
        if self._worker is not None:
            await asyncio.wait([self._worker])
        job = self._job
        rows = await self._unfinished(None, None)
        if job is None or rows is None:
            raise RunError(_("No reading is paused."), _("Nothing was changed."))
        left = {row.subject for row in rows if row.kind in plan.CHAPTER_STEPS}
        chapters = [one for one in await self._store.book.chapters() if one.id in left]
        await self._store.jobs.drop(job.id)
        by_rule = [tasks(("l1", "l0"), one.id, one.digest, one.position) for one in chapters if one.digest]
        await self._store.outbox.add(task for made in by_rule for task in made)
        await self._put(replace(job, state="dropped", reason=""))
        self._wake()

    async def status(self) -> BootstrapStatus | None:
        """The progress of the reading; None when there never was one."""
        if (job := self._job) is None:
            return None
        rows = await self._store.jobs.open(job.id)
        undone, failed = plan.undone(rows), sum(row.state in ("failed", "cancelled") for row in rows)
        left = len(undone) + len(self._to_come(len(job.chapters), job.planned))
        spent = await self._store.usage.totals(RunId(job.id))
        pausing = job.state == "running" and self._stopping.is_set()
        return BootstrapStatus(
            "pausing" if pausing else job.state,
            max(0, job.steps - left - failed),
            job.steps,
            failed,
            self._seconds_left(undone) if job.state == "running" else None,
            spent,
            job.max_cost,
            job.reason,
        )

    def _seconds_left(self, undone: Sequence[BackgroundTask]) -> float | None:
        if not self._weight_done or self._job is None:
            return None
        to_come = self._to_come(len(self._job.chapters), self._job.planned)
        weight = plan.weight(task.kind for task in (*undone, *to_come))
        return weight * (time.monotonic() - self._began) / self._weight_done

    async def tell(self) -> None:
        """Emits the progress."""
        if (status := await self.status()) is not None:
            self._emit(BootstrapChanged(status))

    async def _put(self, job: plan.Job) -> None:
        self._job = job
        await self._store.values.put(JOB, to_plain(job))
        await self.tell()

    async def _work(self) -> None:
        job = self._job
        if job is None:
            return
        PAYING_RUN.set(RunId(job.id))
        self._models.spending.cap(RunId(job.id), job.max_cost, await self._store.usage.totals(RunId(job.id)))
        self._weight_done, self._began = 0.0, time.monotonic()
        before, endpoint = await self._store.usage.totals(RunId(job.id)), self._models.model("agent").endpoint
        try:
            reason = await self._all(job)
            await learn_pace(self._store, endpoint, RunId(job.id), before, time.monotonic() - self._began)
            await self._steps(None).enqueue_story()
            self._wake()
        except FlowCabalError as error:  # the store cannot be read or written just now
            reason, self._unwritten = error.title, error
        self._models.spending.reservations.release_run(RunId(job.id))
        state: Literal["paused", "done"] = "paused" if reason or self._stopping.is_set() else "done"
        self._stopping.clear()
        try:
            await self._put(replace(self._job or job, state=state, reason=reason))
        except FlowCabalError as error:  # the next opening finds it running and treats it as paused
            self._unwritten = error
            await self.tell()

    async def _all(self, job: plan.Job) -> str:
        """Carries out all steps, some in parallel; returns the reason for an early end ("": it reached the end, or was
        stopped)."""
        width = self._models.model("agent").endpoint.pace.concurrency
        await self._indexed()
        active: dict[asyncio.Task[str], int] = {}
        reason = ""
        try:
            while True:
                rows = await self._store.jobs.open(job.id)
                ready = plan.ready(rows, self._now())
                for task in ready if not (reason or self._stopping.is_set()) else ():
                    if len(active) < width and task.id not in active.values():
                        active[asyncio.create_task(self._one(task))] = task.id
                if active:
                    ended, _left = await asyncio.wait(active, return_when=asyncio.FIRST_COMPLETED)
                    for each in ended:
                        del active[each]
                        reason = each.result() or reason
                elif reason or self._stopping.is_set():
                    return reason
                elif waiting := plan.undone(rows):
                    await self._wait(min(task.not_before for task in waiting) - self._now())
                elif self._job is not None and self._to_come(len(job.chapters), self._job.planned):
                    await self._plan_more(self._job)
                else:
                    return ""
        finally:
            for each in active:
                each.cancel()
            await asyncio.gather(*active, return_exceptions=True)

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), max(LOOK_SECONDS, seconds))
        except TimeoutError:
            return

    async def _one(self, task: BackgroundTask) -> str:
        """Carries out one step; returns the reason why no other may begin, or ""."""
        reason = await self._ended(task, await run_step(self._step, task))
        await self.tell()
        return reason

    async def _step(self, task: BackgroundTask) -> None:
        begun = await self._store.jobs.begin(task)
        await self._steps(begun.pinned).do(begun)
        await self._done(task)

    async def _ended(self, task: BackgroundTask, end: StepEnd) -> str:
        """Stores the end of a step; returns the reason why no other may begin, or ""."""
        set_state = self._store.outbox.set_state
        self._unwritten = end.error if isinstance(end.error, DiskFull) else self._unwritten
        match end.ending:
            case "done":
                pass
            case "gone":
                await self._store.jobs.finish(task)
            case "failed":
                await set_state(task.id, "failed", end.why)
            case "later" if task.tries + 1 < TRIES:
                await set_state(task.id, "waiting", end.why, self._now() + wait_before(task.tries + 1))
            case _:
                reason = past_quote() if isinstance(end.error, LimitReached) else end.why
                await set_state(task.id, "waiting", reason)
                return reason
        return ""

    async def _done(self, task: BackgroundTask) -> None:
        if task.kind == plan.CHAPTER_STEPS[-1]:
            chapter = await self._store.book.chapter(ChapterId(task.subject))
            if chapter.digest is not None and task.source == plan.source(chapter):
                await self._chapters.note(chapter)
        await self._store.jobs.finish(task)
        self._weight_done += plan.weight([task.kind])
        self._wake()

    async def _plan_more(self, job: plan.Job) -> None:
        """Adds the rows for the profiles of the next block once all names are known and indexed; finally those for
        arcs."""
        steps = self._steps(None)
        if job.planned == 0:
            await steps.enqueue_index()
            self._wake()
            await self._indexed()
        read = set(job.chapters)
        chapters = [chapter for chapter in await self._store.book.chapters() if chapter.id in read]
        blocks = plan.blocks(chapters)
        if job.planned < len(blocks):
            found = list(await steps.summaries.profile_tasks(blocks[job.planned]))
        else:  # one after the other: the summary of the work is made from all of them
            found = [replace(arc, position=at) for at, arc in enumerate(await steps.summaries.all_arc_tasks(), 1)]
        rows = [replace(row, source=digest_of([job.id, row.source])) for row in found]
        await self._store.jobs.add(job.id, rows)
        to_come = [len(self._to_come(len(job.chapters), planned)) for planned in (job.planned, job.planned + 1)]
        steps_then = job.steps - to_come[0] + len(rows) + to_come[1]
        await self._put(replace(job, planned=job.planned + 1, steps=steps_then))

    async def _indexed(self) -> None:
        """Returns when the background work has nothing left to index, since names are looked up in the index. Raises
        DiskFull."""
        while await self._store.outbox.waits("index"):
            self._require_writable()
            await asyncio.sleep(LOOK_SECONDS)

    def _now(self) -> float:
        return self._clock().timestamp()

    async def close(self) -> None:
        """Stops at once; the next process can resume it."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
