"""Search over the whole project: results while typing, by kind, each with its line."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import var
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.search import SEARCH_KINDS, SearchHit, SearchKind
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.project.words import SEARCHED
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import MovesList, PickList
from flowcabal_tui.tui.shared.passage import passage_at
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words
from flowcabal_tui.tui.widgets.roles import role_style

if TYPE_CHECKING:
    from flowcabal_tui.tui.book.search_controller import SearchController

_LIMIT: Final = 100
"""Hits shown of each kind."""
_SIMILAR: Final = 10
"""Places shown that resemble the query: every passage resembles it to some degree."""
_REST: Final = 0.12
"""Seconds without a key after which the search begins."""
_COLUMNS: Final = (
    Column(is_number=True, role="secondary"),
    Column(rank=1, least=14, most=18, is_phrase=True, role="secondary"),
    Column(fill=True, least=20, most=1_000),
)
"""Chapter, title, line."""
_SHOWN: Final = 1_000
"""Characters of a text that is found as a whole."""
_BY_WORDS: Final = tuple(kind for kind in SEARCH_KINDS if kind != "similar")


class SearchScreen(ModalScreen[SearchHit | None], MovesList):
    """Returns the hit to open, or None.

    `words` is the query. Every query has a number, and an answer older than the displayed one is discarded.
    """

    help = HelpData(
        mark("Search"),
        mark("Finds words anywhere in the project; Chinese text by single characters too. Up and Down choose, "
             "Enter opens the place. F3 sorts by relevance or by story order, F4 shows one kind only, F6 "
             "previews the place. Ctrl+r replaces the words in the manuscript; Ctrl+z undoes that. `similar` "
             "places are found by meaning."),
    )  # fmt: skip
    DEFAULT_CSS = """
    SearchScreen { background: $background; }
    SearchScreen > Input { height: 1; border: none; padding: 0 1; background: $boost; }
    SearchScreen > Input:focus { border: none; }
    SearchScreen PickList > .option-list--option-highlighted {
        color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
    }
    SearchScreen > .details { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
    SearchScreen > ListDetail.-below > DetailText { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", mark("Back"), priority=True, id="search.back"),
        Binding("enter", "open", mark("Open"), show=False, priority=True, id="search.open"),
        Binding("down", "go('cursor_down')", mark("Down"), show=False, priority=True, id="search.down"),
        Binding("up", "go('cursor_up')", mark("Up"), show=False, priority=True, id="search.up"),
        Binding("pagedown", "page(1)", mark("Page down"), show=False, priority=True, id="search.page-down"),
        Binding("pageup", "page(-1)", mark("Page up"), show=False, priority=True, id="search.page-up"),
        Binding("f3", "order", mark("Order"), tooltip=mark("By relevance, or in story order."), id="search.order"),
        Binding("f4", "kind", mark("Kind"), tooltip=mark("All kinds, or one at a time."), id="search.kind"),
        Binding("f6", "look", mark("View"), tooltip=mark("Preview the place without leaving the search."),
                id="search.look"),
        Binding("ctrl+r", "replace", mark("Replace"), tooltip=mark("Replace the words in the whole manuscript."),
                id="search.replace"),
        Binding("ctrl+z", "take_back", mark("Undo"), show=False, priority=True, id="search.take-back",
                tooltip=mark("Undo the last replacement, in all chapters.")),
        HELP_KEYS,
    ]  # fmt: skip
    in_story_order = var(False)
    kind: var[SearchKind | None] = var(None)

    def __init__(self, controller: SearchController, query: str = "", cursor: SearchHit | None = None) -> None:
        """`query` is searched at once; `cursor` is the hit to select if it is found."""
        super().__init__()
        self._controller, self._first_hit = controller, cursor
        self.words = query
        self._requested = self._answered = 0
        self._hits: tuple[SearchHit, ...] = ()
        self._counts: dict[SearchKind, int] = {}
        self._listed: dict[str, SearchHit] = {}
        self._resting: Timer | None = None
        self._opens = False
        """Enter was pressed before the words in the line were answered: the first hit is opened when they are."""

    @property
    def hit(self) -> SearchHit | None:
        """The hit under the cursor."""
        return self._listed.get(self.query_one(PickList).picked or "")

    @property
    def is_answered(self) -> bool:
        """True when the displayed hits belong to the typed words."""
        return self._typed == self.words and self._resting is None and self._answered == self._requested

    @property
    def _typed(self) -> str:
        return self.query_one(Input).value.strip()

    def compose(self) -> ComposeResult:
        """Yields the input, the number of hits, the hits, and the place under the cursor if there is space."""
        yield Input(self.words, placeholder=_("words to find in the whole project"))
        yield Static(markup=False, classes="details")
        yield ListDetail(PickList(), DetailText())
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the input and restores an earlier search."""
        self.query_one(Input).focus()
        self._ask()

    @on(Input.Changed)
    def rest(self, message: Input.Changed) -> None:
        """Searches for the typed words after a short pause in typing."""
        message.stop()
        if message.value.strip() == self.words:
            return
        self.words, self._opens = message.value.strip(), False
        self._stop_resting()
        self._resting = self.set_timer(_REST, self._ask)

    def _stop_resting(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._resting = None

    def _ask(self) -> None:
        self._stop_resting()
        self.words = self._typed
        self._requested += 1
        attempt(self, self._answer(self._requested, self.words), group="search")

    async def _answer(self, number: int, query: str) -> None:
        """By words first, then by meaning, which takes longer."""
        found = await self._controller.project.book.search(query, _BY_WORDS, _LIMIT)
        self._take(number, found.hits, dict(found.counts))
        if query and number == self._requested:
            similar = await self._controller.project.book.search(query, ("similar",), _SIMILAR)
            if similar.hits and number == self._answered:
                self._take(number, (*found.hits, *similar.hits), dict((*found.counts, *similar.counts)))

    def _take(self, number: int, hits: tuple[SearchHit, ...], counts: dict[SearchKind, int]) -> None:
        if number < self._answered:
            return
        self._answered, self._hits, self._counts = number, hits, counts
        self._fill()
        if self._first_hit is not None:
            kept = next((key for key, hit in self._listed.items() if _same_place(hit, self._first_hit)), None)
            self.query_one(PickList).pick(kept)
            self._first_hit = None
        if self._opens and self.is_answered:
            self._opens = False
            self.action_open()

    def _fill(self) -> None:
        self._listed = {}
        rows = list(self._rows())
        names = self.query_one(PickList)
        names.set_options(rows)
        names.action_first()
        self._show_place()
        self.query_one(".details", Static).update(self._summary())

    def _summary(self) -> str:
        if not self.words:
            return _("In the text, names, story, profiles, summaries, outline and rules.")
        found = sum(self._counts.values())
        if not found:
            return _("Nothing was found: F4 looks in another kind of text.")
        near = ngettext("no exact match, {n} similar place", "no exact match, {n} similar places", found)
        places = ngettext("{n} place", "{n} places", found) if self._is_exact() else near
        parts = [places.format(n=f"{found:,}")]
        parts += [f"{self._kind_words(kind)} {number:,}" for kind, number in self._counts.items() if number]
        parts.append(_("in story order") if self.in_story_order else _("best first"))
        return facts_words(*parts)

    def _kind_words(self, kind: SearchKind) -> str:
        """The name of a kind; of similar places what makes them similar: without an embedding model, their words."""
        if kind != "similar":
            return _(SEARCHED[kind])
        embeds = any(
            role == "embedding" and each.provider != "offline" for role, each in self._controller.project.info.models
        )
        return _("places similar in meaning") if embeds else _("places with similar words")

    def _is_exact(self) -> bool:
        """True when a hit contains the words exactly as typed."""
        length = len(" ".join(clean(self.words).split()))
        return any(span.end - span.start == length for hit in self._hits for span in hit.spans)

    def _rows(self) -> Iterator[Option]:
        columns = Columns(*_COLUMNS)
        for kind in SEARCH_KINDS:
            hits = [hit for hit in self._hits if hit.kind == kind and self.kind in (None, kind)]
            if not hits:
                continue
            if self.in_story_order:
                hits.sort(key=lambda hit: (hit.position, hit.start))
            count = f"{self._counts[kind]:,}"
            if len(hits) < self._counts[kind]:
                count = _("{n} of {count}").format(n=len(hits), count=count)
            yield Option(
                Content.assemble((self._kind_words(kind), "bold"), (f"  {count}", role_style("secondary"))),
                disabled=True,
            )
            for hit in hits:
                known = f"hit-{len(self._listed)}"
                self._listed[known] = hit
                yield Option(_row(columns, hit), id=known)

    @on(OptionList.OptionHighlighted)
    def _show_place(self) -> None:
        if (hit := self.hit) is None:
            self.query_one(DetailText).show([])
        elif not self.query_one(ListDetail).has_class("-below"):
            attempt(self, self._quote(hit), group="quotation", exclusive=True)

    async def _quote(self, hit: SearchHit) -> None:
        """Shows the paragraphs at the place, if its text still exists."""
        with suppress(FlowCabalError):
            source = await self._source(hit)
            if self.is_attached and self.hit == hit:
                self.query_one(DetailText).show(_passage_lines(hit, source))

    def action_page(self, step: int) -> None:
        """Moves the cursor in the list by pages."""
        self.action_go("page_down" if step > 0 else "page_up")

    @on(OptionList.OptionSelected)
    def action_open(self) -> None:
        """Goes to the place in the chapter; other texts are displayed here."""
        if not self.is_answered:
            self._opens = True
            self._ask()
            return
        hit = self.hit
        if hit is not None and hit.uri.startswith("manuscript/") and hit.level == "L2":
            self.dismiss(hit)
        else:
            self.action_look()

    def action_order(self) -> None:
        """Switches between relevance and story order."""
        self.in_story_order = not self.in_story_order
        self._fill()

    def action_kind(self) -> None:
        """Shows the next kind that has hits, then all again."""
        there = [None, *(kind for kind in SEARCH_KINDS if self._counts.get(kind))]
        at = there.index(self.kind) if self.kind in there else 0
        self.kind = there[(at + 1) % len(there)]
        self._fill()

    def action_look(self) -> None:
        """Opens the place for reading."""
        if self.hit is not None:
            attempt(self, self._look(self.hit))

    async def _look(self, hit: SearchHit) -> None:
        self.app.push_screen(SourceScreen(await self._source(hit)))

    async def _source(self, hit: SearchHit) -> OpenedSource:
        return await self._controller.project.memory.source(hit.uri, hit.start, hit.end, hit.level)

    def action_replace(self) -> None:
        """Replaces the words, after showing every place."""
        if self.words:
            attempt(self, self._and_ask(self._controller.replace(self.words)), group="replace", exclusive=True)

    def action_take_back(self) -> None:
        """Undoes the last replacement."""
        attempt(self, self._and_ask(self._controller.take_back()), group="replace", exclusive=True)

    async def _and_ask(self, work: Awaitable[None]) -> None:
        await work
        self._ask()


def _row(columns: Columns, hit: SearchHit) -> ColumnRow:
    is_named = hit.kind != "chapters" and hit.title.lstrip("0") not in (str(hit.position), hit.line)
    title = one_line(hit.title) if is_named else ""
    indent = len(hit.line) - len(hit.line.lstrip())  # that of a Chinese paragraph
    spans = [Span(span.start - indent, span.end - indent) for span in hit.spans if span.start >= indent]
    line = Cell(hit.line[indent:].replace("\t", " "), spans=spans)
    return columns.row(f"{hit.position}" if hit.position else "", title, line)


def _passage_lines(hit: SearchHit, source: OpenedSource) -> Iterator[Content]:
    """The title, and the place with its words marked; of a text without a place its first lines."""
    yield head_words(one_line(source.title) or _("untitled"), _(SEARCHED[hit.kind]))
    passage = passage_at(source.text, source.start, source.end)
    yield passage.shown() if passage is not None else Content(clean(source.text[:_SHOWN]))


def _same_place(one: SearchHit, other: SearchHit) -> bool:
    return replace(one, score=0.0) == replace(other, score=0.0)
