"""Replaces words in the whole manuscript, after showing every place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.search import Occurrence, TextPlace
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import head_words

TextOf = Callable[[TextPlace], Awaitable[str]]
_COLUMNS: Final = (
    Column(),
    Column(is_number=True, role="secondary"),
    Column(rank=1, least=12, most=16, is_phrase=True, role="secondary"),
    Column(fill=True, least=20, most=1_000),
)
"""Sign, chapter, title, line."""


class ReplaceScreen(ModalScreen[tuple[TextPlace, ...] | None]):
    """Returns the chosen places, or None. Initially all are chosen."""

    help = HelpData(
        mark("Replace"),
        mark("Every place with `[-removed-]{+inserted+}` words. Space chooses or leaves out a place, `c` all in "
             "its chapter, `*` all; `d` shows the chapter's difference. Ctrl+s replaces the chosen ones: one new "
             "version of each chapter; Ctrl+z in the search undoes it. Names in the lists of names are not "
             "changed."),
    )  # fmt: skip
    DEFAULT_CSS = """
    ReplaceScreen { background: $background; }
    ReplaceScreen > .head { height: auto; max-height: 3; padding: 0 1; text-style: bold; }
    ReplaceScreen > .note { height: auto; padding: 0 1; color: $text-warning; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", mark("Back"), priority=True, id="replace.back"),
        Binding("ctrl+s,f10", "replace", mark("Replace"), priority=True, id="replace.do",
                tooltip=mark("Replace at the chosen places.")),
        Binding("space", "turn", mark("Choose"), tooltip=mark("Choose this place, or leave it out."),
                id="replace.choose"),
        Binding("c", "turn_chapter", mark("Chapter"), tooltip=mark("Choose or leave out all places of the chapter."),
                id="replace.chapter"),
        Binding("asterisk", "turn_all", mark("All"), tooltip=mark("Choose or leave out all places."), id="replace.all"),
        Binding("d", "changes", mark("Difference"), show=False, tooltip=mark("How the chapter would change."),
                id="replace.diff"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, words: str, by: str, places: tuple[Occurrence, ...], text_of: TextOf, note: str = "") -> None:
        """`note`: a sentence above the places; "" for none."""
        super().__init__()
        self._note = note
        self._old_words, self._new_words, self._places, self._text_of = words, by, places, text_of
        self._chosen = set(range(len(places)))
        self._columns = Columns(*_COLUMNS)

    def compose(self) -> ComposeResult:
        """Yields the words, their replacement, and the places."""
        yield Static(markup=False, classes="head")
        if self._note:
            yield Static(self._note, markup=False, classes="note")
        yield PickList()
        yield HintLine()

    def on_mount(self) -> None:
        """Selects all places."""
        self._fill()
        self.query_one(PickList).focus()

    def _fill(self) -> None:
        rows = [Option(self._row(number), id=str(number)) for number in range(len(self._places))]
        self.query_one(PickList).refill(rows)
        self._show_count()

    def _show_count(self) -> None:
        title = _("{words} > {others}").format(words=one_line(self._old_words), others=one_line(self._new_words))
        counted = _("{n} of {count} places chosen").format(n=len(self._chosen), count=len(self._places))
        why = _("whole words; the search counts each paragraph once")
        self.query_one(".head", Static).update(head_words(title, counted, why))

    def _row(self, number: int) -> ColumnRow:
        found = self._places[number]
        sign = "[x]" if number in self._chosen else "[ ]"
        change = f"[-{self._old_words}-]{{+{self._new_words}+}}"
        line = found.line[: found.span.start] + change + found.line[found.span.end :]
        spans = (Span(found.span.start, found.span.start + len(change)),)
        return self._columns.row(
            sign, f"{found.position}", one_line(found.title), Cell(line.replace("\t", " "), spans=spans)
        )

    @property
    def _at(self) -> int:
        return int(self.query_one(PickList).picked or 0)

    def _turn(self, numbers: set[int]) -> None:
        """Leaves the places out if all of them are chosen, else chooses them."""
        self._chosen = self._chosen - numbers if numbers <= self._chosen else self._chosen | numbers
        names = self.query_one(PickList)
        for number in numbers:
            names.replace_option_prompt_at_index(number, self._row(number))
        self._show_count()

    def _of_chapter(self) -> set[int]:
        chapter = self._places[self._at].place.chapter
        return {number for number, found in enumerate(self._places) if found.place.chapter == chapter}

    @on(OptionList.OptionSelected)
    def action_turn(self) -> None:
        """Chooses the place, or leaves it out, and moves on."""
        self._turn({self._at})
        self.query_one(PickList).action_cursor_down()

    def action_turn_chapter(self) -> None:
        """Chooses or leaves out all places of the chapter."""
        self._turn(self._of_chapter())

    def action_turn_all(self) -> None:
        """Chooses or leaves out all places."""
        self._turn(set(range(len(self._places))))

    def action_changes(self) -> None:
        """Shows the changes of the chapter."""
        attempt(self, self._changes(self._places[self._at]))

    async def _changes(self, found: Occurrence) -> None:
        before = await self._text_of(found.place)
        starts = [self._places[number].place.start for number in sorted(self._chosen & self._of_chapter())]
        after = before
        for start in reversed(starts):
            after = after[:start] + self._new_words + after[start + len(self._old_words) :]
        self.app.push_screen(DiffScreen(one_line(found.title), before, after))

    def action_replace(self) -> None:
        """Replaces the words at the chosen places."""
        if self._chosen:
            self.dismiss(tuple(self._places[number].place for number in sorted(self._chosen)))
        else:
            self.notify(_("No place is chosen."), markup=False)
