"""Every place of the book that names an entity: the chapters, above the text at the place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Entity, Mention
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import ColumnHead, PickList
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.story_page import StoryPage, StoryPlace
from flowcabal_tui.tui.widgets.column_rows import Column, Columns
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.role_words import head_words
from flowcabal_tui.tui.widgets.stream_view import StreamView


class MentionsScreen(StoryPage):
    """Returns the place to edit, or None."""

    help = HelpData(
        mark("Places"),
        mark("The chapters that mention it, and the text at the place. `n` and `p` go from place to place, Enter "
             "opens the place in the manuscript, Tab moves to the text for further reading."),
    )  # fmt: skip
    DEFAULT_CSS = """
    MentionsScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    MentionsScreen > PickList { height: 35%; }
    MentionsScreen > .details { height: 1; padding: 0 1; color: $text-muted; }
    MentionsScreen > StreamView { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "step(1)", mark("Next place"), priority=True, id="mentions.next"),
        Binding("p", "step(-1)", mark("Previous place"), priority=True, id="mentions.previous"),
        Binding("enter", "open", mark("Open"), tooltip=mark("Open the place in the manuscript."), priority=True,
                id="mentions.open"),
    ]  # fmt: skip

    def __init__(self, project: Project, entity: Entity, cast: Cast) -> None:
        super().__init__(project)
        self._entity, self._names_known = entity, cast
        self._places: Sequence[Mention] = ()
        self._place_at = 0
        self._shown_chapter: ChapterId | None = None

    def compose(self) -> ComposeResult:
        """Yields the entity, the chapters, the text."""
        yield Static(" = ".join(one_line(name, 40) for name in self._entity.names), markup=False, classes="head")
        yield ColumnHead()
        yield PickList()
        yield Static(markup=False, classes="details")
        yield StreamView()
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the first place."""
        self.query_one(PickList).focus()

    async def reload(self) -> None:
        """Reads the places and the text again; keeps the current place."""
        self._shown_chapter = None
        before = self._places[self._place_at] if self._places else None
        self._places = await self.project.story.mentions(self._entity.id)
        if not self._places:
            self.query_one(PickList).set_options(())
            self.query_one(StreamView).set_text("")
            self.query_one(".details", Static).update(_("Nothing in the book mentions it. Esc goes back."))
            return
        columns = Columns(Column(fill=True), Column(_("places"), is_number=True))
        rows = []
        for chapter, found in groupby(self._places, key=lambda mention: mention.chapter):
            row = columns.row(self._names_known.chapter(chapter), f"{len(list(found)):,}")
            rows.append(Option(row, id=chapter))
        self.query_one(ColumnHead).show(columns)
        self._place_at = self._places.index(before) if before in self._places else 0
        self.query_one(PickList).refill(rows, self._places[self._place_at].chapter)
        await self._show()

    @on(OptionList.OptionHighlighted)
    def follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        """Shows the first place of another chapter."""
        message.stop()
        chapter = message.option.id
        if self._places and self._places[self._place_at].chapter != chapter:
            self._place_at = next(at for at, each in enumerate(self._places) if each.chapter == chapter)
            self.work(self._show(), exclusive=True)

    async def _show(self) -> None:
        """The text of the chapter, at the place."""
        place, reader = self._places[self._place_at], self.query_one(StreamView)
        if self._shown_chapter != place.chapter:
            reader.set_text(await self.project.book.chapter_text(place.chapter), follow=False)
            self._shown_chapter = place.chapter
        words = _("place {n} of {count}").format(n=self._place_at + 1, count=len(self._places))
        self.query_one(".details", Static).update(head_words(self._names_known.chapter(place.chapter), words))
        reader.highlight(place.start, place.end)
        reader.scroll_to_offset(place.start)

    def action_step(self, step: int) -> None:
        """Goes to the next place, wrapping around."""
        if self._places:
            self._place_at = (self._place_at + step) % len(self._places)
            self.query_one(PickList).pick(self._places[self._place_at].chapter)
            self.work(self._show(), exclusive=True)

    def action_open(self) -> None:
        """Closes the page and opens the place."""
        if self._places:
            place = self._places[self._place_at]
            self.dismiss(StoryPlace(place.chapter, place.start, place.end))
