"""The places that depend on a change of the book: ticked, applied and undone together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList, Static

from flowcabal_tui.domain.errors import VersionConflict
from flowcabal_tui.domain.impact import BookChange, Impact, ImpactRow
from flowcabal_tui.domain.proposals import Finding, Proposal
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.impact_words import (
    answer,
    change_words,
    directness,
    impact_words,
    marked,
    place_words,
    proposed,
    unread_words,
)
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.story import ApplyImpact, AskPatches, UndoDecision
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.spending import agrees_to_spend
from flowcabal_tui.tui.shared.trouble import attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast, read_people
from flowcabal_tui.tui.story.proposal_list import PAGE, ProposalList
from flowcabal_tui.tui.story.story_page import StoryPage, StoryPlace
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText
from flowcabal_tui.tui.widgets.role_words import facts_words, key_words

_BEFORE: Final = 24
"""Characters of the passage before the difference."""


class ImpactList(ProposalList):
    """One row for each place: its tick, chapter, the difference or the reason for waiting, and the proposal."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._places: dict[str, ImpactRow] = {}
        self.ticked: set[str] = set()
        self.holding: set[str] = set()
        """Places that still hold."""

    @property
    def place(self) -> ImpactRow | None:
        """The place under the cursor."""
        return self._places.get(self.picked or "")

    def show_places(self, places: Sequence[ImpactRow], total: int, cast: Cast) -> None:
        """Shows the first rows of `total`."""
        self._places = {row.proposal.id: row for row in places}
        self.show_rows([row.proposal for row in places], total, cast)

    def add_places(self, places: Sequence[ImpactRow]) -> None:
        """Adds further rows at the end."""
        self._places |= {row.proposal.id: row for row in places}
        self.add_rows([row.proposal for row in places])

    def tick(self, turned: set[str]) -> None:
        """Ticks the places, or unticks them if all are ticked."""
        self.ticked = self.ticked - turned if turned <= self.ticked else self.ticked | turned
        self.holding -= self.ticked
        self._show(turned)

    def hold(self, identity: str) -> None:
        """Marks a place as still valid, or removes the mark."""
        self.holding ^= {identity}
        self.ticked -= self.holding
        self._show({identity})

    def point_at(self, identity: str) -> None:
        """Moves the cursor to a place, if it is among the loaded rows."""
        if identity in self._places:
            self.highlighted = self.get_option_index(identity)

    def _show(self, ids: set[str]) -> None:
        for identity in ids & self._places.keys():
            self.replace_option_prompt(identity, self._row(self._places[identity].proposal))

    def _new_columns(self) -> Columns:
        return Columns(
            Column(least=3),
            Column(is_number=True, role="secondary"),
            Column(fill=True, least=16),
            Column(rank=1, least=10, role="secondary"),
        )

    def _row(self, proposal: Proposal) -> ColumnRow:
        row = self._places[proposal.id]
        ends = (place_words(row), answer(row) if row.answer == "decide" or row.is_by_model else "")
        return self.columns.row(
            "[x]" if proposal.id in self.ticked else "[=]" if proposal.id in self.holding else "[ ]",
            f"{row.position}" if row.position else "—",
            one_line(marked(row, _BEFORE), 200),
            facts_words(*ends),
        )


class ImpactScreen(StoryPage):
    """A list of places, above the passage of the one under the cursor."""

    help = HelpData(
        mark("What depends on a change"),
        mark("Every place that depends on the change, the most direct first, with the proposed difference. Space "
             "ticks a place or leaves it as it is, `c` all of its chapter, `*` all. Ctrl+s applies the ticked places "
             "at once; a ticked place without a difference is added to the findings. `r` asks the model for "
             "differences of the ticked places without one, or of the place under the cursor, and shows the price "
             "first. `h` says that a place still holds: once applied, it is not listed again until it or the value "
             "changes; `H` shows what you have settled. `u` undoes all of it. Enter shows the place in its chapter, "
             "`w` opens the editor there."),
    )  # fmt: skip
    DEFAULT_CSS = """
    ImpactScreen > .head { height: 1; padding: 0 1; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
    ImpactScreen > .counted { height: auto; max-height: 2; padding: 0 1; color: $text-muted; }
    ImpactScreen > ImpactList { height: 1fr; }
    ImpactScreen > .details { height: auto; max-height: 45%; min-height: 4; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f10", "apply", mark("Apply"), priority=True, tooltip=mark("Apply the ticked places at once."),
                id="impact.apply"),
        Binding("space", "tick", mark("Tick"), tooltip=mark("Tick or untick this place."), id="impact.tick"),
        Binding("c", "tick_chapter", mark("Chapter"), tooltip=mark("Tick or untick all places of the chapter."),
                id="impact.chapter"),
        Binding("asterisk", "tick_all", mark("All"), tooltip=mark("Tick or untick all places."), id="impact.all"),
        Binding("r", "patch", mark("Propose"), id="impact.patch",
                tooltip=mark("Have the model propose a difference where no rule can.")),
        Binding("h", "hold", mark("Still holds"), tooltip=mark("This place is right as it is."), id="impact.hold"),
        Binding("H", "settled", mark("Settled"), show=False, id="impact.settled",
                tooltip=mark("Show or hide the places that you have settled.")),
        Binding("w", "write", mark("Rewrite"), tooltip=mark("Open the editor at this place."), id="impact.write"),
        Binding("u", "undo", mark("Undo"), tooltip=mark("Undo the last decision."), id="impact.undo"),
    ]  # fmt: skip

    read = staticmethod(read_people)

    def __init__(self, project: Project, change: BookChange) -> None:
        super().__init__(project)
        self._change = change
        self._impact: Impact | None = None
        self._shows_settled = False
        self._applied = ""

    @property
    def rows(self) -> ImpactList:
        """The list."""
        return self.query_one(ImpactList)

    @property
    def keys_of_the_moment(self) -> tuple[str, ...]:
        """Once all is applied, the key that undoes it."""
        return ("impact.undo",) if self._applied and not self._listed else ()

    def compose(self) -> ComposeResult:
        """Yields the change, how many places depend on it, the list, and the place under the cursor."""
        yield Static(change_words(self._change), markup=False, classes="head")
        yield Static(_("Looking through the book..."), markup=False, classes="counted")
        yield ImpactList(id="list")
        yield DetailText(classes="details")
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the list."""
        self.rows.focus()

    async def reload(self) -> None:
        """Reads the names, and the places that depend on the change."""
        self._impact = await self.project.story.impact(self._change)
        await super().reload()

    async def show_cast(self, cast: Cast) -> None:
        """Shows the first places; those chosen by rule are ticked."""
        if self._impact is not None:
            self.rows.ticked = {row.proposal.id for row in self._impact.rows if row.chosen}
            self.rows.holding = _ids(self._impact.settled)
            self._show_rows(cast)

    def _show_rows(self, cast: Cast | None) -> None:
        rows = self._listed
        if cast is not None:
            self.rows.show_places(rows[:PAGE], len(rows), cast)
        self.refresh_bindings()
        self._show_count()
        self.show_details()

    @property
    def _listed(self) -> tuple[ImpactRow, ...]:
        if self._impact is None:
            return ()
        return (*self._impact.rows, *(self._impact.settled if self._shows_settled else ()))

    def _show_count(self) -> None:
        if self._impact is not None:
            words = key_words(self._applied) if self._applied and not self._listed else ""
            self.query_one(".counted", Static).update(words or impact_words(self._impact, len(self.rows.ticked)))

    @on(ProposalList.MoreWanted)
    def show_more(self, message: ProposalList.MoreWanted) -> None:
        """Loads further rows after the cursor."""
        message.stop()
        self.rows.add_places(self._listed[message.offset : message.offset + PAGE])

    @on(OptionList.OptionHighlighted)
    def show_details(self) -> None:
        """Shows the passage of the place under the cursor."""
        row = self.rows.place
        self.query_one(DetailText).show(() if row is None else _lines(row))

    @on(OptionList.OptionSelected)
    def open_place(self, message: OptionList.OptionSelected) -> None:
        """Goes to the text on Enter."""
        message.stop()
        self._leave_for(edit=False)

    def action_write(self) -> None:
        """Opens the editor at the place."""
        self._leave_for(edit=True)

    def _leave_for(self, *, edit: bool) -> None:
        row = self.rows.place
        place = row.proposal.place if row is not None and row.position else None
        if place is None:
            self.notify(_("This place is in no chapter."), markup=False)
        else:
            self.dismiss(StoryPlace(place.chapter, place.start, place.end, edit))

    def action_tick(self) -> None:
        """Ticks the place, or removes the tick, and moves on."""
        if (row := self.rows.place) is not None:
            self._tick([row])
            self.rows.action_cursor_down()

    def action_tick_chapter(self) -> None:
        """Ticks or unticks all places of the chapter."""
        if (row := self.rows.place) is not None and self._impact is not None:
            self._tick([each for each in self._impact.rows if each.position == row.position])

    def action_tick_all(self) -> None:
        """Ticks or unticks all places."""
        if self._impact is not None:
            self._tick(self._impact.rows)

    def _tick(self, rows: Iterable[ImpactRow]) -> None:
        self.rows.tick(_ids(rows))
        self._show_count()

    def action_hold(self) -> None:
        """Marks the place as still valid, or removes the mark; moves on."""
        if (row := self.rows.place) is not None:
            self.rows.hold(row.proposal.id)
            self._show_count()
            self.rows.action_cursor_down()

    def action_settled(self) -> None:
        """Shows or hides the places that the writer has settled."""
        if self._impact is not None and not self._impact.settled:
            self.notify(_("You have settled no place of this change."), markup=False)
            return
        self._shows_settled = not self._shows_settled
        self._show_rows(self.cast)

    def action_patch(self) -> None:
        """Asks the model for patches."""
        if self._impact is None:
            return
        open_places = {row.proposal.id: row for row in self._impact.rows if row.asks and row.answer == "decide"}
        here = [self.rows.place.proposal.id] if self.rows.place else []
        ticked = [each for each in open_places if each in self.rows.ticked]
        wanted = ticked or [each for each in here if each in open_places]
        if wanted:
            self.work(self._patch(self._impact, wanted))
        else:
            self.notify(_("There is no place that a model could patch."), markup=False)

    async def _patch(self, impact: Impact, wanted: Sequence[str]) -> None:
        """Asks the model for differences at these places and unticks them: only the writer ticks such a difference."""
        title = ngettext("Ask for a difference for {n} place?", "Ask for differences for {n} places?", len(wanted))
        quote = await self.project.story.quote_patches(impact.change, wanted)
        if not await agrees_to_spend(self.app, self.project, title.format(n=len(wanted)), quote, "user"):
            return
        self.query_one(".counted", Static).update(_("The model is asked..."))
        ticked, holding = self.rows.ticked - set(wanted), self.rows.holding
        try:
            unread = int(await self.project.carry_out(AskPatches(impact.change, tuple(wanted))) or 0)
            if unread:
                self.notify(unread_words(unread), markup=False)
        finally:
            await self.reload()
            self.rows.ticked, self.rows.holding = ticked, holding
            self._show_rows(self.cast)
            self.rows.point_at(wanted[0])

    def action_apply(self) -> None:
        """Applies the ticked places."""
        if self._impact is not None and (self.rows.ticked or self.rows.holding != _ids(self._impact.settled)):
            self.work(self._apply(self._impact))
        else:
            self.notify(_("No place is ticked."), markup=False)

    async def _apply(self, impact: Impact) -> None:
        settled = _ids(impact.settled)
        ticked = self.rows.ticked - settled
        holds, again = tuple(sorted(self.rows.holding - settled)), tuple(sorted(settled - self.rows.holding))
        leave = tuple(row.proposal.id for row in impact.rows if row.chosen and row.proposal.id not in ticked)
        take = tuple(row.proposal.id for row in impact.rows if not row.chosen and row.proposal.id in ticked)
        try:
            await self.project.carry_out(ApplyImpact(self._change, impact.digest, leave, take, holds, again))
        except VersionConflict:
            await self._show_changed(impact)
            return
        n = len(ticked) + len(holds) + len(again)
        message = ngettext("Applied at {n} place. `u` undoes it.", "Applied at {n} places. `u` undoes them all.", n)
        self._applied = message.format(n=n)
        self.notify(self._applied, markup=False)
        await self.reload()

    async def _show_changed(self, seen: Impact) -> None:
        """The places as they are now, with the marks of those that were shown; the cursor is on the first new one."""
        ticked = {row.key: row.proposal.id in self.rows.ticked for row in seen.rows}
        holds = {row.key for row in (*seen.rows, *seen.settled) if row.proposal.id in self.rows.holding}
        await self.reload()
        if self._impact is None:
            return
        new = [row.proposal.id for row in self._impact.rows if row.key not in ticked]
        self.rows.ticked = {row.proposal.id for row in self._impact.rows if ticked.get(row.key, row.chosen)}
        self.rows.holding = {row.proposal.id for row in (*self._impact.rows, *self._impact.settled) if row.key in holds}
        self._show_rows(self.cast)
        if new:
            self.rows.point_at(new[0])
        message = ngettext(
            "The book was changed in the meantime, so nothing is applied yet. {n} place is new.",
            "The book was changed in the meantime, so nothing is applied yet. {n} places are new.",
            len(new),
        )
        self.notify(message.format(n=len(new)), markup=False)

    @attempted()
    async def action_undo(self) -> None:
        """Undoes the last decision."""
        await self.project.carry_out(UndoDecision(scope="impact"))
        await self.reload()


def _ids(rows: Iterable[ImpactRow]) -> set[str]:
    return {row.proposal.id for row in rows}


def _lines(row: ImpactRow) -> Iterator[str]:
    place = f"{row.position} {one_line(row.title, 60)}" if row.position else one_line(row.title, 60)
    yield facts_words(place, directness(row), answer(row))
    yield one_line(marked(row), 1_200)
    if row.answer == "decide":
        yield one_line(proposed(row), 600)
    after = row.proposal.difference.after
    if isinstance(after, Finding) and after.source.text:
        yield _("{chapter} “{words}”").format(
            chapter=one_line(after.source.title, 60), words=quotable(one_line(after.source.text, 600))
        )
