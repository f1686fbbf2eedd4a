"""The chapters of the book."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.beats import BeatCount
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.role_words import key_words
from flowcabal_tui.tui.widgets.roles import role_sign

_COLUMNS: Final = (
    Column(most=1),
    Column(is_number=True, role="secondary"),
    Column(fill=True, least=6),
    Column(rank=2, is_number=True, role="secondary"),
    Column(rank=1, most=1, least=1),
)


class ChapterList(Vertical):
    """Lists chapters in story order, by volume; `/` filters them by title or number."""

    help = HelpData(
        mark("Chapters"),
        mark(
            "The book in story order. Enter opens a chapter, `r` runs the workflow for it, `/` "
            "filters. A chapter with * has unsaved text; ◐ means that not all names of its beats are in its text."
        ),
    )
    jump_key = "c"
    DEFAULT_CSS = """
    ChapterList > Input, ChapterList > Input:focus { display: none; border: none; padding: 0 1; height: 1; }
    ChapterList.-filtering > Input, ChapterList.-filtering > Input:focus { display: block; }
    ChapterList > .empty { display: none; color: $text-muted; padding: 0 1; }
    ChapterList.-empty > .empty { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "run_chapter", mark("Run"), tooltip=mark("Run the workflow for this chapter."), id="chapters.run"),
        Binding("plus", "add", mark("Add"), tooltip=mark("Add a chapter."), id="chapters.add"),
        Binding("n", "rename", mark("Rename"), show=False, id="chapters.rename"),
        Binding("greater_than_sign,shift+down", "shift(1)", mark("Move down"), show=False, id="chapters.later"),
        Binding("less_than_sign,shift+up", "shift(-1)", mark("Move up"), show=False, id="chapters.earlier"),
        Binding("D,delete", "delete", mark("Delete"), show=False, id="chapters.delete"),
        Binding("slash", "filter", mark("Filter"), id="chapters.filter"),
        Binding("escape", "end_filter", mark("Show all"), show=False, id="chapters.all"),
    ]

    class Chosen(Request):
        """The writer opens a chapter."""

        chapter: ChapterId

    class AddRequested(Request):
        """The writer requests a new chapter."""

    class RenameRequested(Request):
        """The writer requests another title."""

        chapter: ChapterId

    class MoveRequested(Request):
        """Requests that the chapter move `delta` places later in the story (negative: earlier)."""

        chapter: ChapterId
        delta: int

    class DeleteRequested(Request):
        """Requests the deletion of the chapter."""

        chapter: ChapterId

    class RunRequested(Request):
        """Requests a run of the workflow for a chapter."""

        chapter: ChapterId

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._book: tuple[Chapter, ...] | None = None
        self._unsaved: frozenset[ChapterId] = frozenset()
        self._opened: ChapterId | None = None
        self._beats: Mapping[ChapterId, BeatCount] = {}
        self._wanted = ""

    def compose(self) -> ComposeResult:
        """Yields the filter line, hidden at first, and the list."""
        yield Input(placeholder=_("title or number"), select_on_focus=False)
        yield Static(markup=False, classes="empty")
        yield PickList()

    @property
    def highlighted(self) -> ChapterId | None:
        """The chapter under the cursor."""
        picked = self.query_one(PickList).picked
        return ChapterId(picked) if picked is not None else None

    def show(
        self, chapters: Sequence[Chapter], current: ChapterId | None, unsaved: frozenset[ChapterId] = frozenset()
    ) -> None:
        """Shows the chapters; the cursor stays at its chapter, or goes to `current` when that has changed."""
        if (tuple(chapters), current, unsaved) == (self._book, self._opened, self._unsaved):
            return
        cursor = current if current != self._opened else self.highlighted or current
        self._book, self._opened, self._unsaved = tuple(chapters), current, unsaved
        self._fill(cursor)

    def show_beats(self, counts: Mapping[ChapterId, BeatCount]) -> None:
        """Shows which chapters contain everything that their outline names."""
        if counts != self._beats:
            self._beats = counts
            self._fill(self.highlighted)

    def _fill(self, cursor: ChapterId | None) -> None:
        rows: list[Option] = []
        columns, volume = Columns(*_COLUMNS), ""
        for chapter in filter(self._matches, self._book or ()):
            if chapter.volume != volume:
                volume = chapter.volume
                rows.append(Option(self._volume_row(volume), disabled=True))
            rows.append(Option(self._row(columns, chapter), id=chapter.id))
        self.set_class(not rows, "-empty")
        self.query_one(".empty", Static).update(key_words(self._empty_words()))
        self.query_one(PickList).refill(rows, cursor)

    def _empty_words(self) -> str:
        return _("No title or number matches: Esc shows all.") if self._book else _("No chapters yet. `+` adds one.")

    def _matches(self, chapter: Chapter) -> bool:
        wanted = self._wanted.casefold()
        return wanted in f"{chapter.position} {chapter.title} {chapter.volume}".casefold()

    def _volume_row(self, volume: str) -> Text:
        """The volume's name, and the number of its beats that are in the text."""
        counts = [self._beats[each.id] for each in self._book or () if each.volume == volume and each.id in self._beats]
        found, named = sum(each.found for each in counts), sum(each.named for each in counts)
        return Text.assemble((one_line(volume), "bold"), f"  {found}/{named}" if named else "")

    def _row(self, columns: Columns, chapter: Chapter) -> ColumnRow:
        """Cursor of the open chapter, number, title, length, state."""
        opened = chapter.id == self._opened
        count = self._beats.get(chapter.id)
        sign = "◐" if count is not None and count.found < count.named else role_sign("done")
        state = Cell(sign, "done") if chapter.version else Cell("○", "secondary")
        return columns.row(
            Cell(role_sign("focus") if opened else "", "focus"),
            f"{chapter.position}",
            Cell(one_line(chapter.title) or _("untitled"), is_bold=opened),
            f"{chapter.length:,}" if chapter.version else "—",
            Cell("*", "waiting") if chapter.id in self._unsaved else state,
        )

    @on(OptionList.OptionSelected)
    def _open_chapter(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        if message.option.id is not None:
            self.post_message(self.Chosen(ChapterId(message.option.id)))

    @on(Input.Changed)
    def _narrow(self, message: Input.Changed) -> None:
        message.stop()
        cursor = self.highlighted
        self._wanted = message.value.strip()
        self._fill(cursor)

    @on(Input.Submitted)
    def _to_list(self, message: Input.Submitted) -> None:
        message.stop()
        self.query_one(PickList).focus()

    def _ask(self, made: Callable[[ChapterId], Request]) -> None:
        """Asks for something of the chapter under the cursor."""
        if (chapter := self.highlighted) is not None:
            self.post_message(made(chapter))
        else:
            self.notify(self._empty_words(), markup=False)

    def action_run_chapter(self) -> None:
        """Asks for a run."""
        self._ask(self.RunRequested)

    def action_add(self) -> None:
        """Asks for a new chapter."""
        self.post_message(self.AddRequested())

    def action_rename(self) -> None:
        """Asks for another title."""
        self._ask(self.RenameRequested)

    def action_shift(self, delta: int) -> None:
        """Asks for another place in the story."""
        self._ask(partial(self.MoveRequested, delta=delta))

    def action_delete(self) -> None:
        """Asks for the deletion of the chapter."""
        self._ask(self.DeleteRequested)

    def action_filter(self) -> None:
        """Shows the input that filters by title."""
        self.add_class("-filtering")
        self.query_one(Input).focus()

    def action_end_filter(self) -> None:
        """Shows all chapters again."""
        self.query_one(Input).value = ""
        self.remove_class("-filtering")
        self.query_one(PickList).focus()
