"""The marks of the proofing rules in the text, chapter by chapter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import var
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.proofing import ON_REQUEST, ProofedChapter, ProofMark, ProofRule
from flowcabal_tui.locale import _, mark, ngettext, sentences
from flowcabal_tui.project.proof_words import RULES, proof_words
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.passage import passage_at
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.role_words import head_words, key_words

if TYPE_CHECKING:
    from flowcabal_tui.tui.book.proof_controller import ProofController


@dataclass(frozen=True, slots=True)
class ProofPlace:
    """A place to open in the editor."""

    chapter: ChapterId
    start: int
    end: int


_COLUMNS: Final = (Column(least=20), Column(rank=1, fill=True, least=20, most=1_000))
"""Rule with its proposal, line."""


class ProofScreen(ModalScreen[ProofPlace | None]):
    """Returns the place to open, or None."""

    help = HelpData(
        mark("Proof"),
        mark("Places that rules mark in the text, without a model. Enter opens the words in the editor, `a` "
             "inserts the proposed words, `T` switches the rule off for this book, `o` shows the open chapter or "
             "all, `b` also looks for phrases that are repeated in the book. Rules that are off are listed at the "
             "end: `T` switches them on again."),
    )  # fmt: skip
    DEFAULT_CSS = """
    ProofScreen { background: $background; }
    ProofScreen > .head { height: auto; max-height: 2; padding: 0 1; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", mark("Back"), priority=True, id="proof.back"),
        Binding("a", "apply", mark("Accept"), tooltip=mark("Insert the proposed words."), id="proof.accept"),
        Binding("T", "switch", mark("Rule on / off"), id="proof.rule",
                tooltip=mark("Switch the rule off for this book, or on again.")),
        Binding("o", "scope", mark("Chapter / all"), id="proof.chapter",
                tooltip=mark("Show the open chapter only, or all chapters.")),
        Binding("b", "repeats", mark("Repeated phrases"), id="proof.repeats",
                tooltip=mark("Also find phrases that are repeated in the book.")),
        HELP_KEYS,
    ]  # fmt: skip
    is_whole = var(False)
    finds_repeats = var(False)

    def __init__(self, controller: ProofController) -> None:
        super().__init__()
        self._controller = controller
        self._places: dict[str, tuple[ProofedChapter, ProofMark]] = {}
        self._off: dict[str, ProofRule] = {}
        """The rules that are off, by the ids of their rows."""

    def compose(self) -> ComposeResult:
        """Yields the number of places, the list, and the paragraph of the place under the cursor."""
        yield Static(_("Reading the text ..."), markup=False, classes="head")
        yield ListDetail(PickList(), DetailText())
        yield HintLine()

    def on_mount(self) -> None:
        """Starts with the open chapter."""
        self.query_one(PickList).focus()
        self._read()

    @attempted(group="proof", exclusive=True)
    async def _read(self) -> None:
        self.query_one(".head", Static).update(_("Reading the text ..."))
        found = await self._controller.proof(whole=self.is_whole, repeats=self.finds_repeats)
        self._off = {f"off/{rule}": rule for rule in await self._controller.rules_off()}
        self._places.clear()
        rows = [row for chapter in found for row in self._rows(chapter)]
        rows += self._off_rows()
        self.query_one(PickList).refill(rows, self.query_one(PickList).picked)
        places = ngettext("{n} place", "{n} places", len(self._places)).format(n=len(self._places))
        chapters = ngettext("{n} chapter", "{n} chapters", len(found)).format(n=len(found))
        words = (
            _("{places} in {chapters}.") if self._places else _("Nothing found in {chapters}: `o` changes the scope.")
        )
        words = words.format(places=places, chapters=chapters)
        if self._controller.has_unsaved:
            words = sentences(words, _("Unsaved text is not read."))
        self.query_one(".head", Static).update(key_words(words))
        self._show_place()

    def _rows(self, chapter: ProofedChapter) -> Iterator[Option]:
        if chapter.marks:
            title = one_line(chapter.title) or _("untitled")
            yield Option(Content.styled(f"{chapter.position} {title}", "bold"), disabled=True)
        columns = Columns(*_COLUMNS)
        for number, (each, (before, after)) in enumerate(zip(chapter.marks, chapter.around, strict=True)):
            words = each.words.replace("\n", " ")
            line = Cell(f"{before}{words}{after}".replace("\t", " "), spans=(Span(len(before), len(before + words)),))
            row = columns.row(Cell(proof_words(each), "rule"), line, indent=2)
            identity = f"{chapter.chapter}/{number}"
            self._places[identity] = chapter, each
            yield Option(row, id=identity)

    def _off_rows(self) -> Iterator[Option]:
        if self._off:
            yield Option(Content.styled(_("Off for this book"), "bold"), disabled=True)
        for identity, rule in self._off.items():
            yield Option(f"  {_(RULES[rule])}", id=identity)

    @property
    def _picked(self) -> tuple[ProofedChapter, ProofMark] | None:
        found = self._places.get(self.query_one(PickList).picked or "")
        if found is None:
            self.notify(_("Nothing is marked here."), markup=False)
        return found

    @on(OptionList.OptionHighlighted)
    def _show_place(self) -> None:
        found = self._places.get(self.query_one(PickList).picked or "")
        if found is None:
            self.query_one(DetailText).show([])
        else:
            attempt(self, self._quote(*found), group="quotation", exclusive=True)

    async def _quote(self, chapter: ProofedChapter, found: ProofMark) -> None:
        """Shows the paragraph with the words marked; the chapter may be gone by now."""
        with suppress(FlowCabalError):
            text = await self._controller.text_of(chapter)
            passage = passage_at(text, found.start, found.end)
            if self.is_attached and passage is not None:
                title = head_words(proof_words(found), f"{chapter.position} {one_line(chapter.title)}")
                self.query_one(DetailText).show([title, "", passage.shown("rule")])

    @on(OptionList.OptionSelected)
    def open_place(self, message: OptionList.OptionSelected) -> None:
        """Opens the words in the editor on Enter."""
        message.stop()
        if (picked := self._picked) is not None:
            self.dismiss(ProofPlace(picked[0].chapter, picked[1].start, picked[1].end))

    def action_apply(self) -> None:
        """Inserts the proposed words."""
        if (picked := self._picked) is None:
            return
        if not picked[1].suggestion:
            self.notify(_("The rule proposes no words: Enter opens the place in the editor."), markup=False)
            return
        attempt(self, self._apply(*picked), group="change")

    async def _apply(self, chapter: ProofedChapter, found: ProofMark) -> None:
        if await self._controller.apply(chapter, found):
            self._read()

    def action_switch(self) -> None:
        """Switches the rule under the cursor off for this book, or on again."""
        if (off := self._off.get(self.query_one(PickList).picked or "")) is not None:
            attempt(self, self._switch(off, on=True), group="change")
        elif (picked := self._picked) is not None:
            attempt(self, self._switch(picked[1].rule, on=False), group="change")

    async def _switch(self, rule: ProofRule, *, on: bool) -> None:
        await self._controller.switch(rule, on=on)
        if rule in ON_REQUEST:
            self.finds_repeats = False
        self._read()

    def action_scope(self) -> None:
        """Switches between the open chapter and the whole book."""
        self.is_whole = not self.is_whole
        self._read()

    def action_repeats(self) -> None:
        """Includes or excludes phrases that are repeated across the book."""
        self.finds_repeats = not self.finds_repeats
        self._read()
