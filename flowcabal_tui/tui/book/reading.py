"""The paid reading of imported chapters by the agents' model: offered after an import, paused and resumed by a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.memory import BootstrapStatus
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.memory.bootstrap_words import progress_words, reading_lines
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import paid_models
from flowcabal_tui.protocol.memory import BootstrapChanged, PauseBootstrap, StartBootstrap
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.spending import agrees_to_pay
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen


class ReadingController:
    """Offers, pauses, resumes and drops a paid reading."""

    def __init__(self, screen: Screen[Any], project: Project) -> None:
        self._screen, self._project = screen, project
        self._heard = False
        """An event came, which is newer than the answer to a question that was asked before."""

    async def load(self) -> None:
        """Shows a reading left by an earlier session."""
        if (status := await self._project.memory.bootstrap()) is not None and not self._heard:
            self._show(status)

    def _show(self, status: BootstrapStatus) -> None:
        line = self._screen.query_one(StatusLine)
        line.facts = replace(line.facts, reading=status)

    @on_event
    def show(self, event: BootstrapChanged) -> None:
        """Shows the progress of the reading, or that it paused or ended."""
        status, self._heard = event.status, True
        self._show(status)
        if status.state == "paused" and status.reason:
            self._screen.notify(
                clean(status.reason), title=_("The reading is paused"), severity="warning", markup=False
            )
        elif status.state == "done":
            self._screen.notify(progress_words(status), title=_("The imported chapters are read"), markup=False)

    @on_key("book.read", group="reading", exclusive=True)
    async def toggle(self) -> None:
        """Pauses a running reading; otherwise asks whether to start one, or to resume or drop a paused one."""
        status = await self._project.memory.bootstrap()
        if status is not None and status.state == "running":
            await self._project.carry_out(PauseBootstrap())
        elif status is not None and status.state == "paused" and (choice := await self._chosen(status)) != "go":
            if choice == "drop":
                await self._project.carry_out(PauseBootstrap(drop=True))
        elif not await self.offer():
            self._screen.notify(_("All imported chapters have been read."), markup=False)

    async def _chosen(self, status: BootstrapStatus) -> str | None:
        """The writer's choice for a paused reading: "go", "drop", or None."""
        choices = (("go", _("Continue it")), ("drop", _("Cancel the rest; what was read is kept")))
        title = _("reading of the import: {words}").format(words=one_line(progress_words(status)))
        return await self._screen.app.push_screen_wait(ChooseScreen(title, choices))

    async def _agrees(self, title: str, price: Sequence[str], more: Sequence[str], *, is_free: bool) -> bool:
        """The writer's answer. A free reading is offered too, because it takes long, but without a word of payment."""
        if not is_free:
            return await agrees_to_pay(self._screen.app, title, price, *more)
        agreed: bool = await self._screen.app.push_screen_wait(ConfirmScreen(title, "\n".join((*price, *more))))
        return agreed

    async def offer(self) -> bool:
        """Shows the quote and starts after a confirmation. Returns False when there is nothing to read, or no model to
        read it."""
        if not any(role == "agent" for role, _endpoint in self._project.info.models):
            return False
        quote = await self._project.memory.quote_bootstrap()
        if not quote.calls:
            return False
        title = _("Have the agents' model read the imported chapters?")
        more = (
            _("It produces summaries, names, relations, facts and profiles. `B` pauses it."),
            _("Without it, chapters are searched by words and names, and their summaries are quoted sentences."),
        )
        price = reading_lines(quote, paid_models(self._project.info.models, "agent"))
        if await self._agrees(title, price, more, is_free=quote.cost == 0):
            await self._project.carry_out(StartBootstrap())
        return True
