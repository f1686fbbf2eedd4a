"""Work of agents for a comparison, each after the writer agreed to its price: checks, further candidates, seams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.agents.comparing.seams import SeamHunk
from flowcabal_tui.domain.comparison import Candidate, ComparisonTarget, Taken
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.comparison_words import outcome_words
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.protocol.comparisons import SiftCandidates, SmoothSeams, WriteCandidates
from flowcabal_tui.tui.decisions.finding_view import finding_in_full
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.spending import agrees_to_spend
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words

_SHOWN = 60


class SeamChangesScreen(ModalScreen[tuple[SeamHunk, ...] | None]):
    """Returns the accepted changes; None when it was left. Initially none is accepted."""

    help = HelpData(
        mark("Changes at the seams"),
        mark(
            "Space accepts a change or rejects it again, `A` accepts all. F2 applies the accepted changes to your text."
        ),
    )
    DEFAULT_CSS = """
    SeamChangesScreen { background: $background; }
    SeamChangesScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    SeamChangesScreen > PickList { height: auto; max-height: 50%; padding: 0 1; }
    SeamChangesScreen > DiffView { height: 1fr; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "accept", mark("Accept"), key_display="Space", id="seams.accept",
                tooltip=mark("Accept this change, or refuse it again.")),
        Binding("A", "all", mark("Accept all"), id="seams.all"),
        Binding("f2,ctrl+s", "apply", mark("Apply"), priority=True, id="seams.apply",
                tooltip=mark("Apply the accepted changes to your text.")),
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="seams.back"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, changes: Sequence[SeamHunk]) -> None:
        super().__init__()
        self._changes = tuple(changes)
        self._accepted: set[int] = set()

    def compose(self) -> ComposeResult:
        """Yields the changes, and the one under the cursor."""
        yield Static(markup=False, classes="head")
        yield PickList()
        yield DiffView()
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the first change."""
        self._refill()
        self.query_one(PickList).focus()
        self._show_change()

    def _refill(self) -> None:
        rows = [
            Option(f"{'[x]' if n in self._accepted else '[ ]'} {one_line(each.after, _SHOWN)}", id=str(n))
            for n, each in enumerate(self._changes)
        ]
        self.query_one(PickList).refill(rows)
        count, accepted = len(self._changes), len(self._accepted)
        words = ngettext("{n} change at the seams", "{n} changes at the seams", count).format(n=count)
        counted = _("{n} accepted").format(n=accepted)
        self.query_one(".head", Static).update(head_words(words, counted))

    @on(OptionList.OptionHighlighted)
    def _show_change(self) -> None:
        if (picked := self.query_one(PickList).picked) is not None:
            change = self._changes[int(picked)]
            self.query_one(DiffView).set_texts(change.before, change.after)

    @on(OptionList.OptionSelected)
    def action_accept(self) -> None:
        """Accepts the change, or refuses it."""
        if (picked := self.query_one(PickList).picked) is not None:
            self._accepted ^= {int(picked)}
            self._refill()

    def action_all(self) -> None:
        """Accepts all changes."""
        self._accepted = set(range(len(self._changes)))
        self._refill()

    def action_apply(self) -> None:
        """Returns the accepted changes."""
        self.dismiss(tuple(self._changes[n] for n in sorted(self._accepted)))


MORE: int = 6
"""Most further candidates in one request."""


class CandidateWork:
    """Requests work on behalf of a screen; `tell` shows the running work, "" for none."""

    def __init__(
        self, screen: Screen[Any], project: Project, target: ComparisonTarget, tell: Callable[[str], None]
    ) -> None:
        self._screen, self._project, self._target, self._tell = screen, project, target, tell
        self._comparisons = project.comparisons

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
        page = ChooseScreen(_("Check the facts of all candidates?"), ways)
        way: str | None = await self._screen.app.push_screen_wait(page)
        if way is None:
            return
        if way == "model":
            quote = await self._comparisons.quote_sifting(self._target)
            if not await self._agreed(_("Check by the agents' model?"), quote):
                return
        await self._project.carry_out(SiftCandidates(self._target, way == "model"))

    async def more(self) -> Literal["", "written", "asks"]:
        """Requests further candidates; "asks" when a run will ask again, "" when the writer declines."""
        title = _("How many more candidates? 1 to {n}").format(n=MORE)
        answer = (await self._screen.app.push_screen_wait(PromptLine(title, value="1")) or "").strip()
        if not (answer.isascii() and answer.isdecimal() and 1 <= int(answer) <= MORE):
            return ""
        count = int(answer)
        title = ngettext("Write {n} more candidate?", "Write {n} more candidates?", count).format(n=count)
        if not await self._agreed(title, await self._comparisons.quote_candidates(self._target, count)):
            return ""
        self._tell(_("more candidates are being written"))
        try:
            run = await self._project.carry_out(WriteCandidates(self._target, count))
        finally:
            self._tell("")
        if run:
            self._screen.notify(_("The run asks again when they are written: F8."), markup=False)
        return "asks" if run else "written"

    async def smoothed(self, text: str, taken: Sequence[Taken]) -> tuple[SeamHunk, ...]:
        """The changes at the seams that the writer accepts."""
        changes = await self._comparisons.seam_changes(self._target, text, taken)
        if changes is None:
            quote = await self._comparisons.quote_seams(self._target, text, taken)
            if not await self._agreed(_("Change the seams?"), quote):
                return ()
            self._tell(_("the model reads the seams"))
            try:
                await self._project.carry_out(SmoothSeams(self._target, text, tuple(taken)))
            finally:
                self._tell("")
            changes = await self._comparisons.seam_changes(self._target, text, taken)
        if not changes:
            self._screen.notify(_("The model would change nothing at the seams."), markup=False)
            return ()
        return await self._screen.app.push_screen_wait(SeamChangesScreen(changes)) or ()

    async def show_outcomes(self) -> None:
        """Shows the wins and losses over all choices."""
        rows = await self._comparisons.outcomes()
        if not rows:
            self._screen.notify(_("No choice has been made yet."), markup=False)
            return
        words = [[clean_line(each) for each in outcome_words(row)] for row in rows]
        blocks = ["\n".join((facts_words(*each[:-3]), facts_words(*each[-3:]))) for each in words]
        text = OpenedSource("", _("Who won, by prompt and model"), "\n\n".join(blocks))
        self._screen.app.push_screen(SourceScreen(text))

    async def _agreed(self, title: str, quote: Quote) -> bool:
        return await agrees_to_spend(self._screen.app, self._project, title, quote)
