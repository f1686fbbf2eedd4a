"""Short numbered answers; the number is the key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from flowcabal_tui.domain.run import Choice
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.list_rows import HangingRow

DIGITS: Final = "123456789"


class AnswerList(PickList):
    """Answers in a column; a digit takes one at once, Enter takes the one under the cursor."""

    DEFAULT_CSS = """
    AnswerList { height: auto; max-height: 50%; text-wrap: wrap; border-top: solid $panel; padding: 0 1; }
    AnswerList:focus { border-top: solid $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(digit, f"take({digit})", mark("Choose an answer"), show=digit == "1", key_display="1-9",
                id=f"answer.{digit}")
        for digit in DIGITS
    ]  # fmt: skip

    @dataclass
    class Taken(Message):
        """The answer with this number, from 1, was taken."""

        number: int

    def show(self, choices: Sequence[Choice]) -> None:
        """Shows other answers, with the cursor on the first."""
        self.clear_options()
        self.add_options(
            [Option(HangingRow(f"{n:>2}  ", one_line(each.label)), id=str(n)) for n, each in enumerate(choices, 1)]
        )
        self.action_first()

    def action_take(self, number: int) -> None:
        """Takes an answer by its digit."""
        if number <= self.option_count:
            self.highlighted = number - 1
            self.post_message(self.Taken(number))

    @on(OptionList.OptionSelected)
    def take_highlighted(self, message: OptionList.OptionSelected) -> None:
        """Takes the answer under the cursor on Enter."""
        message.stop()
        if message.option.id is not None:
            self.post_message(self.Taken(int(message.option.id)))
