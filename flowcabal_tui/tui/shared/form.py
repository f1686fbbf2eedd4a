"""A form of a few rows. All fields are read together; if one cannot be read, the form shows the reason and stays
open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Select, Static

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.typed_path import PathSuggester
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.tick import TickBox
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen

T = TypeVar("T")
SEPARATORS: Final = late(r"[,;，、；]")


class Unreadable(ValueError):
    """Typed words that cannot be read; the message is for the writer."""


def names_of(typed: str) -> tuple[str, ...]:
    """Several names, separated by commas or semicolons of either script, each once."""
    parts = (" ".join(clean(part).split()) for part in SEPARATORS.split(typed))
    return tuple(dict.fromkeys(part for part in parts if part))


@dataclass(frozen=True, slots=True)
class Field:
    """One row. A bool `value` makes a checkbox, `choices` (id, words) a list; `names` complete a name, `path` a path.

    `is_key`: the typed text is hidden.
    """

    id: str
    words: str
    value: str | bool = ""
    hint: str = ""
    names: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    path: bool = False
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class Typed:
    """The contents of the fields, by their ids."""

    fields: Mapping[str, str | bool]

    def text(self, field: str) -> str:
        """The text without surrounding blanks."""
        return clean(str(self.fields[field])).strip()

    def tick(self, field: str) -> bool:
        """True when the box is ticked."""
        return self.fields[field] is True


class NameSuggester(Suggester):
    """Completes the last of several names; the right arrow accepts it."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._known_names = tuple(names)

    async def get_suggestion(self, value: str) -> str | None:
        """The value with its last name completed to the first matching one."""
        begun = SEPARATORS.split(value)[-1].lstrip()
        if not begun:
            return None
        known = (name for name in self._known_names if name.casefold().startswith(begun.casefold()))
        name = next(known, None)
        return value + name[len(begun) :] if name else None


class ChoiceField(Select[str], inherit_bindings=False):
    """A list that opens by Enter or the space bar, so that Up and Down move to another field."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "show_overlay", mark("Choose"), show=False, id="record-form.choose")
    ]


def form_keys(page: str, *others: Binding) -> list[BindingType]:
    """The keys of a form, and `others` after the first; their ids begin with `page`."""
    return [
        Binding("ctrl+s,f2", "take", mark("Apply"), priority=True, id=f"{page}.take"),
        *others,
        Binding("escape", "leave", mark("Leave"), id=f"{page}.leave"),
        Binding("down", "app.focus_next", mark("Next field"), show=False, id=f"{page}.next"),
        Binding("up", "app.focus_previous", mark("Previous field"), show=False, id=f"{page}.previous"),
        HELP_KEYS,
    ]


class RowsForm(TypedScreen[T]):
    """A dialog with a row for each value, and below them a line for what cannot be read."""

    DEFAULT_CSS = """
    RowsForm { align: center middle; }
    RowsForm > VerticalScroll {
        width: 90%; max-width: 96; height: auto; max-height: 95%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    RowsForm Horizontal { height: 1; }
    RowsForm Horizontal > Static { width: 22; }
    RowsForm Input, RowsForm Select { width: 1fr; }
    RowsForm .wrong { color: $text-error; }
    """


class FormScreen(RowsForm[T]):
    """Returns the result of `read` for the fields, or None. `read` raises Unreadable with the reason."""

    help = HelpData(
        mark("Form"),
        mark("Up and down go from field to field; the right arrow completes a name. Chapters are numbers, names "
             "are separated by commas. Ctrl+s applies the form, as Enter does in its last row; Esc cancels."),
    )  # fmt: skip
    DEFAULT_CSS = """
    FormScreen .form-title { text-style: bold; margin-bottom: 1; }
    FormScreen .wrong { margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = form_keys("record-form")

    def __init__(
        self, title: str, fields: Sequence[Field], read: Callable[[Typed], T], names: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self._heading, self._form_fields, self._read_typed = clean(title), tuple(fields), read
        self._suggester = NameSuggester(names)

    def compose(self) -> ComposeResult:
        """Yields a row for each field, the error, and the keys."""
        with VerticalScroll(can_focus=False):
            yield Static(self._heading, markup=False, classes="form-title")
            for field in self._form_fields:
                yield from self._row(field)
            yield Static(markup=False, classes="wrong")
            yield Static(self.keys_words(), markup=False)

    def keys_words(self) -> str:
        """The last line: the keys of the form."""
        if len(self._typed_ids) == 1:
            return _("Enter: apply   Esc: cancel")
        return _("Ctrl+s: apply   Esc: cancel")

    @property
    def _typed_ids(self) -> tuple[str, ...]:
        """The fields in which one types."""
        return tuple(
            f"field-{each.id}" for each in self._form_fields if not (each.choices or isinstance(each.value, bool))
        )

    def _row(self, field: Field) -> Iterator[Widget]:
        known = f"field-{field.id}"
        if isinstance(field.value, bool):
            yield TickBox(field.words, field.value, id=known, compact=True)
            return
        inner: Widget
        if field.choices:
            options = [(Text(clean(words)), key) for key, words in field.choices]  # no markup; Content is not searched
            inner = ChoiceField(options, value=field.value, allow_blank=False, id=known, compact=True)
        else:
            suggester = PathSuggester() if field.path else self._suggester if field.names else None
            inner = Input(
                _shown(field.value), placeholder=field.hint, id=known, compact=True,
                select_on_focus=False, suggester=suggester, password=field.is_key,
            )  # fmt: skip
        yield Horizontal(Static(field.words, markup=False), inner)

    def action_take(self) -> None:
        """Returns the value of the form, or shows the error."""
        typed = self.typed()
        if typed is not None:
            self.dismiss(typed)

    def typed(self) -> T | None:
        """The value of the fields; None if they cannot be read, after showing the error."""
        try:
            return self._read_typed(Typed({field.id: self._value(field) for field in self._form_fields}))
        except Unreadable as error:
            self.say(f"! {clean(str(error))}")
            return None

    def say(self, words: str) -> None:
        """Shows a line below the fields."""
        self.query_one(".wrong", Static).update(words)

    def _value(self, field: Field) -> str | bool:
        """The value of a field; text of several lines that was not touched stays as it is."""
        row = self.query_one(f"#field-{field.id}")
        if isinstance(row, (TickBox, Select)):
            return row.value if isinstance(row, TickBox) else str(row.value)
        typed = row.value if isinstance(row, Input) else ""
        return field.value if typed == _shown(str(field.value)) else typed

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter moves to the next field; it submits the form in the last row, or if there is only one text field."""
        event.stop()
        last = f"field-{self._form_fields[-1].id}"
        if event.input.id == last or self._typed_ids == (event.input.id,):
            self.action_take()
        else:
            self.focus_next()


def _shown(value: str) -> str:
    return clean(value).replace("\n", " ")
