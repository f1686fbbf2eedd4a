"""The outline by parts: which chapter each belongs to, its words beside the chapter, and what fits no chapter."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from typing import ClassVar, NamedTuple, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.outline import NOWHERE, BookOutline, OutlinePart, Placed
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import belongs
from flowcabal_tui.tui.panes.hint_line import HintLine
from flowcabal_tui.tui.panes.lists import PickList
from flowcabal_tui.tui.panes.words import one_line
from flowcabal_tui.tui.screens.choose import ChooseScreen
from flowcabal_tui.tui.trouble import attempt
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.list_rows import HangingRow
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen

_BY_RULES = "rules"
_TO_NONE = "none"
_NEW = "new-"
_IN_SIGHT = 100
"""Rows on each side of the cursor that are drawn before all others: more than a terminal is high."""


class OutlineDoors(Protocol):
    """What the screen asks of the project."""

    def outline(self) -> Awaitable[tuple[BookOutline, int]]: ...

    def chapter_text(self, chapter: ChapterId) -> Awaitable[str]: ...

    async def write(self, text: str, part: OutlinePart | None, chapter: ChapterId, version: int) -> None: ...

    async def assign(self, part: OutlinePart, chapter: ChapterId | None) -> None: ...


class _Row(NamedTuple):
    """A row of the list: what it is of, the sign before it, its words and the dim words after them."""

    id: str
    sign: str
    title: str
    words: str


class BeatsScreen(TypedScreen[str]):
    """The words of a part beside the chapter; gives them back, or None when they are as they were."""

    help = HelpData(
        mark("The outline of a chapter"), mark("Left the chapter, right its outline. Ctrl+s saves, Esc leaves it.")
    )
    DEFAULT_CSS = """
    BeatsScreen { background: $background; }
    BeatsScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    BeatsScreen > Horizontal { height: 1fr; }
    BeatsScreen ProseArea, BeatsScreen ProseArea:focus { width: 1fr; height: 1fr; border: none; padding: 0 1; }
    BeatsScreen #chapter { color: $text-muted; border-right: solid $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "take", mark("Save"), priority=True, id="beats.take"),
        Binding("escape", "leave", mark("Leave"), priority=True, id="beats.leave"),
        HELP_KEYS,
    ]

    def __init__(self, title: str, chapter: str, beats: str) -> None:
        super().__init__()
        self._heading, self._chapter, self._beats = title, clean(chapter), clean(beats)

    def compose(self) -> ComposeResult:
        """The chapter cannot be typed into here."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        with Horizontal():
            if self._chapter.strip():
                yield ProseArea(self._chapter, read_only=True, id="chapter")
            yield ProseArea(self._beats, id="beats")
        yield HintLine()

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one("#beats", ProseArea).focus()

    def action_take(self) -> None:
        """Give the words back."""
        text = clean(self.query_one("#beats", ProseArea).text)
        self.dismiss(text if text.strip() != self._beats.strip() else None)


class OutlineScreen(ModalScreen[None]):
    """All parts in their order, then the chapters that the outline says nothing of."""

    help = HelpData(
        mark("Outline"),
        mark("Each heading of the outline with the chapter that it belongs to. Enter edits its words beside the "
             "chapter, `a` assigns it to a chapter, `u` goes to the next one that fits no chapter."),
    )  # fmt: skip
    DEFAULT_CSS = """
    OutlineScreen { background: $background; }
    OutlineScreen > .head { height: auto; padding: 0 1; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="outline.back"),
        Binding("enter", "edit", mark("Edit"), show=False, id="outline.edit"),
        Binding("a", "assign", mark("Assign"), tooltip=mark("Say which chapter this belongs to."), id="outline.assign"),
        Binding("u", "unassigned", mark("Not assigned"), tooltip=mark("The next part that fits no chapter."),
                id="outline.unassigned"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, doors: OutlineDoors, chapter: ChapterId | None) -> None:
        """`chapter` is the one in view: the cursor begins at its part."""
        super().__init__()
        self._doors, self._chapter = doors, chapter
        self._book: BookOutline | None = None
        self._version = 0

    def compose(self) -> ComposeResult:
        """How many fit no chapter, and the parts."""
        yield Static(markup=False, classes="head")
        yield PickList()
        yield HintLine()

    def on_mount(self) -> None:
        """Reads the outline."""
        self.query_one(PickList).focus()
        attempt(self, self._read(first=True))

    async def _read(self, *, first: bool = False) -> None:
        self._book, self._version = await self._doors.outline()
        lines = self.query_one(PickList)
        rows = [*self._rows(self._book)]
        at = self._first_row(self._book) if first else lines.highlighted or 0
        self.query_one(".head", Static).update(self._words(self._book))
        near = slice(max(0, at - _IN_SIGHT), at + _IN_SIGHT)
        if len(rows) > 2 * _IN_SIGHT:  # the height of each row takes time: those in sight come first
            self._fill(rows[near], at - near.start)
            drawn = asyncio.Event()
            self.call_after_refresh(drawn.set)
            await drawn.wait()
            at = near.start + (lines.highlighted or 0)
        self._fill(rows, at)

    def _fill(self, rows: Sequence[_Row], at: int) -> None:
        lines = self.query_one(PickList)
        lines.set_options([Option(HangingRow(row.sign, row.title, row.words), id=row.id) for row in rows])
        lines.highlighted = min(at, lines.option_count - 1)

    def _first_row(self, book: BookOutline) -> int:
        """The row of the chapter in view."""
        own = [at for at, each in enumerate(book.placed) if self._chapter in each.chapters]
        new = [each.id for each in book.chapters if not book.of(each.id)]
        return next(iter(own), len(book.placed) + new.index(self._chapter) if self._chapter in new else 0)

    @staticmethod
    def _words(book: BookOutline) -> str:
        left = len(book.unassigned)
        words = ngettext("{n} part fits no chapter: not assigned", "{n} parts fit no chapter: not assigned", left)
        return f"{_('Outline')} · {words.format(n=left)}" if left else _("Outline")

    @staticmethod
    def _rows(book: BookOutline) -> Iterator[_Row]:
        titles = {each.id: f"{each.position} {one_line(each.title)}" for each in book.chapters}
        for at, each in enumerate(book.placed):
            title = one_line(each.part.title) or _("The whole book")
            indent = "  " * (2 if each.part.parent > 0 else 1 if each.part.kind == "chapter" else 0)
            words = "" if each.part.kind == "book" else f" · {belongs(each, titles)}"
            yield _Row(str(at), f"{'!' if each.is_unassigned else ' '} {indent}", title, words)
        for chapter in book.chapters:
            if not book.of(chapter.id):
                words = f" · {_('nothing in the outline yet')}"
                yield _Row(f"{_NEW}{chapter.id}", "+   ", titles[chapter.id], words)

    def _current(self) -> tuple[Placed | None, ChapterId]:
        """The part under the cursor, or the chapter that has none yet."""
        lines = self.query_one(PickList)
        if self._book is None or lines.highlighted is None:
            return None, NOWHERE
        identity = lines.get_option_at_index(lines.highlighted).id or ""
        if identity.startswith(_NEW):
            return None, ChapterId(identity.removeprefix(_NEW))
        placed = self._book.placed[int(identity)]
        return placed, next(iter(placed.chapters), NOWHERE)

    @on(OptionList.OptionSelected)
    def action_edit(self) -> None:
        """The words of the part beside its chapter."""
        attempt(self, self._edit())

    async def _edit(self) -> None:
        placed, chapter = self._current()
        if self._book is None or (placed is None and not chapter):
            return
        titles = {each.id: each.title for each in self._book.chapters}
        beats = self._book.outline.body(placed.part) if placed else ""
        title = placed.part.title if placed else titles[chapter]
        text = await self._doors.chapter_text(chapter) if chapter else ""
        words = await self.app.push_screen_wait(BeatsScreen(title or _("The whole book"), text, beats))
        if words is not None:
            await self._doors.write(words, placed.part if placed else None, chapter, self._version)
            await self._read()
            self.notify(_("Saved."), markup=False)

    def action_assign(self) -> None:
        """A chapter for the part."""
        attempt(self, self._assign())

    async def _assign(self) -> None:
        placed, _chapter = self._current()
        if self._book is None or placed is None or placed.part.kind == "book":
            return
        choices = [(str(each.id), f"{each.position} {each.title}") for each in self._book.chapters]
        choices += [(_TO_NONE, _("To no chapter")), (_BY_RULES, _("As its heading says"))]
        title = _("To which chapter does {title} belong?").format(title=one_line(placed.part.title, 40))
        chosen = await self.app.push_screen_wait(ChooseScreen(title, tuple(choices)))
        if chosen is not None:
            chapter = None if chosen == _BY_RULES else NOWHERE if chosen == _TO_NONE else ChapterId(chosen)
            await self._doors.assign(placed.part, chapter)
            await self._read()

    def action_unassigned(self) -> None:
        """The next part that fits no chapter."""
        lines = self.query_one(PickList)
        if self._book is None:
            return
        places = [at for at, each in enumerate(self._book.placed) if each.is_unassigned]
        here = lines.highlighted or 0
        if places:
            lines.highlighted = next((at for at in places if at > here), places[0])
