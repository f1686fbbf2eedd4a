"""The proposals of agents and rules as one list: confirming, correcting, dropping, and undoing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.proposals import (
    LISTED_STATES,
    Finding,
    NewName,
    OutlineEdit,
    Proposal,
    ProposalFilter,
    ProposalPage,
    Review,
    TextEdit,
    TitleEdit,
    WorkflowEdit,
    continued,
)
from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.domain.story import Sequel, StoryRecord
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.proposal_words import KINDS, about, changed, origin, proposal_line, reason, state_words
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, UndoDecision
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import ColumnHead
from flowcabal_tui.tui.shared.pane_tabs import PaneTabs
from flowcabal_tui.tui.shared.passage import MarkedPassage, passage_at
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast, read_cast, read_people
from flowcabal_tui.tui.story.proposal_list import PAGE, ProposalList
from flowcabal_tui.tui.story.record_forms import entity_form, record_form
from flowcabal_tui.tui.story.states_page import StatesPage
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.role_words import head_words, key_words

_TABS: Final = (
    ("1", "open", mark("Undecided")),
    ("2", "waiting", mark("Waiting")),
    ("3", "decided", mark("Decided")),
    ("4", "all", mark("All")),
)


class ProposalsScreen(StatesPage):
    """A list, and the content, the reason and the passage of the row under the cursor."""

    help = HelpData(
        mark("Proposals"),
        mark("Proposals about the book from agents and rules. `?` before a row: it is waiting for your decision "
             "and no prompt includes it. `a` confirms a row (it then counts as yours), `e` corrects it, `x` drops "
             "it (agents do not propose it again), `u` undoes the last decision. Space marks rows for `a` and `x`. "
             "Enter shows the text of the chapter."),
    )  # fmt: skip
    DEFAULT_CSS = """
    ProposalsScreen > .head { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    ProposalsScreen ProposalList { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "decide('confirm')", mark("Confirm"), tooltip=mark("Confirm it: it then counts as yours."),
                id="proposals.confirm"),
        Binding("e", "correct", mark("Correct"), tooltip=mark("Correct it by hand."), id="proposals.correct"),
        Binding("x", "decide('drop')", mark("Drop"), tooltip=mark("Drop it: agents do not propose it again."),
                id="proposals.drop"),
        Binding("u", "undo", mark("Undo"), tooltip=mark("Undo the last decision."), id="proposals.undo"),
        Binding("space", "mark", mark("Mark"), show=False, tooltip=mark("Mark or unmark this row."),
                id="proposals.mark"),
        Binding("asterisk", "mark_all", mark("Mark all"), show=False, tooltip=mark("Mark all rows that are listed; "
                "again: none."), id="proposals.mark-all"),
        Binding("o", "chapter", mark("Chapter"), id="proposals.chapter",
                tooltip=mark("Show the rows of the open chapter only, or those of all chapters.")),
        Binding("slash", "filter", mark("Find"), show=False, tooltip=mark("Type words, or a name."),
                id="proposals.filter"),
        *(Binding(digit, f"states('{name}')", words, show=False, id=f"proposals.{name}")
          for digit, name, words in _TABS),
    ]  # fmt: skip

    read = staticmethod(read_people)

    def __init__(self, project: Project, chapter: ChapterId | None = None) -> None:
        super().__init__(project, chapter, "open")

    def compose(self) -> ComposeResult:
        """Yields states, the line to type in, how many there are, the list, and the row under the cursor in full."""
        yield PaneTabs(_TABS)
        yield Input(placeholder=_("/ words, or a name"), select_on_focus=False)
        yield Static(markup=False, classes="head")
        with ListDetail():
            with Vertical():
                yield ColumnHead()
                yield ProposalList(id="list")
            yield DetailText(classes="details")
        yield HintLine()

    async def show_cast(self, cast: Cast) -> None:
        """Lists as many rows as before."""
        cursor, self._cursor_wanted = self._cursor_wanted, None
        page = await self._page(0, self.wanted_rows)
        self.query_one(PaneTabs).show(self._states_shown)
        self.rows.show_rows(page.rows, page.total(self._filter().states), cast, cursor)
        self.query_one(ColumnHead).show(self.rows.columns)
        self.query_one(".head", Static).update(self._head(page))
        self.show_details()

    async def _page(self, offset: int, limit: int = PAGE) -> ProposalPage:
        return await self.project.story.proposals(self._filter(), offset, limit)

    def _filter(self) -> ProposalFilter:
        words = self.query_one(Input).value.strip()
        chapter = self._open_chapter if self._only_open else None
        return ProposalFilter(LISTED_STATES[self._states_shown], (), chapter, words)

    def _head(self, page: ProposalPage) -> Content:
        waiting, used = page.counts.get("waiting", 0), page.counts.get("applied", 0)
        counted = ngettext("{n} waits for your decision", "{n} wait for your decision", waiting).format(n=waiting)
        in_use = ngettext("{n} in use, not reviewed", "{n} in use, not reviewed", used).format(n=used)
        chapter = self._open_chapter if self._only_open else None
        return head_words(counted, in_use, self.cast.chapter(chapter) if chapter and self.cast else "")

    async def add_more(self, offset: int) -> None:
        """Reads and adds the rows from `offset` on."""
        self.rows.add_rows((await self._page(offset)).rows)

    def show_details(self) -> None:
        """Shows the row under the cursor in full."""
        proposal, cast = self.rows.proposal, self.cast
        details = self.query_one(DetailText)
        if proposal is None or cast is None:
            words = _(
                "Nothing is listed here: proposals that agents make from kept chapters appear here. `4` lists all."
            )
            details.show([key_words(words)])
        else:
            details.show(_lines(proposal, cast, len(self.rows.marked)))
            attempt(self, self._quote(proposal, cast), group="quotation", exclusive=True)

    async def _quote(self, proposal: Proposal, cast: Cast) -> None:
        """Adds the paragraph around the quoted words; the chapter may be gone by now."""
        with suppress(FlowCabalError):
            passage = await self._passage(proposal)
            if passage is not None and self.is_attached and self.rows.proposal == proposal:
                self.query_one(DetailText).show(_lines(proposal, cast, len(self.rows.marked), passage))

    async def _passage(self, proposal: Proposal) -> MarkedPassage | None:
        place = proposal.place
        if place is None or not place.end:
            return None
        words = Evidence(proposal.quotation, place.chapter, place.start, place.end)
        text = await self.source_of(words)
        return passage_at(text.text, text.start, text.end)

    @on(OptionList.OptionSelected)
    def open_words(self, message: OptionList.OptionSelected) -> None:
        """Shows the words in their chapter on Enter."""
        message.stop()
        proposal = self.rows.proposal
        if proposal is not None:
            place = proposal.place
            known = place is not None and bool(place.end)
            words = (Evidence(proposal.quotation, place.chapter, place.start, place.end),) if place and known else ()
            self.work(self.open_evidence(words))

    def action_decide(self, verdict: str) -> None:
        """Confirms or drops the marked rows, or the one under the cursor."""
        ids = tuple(each.id for each in self.rows.chosen)
        if ids:
            command = DecideProposals(ids, "confirm" if verdict == "confirm" else "drop")
            self.work(self.decide(command, ids if self._states_shown in ("open", "waiting") else ()))

    def action_undo(self) -> None:
        """Undoes the last decision."""
        self.work(self.decide(UndoDecision(scope="proposals")))

    def action_correct(self) -> None:
        """Opens the form of the record that it would write."""
        if (proposal := self.rows.proposal) is not None:
            self.work(self._correct(proposal))

    async def _correct(self, proposal: Proposal) -> None:
        change = await self._edited(proposal)
        if change is not None:
            self._cursor_wanted = self.rows.after([proposal.id]) if self._states_shown != "all" else None
            await self.project.carry_out(CorrectProposal(proposal.id, change))
            await self.reload()

    async def _edited(self, proposal: Proposal) -> Entity | StoryRecord | TextEdit | OutlineEdit | None:
        after = proposal.difference.after
        if isinstance(after, TextEdit | OutlineEdit):
            text: str | None = await self.ask(ProseScreen(_(KINDS[proposal.kind]), after.after))
            return None if text is None else replace(after, after=text)
        form = form_of(proposal, await read_cast(self.project))
        change: Entity | StoryRecord | None = None if form is None else await self.ask(form)
        return change


def _lines(
    proposal: Proposal, cast: Cast, marked: int, passage: MarkedPassage | None = None
) -> Iterator[Content | str]:
    if marked:
        yield ngettext("{n} row marked", "{n} rows marked", marked).format(n=marked)
    yield Content.styled(one_line(proposal_line(proposal, cast.name), 2_000), "bold")
    place = cast.chapter(proposal.place.chapter) if proposal.place else ""
    parts = (_(KINDS[proposal.kind]), state_words(proposal), place, origin(proposal.origin))
    yield head_words("", *parts)
    concerned = about(proposal, cast.name)
    if concerned:
        yield _("about {names}").format(names=concerned)
    if before := changed(proposal, cast.name):
        yield one_line(before, 1_000)
    yield reason(proposal)
    if passage is not None:
        yield from ("", head_words(place), passage.shown())
    elif proposal.quotation:
        yield quoted(one_line(proposal.quotation, 1_000))


def form_of(proposal: Proposal, cast: Cast) -> FormScreen[Any] | None:
    """The form of the record or entity as it would be written; None when it no longer exists."""
    match proposal.difference.after:
        case Entity() as entity:
            return entity_form(cast.entity(entity.id) or entity, cast.kinds)
        case NewName(entity=identity, name=name):
            known = cast.entity(identity)
            if known is None:
                return None
            return entity_form(replace(known, aliases=tuple(dict.fromkeys((*known.aliases, name)))), cast.kinds)
        case Sequel() as sequel:
            before = cast.record(sequel.record) or proposal.difference.before
            if before is None:
                return None
            return record_form(before if proposal.state == "applied" else continued(before, sequel), cast)
        case TextEdit() | OutlineEdit() | WorkflowEdit() | Finding() | TitleEdit() | Review():
            return None
        case record:
            return record_form(cast.record(record.id) or record, cast)
