"""The findings of checks: both passages of each, decided by one key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from flowcabal_tui.domain.findings import CheckReport, FindingFilter, FindingPage, FindingRow, FindingVerdict
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import Proposal, ProposalId
from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.finding_words import (
    age,
    check_title,
    compared_words,
    explained,
    finding_subject,
    report_words,
    sureness,
)
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.story.findings import fact_of
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.findings import ChangeFromHere, CheckChapters, DecideFindings, StopChecking, SwitchRule
from flowcabal_tui.protocol.story import UndoDecision
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import ColumnHead
from flowcabal_tui.tui.shared.pane_tabs import PaneTabs
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.spending import agrees_to_spend
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast, read_cast, read_people
from flowcabal_tui.tui.story.finding_keys import HELP, KEYS, STYLE, TABS
from flowcabal_tui.tui.story.finding_keys import STATES as STATES_SHOWN
from flowcabal_tui.tui.story.finding_lines import (
    PassageReader,
    finding_lines,
    is_note,
    is_of_a_chapter,
    place_of,
    report_lines,
)
from flowcabal_tui.tui.story.passages import Passages
from flowcabal_tui.tui.story.proposal_list import PAGE, ProposalList, start
from flowcabal_tui.tui.story.record_forms import fact_form
from flowcabal_tui.tui.story.states_page import StatesPage
from flowcabal_tui.tui.story.story_page import StoryPage
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import head_words, key_words


class FindingList(ProposalList):
    """One row per finding: chapter, class, words, certainty, age, number of folded ones."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._rows: dict[str, FindingRow] = {}
        self._now: datetime | None = None

    @property
    def row(self) -> FindingRow | None:
        """The finding under the cursor."""
        return self._rows.get(self.picked or "")

    def show_findings(
        self, rows: Sequence[FindingRow], total: int, cast: Cast, now: datetime, cursor: str | None = None
    ) -> None:
        """Shows the first rows of `total`."""
        self._rows, self._now = {row.proposal.id: row for row in rows}, now
        self.show_rows([row.proposal for row in rows], total, cast, cursor)

    def add_findings(self, rows: Sequence[FindingRow]) -> None:
        """Adds further rows at the end."""
        self._rows |= {row.proposal.id: row for row in rows}
        self.add_rows([row.proposal for row in rows])

    def _new_columns(self) -> Columns:
        return Columns(
            *start(),
            Column(_("finding"), least=10, most=28),
            Column(_("words of the chapter"), rank=2, fill=True, least=12, role="quoted"),
            Column(rank=3, least=5, role="secondary"),
            Column(rank=1, least=6),
            Column(_("ago"), rank=4, least=6, role="secondary"),
            Column(rank=5, least=11, role="secondary"),
        )

    def _row(self, proposal: Proposal) -> ColumnRow:
        row = self._rows[proposal.id]
        return self.columns.row(
            *self._start(proposal),
            finding_subject(proposal),
            quoted(one_line(proposal.quotation, 200)) if proposal.quotation else one_line(explained(proposal), 200),
            sureness(proposal),
            self._state(proposal, "waiting"),
            age(row.at, self._now) if self._now is not None else "",
            _("+{n} folded").format(n=row.folded) if row.folded else "",
        )


class FindingsScreen(StatesPage):
    """A list above the finding under the cursor with both passages."""

    help = HELP
    DEFAULT_CSS = STYLE
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    read = staticmethod(read_people)

    def __init__(
        self,
        project: Project,
        now: Callable[[], datetime],
        chapter: ChapterId | None = None,
        cursor: str | None = None,
        checks: tuple[str, ...] | None = None,
    ) -> None:
        """`chapter` is the open one, `cursor` the first row; `checks` (empty: any) limits the list to the chapter."""
        super().__init__(project, chapter, "waiting")
        self._now, self._checks, self._cursor_wanted = now, checks or (), cursor
        self._only_open, self._unfolded, self._newest = checks is not None, False, False
        self._passages = PassageReader(project)
        self._report: CheckReport | None = None
        self._page_shown: FindingPage | None = None
        self._row_shown: FindingRow | None = None
        self.checking: tuple[int, int] | None = None

    @property
    def rows(self) -> FindingList:
        """The list."""
        return self.query_one(FindingList)

    def compose(self) -> ComposeResult:
        """Yields states, the line to type in, how many there are, the list, and the finding under the cursor."""
        yield PaneTabs(TABS)
        yield Input(placeholder=_("/ words, or a name"), select_on_focus=False)
        yield Static(markup=False, classes="head")
        yield ColumnHead()
        yield FindingList(id="list")
        yield Static(markup=False, classes="details")
        yield Passages()
        yield HintLine()

    async def reload(self) -> None:
        """Reads the names and the rows; then the report."""
        self._passages.forget()
        await super().reload()
        self._report = await self.project.findings.finding_report()
        if self.is_attached:
            self._show_head()
            self.show_details()

    async def show_cast(self, cast: Cast) -> None:
        """Lists as many rows as before."""
        cursor, self._cursor_wanted = self._cursor_wanted, None
        page = await self._page(0, self.wanted_rows)
        self.query_one(PaneTabs).show(self._states_shown)
        self.rows.show_findings(page.rows, page.total, cast, self._now(), cursor)
        self.query_one(ColumnHead).show(self.rows.columns)
        self._page_shown = page
        self._show_head()
        self.show_details()

    def _show_head(self) -> None:
        if self._page_shown is not None:
            only = self.cast.chapter(self._open_chapter) if self._only_open and self.cast else ""
            words = _head_words(self._page_shown, self._report, self.checking, only)
            self.query_one(".head", Static).update(words)

    async def _page(self, offset: int, limit: int = PAGE) -> FindingPage:
        chapters = (self._open_chapter,) if self._only_open and self._open_chapter else ()
        words = self.query_one(Input).value.strip()
        unfolded = self._unfolded or self._states_shown != "waiting"
        where = FindingFilter(
            STATES_SHOWN[self._states_shown], self._checks, chapters, words, unfolded, self._newest, True
        )
        return await self.project.findings.findings(where, offset, limit)

    def note_check(self, done: int, total: int) -> None:
        """Shows the progress of a check of chapters, or its end."""
        self.checking = (done, total) if done < total else None
        self.book_moved()

    async def add_more(self, offset: int) -> None:
        """Reads and adds the rows from `offset` on."""
        self.rows.add_findings((await self._page(offset)).rows)

    def show_details(self) -> None:
        """Shows the finding under the cursor."""
        row, cast = self.rows.row, self.cast
        details = self.query_one(".details", Static)
        if row is None or cast is None:
            self._row_shown = None
            details.update(key_words(_nothing_words(self._report)), layout=False)
            self.query_one(Passages).show(None, None)
            return
        lines = finding_lines(row, cast, self._report, len(self.rows.marked))
        details.update(Content("\n").join(lines), layout=False)
        if row is not self._row_shown:
            self._row_shown = row
            self.work(self._read_passages(row, cast))

    async def _read_passages(self, row: FindingRow, cast: Cast) -> None:
        await self._passages.read(row, cast)
        if self.is_attached and self.rows.row is row:
            self.query_one(Passages).show(*self._passages.of(row, cast))

    # Ways out

    @on(OptionList.OptionSelected)
    def go_here(self, message: OptionList.OptionSelected) -> None:
        """Goes to the checked words on Enter."""
        message.stop()
        self.action_leave_for(there=False)

    def action_leave_for(self, there: bool, edit: bool = False) -> None:
        """Goes to one of the passages, to read or to edit it."""
        row, cast = self.rows.row, self.cast
        if row is None or cast is None:
            return
        place = place_of(row, cast, there=there, edit=edit)
        if place is not None:
            self.dismiss(place)
        elif there:
            self.notify(_("The other passage is in no chapter."), markup=False)
        else:
            self.notify(_("It is in a draft: see the output of the run, `4`."), markup=False)

    # The writer's word

    def action_decide(self, verdict: FindingVerdict) -> None:
        """Decides the marked rows, or the one under the cursor."""
        ids = tuple(each.id for each in self.rows.chosen)
        if ids:
            self.work(self.decide(DecideFindings(ids, verdict), ids))

    def action_later(self) -> None:
        """Postpones findings, or reopens postponed or decided ones."""
        self.action_decide("later" if any(each.state == "waiting" for each in self.rows.chosen) else "waiting")

    def action_intend(self) -> None:
        """Asks for the reason first; a note of a reader needs none."""
        chosen = self.rows.chosen
        ids = tuple(each.id for each in chosen)
        if ids and all(each.origin.by == "reader" for each in chosen):
            self.action_decide("intended")
        elif ids:
            self.work(_intend(self, ids))

    def action_change(self) -> None:
        """Opens the form of the fact that is valid from here on."""
        if (row := self.rows.row) is not None:
            self.work(_change(self, row))

    def action_undo(self) -> None:
        """Undoes the last decision on findings and notes."""
        self.work(_undo(self))

    def action_switch(self) -> None:
        """Switches the rule of the finding off or on."""
        row = self.rows.row
        if row is None or row.proposal.origin.by != "rule":
            self.notify(_("Only rules can be switched off here."), markup=False)
            return
        off = self._report.off if self._report is not None else ()
        origin, state = row.proposal.origin, row.proposal.state
        self.work(_switch(self, SwitchRule(origin.maker, state == "withdrawn" or origin.maker in off)))

    # What is shown

    def action_fold(self) -> None:
        """Switches between all findings of a chapter and the first five."""
        self._unfolded = not self._unfolded
        self.refill()

    def action_sort(self) -> None:
        """Switches between newest first and story order."""
        self._newest = not self._newest
        self.refill()

    def action_report(self) -> None:
        """Shows the checked chapters, the unchecked ones, and the usefulness of each check."""
        if self._report is not None and self.cast is not None:
            words = "\n".join(report_lines(self._report, self.cast))
            self.app.push_screen(SourceScreen(OpenedSource("", _("What was checked"), words)))

    def action_check(self) -> None:
        """Starts or stops a check of chapters."""
        if self.checking is not None:
            self.work(self.project.carry_out(StopChecking()))
        else:
            self.work(_check(self, self._open_chapter))


async def _intend(page: FindingsScreen, ids: tuple[ProposalId, ...]) -> None:
    reason: str | None = await page.app.push_screen_wait(PromptLine(_("Why is this intended?")))
    if reason is not None and not reason.strip():
        page.notify(_("A reason is needed: later checks read it."), markup=False)
    elif reason is not None:
        row = page.rows.row
        await page.decide(DecideFindings(ids, "intended", reason.strip()), ids)
        if row is not None and ids == (row.proposal.id,) and is_of_a_chapter(row) and not is_note(row):
            await offer_to_write(page, row, reason.strip())


async def _change(page: FindingsScreen, row: FindingRow) -> None:
    if (command := await fact_from(page, row)) is not None:
        await page.decide(command, (row.proposal.id,))


async def _undo(page: FindingsScreen) -> None:
    """Undoes the last decision, and moves the cursor to the first row that comes back."""
    before = {each.id for each in page.rows.listed}
    await page.decide(UndoDecision(scope="findings"))
    page.rows.pick(next((each.id for each in page.rows.listed if each.id not in before), None))


async def _switch(page: FindingsScreen, command: SwitchRule) -> None:
    await page.decide(command)
    page.notify(switch_words(command), markup=False)


async def _check(page: FindingsScreen, chapter: ChapterId | None) -> None:
    position = page.cast.position(chapter) if page.cast and chapter else 0
    if (command := await chosen_check(page, position)) is not None:
        await page.project.carry_out(command)
        page.checking = None
        await page.reload()


def _head_words(
    page: FindingPage, report: CheckReport | None, checking: tuple[int, int] | None, chapter: str
) -> Content:
    """The line above the list; `chapter`: the only one that is listed, "" for all."""
    waiting = page.counts.get("waiting", 0)
    title = ngettext("{n} new finding", "{n} new findings", waiting).format(n=waiting)
    parts = [chapter]
    if page.folded:
        parts.append(_("{n} folded: `f`").format(n=page.folded))
    if checking is not None:
        parts.append(_("checking {done} of {total}: `C` stops").format(done=checking[0], total=checking[1]))
    elif report is not None:
        parts.append(report_words(report))
    return head_words(title, *map(key_words, parts))


def _nothing_words(report: CheckReport | None) -> str:
    """The text of an empty list: the key that lists all, and the coverage of the checks."""
    read = [report_words(report), compared_words(report)] if report is not None else []
    return "\n".join((_("Nothing is listed here. `5` lists all."), *filter(None, read)))


async def chosen_check(page: StoryPage, position: int) -> CheckChapters | None:
    """The chapters to check, by rule or by a model after a quote. `position` is that of the open chapter, 0: none is
    open."""
    choices = [("rules", _("all chapters by rule: costs nothing"))]
    if position:
        choices.append(("one", _("the open chapter, also by the agents' model")))
    choices.append(("all", _("all chapters, also by the agents' model")))
    chosen: str | None = await page.app.push_screen_wait(ChooseScreen(_("Check what?"), tuple(choices)))
    if chosen is None or chosen == "rules":
        return None if chosen is None else CheckChapters()
    place = position if chosen == "one" else None
    quote = await page.project.findings.quote_check(place, place)
    title = _("Check by the agents' model?")
    agreed = await agrees_to_spend(page.app, page.project, title, quote, "agent")
    return CheckChapters(place, place, model=True) if agreed else None


async def offer_to_write(page: StoryPage, row: FindingRow, reason: str) -> None:
    """Offers to store the reason as a fact, which prompts and checks of all later chapters read."""
    words = _("The contexts and checks of later chapters read facts; a reason applies to this finding only.")
    if await page.confirm(_("Record it as a fact, too?"), f"{one_line(reason, 200)}\n{words}"):
        await page.put(fact_form(replace(fact_of(row.proposal), text=reason), await read_cast(page.project)))


async def fact_from(page: StoryPage, row: FindingRow) -> Command | None:
    """Asks for the fact that is valid from here on."""
    if not is_of_a_chapter(row):
        page.notify(_("Only the text of a chapter can change the story."), markup=False)
        return None
    proposal = row.proposal
    fact = await page.ask(fact_form(fact_of(proposal), await read_cast(page.project)))
    return None if fact is None else ChangeFromHere(proposal.id, fact)


def switch_words(command: SwitchRule) -> str:
    """The message after a rule was switched."""
    words = (
        _("{rule}: on again for this book.")
        if command.on
        else _("Off for this book, on again with `T` under `5`: {rule}.")
    )
    return words.format(rule=check_title(command.rule))
