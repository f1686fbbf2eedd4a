"""The memory: profiles and summaries, background tasks, the paid reading of an import, rebuilding, purging."""

from __future__ import annotations

from collections.abc import Mapping

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.memory import (
    BackgroundTask,
    BootstrapQuote,
    BootstrapStatus,
    Freshness,
    Level,
    StaleText,
    TaskKind,
)
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.text import clean
from flowcabal_tui.project.commands import Service, handles, passed_on
from flowcabal_tui.project.models.memory_gate import spending_rule
from flowcabal_tui.project.views import OpenedSource, ProfileRow, ProfileView, RebuildPlan, UnpaidWork
from flowcabal_tui.protocol.memory import (
    CancelBackground,
    PauseBootstrap,
    PayMemory,
    PinProfile,
    Purge,
    Rebuild,
    RebuildPart,
    RegenerateProfile,
    RetryBackground,
    StartBootstrap,
    TakeProfile,
    WaiveFinding,
    WriteProfile,
)


class MemoryService(Service):
    """Questions and commands about the memory. Lives on the engine's loop."""

    passes_on = (
        passed_on(WriteProfile, lambda parts, command: parts.memory.profiles.carry_out(command)),
        passed_on(PinProfile, lambda parts, command: parts.memory.profiles.carry_out(command)),
        passed_on(TakeProfile, lambda parts, command: parts.memory.profiles.carry_out(command)),
        passed_on(RegenerateProfile, lambda parts, command: parts.memory.profiles.carry_out(command)),
        passed_on(PayMemory, lambda parts, command: parts.memory.background.pay(command.limit), hurries=True),
        passed_on(RetryBackground, lambda parts, command: parts.memory.background.retry(command.task), hurries=True),
        passed_on(
            CancelBackground,
            lambda parts, command: parts.memory.background.cancel(command.task, only_model=command.only_model),
        ),
        passed_on(Rebuild, lambda parts, command: parts.memory.rebuilder.rebuild(command.what, command.uris)),
    )

    # Profiles and summaries

    async def profiles(self) -> tuple[ProfileRow, ...]:
        """One row for each profile, summary of an arc or of the work, and summary of a chapter."""
        return await self._parts.memory.profiles.rows()

    async def profile(self, uri: str) -> ProfileView:
        """A profile or summary in its levels, with its history."""
        return await self._parts.memory.profiles.view(uri)

    async def source(
        self, uri: str, start: int = -1, end: int = -1, level: Level | None = None, receipt: Receipt | None = None
    ) -> OpenedSource:
        """A text that was cited or found; with a level, that level of a profile or of a chapter's summary.

        With the receipt that names it, returns the text as its run saw it.
        """
        return await self._parts.memory.sources.source(uri, start, end, level, receipt)

    @handles(WaiveFinding)
    async def waive_finding(self, command: WaiveFinding) -> None:
        quotations = command.draft_quote, command.source_quote
        if not await self._store.findings.waive(quotations, command.reason):
            await self._store.memory.waive(quotations, clean(command.reason))

    # Background tasks

    async def background(self, state: Freshness | None = None) -> tuple[BackgroundTask, ...]:
        """Background tasks in a state (None: in any but fresh), in the order in which they run."""
        outbox = self._store.outbox
        return await (outbox.all() if state is None else outbox.all((state,)))

    async def background_counts(self) -> dict[Freshness, int]:
        """The number of tasks in each state, those of a paid reading among them."""
        return await self._store.outbox.counts()

    async def settled(self, but: TaskKind | None = None) -> None:
        """Waits until no background task can run, except tasks of the kind `but`.

        Raises DiskFull where there is no space.
        """
        await self._parts.memory.background.settled(but)

    async def quote_background(self, steps: Mapping[TaskKind, int]) -> Quote:
        """The quote of the given number of steps of background work, by kind."""
        return await self._parts.runs.quotes.background(steps)

    async def unpaid(self) -> UnpaidWork | None:
        """The background work that waits until the user agrees to what it costs; None when none does."""
        tasks = await self._parts.memory.background.unpaid()
        if not tasks:
            return None
        quote = await self._parts.runs.quotes.unpaid(tasks, self._parts.agents.monitor())
        sends = {task.kind == "knowledge" for task in tasks}
        by_kind: dict[bool, Role] = {False: "agent", True: "embedding"}
        roles = tuple(role for kind, role in by_kind.items() if kind in sends)
        return UnpaidWork(len(tasks), quote, str(spending_rule()), roles)

    # The paid reading of imported chapters

    async def bootstrap(self) -> BootstrapStatus | None:
        """The state of the reading of imported chapters; None when there never was one."""
        return await (await self._parts.memory.begun_bootstrap()).status()

    async def quote_bootstrap(self, first: int | None = None, last: int | None = None) -> BootstrapQuote:
        """The highest price of reading imported chapters; for a paused reading, the price of the remaining ones."""
        return await (await self._parts.memory.begun_bootstrap()).quote(first, last)

    async def bootstrap_ended(self) -> None:
        """Returns when no reading of imported chapters is in progress. Raises DiskFull when its end could not be
        stored."""
        await (await self._parts.memory.begun_bootstrap()).ended()

    def expect_bootstrap(self) -> None:
        """Announces a reading, so that a pause sent after its start takes effect although pauses run first."""
        self._parts.memory.bootstrap.expect()

    @handles(StartBootstrap, accepted=expect_bootstrap)
    async def start_bootstrap(self, command: StartBootstrap) -> str:
        self._parts.base.limits.hurry()
        return await (await self._parts.memory.begun_bootstrap()).start(command.first, command.last, command.max_cost)

    @handles(PauseBootstrap)
    async def pause_bootstrap(self, command: PauseBootstrap) -> None:
        await (await self._parts.memory.begun_bootstrap()).pause(drop=command.drop)

    # Rebuilding and purging

    async def stale(self) -> tuple[StaleText, ...]:
        """Summaries and profiles whose source text has changed since, in story order."""
        return await self._parts.memory.rebuilder.stale()

    async def rebuild_plan(self, what: RebuildPart = "all") -> RebuildPlan:
        """The steps, out-of-date texts and damaged texts of a rebuild; changes nothing."""
        return await self._parts.memory.rebuilder.plan(what)

    @handles(Purge)
    async def purge(self, command: Purge) -> None:
        parts = self._parts
        if command.chapter is not None:
            await parts.book.outlining.settle()
        await parts.purging.purge(command)
        await parts.memory.updates.story_changed()
        if command.chapter is not None:
            await parts.memory.updates.chapters_moved()
