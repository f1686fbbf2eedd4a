"""The revision: passes over the book, each with its chapters, their findings, and a checklist."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.revision import WHOLE, ChapterLock, PassChapter, PassId, PassProgress, RevisionPass
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.revision import LockChapters, TickPass
from flowcabal_tui.tui.revision.comments import CommentsScreen
from flowcabal_tui.tui.revision.pass_list import PassesScreen
from flowcabal_tui.tui.revision.rewriting import Rewriting
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import ColumnHead, PickList
from flowcabal_tui.tui.shared.pane_tabs import PaneChosen, PaneTabs
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast, read_people
from flowcabal_tui.tui.story.findings import FindingsScreen
from flowcabal_tui.tui.story.story_page import StoryPage, StoryPlace
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.list_rows import HangingRow
from flowcabal_tui.tui.widgets.role_words import head_words

_DIGITS = 9
_BESIDE = 4_000
"""Characters of a chapter that are shown beside the list: more than fit a large terminal."""


class PassTabs(PaneTabs):
    """The passes of the book, selected by digits."""

    def name_passes(self, passes: Sequence[RevisionPass], shown: str) -> None:
        """Shows these passes; the one with the id `shown` is selected."""
        named = tuple((str(n), str(each.id), one_line(each.title, 30)) for n, each in enumerate(passes, 1))
        if named != self._panes_named:
            self._panes_named, self._shown_pane = named, ""
        self.show(shown)


class RevisionScreen(StoryPage):
    """The chapters of a pass, above its checklist for the chapter under the cursor, whose text begins beside them."""

    project: Project
    help = HelpData(
        mark("Revision"),
        mark("Passes over the book, one for each kind of mistake; digits choose one, `P` changes them. Space "
             "ticks a chapter as done, and on the checklist (Tab) an item. A chapter whose text changed after "
             "its tick says so. `f` lists its findings of this pass, `c` its comments, Enter opens it. `L` locks "
             "a chapter: nothing can change it until you unlock it; `d` compares it with the state in which it "
             "was last locked. `r` has your model mend the findings of the pass, `R` has it rewrite the chapter "
             "by your instruction; you accept or reject each paragraph, and `u` undoes the accepted ones. `w` "
             "lists rewrites that wait."),
    )  # fmt: skip
    DEFAULT_CSS = """
    RevisionScreen > .head { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    RevisionScreen #chapters { height: 1fr; min-height: 4; }
    RevisionScreen .details { height: 1; padding: 0 1; text-style: bold; background: $panel; }
    RevisionScreen #items { height: auto; max-height: 8; }
    RevisionScreen ListDetail.-below > DetailText { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", mark("Done"), id="revision.tick", tooltip=mark("Tick the chapter, or the item.")),
        Binding("f", "findings", mark("Findings"), id="revision.findings",
                tooltip=mark("The findings of this pass in this chapter.")),
        Binding("c", "comments", mark("Comments"), id="revision.chapter-comments",
                tooltip=mark("The comments of this chapter.")),
        Binding("L", "lock", mark("Lock"), id="revision.lock",
                tooltip=mark("Protect it from every change, or unlock it.")),
        Binding("d", "compare", mark("Compare"), id="revision.compare",
                tooltip=mark("What changed since the chapter was locked last.")),
        Binding("r", "rewrite(False)", mark("Rewrite"), id="revision.rewrite",
                tooltip=mark("Have the findings of this pass mended in this chapter; shows the price first.")),
        Binding("R", "rewrite(True)", mark("Rewrite as instructed"), show=False, id="revision.rewrite-so",
                tooltip=mark("Have the chapter rewritten with an instruction; shows the price first.")),
        Binding("w", "rewrites", mark("Proposed rewrites"), show=False, id="revision.rewrites",
                tooltip=mark("Rewrites that wait for your decision.")),
        Binding("u", "undo", mark("Undo"), show=False, id="revision.undo",
                tooltip=mark("Undo the rewrite that was accepted last.")),
        Binding("P", "passes", mark("Passes"), id="revision.passes",
                tooltip=mark("Add, change, move or remove passes.")),
        *(Binding(str(n), f"choose({n})", mark("Pass"), show=False, id=f"revision.pass-{n}")
          for n in range(1, _DIGITS + 1)),
    ]  # fmt: skip

    def __init__(
        self,
        project: Project,
        now: Callable[[], datetime],
        chapter: ChapterId | None,
        shown: PassId | None = None,
    ) -> None:
        """The cursor starts at `chapter`; `shown` is the selected pass (None: the first)."""
        super().__init__(project)
        self._now, self._first_chapter, self.shown = now, chapter, shown
        self._rewriting = Rewriting(self, project)
        self._passes: tuple[RevisionPass, ...] = ()
        self._progress = PassProgress(())
        self._locks: Mapping[ChapterId, ChapterLock] = {}

    def compose(self) -> ComposeResult:
        """Yields the passes, the progress of the selected one, its chapters, the checklist, and the text."""
        yield PassTabs(())
        yield Static(markup=False, classes="head")
        with ListDetail():
            with Vertical():
                yield ColumnHead()
                yield PickList(id="chapters")
                yield Static(markup=False, classes="details")
                yield PickList(id="items")
            yield DetailText()
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the list of chapters."""
        self.query_one("#chapters", PickList).focus()

    @property
    def current(self) -> RevisionPass:
        """The selected pass."""
        return next((each for each in self._passes if each.id == self.shown), self._passes[0])

    @property
    def chapter(self) -> ChapterId | None:
        """The chapter under the cursor."""
        picked = self.query_one("#chapters", PickList).picked
        return ChapterId(picked) if picked else None

    async def reload(self) -> None:
        """Reads the passes, and the progress of the selected one."""
        self.cast = await read_people(self.project)
        self._passes = await self.project.revision.passes()
        self.shown = self.current.id
        self._progress = await self.project.revision.pass_progress(self.shown)
        self._locks = await self.project.revision.locks()
        if self.is_attached:
            await self.show_cast(self.cast)

    async def show_cast(self, cast: Cast) -> None:
        """Fills the lists; the cursors stay where they are."""
        self.query_one(PassTabs).name_passes(self._passes, str(self.shown))
        parts = [
            _("{done} of {total} chapters done").format(done=self._progress.done, total=len(self._progress.chapters)),
            _findings(sum(row.findings for row in self._progress.chapters)),
            _comments(sum(row.comments for row in self._progress.chapters)),
        ]
        self.query_one(".head", Static).update(head_words(*parts))
        first, self._first_chapter = self._first_chapter, None
        columns = Columns(
            Column(),
            Column(fill=True, least=20),
            Column(_("findings"), rank=1, is_number=True),
            Column(_("comments"), rank=2, is_number=True),
            Column(rank=3, role="stale"),
        )
        rows = [Option(self._row(columns, row, cast), id=row.chapter) for row in self._progress.chapters]
        self.query_one(ColumnHead).show(columns)
        self.query_one("#chapters", PickList).refill(rows, first)
        self._show_row()

    def _row(self, columns: Columns, row: PassChapter, cast: Cast) -> ColumnRow:
        sign = "[~]" if row.outdated else "[x]" if row.done else "[ ]"
        lock = self._locks.get(row.chapter)
        remarks = [
            _("changed since") if row.outdated else "",
            _("locked") if lock is not None and lock.locked else "",
        ]
        return columns.row(
            sign, cast.chapter(row.chapter), f"{row.findings or ''}", f"{row.comments or ''}",
            _(", ").join(filter(None, remarks)),
        )  # fmt: skip

    def _show_items(self) -> None:
        row, details = self._chapter_row(), self.query_one(".details", Static)
        if row is None or self.cast is None:
            details.update(_("No chapter has a text yet: Esc, then F2 writes one by hand."))
            self.query_one("#items", PickList).refill([])
            return
        details.update(head_words(one_line(_(self.current.title)), self.cast.chapter(row.chapter)))
        items = [
            Option(HangingRow("[x] " if item in row.items else "[ ] ", one_line(_(item), 300)), id=str(number))
            for number, item in enumerate(self.current.checklist)
        ]
        self.query_one("#items", PickList).refill(items)

    def _chapter_row(self) -> PassChapter | None:
        return next((row for row in self._progress.chapters if row.chapter == self.chapter), None)

    @on(OptionList.OptionHighlighted, "#chapters")
    def _show_row(self) -> None:
        self._show_items()
        attempt(self, self._show_text(), group="text", exclusive=True)

    async def _show_text(self) -> None:
        chapter, beside = self.chapter, self.query_one(DetailText)
        text = await self.project.book.chapter_text(chapter) if chapter is not None else ""
        if chapter is not None and self.cast is not None and self.is_attached:
            beside.show([Content.styled(self.cast.chapter(chapter), "bold"), "", clean(text[:_BESIDE])])

    # Ways out

    @on(OptionList.OptionSelected, "#chapters")
    def go_here(self, message: OptionList.OptionSelected) -> None:
        """Opens the chapter on Enter."""
        message.stop()
        if (chapter := self.chapter) is not None:
            self.dismiss(StoryPlace(chapter, -1, -1))

    def _go(self, place: StoryPlace | None) -> None:
        """A list over this one leads into the text."""
        if place is not None:
            self.dismiss(place)

    def action_findings(self) -> None:
        """Opens the findings of the pass in the chapter under the cursor."""
        if (chapter := self.chapter) is not None:
            page = FindingsScreen(self.project, self._now, chapter, checks=self.current.checks)
            self.app.push_screen(page, self._go)

    def action_comments(self) -> None:
        """Opens the comments of the chapter under the cursor."""
        if (chapter := self.chapter) is not None:
            self.app.push_screen(CommentsScreen(self.project, chapter, only=True), self._go)

    # Passes

    @on(PaneChosen)
    def choose_pass(self, message: PaneChosen) -> None:
        """Selects the clicked pass."""
        self.shown = PassId(message.pane)
        self.work(self.reload(), exclusive=True)

    def action_choose(self, number: int) -> None:
        """Selects the pass with that digit."""
        if number <= len(self._passes):
            self.shown = self._passes[number - 1].id
            self.work(self.reload(), exclusive=True)

    @attempted()
    async def action_passes(self) -> None:
        """Adds, changes, moves or removes passes."""
        await self.app.push_screen_wait(PassesScreen(self.project, self.shown))
        await self.reload()

    # What is done

    @on(OptionList.OptionSelected, "#items")
    def action_tick(self) -> None:
        """Ticks the chapter or the item under the cursor, or removes its tick."""
        row, items = self._chapter_row(), self.query_one("#items", PickList)
        if row is None:
            return
        if items.has_focus and items.picked is not None:
            item = self.current.checklist[int(items.picked)]
            self._do(TickPass(self.current.id, row.chapter, (item,), item not in row.items))
        else:
            self._do(TickPass(self.current.id, row.chapter, (WHOLE,), row.outdated or not row.done))

    def action_lock(self) -> None:
        """Locks the chapter, or unlocks it."""
        if (chapter := self.chapter) is not None:
            lock = self._locks.get(chapter)
            self._do(LockChapters((chapter,), lock is None or not lock.locked))

    @attempted()
    async def _do(self, command: Command) -> None:
        await self.project.carry_out(command)
        await self.reload()

    def action_rewrite(self, asks: bool) -> None:
        """Starts corrections of the pass's findings, or (`asks`) a rewrite of the chapter by an instruction."""
        if (chapter := self.chapter) is not None and self.cast is not None:
            checks = None if asks else self.current.checks
            self.work(self._rewriting.rewrite(chapter, self.cast.chapter(chapter), checks))

    def action_rewrites(self) -> None:
        """Lists waiting rewrites."""
        if self.cast is not None:
            self.work(self._rewriting.choose(self.cast))

    def action_undo(self) -> None:
        """Undoes the last accepted rewrite."""
        self.work(self._rewriting.undo())

    @attempted()
    async def action_compare(self) -> None:
        """Shows the changes since the chapter was last locked."""
        chapter, book = self.chapter, self.project.book
        lock = self._locks.get(chapter) if chapter else None
        if chapter is None or lock is None:
            self.notify(_("The chapter was never locked: `L` locks it."), markup=False)
            return
        before, now = await book.chapter_text(chapter, lock.version), await book.chapter_text(chapter)
        name = self.cast.chapter(chapter) if self.cast else ""
        title = _("{chapter}: changes since it was locked on {day}").format(chapter=name, day=f"{lock.at:%Y-%m-%d}")
        self.app.push_screen(DiffScreen(title, before, now))


def _findings(n: int) -> str:
    return ngettext("{n} finding", "{n} findings", n).format(n=n) if n else ""


def _comments(n: int) -> str:
    return ngettext("{n} comment", "{n} comments", n).format(n=n) if n else ""
