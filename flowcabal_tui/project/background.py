"""The background work after a keep: one step at a time, each safe to repeat, all of it durable."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.errors import BudgetExceeded, FlowCabalError, KnowledgeError, ModelError
from flowcabal_tui.domain.memory import BackgroundTask, TaskKind
from flowcabal_tui.project.steps import Steps
from flowcabal_tui.protocol import BackgroundChanged

if TYPE_CHECKING:
    from flowcabal_tui.project.parts import Parts

log = logging.getLogger(__name__)
TRIES: Final = 5
FIRST_WAIT: Final = 2.0
LONGEST_WAIT: Final = 300.0
IDLE_SECONDS: Final = 1.0
DUE: Final = 10_000
LOCAL: Final[tuple[TaskKind, ...]] = ("mirror", "index", "entities", "l1", "l0", "profile", "check")
KNOWLEDGE: Final[tuple[TaskKind, ...]] = ("knowledge",)


class Background:
    """Two lanes: what the memory needs, and what the knowledge server is told. Lives on the engine's loop."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._steps = parts, Steps(parts)
        self._lanes: dict[tuple[TaskKind, ...], asyncio.Event] = {LOCAL: asyncio.Event(), KNOWLEDGE: asyncio.Event()}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._workers: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins with what an earlier process left."""
        self._workers = [
            asyncio.create_task(self._lane(kinds, event), name=f"background {kinds[0]}")
            for kinds, event in self._lanes.items()
        ]

    def wake(self) -> None:
        """Something new is to be done, or the knowledge server came up."""
        for event in self._lanes.values():
            event.set()

    async def _lane(self, kinds: tuple[TaskKind, ...], event: asyncio.Event) -> None:
        while True:
            task = await self._next(kinds)
            if task is None:
                event.clear()
                try:
                    await asyncio.wait_for(event.wait(), IDLE_SECONDS)
                except TimeoutError:
                    continue
                continue
            work = asyncio.create_task(self._do(task))
            self._running[task.id] = work
            try:
                await asyncio.shield(asyncio.wait([work]))
            finally:
                self._running.pop(task.id, None)
                if not work.done():
                    work.cancel()

    async def _next(self, kinds: tuple[TaskKind, ...]) -> BackgroundTask | None:
        if kinds is KNOWLEDGE and not self._parts.knowledge.is_up:
            return None
        due = await self._parts.store.outbox.next(DUE, self._now())
        return next((task for task in due if task.kind in kinds), None)

    def _now(self) -> float:
        return self._parts.clock().timestamp()

    async def _do(self, task: BackgroundTask) -> None:
        await self._mark(task, replace(task, state="running"))
        try:
            await self._steps.do(task)
        except asyncio.CancelledError:
            raise
        except KnowledgeError as error:
            await self._later(task, error)
        except ModelError as error:
            await (self._later(task, error) if error.retryable else self._failed(task, error))
        except (BudgetExceeded, FlowCabalError) as error:
            await self._failed(task, error)
        except KeyError:
            await self._mark(task, replace(task, state="fresh"))  # its subject is gone: nothing to do
        except Exception as error:  # the edge of a worker: one step must not end the lane
            log.exception("background %s of %s", task.kind, task.subject)
            await self._mark(task, replace(task, state="failed", tries=task.tries + 1, error=repr(error)))
        else:
            await self._mark(task, replace(task, state="fresh", error=""))

    async def _later(self, task: BackgroundTask, error: FlowCabalError) -> None:
        tries = task.tries + 1
        if tries >= TRIES and not isinstance(error, KnowledgeError):
            await self._failed(task, error)
            return
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (tries - 1))
        await self._mark(
            task, replace(task, state="waiting", tries=tries, error=error.title, not_before=self._now() + wait)
        )

    async def _failed(self, task: BackgroundTask, error: FlowCabalError) -> None:
        await self._mark(task, replace(task, state="failed", tries=task.tries + 1, error=error.title))

    async def _mark(self, before: BackgroundTask, after: BackgroundTask) -> None:
        await self._parts.store.outbox.set_state(after.id, after.state, after.error, after.not_before)
        if after.state != before.state or after.error:
            await self.tell(after)

    async def tell(self, task: BackgroundTask | None = None) -> None:
        """Tells the guests how the background work stands."""
        counts = await self._parts.store.outbox.counts()
        self._parts.emit(BackgroundChanged(tuple(sorted(counts.items())), task))

    async def heal(self, held: frozenset[str]) -> None:
        """Sends the knowledge server again what it should hold and does not: its folder is only a cache."""
        for task in await self._parts.store.outbox.all(("fresh",)):
            if task.kind == "knowledge" and task.subject.removeprefix("manuscript/") not in held:
                await self._mark(task, replace(task, state="waiting"))
        self.wake()

    async def retry(self) -> None:
        """Takes up what failed or was cancelled."""
        for task in await self._parts.store.outbox.all(("failed", "cancelled")):
            await self._mark(task, replace(task, state="waiting", tries=0, error="", not_before=0.0))
        self.wake()

    async def cancel(self, identity: int | None) -> None:
        """Cancels one task, or all that are not done; what they replace stays as it is."""
        for task in await self._parts.store.outbox.all(("waiting", "running")):
            if identity in (None, task.id):
                if (work := self._running.get(task.id)) is not None:
                    work.cancel()
                await self._mark(task, replace(task, state="cancelled"))

    async def reindex(self) -> None:
        """Looks for all names in all chapters again, since the names have changed."""
        await self._steps.enqueue_index()
        self.wake()

    async def settled(self) -> None:
        """Returns when nothing is left that can be done now."""
        self.wake()
        while await self._due():  # noqa: ASYNC110  # the lanes wake themselves; a guest only looks on
            await asyncio.sleep(0.05)

    async def _due(self) -> bool:
        kinds = (*LOCAL, *KNOWLEDGE) if self._parts.knowledge.is_up else LOCAL
        waiting = await self._parts.store.outbox.all(("waiting", "running"))
        return any(task.kind in kinds for task in waiting)

    async def close(self) -> None:
        """Stops at once; what was running is taken up again by the next process."""
        for worker in (*self._workers, *self._running.values()):
            worker.cancel()
        await asyncio.gather(*self._workers, *self._running.values(), return_exceptions=True)
