"""Promises, the timeline, and the facts valid in a chapter: reading, editing, opening the supporting words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.domain.story import Fact, Moment, Promise, StoryRecord
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import ColumnHead, PickList
from flowcabal_tui.tui.shared.pane_tabs import PaneChosen, PaneTabs
from flowcabal_tui.tui.shared.passage import MarkedPassage, passage_at
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.record_forms import NEW, end_form, payment_form, record_form
from flowcabal_tui.tui.story.record_rows import RecordList, lines
from flowcabal_tui.tui.story.story_page import FilteredPage
from flowcabal_tui.tui.story.words import fact_lines, moment_lines, promise_lines
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.chapter_slider import ChapterSlider
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.role_words import head_words, key_words
from flowcabal_tui.tui.widgets.roles import role_style

_MOST_PLACES: Final = 4
_TABS: Final = (
    ("1", "promises", mark("Promises")),
    ("2", "timeline", mark("Timeline")),
    ("3", "facts", mark("Facts")),
)
_HEADS: Final[dict[RecordList, str]] = {
    "promises": mark("what was planted, most urgent first"),
    "timeline": mark("place in the story, place in the narration; < looks back, > ahead"),
    "facts": mark("facts of the chapter; S is a secret"),
}
_ONLY: Final[dict[str, RecordList]] = {
    "pay": "promises", "drop": "promises", "payment": "promises",
    "order": "timeline",
    "chapter": "facts", "all": "facts", "end": "facts",
}  # fmt: skip


def supporting_places(record: StoryRecord) -> tuple[Evidence, ...]:
    """The first supporting places, and for a promise also those of its payment."""
    payment = record.payment if isinstance(record, Promise) else ()
    return (*record.evidence[:_MOST_PLACES], *payment[:_MOST_PLACES])


def detail_lines(record: StoryRecord, cast: Cast, passages: Mapping[Evidence, MarkedPassage]) -> Iterator[Content]:
    """The record, and below each place its paragraph with the supporting words marked, where it was read."""
    first, *rest = _lines(record, cast)
    yield Content.styled(first, "bold")
    for line in rest:
        yield Content.styled(line, role_style("secondary"))
    for each in supporting_places(record):
        passage = passages.get(each)
        sentence = one_line(each.sentence, 400)
        if passage is None and sentence == one_line(getattr(record, "text", "")):
            continue
        yield Content("")
        yield head_words(cast.chapter(each.chapter), _what(record, each))
        yield passage.shown() if passage else Content.styled(quoted(sentence), role_style("quoted"))


def _lines(record: StoryRecord, cast: Cast) -> Iterator[str]:
    match record:
        case Promise():
            yield from promise_lines(record, cast)
        case Moment():
            yield from moment_lines(record, cast)
        case Fact():
            yield from fact_lines(record, cast)


def _what(record: StoryRecord, place: Evidence) -> str:
    """The event of a promise at this place; "" for other records, whose places are all evidence."""
    if not isinstance(record, Promise):
        return ""
    return _("paid") if place in record.payment else _("planted")


class RecordsScreen(FilteredPage):
    """Three lists, each with the details of the record under the cursor."""

    help = HelpData(
        mark("Story"),
        mark("Promises to be paid, moments in story time beside the narrative order, and the facts that hold in a "
             "chapter. Enter shows the supporting text; `/` finds by words or names."),
    )  # fmt: skip
    DEFAULT_CSS = """
    RecordsScreen > .head { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    RecordsScreen > ChapterSlider { display: none; }
    RecordsScreen.-facts > ChapterSlider { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus", "add", mark("Add"), tooltip=mark("Add one."), id="records.add"),
        Binding("e", "edit", mark("Edit"), tooltip=mark("Edit it by hand: your edit takes precedence."),
                id="records.edit"),
        Binding("p", "pay", mark("Pay"), tooltip=mark("Mark the promise as paid in a chapter."), id="records.pay"),
        Binding("x", "drop", mark("Drop"), tooltip=mark("Drop the promise: it will not be paid; again: undo."),
                id="records.drop"),
        Binding("u", "end", mark("End it"), tooltip=mark("End the fact before a chapter."), id="records.end"),
        Binding("t", "order", mark("Order"), tooltip=mark("In the order of the story, or in the order it is "
                                                          "narrated."), id="records.order"),
        Binding("o", "all", mark("All chapters"), id="records.all",
                tooltip=mark("Show the records that hold in the open chapter, or all of them.")),
        Binding("D,delete", "remove", mark("Remove"), show=False, id="records.remove"),
        Binding("v", "evidence", mark("Words"), show=False, tooltip=mark("The text that supports it."),
                id="records.evidence"),
        Binding("V", "payment", mark("Payment"), show=False, tooltip=mark("The text that pays the promise."),
                id="records.payment"),
        Binding("left", "chapter(-1)", mark("Previous chapter"), show=False, id="records.earlier"),
        Binding("right", "chapter(1)", mark("Next chapter"), show=False, id="records.later"),
        Binding("less_than_sign,shift+left", "chapter(-10)", mark("Ten chapters back"), show=False,
                id="records.much-earlier"),
        Binding("greater_than_sign,shift+right", "chapter(10)", mark("Ten chapters on"), show=False,
                id="records.much-later"),
        Binding("slash", "filter", mark("Find"), tooltip=mark("Type words, or a name."), id="records.filter"),
        *(Binding(digit, f"list('{listed}')", words, show=False, id=f"records.{listed}")
          for digit, listed, words in _TABS),
    ]  # fmt: skip

    def __init__(self, project: Project, listed: RecordList = "promises", words: str = "", position: int = 0) -> None:
        """`words` are the initial filter; facts are listed as of the chapter at `position` (0: the last written
        one)."""
        super().__init__(project)
        self._list_shown, self._first_words, self._position = listed, words, position
        self._shows_all, self._by_narration = False, False
        self._listed: dict[str, StoryRecord] = {}

    @property
    def record(self) -> StoryRecord | None:
        """The record under the cursor."""
        return self._listed.get(self.listing.picked or "")

    def compose(self) -> ComposeResult:
        """Yields the three names, the input, the list, and the details of one."""
        yield PaneTabs(_TABS)
        yield Input(self._first_words, placeholder=_("/ words, or a name"), select_on_focus=False)
        yield ChapterSlider(plain=is_plain(self.app))
        yield Static(markup=False, classes="head")
        with ListDetail():
            with Vertical():
                yield ColumnHead()
                yield PickList(id="list")
            yield DetailText()
        yield HintLine()

    async def show_cast(self, cast: Cast) -> None:
        """Fills the list again."""
        self._position = self._position or cast.written
        self._fill(cast)

    def refill(self) -> None:
        """Fills the selected list, for the current chapter."""
        if self.cast is not None:
            self._fill(self.cast)

    def _fill(self, cast: Cast, cursor: str | None = None) -> None:
        self.query_one(PaneTabs).show(self._list_shown)
        self.set_class(self._list_shown == "facts", "-facts")
        position = None if self._shows_all else self._position
        words = self.query_one(Input).value.strip()
        found = lines(self._list_shown, cast, words, position=position, by_narration=self._by_narration)
        self._listed = {record.id: record for record, _row in found}
        rows = [Option(row, id=record.id) for record, row in found]
        self.query_one(ColumnHead).display = bool(found)
        if found:
            self.query_one(ColumnHead).show(found[0][1].columns)
        self.listing.refill(rows, cursor)
        chapter = cast.at(self._position)
        title = cast.chapter(chapter.id if chapter else None)
        self.query_one(ChapterSlider).show(self._position, len(cast.chapters), title)
        self.query_one(".head", Static).update(self._head(len(found)))
        self.show_details()
        self.refresh_bindings()

    def _head(self, count: int) -> Content:
        counted = ngettext("{n} entry", "{n} entries", count).format(n=count)
        words = _(_HEADS[self._list_shown])
        if self._list_shown == "facts" and self._shows_all:
            words = _("everything that is ever true; S is a secret")
        order = _("as narrated") if self._list_shown == "timeline" and self._by_narration else ""
        return head_words(counted, order, words)

    def show_details(self) -> None:
        """Shows the text of the record, its entities, and its supporting words."""
        record, cast = self.record, self.cast
        if record is None or cast is None:
            words = _("There is nothing here yet: `+` adds the first one.") if not self._listed else ""
            self.query_one(DetailText).show([key_words(words)])
        else:
            self.query_one(DetailText).show(detail_lines(record, cast, {}))
            attempt(self, self._quote(record, cast), group="quotation", exclusive=True)

    async def _quote(self, record: StoryRecord, cast: Cast) -> None:
        """Adds the paragraphs around the supporting words; a chapter may be gone by now."""
        passages: dict[Evidence, MarkedPassage] = {}
        for each in supporting_places(record):
            with suppress(FlowCabalError):
                source = await self.source_of(each)
                if (passage := passage_at(source.text, source.start, source.end)) is not None:
                    passages[each] = passage
        if passages and self.is_attached and self.record == record:
            self.query_one(DetailText).show(detail_lines(record, cast, passages))

    @on(PaneChosen)
    def choose_list(self, message: PaneChosen) -> None:
        """Shows the clicked list."""
        self.action_list(message.pane)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disables the keys of the other lists."""
        return _ONLY.get(action, self._list_shown) == self._list_shown

    def action_list(self, name: str) -> None:
        """Shows another list."""
        lists: tuple[RecordList, ...] = ("promises", "timeline", "facts")
        self._list_shown = next(listed for listed in lists if listed == name)
        self.refill()

    def action_order(self) -> None:
        """Switches between the order of the story and the order of its telling."""
        self._by_narration = not self._by_narration
        self.refill()

    def action_all(self) -> None:
        """Switches between the facts of the chapter and all."""
        self._shows_all = not self._shows_all
        self.refill()

    def action_chapter(self, step: int) -> None:
        """Shows the state as of another chapter."""
        if self.cast is not None:
            self._position = min(max(1, self._position + step), len(self.cast.chapters))
            self.refill()

    @attempted()
    async def action_add(self) -> None:
        """Opens a form for a new record, beginning at the current chapter."""
        if self.cast is None:  # the key came before what is shown
            await self.reload()
        cast = self.cast
        chapter = cast.at(max(1, self._position)) if cast else None
        if cast is None or chapter is None:
            self.notify(_("There is no chapter yet: `+` in the list of chapters adds one."), markup=False)
        else:
            new: dict[RecordList, StoryRecord] = {
                "promises": Promise(NEW, "", chapter.id),
                "timeline": Moment(NEW, "", chapter.id),
                "facts": Fact(NEW, "", since=chapter.id),
            }
            self.work(self._put(record_form(new[self._list_shown], cast)))

    def action_edit(self) -> None:
        """Opens the form of the record under the cursor."""
        if self.record is not None and self.cast is not None:
            self.work(self._put(record_form(self.record, self.cast)))

    async def _put(self, form: FormScreen[Any]) -> None:
        written = await self.put(form)
        if written is not None and self.cast is not None:
            self._fill(self.cast, written)

    def action_pay(self) -> None:
        """Marks the promise as paid in a chapter."""
        record, cast = self.record, self.cast
        if isinstance(record, Promise) and cast is not None:
            self.work(self._at(payment_form(cast), lambda chapter: replace(record, paid=chapter)))

    def action_drop(self) -> None:
        """Marks the promise as dropped, or as open again."""
        if isinstance(self.record, Promise):
            self.work(self.write(replace(self.record, dropped=not self.record.dropped)))

    def action_end(self) -> None:
        """Asks for the chapter at which the fact ends."""
        record, cast = self.record, self.cast
        if isinstance(record, Fact) and cast is not None:
            form = end_form(record, self._position, cast)
            self.work(self._at(form, lambda chapter: replace(record, until=chapter)))

    async def _at(self, form: FormScreen[ChapterId], change: Callable[[ChapterId], StoryRecord]) -> None:
        chapter = await self.ask(form)
        if chapter is not None:
            await self.write(change(chapter))

    def action_remove(self) -> None:
        """Removes the record after a question."""
        record = self.record
        if isinstance(record, (Promise, Moment, Fact)):
            self.work(self.strike(record, one_line(record.text, 80)))

    @on(OptionList.OptionSelected)
    def action_evidence(self) -> None:
        """Shows the supporting words."""
        if self.record is not None:
            self.work(self.open_evidence(self.record.evidence))

    def action_payment(self) -> None:
        """Shows the words that pay the promise."""
        if isinstance(self.record, Promise):
            self.work(self.open_evidence(self.record.payment))
