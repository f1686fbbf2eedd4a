"""The input of a question, with its attached texts and its price."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from flowcabal_tui.domain.conversation import AskQuote, Chip
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.tui.conversation.chips import SIGN, ChipPicker, NamedChip, Picked, still_named
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.role_words import facts_words

_CLOSING: Final = late("[,.;:!?，。；：！？、”’」』）)]")
_PAUSE: Final = 0.4
"""Seconds without a key after which the price is asked for."""
QuoteOf = Callable[[str, Sequence[Chip]], Awaitable[AskQuote]]


@dataclass
class UnsentQuestion:
    """The unsent question, stored while the panel is closed."""

    text: str = ""
    chips: tuple[NamedChip, ...] = ()


class QuestionLine(Vertical):
    """`@` opens the list of texts to send; tokens and price of the question are displayed below it."""

    DEFAULT_CSS = """
    QuestionLine { height: auto; }
    QuestionLine Input, QuestionLine Input:focus { height: 1; border: none; padding: 0 1; background: $boost; }
    QuestionLine .cost { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
    """

    @dataclass
    class Sent(Message):
        """A question was sent, with its texts."""

        text: str
        chips: tuple[Chip, ...]

    def __init__(self, typed: UnsentQuestion, quote: QuoteOf) -> None:
        super().__init__()
        self.typed, self._quote_of = typed, quote
        self.offers: tuple[NamedChip, ...] = ()
        self.quoted: AskQuote | None = None
        """The quote for the typed question; None until it has been computed."""
        self._wait: Timer | None = None

    def compose(self) -> ComposeResult:
        """Yields the line, and its price."""
        yield Input(self.typed.text, placeholder=_("Ask about the book. @ adds a chapter or a name; Tab: the answers"))
        yield Static(markup=False, classes="cost")

    def on_mount(self) -> None:
        """Shows the price of the text typed before."""
        self.quote_soon()

    @property
    def line(self) -> Input:
        """The input."""
        return self.query_one(Input)

    @on(Input.Changed)
    def note_typed(self, event: Input.Changed) -> None:
        """Updates the price after a key."""
        event.stop()
        text, before = event.value, self.typed.text
        at = next((n for n, (old, new) in enumerate(zip(before, text, strict=False)) if old != new), len(before))
        if len(text) == len(before) + 1 and text[at] == SIGN and self.offers:
            self._pick(at)
        self.typed.text, self.typed.chips = text, still_named(self.typed.chips, text)
        if text != before:
            self.quote_soon()

    def _pick(self, sign: int) -> None:
        """Opens the picker with what came behind the sign meanwhile: an input method commits several characters."""
        line = self.line
        typed_on = line.value[sign + 1 : line.cursor_position] if line.value[sign : sign + 1] == SIGN else ""
        self.app.push_screen(ChipPicker(self.offers, typed_on), partial(self._add, sign))

    def _add(self, sign: int, picked: Picked | None) -> None:
        """Replaces the sign and the characters after it with the chosen name."""
        if picked is None:
            return
        line, at = self.line, self.line.cursor_position
        words = f"{SIGN}{picked.rest}"
        if picked.chosen is not None:
            self.typed.chips = (*self.typed.chips, picked.chosen)
            gap = "" if picked.rest[:1].isspace() or _CLOSING.match(picked.rest) else " "
            words = f"{picked.chosen.name}{gap}{picked.rest}"
        before = line.value[:sign] + words
        line.value = before + line.value[at:]
        line.cursor_position = len(before)

    def quote_soon(self) -> None:
        """Requests the price after a short pause in typing."""
        if self._wait is not None:
            self._wait.stop()
        if self.typed.text.strip():
            if self.quoted is None:
                self.query_one(".cost", Static).update("…")
            self._wait = self.set_timer(_PAUSE, self.quote_now)
        else:
            self._show(None)

    def quote_now(self) -> None:
        """Requests the price."""
        attempt(self.screen, self._quote(), group="talk-quote", exclusive=True)

    async def _quote(self) -> None:
        text = self.typed.text
        quote = await self._quote_of(text, [each.chip for each in self.typed.chips]) if text.strip() else None
        if self.is_attached and self.typed.text == text:  # it may have been changed or sent meanwhile
            self._show(quote)

    def _show(self, quote: AskQuote | None) -> None:
        self.quoted, words = quote, ""
        if quote is not None:
            parts = [f"{one_line(each.title, 30)} {each.tokens:,}" for each in quote.chips]
            price = _("at most {price}").format(price=quote.price) if quote.price else _("price not known")
            total = _("{n} tokens, {price} for the first call").format(n=f"{quote.tokens:,}", price=price)
            words = facts_words(*parts, total)
        self.query_one(".cost", Static).update(words)

    @on(Input.Submitted)
    def ask(self, event: Input.Submitted) -> None:
        """Sends the question on Enter."""
        event.stop()
        text, chips = clean(event.value).strip(), tuple(each.chip for each in self.typed.chips)
        if text:
            self.typed.text, self.typed.chips = "", ()
            self.line.value = ""
            self._show(None)
            self.post_message(self.Sent(text, chips))
