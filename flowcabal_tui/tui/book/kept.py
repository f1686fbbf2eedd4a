"""The page of kept outputs, of a chapter or of the book: read, removed, restored, purged."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import OutputId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Curated
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.words import KEEP_KINDS, text_stays
from flowcabal_tui.protocol.book import DeleteOutput, TagOutput
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import names_of
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import head_words, without_backticks
from flowcabal_tui.tui.widgets.stream_view import StreamView

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.book.maintenance import MaintenanceController


class KeptScreen(ModalScreen[None]):
    """Lists the outputs, newest first, above the text of the one under the cursor."""

    help = HelpData(
        mark("Kept outputs"),
        mark("Every output that you kept for this chapter. `D` undoes a keep: the chapter's text is rebuilt "
             "without that output, and what you wrote by hand stays; `U` brings it back. Shift+Delete purges it: it is "
             "removed from the project's file for good, which cannot be undone. `t` sets tags, `f` lists only "
             "what has a tag. `b` lists everything you kept in "
             "the book: for other chapters, for deleted chapters, and for none, such as outlines and notes."),
    )  # fmt: skip
    DEFAULT_CSS = """
    KeptScreen { background: $background; }
    KeptScreen > .head { height: 1; padding: 0 1; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
    KeptScreen > PickList { height: auto; max-height: 40%; }
    KeptScreen > StreamView { height: 1fr; padding: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="kept.back"),
        Binding("D,delete", "take_out(False)", mark("Undo "
                                                    "keep"), tooltip=mark("Undo the keep: remove the output from "
                                                                              "the chapter and its memory."),
                id="kept.delete"),
        Binding("U", "take_out(True)", mark("Bring back"), tooltip=mark("Restore the output to the chapter."),
                id="kept.bring-back"),
        Binding("shift+delete", "purge", mark("Purge"), id="kept.purge",
                tooltip=mark("Remove it from the project's file for good; cannot be undone.")),
        Binding("t", "tag", mark("Tags"), tooltip=mark("Set the tags of this output."),
                id="kept.tags"),
        Binding("f", "filter", mark("Filter"), tooltip=mark("List only what has a tag; again: all."), id="kept.filter"),
        Binding("b", "whole_book", mark("Whole book"), tooltip=mark("Everything you kept, for all chapters and for "
                                                                    "none."),
                id="kept.book"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, project: Project, maintenance: MaintenanceController, chapter: Chapter | None) -> None:
        """`chapter` None: only the whole book can be shown."""
        super().__init__()
        self._project, self._maintenance, self._chapter = project, maintenance, chapter
        self._whole = chapter is None
        self._kept: dict[str, Curated] = {}
        self._tag_shown = ""
        """Only outputs with this tag are listed; "": all."""
        self._words: dict[str, str] = {}
        self._known_tags: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Yields the chapter, its outputs, a text."""
        yield Static(markup=False, classes="head")
        yield PickList()
        yield StreamView()
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the newest output."""
        self.query_one(PickList).focus()
        attempt(self, self.reload(), group="change")

    async def reload(self) -> None:
        """Reads the kept outputs again; shows a message if there are none."""
        every = await self._read()
        self._known_tags = tuple(dict.fromkeys(tag for each, _words in every for tag in each.tags))
        rows = [(each, words) for each, words in every if not self._tag_shown or self._tag_shown in each.tags]
        self._kept = {str(each.id): each for each, _words in rows}
        self._words = {str(each.id): words for each, words in rows}
        tag = _tagged((self._tag_shown,)) if self._tag_shown else ""
        self.query_one(".head", Static).update(head_words(one_line(self._title()), tag))
        columns = _columns()
        self.query_one(PickList).refill(
            [Option(_row(columns, each, self._words[key]), id=key) for key, each in self._kept.items()]
        )
        if not self._kept:
            none = (
                _("Nothing is kept yet: `a` in the output keeps it.")
                if self._whole
                else _("Nothing of this chapter is kept yet: `a` in the output keeps it.")
            )
            self.query_one(StreamView).set_text(
                _("Nothing has this tag.") if self._tag_shown else without_backticks(none), follow=False
            )

    def _title(self) -> str:
        if self._whole or self._chapter is None:
            return _("Kept in the whole book")
        return _("Kept for chapter {n}, {title}").format(n=self._chapter.position, title=self._chapter.title)

    async def _read(self) -> tuple[tuple[Curated, str], ...]:
        """Kept texts, newest first, removed ones included; for the whole book, each with a description."""
        book = self._project.book
        if not self._whole and self._chapter is not None:
            return tuple((kept, "") for kept in reversed(await book.kept(self._chapter.id)))
        names = {chapter.id: f"{chapter.position} {chapter.title}" for chapter in await book.chapters()}
        return tuple(
            (kept, " ".join(filter(None, (_(KEEP_KINDS[kept.kind]), names.get(kept.chapter) if kept.chapter else ""))))
            for kept in reversed(await book.kept())
        )

    @on(OptionList.OptionHighlighted)
    def follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        """Shows the text of the output under the cursor."""
        message.stop()
        if message.option.id is not None:
            attempt(self, self._show(OutputId(message.option.id)), group="show", exclusive=True)

    async def _show(self, output: OutputId) -> None:
        self.query_one(StreamView).set_text(await self._project.book.kept_text(output), follow=False)

    def _then(self, work: Awaitable[object]) -> None:
        async def done() -> None:
            await work
            await self.reload()

        attempt(self, done(), group="change")

    @property
    def _at(self) -> Curated | None:
        return self._kept.get(self.query_one(PickList).picked or "")

    def action_take_out(self, back: bool) -> None:
        """Removes the text from the chapter, or (`back`) restores it."""
        kept = self._at
        if kept is not None and kept.deleted == back:
            self._then(self._take_out(kept.id, back))

    async def _take_out(self, output: OutputId, back: bool) -> None:
        if await self._project.carry_out(DeleteOutput(output, restore=back)):
            self.notify(without_backticks(text_stays()), markup=False)

    def action_whole_book(self) -> None:
        """Switches between the outputs of the chapter and those of the whole book."""
        self._whole = not self._whole
        attempt(self, self.reload(), group="change")

    def action_tag(self) -> None:
        """Asks for the tags of the output under the cursor."""
        if (kept := self._at) is not None:
            self._then(self._tag(kept))

    async def _tag(self, kept: Curated) -> None:
        line = PromptLine(_("Tags, separated by commas"), value=_(", ").join(kept.tags))
        typed: str | None = await self.app.push_screen_wait(line)
        if typed is not None:
            await self._project.carry_out(TagOutput(kept.id, names_of(typed)))

    def action_filter(self) -> None:
        """Asks for a tag and lists the outputs that have it; lists all again if a tag was chosen."""
        if self._tag_shown:
            self._tag_shown = ""
            attempt(self, self.reload(), group="change")
        elif not self._known_tags:
            self.notify(_("Nothing here has a tag: `t` sets some."), markup=False)
        else:
            attempt(self, self._filter(), group="change")

    async def _filter(self) -> None:
        choices = tuple((tag, _tagged((tag,))) for tag in self._known_tags)
        chosen: str | None = await self.app.push_screen_wait(ChooseScreen(_("Which tag?"), choices))
        self._tag_shown = chosen or ""
        await self.reload()

    def action_purge(self) -> None:
        """Purges the output."""
        if (kept := self._at) is not None:
            self._then(self._maintenance.purge_output(kept))


def _columns() -> Columns:
    return Columns(
        Column(most=1, least=1),
        Column(fill=True, least=12),
        Column(rank=1),
        Column(rank=2, role="key"),
        Column(rank=3, role="secondary"),
        Column(rank=4, is_number=True, role="secondary"),
        Column(rank=5, role="secondary"),
    )


def _tagged(tags: Iterable[str]) -> str:
    return " ".join(f"#{one_line(tag, 40)}" for tag in tags)


def _row(columns: Columns, kept: Curated, words: str) -> ColumnRow:
    origin = _("{node}, attempt {n}").format(node=one_line(kept.node), n=kept.attempt) if kept.node else ""
    sign = Cell("x", "removed") if kept.deleted else Cell("+", "done")
    name = Cell(one_line(words), "removed" if kept.deleted else None)
    by = Cell(origin or _("by hand"), "model" if origin else "hand")
    state = _("keep undone") if kept.deleted else f"{kept.at:%Y-%m-%d %H:%M}"
    version = f"v{kept.version}" if kept.version else ""
    return columns.row(sign, name, by, _tagged(kept.tags), state, version, f"{kept.id[:8]}")
