"""Work of agents for a comparison, each after the writer agreed to its price: checks, further candidates, seams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from textual.screen import Screen

from flowcabal_tui.agents.comparing.seams import SeamHunk
from flowcabal_tui.domain.comparison import Candidate, Taken
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.comparison_words import outcome_words
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.tui.decisions.comparison_access import ComparisonAccess
from flowcabal_tui.tui.decisions.finding_view import finding_in_full
from flowcabal_tui.tui.decisions.seam_changes import SeamChangesScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.spending import agrees_to_pay
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import facts_words

MORE: int = 6
"""Most further candidates in one request."""


class CandidateWork:
    """Requests work on behalf of a screen; `tell` shows the running work, "" for none."""

    def __init__(self, screen: Screen[Any], access: ComparisonAccess, tell: Callable[[str], None]) -> None:
        self._screen, self._access, self._tell = screen, access, tell

    def show_facts(self, letter: str, candidate: Candidate) -> None:
        """Shows all problems of a candidate, and the unchecked angles."""
        reasons = [finding_in_full(mark.finding) if mark.finding else mark.reason for mark in candidate.marks]
        reasons += list(candidate.unchecked)
        if not reasons:
            self._screen.notify(_("There is no finding."), markup=False)
            return
        title = _("Facts against {letter}").format(letter=letter)
        self._screen.app.push_screen(SourceScreen(OpenedSource("", title, "\n\n———\n\n".join(reasons))))

    async def sift(self) -> None:
        """Checks all candidates against facts."""
        ways = (("rules", _("by rule: costs nothing")), ("model", _("also by the agents' model, from every angle")))
        asked = ChooseScreen(_("Check the facts of all candidates?"), ways)
        way: str | None = await self._screen.app.push_screen_wait(asked)
        if way is None:
            return
        if way == "model" and not await self._agreed(_("Check by the agents' model?"), await self._access.quote_sift()):
            return
        await self._access.sift(model=way == "model")

    async def more(self) -> Literal["", "written", "asks"]:
        """Requests further candidates; "asks" when a run will ask again, "" when the writer declines."""
        title = _("How many more candidates? 1 to {n}").format(n=MORE)
        answer = (await self._screen.app.push_screen_wait(PromptLine(title, value="1")) or "").strip()
        if not (answer.isascii() and answer.isdecimal() and 1 <= int(answer) <= MORE):
            return ""
        count = int(answer)
        title = ngettext("Write {n} more candidate?", "Write {n} more candidates?", count).format(n=count)
        if not await self._agreed(title, await self._access.quote_more(count)):
            return ""
        self._tell(_("more candidates are being written"))
        try:
            run = await self._access.more(count)
        finally:
            self._tell("")
        if run is not None:
            self._screen.notify(_("The run asks again when they are written: F8."), markup=False)
        return "written" if run is None else "asks"

    async def smoothed(self, text: str, taken: Sequence[Taken]) -> tuple[SeamHunk, ...]:
        """The changes at the seams that the writer accepts."""
        changes = await self._access.seams(text, taken)
        if changes is None:
            if not await self._agreed(_("Change the seams?"), await self._access.quote_seams(text, taken)):
                return ()
            self._tell(_("the model reads the seams"))
            try:
                await self._access.smooth(text, taken)
            finally:
                self._tell("")
            changes = await self._access.seams(text, taken)
        if not changes:
            self._screen.notify(_("The model would change nothing at the seams."), markup=False)
            return ()
        return await self._screen.app.push_screen_wait(SeamChangesScreen(changes)) or ()

    async def show_outcomes(self) -> None:
        """Shows the wins and losses over all choices."""
        rows = await self._access.outcomes()
        if not rows:
            self._screen.notify(_("No choice has been made yet."), markup=False)
            return
        words = [[clean_line(each) for each in outcome_words(row)] for row in rows]
        blocks = ["\n".join((facts_words(*each[:-3]), facts_words(*each[-3:]))) for each in words]
        text = OpenedSource("", _("Who won, by prompt and model"), "\n\n".join(blocks))
        self._screen.app.push_screen(SourceScreen(text))

    async def _agreed(self, title: str, quote: Quote) -> bool:
        return quote.is_free or await agrees_to_pay(self._screen.app, title, self._access.quote_price(quote))
