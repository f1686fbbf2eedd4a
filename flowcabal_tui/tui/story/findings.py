"""The findings of checks: both passages of each, and the writer's word on it by one key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList, Static

from flowcabal_tui.domain.findings import CheckReport, FindingPage, FindingRow, FindingVerdict, FindingWish
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import ProposalId, ProposalState
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.finding_words import check_title, report_words
from flowcabal_tui.project.story.findings import fact_of
from flowcabal_tui.project.views import SourceText
from flowcabal_tui.project.words import spend_lines
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.findings import (
    ChangeFromHere,
    CheckChapters,
    DecideFindings,
    StopChecking,
    SwitchRule,
)
from flowcabal_tui.protocol.story import UndoDecision
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.pane_tabs import PaneChosen, PaneTabs
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.story.access import StoryAccess
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.filtered_page import FilteredPage
from flowcabal_tui.tui.story.finding_lines import finding_lines, place_of, report_lines, said_in
from flowcabal_tui.tui.story.finding_list import FindingList
from flowcabal_tui.tui.story.passages import Passage, Passages
from flowcabal_tui.tui.story.proposal_list import PAGE, ProposalList
from flowcabal_tui.tui.story.record_forms import fact_form
from flowcabal_tui.tui.story.story_page import Place
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine

_TABS: Final = (
    ("1", "waiting", mark("New")),
    ("2", "later", mark("Put aside")),
    ("3", "decided", mark("Decided")),
    ("4", "resolved", mark("Resolved")),
    ("5", "all", mark("All")),
)
_STATES: Final[dict[str, tuple[ProposalState, ...]]] = {
    "waiting": ("waiting",),
    "later": ("later",),
    "decided": ("intended", "changed", "useless"),
    "resolved": ("resolved",),
    "all": (),
}


class FindingsScreen(FilteredPage):
    """A list, and below it the finding under the cursor with both passages."""

    help = HelpData(
        mark("Findings"),
        mark("What checks found in drafts, kept chapters and imported ones. Enter goes to the passage that was "
             "checked, `b` to the other one; `m` and `M` open the editor there. `c`: the story changes here, which "
             "writes a fact from this chapter on. `i`: intended, with a reason that later checks read. `x`: not "
             "useful, which counts against the check. `l` puts aside or takes up again, `u` takes the last word "
             "back. Space marks rows for `i`, `x` and `l`. Five new ones of a chapter are listed, the sure ones "
             "first; `f` unfolds the rest. `r` says what was read, `C` checks chapters, `T` switches the rule off."),
    )  # fmt: skip
    DEFAULT_CSS = """
    FindingsScreen { background: $background; }
    FindingsScreen > Input, FindingsScreen > Input:focus {
        height: 1; border: none; padding: 0 1; background: $boost;
    }
    FindingsScreen > .head { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    FindingsScreen > FindingList { height: 1fr; min-height: 4; }
    FindingsScreen > .told { height: auto; max-height: 4; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "there", mark("Other passage"), show=False, tooltip=mark("Go to the other passage."),
                id="findings.there"),
        Binding("m", "mend('here')", mark("Mend"), tooltip=mark("Open the editor at the words that were checked."),
                id="findings.mend"),
        Binding("M", "mend('there')", mark("Mend there"), tooltip=mark("Open the editor at the other passage."),
                id="findings.mend-there"),
        Binding("c", "change", mark("Changes here"), tooltip=mark("It is otherwise from this chapter on: write it."),
                id="findings.change"),
        Binding("i", "intend", mark("Intended"), tooltip=mark("It is meant so; the reason is kept."),
                id="findings.intended"),
        Binding("x", "decide('useless')", mark("Not useful"), tooltip=mark("Counts against the check that raised it."),
                id="findings.useless"),
        Binding("l", "later", mark("Later"), tooltip=mark("Put aside, or take up again."), id="findings.later"),
        Binding("u", "undo", mark("Undo"), tooltip=mark("Take the last word back."), id="findings.undo"),
        Binding("f", "fold", mark("Unfold"), show=False, tooltip=mark("All of a chapter, or the first five."),
                id="findings.fold"),
        Binding("s", "sort", mark("Order"), show=False, tooltip=mark("The newest first, or in story order."),
                id="findings.sort"),
        Binding("o", "chapter", mark("Chapter"), show=False,
                tooltip=mark("Only those of the open chapter, or of all."), id="findings.chapter"),
        Binding("r", "report", mark("What was read"), tooltip=mark("What was checked, what was not, and how useful "
                "each check is."), id="findings.report"),
        Binding("C", "check", mark("Check"), tooltip=mark("Check chapters now, or stop."), id="findings.check"),
        Binding("T", "switch", mark("Rule off"), show=False, tooltip=mark("Switch the rule of this finding off for "
                "this book, or on again."), id="findings.rule"),
        Binding("space", "mark", mark("Mark"), show=False, tooltip=mark("Mark this row, or take the mark away."),
                id="findings.mark"),
        Binding("asterisk", "mark_all", mark("Mark all"), show=False, tooltip=mark("Mark all rows that are listed; "
                "again: none."), id="findings.mark-all"),
        Binding("slash", "filter", mark("Find"), show=False, tooltip=mark("Type words, or a name."),
                id="findings.filter"),
        *(Binding(digit, f"states('{name}')", words, show=False, id=f"findings.{name}")
          for digit, name, words in _TABS),
    ]  # fmt: skip

    def __init__(
        self,
        access: StoryAccess,
        now: Callable[[], datetime],
        chapter: ChapterId | None = None,
        cursor: str | None = None,
    ) -> None:
        """`chapter` is the open one; findings of all chapters are listed first. The cursor goes to the id `cursor`."""
        super().__init__(access)
        self._now, self._open_chapter = now, chapter
        self._states_shown, self._only_open, self._unfolded, self._newest = "waiting", False, False, False
        self._cursor_wanted = cursor
        self._texts: dict[ChapterId, str] = {}
        self._report: CheckReport | None = None
        self._checking: tuple[int, int] | None = None

    @property
    def rows(self) -> FindingList:
        """The list."""
        return self.query_one(FindingList)

    def compose(self) -> ComposeResult:
        """States, the line to type in, how many there are, the list, and the finding under the cursor."""
        yield PaneTabs(_TABS)
        yield Input(placeholder=_("/ words, or a name"), select_on_focus=False)
        yield Static(markup=False, classes="head")
        yield FindingList(id="list")
        yield Static(markup=False, classes="told")
        yield Passages()
        yield HintLine()

    async def reload(self) -> None:
        """Reads who is called what, and the rows."""
        self.cast, self._report = await self.access.people(), await self.access.finding_report()
        self._texts.clear()
        if self.is_attached:
            await self.show_cast(self.cast)

    async def show_cast(self, cast: Cast) -> None:
        """As many rows as were listed."""
        cursor, self._cursor_wanted = self._cursor_wanted, None
        row = self.rows.highlighted or 0
        page = await self._page(0, (row // PAGE + 1) * PAGE + PAGE if row else PAGE)
        self.query_one(PaneTabs).show(self._states_shown)
        self.rows.show_findings(page.rows, page.total, cast, self._now(), cursor)
        self.query_one(".head", Static).update(self._head(page))
        self.tell()

    def refill(self) -> None:
        """Of other words, states or another chapter."""
        self.work(self.reload(), exclusive=True)

    async def _page(self, offset: int, limit: int = PAGE) -> FindingPage:
        chapters = (self._open_chapter,) if self._only_open and self._open_chapter else ()
        words = self.query_one(Input).value.strip()
        unfolded = self._unfolded or self._states_shown != "waiting"
        wish = FindingWish(_STATES[self._states_shown], (), chapters, words, unfolded, self._newest)
        return await self.access.findings(wish, offset, limit)

    def _head(self, page: FindingPage) -> str:
        waiting = page.counts.get("waiting", 0)
        parts = [ngettext("{n} new finding", "{n} new findings", waiting).format(n=waiting)]
        if page.folded:
            parts.append(_("{n} folded: f").format(n=page.folded))
        if self._checking is not None:
            done, total = self._checking
            parts.append(_("checking {done} of {total} · C stops").format(done=done, total=total))
        elif self._report is not None:
            parts.append(report_words(self._report))
        if self._only_open and self.cast:
            parts.insert(0, self.cast.chapter(self._open_chapter))
        return " · ".join(parts)

    def note_check(self, done: int, total: int) -> None:
        """A check of chapters goes on, or has ended."""
        self._checking = (done, total) if done < total else None
        self.book_moved()

    @on(ProposalList.MoreWanted)
    def read_more(self, message: ProposalList.MoreWanted) -> None:
        """Further rows come in behind the cursor."""
        message.stop()
        self.work(self._more(message.offset))

    async def _more(self, offset: int) -> None:
        self.rows.add_findings((await self._page(offset)).rows)

    def tell(self) -> None:
        """The finding under the cursor."""
        row, cast = self.rows.row, self.cast
        told = self.query_one(".told", Static)
        if row is None or cast is None:
            told.update("\n".join(self._nothing()))
            self.query_one(Passages).show(None, None)
            return
        told.update("\n".join(finding_lines(row, cast, self._report, len(self.rows.marked))))
        self._show_passages(row, cast)
        self.work(self._read_passages(row, cast))

    def _nothing(self) -> Iterator[str]:
        """Where nothing is listed, what was read and what was not."""
        yield _("Nothing is listed here.")
        if self._report is not None:
            yield report_words(self._report)

    async def _read_passages(self, row: FindingRow, cast: Cast) -> None:
        """The texts around the quotations are read once."""
        for place in (place_of(row, cast, there=False), place_of(row, cast, there=True)):
            if place is not None and place.chapter not in self._texts:
                self._texts[place.chapter] = await self.access.text(place.chapter)
        if self.is_attached and self.rows.row is row:
            self._show_passages(row, cast)

    def _show_passages(self, row: FindingRow, cast: Cast) -> None:
        proposal, finding = row.proposal, said_in(row)
        here, there = place_of(row, cast, there=False), place_of(row, cast, there=True)
        title = cast.chapter(proposal.place.chapter) if proposal.place else _("a draft")
        if finding.draft:
            title = _("{chapter}, a draft that is not kept").format(chapter=title)
        first = Passage(title, proposal.quotation, self._text(here), here.start if here else 0)
        source, second = finding.source, None
        if source.text:
            named = cast.chapter(finding.against) if finding.against else source.title or source.uri
            second = Passage(named, source.text, self._text(there), source.start)
        self.query_one(Passages).show(first, second)

    def _text(self, place: Place | None) -> str:
        return self._texts.get(place.chapter, "") if place else ""

    # Ways out

    @on(OptionList.OptionSelected)
    def go_here(self, message: OptionList.OptionSelected) -> None:
        """Enter goes to the words that were checked."""
        message.stop()
        self._leave_for(there=False)

    def action_there(self) -> None:
        """Go to the other passage."""
        self._leave_for(there=True)

    def action_mend(self, which: str) -> None:
        """Open the editor at one of the passages."""
        self._leave_for(there=which == "there", edit=True)

    def _leave_for(self, *, there: bool, edit: bool = False) -> None:
        row, cast = self.rows.row, self.cast
        if row is None or cast is None:
            return
        place = place_of(row, cast, there=there, edit=edit)
        if place is not None:
            self.dismiss(place)
        elif there:
            self.notify(_("The other passage is in no chapter."), markup=False)
        else:
            self.notify(_("It stands in a draft: see the output of the run, `4`."), markup=False)

    # The writer's word

    def action_decide(self, verdict: FindingVerdict) -> None:
        """A word on the marked rows, or the one under the cursor."""
        ids = tuple(each.id for each in self.rows.chosen)
        if ids:
            self.work(self._decide(DecideFindings(ids, verdict), ids))

    def action_later(self) -> None:
        """Put aside, or take up again what was put aside or decided."""
        self.action_decide("later" if self._states_shown == "waiting" else "waiting")

    def action_intend(self) -> None:
        """Ask for the reason first."""
        ids = tuple(each.id for each in self.rows.chosen)
        if ids:
            self.work(self._intend(ids))

    async def _intend(self, ids: tuple[ProposalId, ...]) -> None:
        reason: str | None = await self.app.push_screen_wait(PromptLine(_("Why is this intended?")))
        if reason is not None and not reason.strip():
            self.notify(_("A reason is needed: later checks read it."), markup=False)
        elif reason is not None:
            await self._decide(DecideFindings(ids, "intended", reason.strip()), ids)

    def action_change(self) -> None:
        """The form of the fact that holds from here on."""
        if (row := self.rows.row) is not None:
            self.work(self._change(row))

    async def _change(self, row: FindingRow) -> None:
        proposal = row.proposal
        if proposal.place is None or said_in(row).draft:
            self.notify(_("Only what stands in a chapter can change the story."), markup=False)
            return
        fact = await self.ask(fact_form(fact_of(proposal), await self.access.cast()))
        if fact is not None:
            await self._decide(ChangeFromHere(proposal.id, fact), (proposal.id,))

    def action_undo(self) -> None:
        """Take the last word back."""
        self.work(self._decide(UndoDecision(), ()))

    def action_switch(self) -> None:
        """Switch the rule of the finding off, or on again."""
        row = self.rows.row
        if row is None or row.proposal.origin.by != "rule":
            self.notify(_("Only rules can be switched off here."), markup=False)
            return
        is_on = row.proposal.state == "withdrawn"
        self.work(self._switch(SwitchRule(row.proposal.origin.maker, is_on)))

    async def _switch(self, command: SwitchRule) -> None:
        title = _("Switch this rule on again?") if command.on else _("Switch this rule off for this book?")
        told = check_title(command.rule) + "\n" + _("Its findings that you did not decide are withdrawn.")
        if await self.confirm(title, "" if command.on else told):
            await self._decide(command, ())

    async def _decide(self, command: Command, gone: Sequence[ProposalId]) -> None:
        """The cursor goes on to the row behind those that leave the list."""
        if gone and self._states_shown != "all":
            self._cursor_wanted = self.rows.after(gone)
        await self.access.word_on_findings(command)
        self.rows.unmark()
        await self.reload()

    # What is shown

    @on(PaneChosen)
    def choose_states(self, message: PaneChosen) -> None:
        """A tab was clicked."""
        self.action_states(message.pane)

    def action_states(self, name: str) -> None:
        """Show findings of other states."""
        self._states_shown = name
        self.refill()

    def action_chapter(self) -> None:
        """Only the open chapter, or all."""
        self._only_open = not self._only_open and self._open_chapter is not None
        self.refill()

    def action_fold(self) -> None:
        """All of a chapter, or the first five."""
        self._unfolded = not self._unfolded
        self.refill()

    def action_sort(self) -> None:
        """The newest first, or in story order."""
        self._newest = not self._newest
        self.refill()

    def action_mark(self) -> None:
        """Mark the row under the cursor."""
        self.rows.mark_row()
        self.tell()

    def action_mark_all(self) -> None:
        """Mark all rows that are listed, or none."""
        self.rows.mark_all()
        self.tell()

    def action_report(self) -> None:
        """What was checked, what was not, and how useful each check is."""
        if self._report is not None and self.cast is not None:
            words = "\n".join(report_lines(self._report, self.cast))
            self.app.push_screen(SourceScreen(SourceText("", _("What was checked"), words)))

    def action_check(self) -> None:
        """Check chapters, or stop."""
        if self._checking is not None:
            self.work(self.access.word_on_findings(StopChecking()))
        else:
            self.work(self._check())

    async def _check(self) -> None:
        position = self.cast.position(self._open_chapter) if self.cast and self._open_chapter else 0
        choices = [("rules", _("all chapters by rule: costs nothing"))]
        if position:
            choices.append(("one", _("the open chapter, also by the agents' model")))
        choices.append(("all", _("all chapters, also by the agents' model")))
        chosen = await self.app.push_screen_wait(ChooseScreen(_("Check what?"), tuple(choices)))
        if chosen is None:
            return
        first = last = position if chosen == "one" else None
        if chosen != "rules":
            quote = await self.access.quote_check(first, last)
            if not await self.confirm(_("Check by the agents' model?"), "\n".join(spend_lines(quote))):
                return
        await self.access.word_on_findings(CheckChapters(first, last, chosen != "rules"))
        self._checking = None
        await self.reload()
