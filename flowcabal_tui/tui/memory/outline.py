"""The outline by parts: the chapter of each, its text beside the chapter, and parts that fit no chapter."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen, Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.outline import NOWHERE, BookOutline, OutlinePart, Placed
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import META, belongs
from flowcabal_tui.protocol.book import AssignOutline, WriteMeta, WriteOutlinePart
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen

_OUTLINE: Final = ChapterId("meta/outline")
_BY_RULES = "rules"
_TO_NONE = "none"
_NEW = "new-"
_NEW_VOLUME = "volume-"


class PartOf(NamedTuple):
    """The subject of a text in the outline: a part, or the chapter or volume without one."""

    placed: Placed | None = None
    chapter: ChapterId = NOWHERE
    volume: str = ""


def chapter_titles(book: BookOutline) -> dict[ChapterId, str]:
    """The display titles of the chapters."""
    return {each.id: f"{each.position} {one_line(each.title)}" for each in book.chapters}


def _rows(book: BookOutline, names: Iterable[str]) -> list[Option]:
    """The rows of the list."""
    columns = Columns(
        Column(most=1, least=1),
        Column(_("part"), fill=True, least=20),
        Column(_("chapter"), rank=1, is_number=True, role="secondary"),
        Column(rank=3, most=24, role="secondary"),
        Column(rank=2, least=12, is_phrase=True, role="secondary"),
    )
    chapters = {each.id: each for each in book.chapters}
    return [Option(columns.row(*_cells(book, chapters, name)), id=name) for name in names]


def _cells(book: BookOutline, chapters: Mapping[ChapterId, Chapter], name: str) -> tuple[str | Cell, ...]:
    """Sign, title, numbers and titles of its chapters, remark."""
    if name.startswith(_NEW):
        chapter = chapters[ChapterId(name.removeprefix(_NEW))]
        return Cell("+", "added"), "  " + one_line(chapter.title), f"{chapter.position}"
    if name.startswith(_NEW_VOLUME):
        volume = book.volumes[int(name.removeprefix(_NEW_VOLUME))]
        return Cell("+", "added"), Cell(_("volume {name}").format(name=one_line(volume)), is_bold=True)
    each = book.placed[int(name)]
    title = one_line(each.part.title) or _("The whole book")
    sign = Cell("!", "waiting") if each.is_unassigned else ""
    if each.part.kind != "chapter":
        is_named = each.part.kind != "volume" or one_line(each.volume) in ("", title)
        remark = "" if is_named else _("volume {name}").format(name=one_line(each.volume))
        return sign, Cell(title, is_bold=True), "", "", remark
    indent = "    " if each.part.parent > 0 else "  "
    belong = [chapters[chapter] for chapter in each.chapters]
    numbers = _(", ").join(f"{chapter.position}" for chapter in belong)
    titles = _(", ").join(one_line(chapter.title) for chapter in belong)
    remark = "" if belong else belongs(each, {})
    return sign, indent + title, numbers, titles, Cell(remark, "waiting" if each.is_unassigned else None)


class BeatsScreen(TypedScreen[str]):
    """Edits the text of a part beside the chapter; returns it, or None when it is unchanged."""

    help = HelpData(
        mark("The outline of a chapter"),
        mark("The chapter on the left, its outline on the right. Ctrl+s saves, Esc cancels."),
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

    def __init__(self, title: str, chapter: str, beats: str, *, is_new: bool = False) -> None:
        """`is_new`: the heading may be saved without a text."""
        super().__init__()
        self._heading, self._chapter, self._beats, self._is_new = title, clean(chapter), clean(beats), is_new

    def compose(self) -> ComposeResult:
        """Yields the read-only chapter and the editor."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        with Horizontal():
            if self._chapter.strip():
                yield ProseArea(self._chapter, read_only=True, id="chapter")
            yield ProseArea(self._beats, id="beats")
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the editor."""
        self.query_one("#beats", ProseArea).focus()

    def action_take(self) -> None:
        """Returns the text."""
        text = clean(self.query_one("#beats", ProseArea).text)
        self.dismiss(text if self._is_new or text.strip() != self._beats.strip() else None)


class _Parts(PickList):
    """Its Enter is shown among the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", mark("Edit"), id="outline.edit")]


class OutlineController:
    """Reads and writes the outline for its screen."""

    def __init__(self, screen: Screen[Any], project: Project) -> None:
        self._screen, self._project = screen, project
        self.outline, self.chapter_text = project.book.outline, project.book.chapter_text

    async def edit(self, of: PartOf, book: BookOutline, version: int) -> bool:
        """Edits the text of a part, as of this version, beside its chapter; returns True when it was saved."""
        placed = of.placed
        beats = book.outline.body(placed.part) if placed else ""
        heading = (placed.part.title or _("The whole book")) if placed else of.volume
        title = facts_words(heading, chapter_titles(book).get(of.chapter) or "")
        text = await self.chapter_text(of.chapter) if of.chapter else ""
        words = await self._screen.app.push_screen_wait(BeatsScreen(title, text, beats, is_new=placed is None))
        if words is not None:
            await self.write(words, of, version)
        return words is not None

    async def write(self, text: str, of: PartOf, version: int) -> None:
        part = of.placed.part if of.placed else None
        title, nth, chapter = (part.title, part.nth, NOWHERE) if part else ("", 1, of.chapter)
        await self._project.carry_out(WriteOutlinePart(text, title, nth, chapter, version, of.volume))

    async def assign(self, part: OutlinePart, chapter: ChapterId | None) -> None:
        await self._project.carry_out(AssignOutline(part.title, part.nth, chapter))

    async def earlier_text(self) -> str | None:
        versions = await self._project.book.chapter_versions(_OUTLINE)
        if not versions:
            return None

        async def load(version: int) -> str:
            return await self._project.book.chapter_text(_OUTLINE, version)

        page = VersionsScreen(_(META["outline"]), versions, load, self._project.info.language)
        return await self._screen.app.push_screen_wait(page)

    async def write_all(self, text: str, version: int) -> None:
        await self._project.carry_out(WriteMeta("outline", text, version))


class OutlineScreen(ModalScreen[None]):
    """Lists all parts in order, then the chapters without a part."""

    help = HelpData(
        mark("Outline"),
        mark("Each heading of the outline with its chapter. Enter edits its text beside the chapter, `c` assigns "
             "it to a chapter, `u` goes to the next one that fits no chapter. `V` shows the earlier versions of "
             "the outline and restores one."),
    )  # fmt: skip
    DEFAULT_CSS = """
    OutlineScreen { background: $background; }
    OutlineScreen > .head { height: auto; padding: 0 1; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="outline.back"),
        Binding("c", "assign", mark("Assign"), tooltip=mark("Assign this part to a chapter."), id="outline.assign"),
        Binding("u", "unassigned", mark("Not assigned"), tooltip=mark("Go to the next part that fits no chapter."),
                id="outline.unassigned"),
        Binding("V", "versions", mark("Versions"), tooltip=mark("Earlier states of the outline; one can be restored."),
                id="outline.versions"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, controller: OutlineController, chapter: ChapterId | None) -> None:
        """`chapter` is the open one; the cursor starts at its part."""
        super().__init__()
        self._controller, self._chapter = controller, chapter
        self._book: BookOutline | None = None
        self._version = 0
        self._editing = asyncio.Lock()

    def compose(self) -> ComposeResult:
        """Yields the number of parts that fit no chapter, and the parts."""
        yield Static(markup=False, classes="head")
        yield _Parts()
        yield HintLine()

    def on_mount(self) -> None:
        """Reads the outline."""
        self.query_one(PickList).focus()
        attempt(self, self._read(first=True))

    async def _read(self, *, first: bool = False) -> None:
        self._book, self._version = await self._controller.outline()
        book, lines = self._book, self.query_one(PickList)
        names = [*self._names(book)]
        at = self._first_row(book, names) if first else lines.highlighted or 0
        self.query_one(".head", Static).update(self._words(book))
        lines.set_options(_rows(book, names))
        lines.highlighted = min(at, lines.option_count - 1)

    def _first_row(self, book: BookOutline, names: Sequence[str]) -> int:
        """The row of the chapter in view."""
        own = (at for at, each in enumerate(book.placed) if self._chapter in each.chapters)
        new = (at for at, name in enumerate(names) if name == f"{_NEW}{self._chapter}")
        return next(own, next(new, 0))

    @staticmethod
    def _words(book: BookOutline) -> str:
        if not book.text.strip():
            return _("Nothing is planned yet: Enter writes the outline of the whole book.")
        left = len(book.unassigned)
        new = sum(name.startswith((_NEW, _NEW_VOLUME)) for name in OutlineScreen._names(book))
        fits = ngettext("! {n} part fits no chapter", "! {n} parts fit no chapter", left).format(n=left)
        owed = ngettext("+ {n} without an outline", "+ {n} without an outline", new).format(n=new)
        return "   ".join(filter(None, (_("Outline"), fits if left else "", owed if new else "")))

    @staticmethod
    def _names(book: BookOutline) -> Iterator[str]:
        """The ids of all rows: the parts by their places, then the volumes and chapters that have none."""
        yield from map(str, range(len(book.placed)))
        new = {name: at for at, name in enumerate(book.volumes) if book.part_of_volume(name) is None}
        for chapter in book.chapters:
            if (at := new.pop(chapter.volume, -1)) >= 0:
                yield f"{_NEW_VOLUME}{at}"
            if not book.of(chapter.id):
                yield f"{_NEW}{chapter.id}"

    def _current(self) -> PartOf:
        """The subject of the row under the cursor."""
        picked = self.query_one(PickList).picked
        if self._book is None or picked is None:
            return PartOf()
        if picked.startswith(_NEW):
            return PartOf(chapter=ChapterId(picked.removeprefix(_NEW)))
        if picked.startswith(_NEW_VOLUME):
            return PartOf(volume=self._book.volumes[int(picked.removeprefix(_NEW_VOLUME))])
        placed = self._book.placed[int(picked)]
        return PartOf(placed, next(iter(placed.chapters), NOWHERE))

    @on(OptionList.OptionSelected)
    @attempted()
    async def edit(self) -> None:
        """Edits the text of the part beside its chapter."""
        async with self._editing:  # begins from what the last edit saved
            of = self._current()
            if self._book is None or of == PartOf():
                return
            if await self._controller.edit(of, self._book, self._version):
                await self._read()
                self.notify(_("Saved."), markup=False)

    @attempted()
    async def action_assign(self) -> None:
        """Assigns a chapter to the part."""
        placed = self._current().placed
        if self._book is None or placed is None or placed.part.kind == "book":
            return
        choices = [(str(each.id), f"{each.position} {each.title}") for each in self._book.chapters]
        choices += [(_TO_NONE, _("Not part of a chapter")), (_BY_RULES, _("As its heading says"))]
        title = _("To which chapter does {title} belong?").format(title=one_line(placed.part.title, 40))
        chosen = await self.app.push_screen_wait(ChooseScreen(title, tuple(choices)))
        if chosen is not None:
            chapter = None if chosen == _BY_RULES else NOWHERE if chosen == _TO_NONE else ChapterId(chosen)
            await self._controller.assign(placed.part, chapter)
            await self._read()

    @attempted()
    async def action_versions(self) -> None:
        """Restores an earlier version of the outline."""
        text = await self._controller.earlier_text()
        if text is not None:
            await self._controller.write_all(text, self._version)
            await self._read()
            self.notify(_("Restored as the newest version."), markup=False)

    def action_unassigned(self) -> None:
        """Goes to the next part that fits no chapter."""
        lines = self.query_one(PickList)
        if self._book is None:
            return
        places = [at for at, each in enumerate(self._book.placed) if each.is_unassigned]
        here = lines.highlighted or 0
        if places:
            lines.highlighted = next((at for at in places if at > here), places[0])
