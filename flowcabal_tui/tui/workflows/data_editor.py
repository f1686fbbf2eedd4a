"""A part of a document as text: YAML or JSON, with errors displayed while typing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import yaml
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static, TextArea

from flowcabal_tui.dialects.reading import load
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, sentences
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen

Check = Callable[[Any], Sequence[str]]
"""Returns the errors of a readable value, a line each."""
_SHOWN = 4


class _Dumper(yaml.SafeDumper):
    """Texts of several lines are written as lines."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def as_yaml(value: Any) -> str:
    """A value as YAML that `load` reads back."""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    return text.removesuffix("...\n")  # a word alone would end with the mark of a document's end


class DataEditor(TypedScreen[tuple[Any]]):
    """Returns the value in a tuple, or None. Never returns an unreadable text."""

    help = HelpData(
        mark("Edit as text"),
        mark("The same as YAML (or JSON). Errors are listed below; Ctrl+s applies it, Esc cancels."),
    )
    DEFAULT_CSS = """
    DataEditor { background: $background; }
    DataEditor > .head { height: 1; padding: 0 1; text-style: bold; }
    DataEditor > ProseArea, DataEditor > ProseArea:focus { height: 1fr; border: none; padding: 0 1; }
    DataEditor > .wrong { height: auto; max-height: 6; padding: 0 1; color: $text-error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "take", mark("Apply"), priority=True, id="data.take"),
        Binding("escape", "leave", mark("Leave"), priority=True, id="data.leave"),
        HELP_KEYS,
    ]

    def __init__(self, title: str, value: Any, check: Check) -> None:
        super().__init__()
        self._heading, self._first, self._check = title, as_yaml(value), check

    def compose(self) -> ComposeResult:
        """Yields the text, and its errors."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        yield ProseArea(self._first)
        yield Static(markup=False, classes="wrong")
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the text: one line at its end, others at their start."""
        area = self.query_one(ProseArea)
        area.focus()
        if self._first.count("\n") == 1:
            area.move_cursor((0, len(self._first) - 1))
        self._tell()

    @on(TextArea.Changed)
    def check_typed(self) -> None:
        """Shows the errors of the text."""
        self._tell()

    def _tell(self) -> tuple[Any] | None:
        """Returns the value if it can be read; otherwise shows the error."""
        try:
            value = load(self.query_one(ProseArea).text)
        except DialectError as error:
            place = _("line {line}, column {column}: ").format(line=error.line, column=error.column)
            place = place if error.line else ""
            self.query_one(".wrong", Static).update(clean(f"! {place}{sentences(error.title, error.detail)}"))
            return None
        wrong = [f"! {one_line(words)}" for words in self._check(value)]
        more = [_("and {n} more").format(n=len(wrong) - _SHOWN)] if len(wrong) > _SHOWN else []
        self.query_one(".wrong", Static).update("\n".join([*wrong[:_SHOWN], *more]) or _("There are no errors."))
        return (value,)

    def action_take(self) -> None:
        """Gives the value back, if it can be read."""
        if (value := self._tell()) is not None:
            self.dismiss(value)
