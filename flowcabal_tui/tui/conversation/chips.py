"""Texts sent with a question: chosen by a few letters, named in the question by `@`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.fuzzy import Matcher
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.conversation import Chip
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.words import one_line

_MOST: Final = 200
SIGN: Final = "@"


@dataclass(frozen=True, slots=True)
class NamedChip:
    """A chip and its name in the question, such as `@12 The Ferry`."""

    name: str
    chip: Chip


def offered(chapters: Sequence[Chapter], entities: Sequence[Entity], selection: Chip | None) -> tuple[NamedChip, ...]:
    """All that can be sent: the selection first, then chapters, then names."""
    found = [NamedChip(SIGN + _("selection"), selection)] if selection else []
    found += [
        NamedChip(f"{SIGN}{each.position} {one_line(each.title, 40)}".rstrip(), Chip("chapter", each.id))
        for each in chapters
        if each.version
    ]
    found += [NamedChip(f"{SIGN}{one_line(each.name, 40)}", Chip("name", each.id)) for each in entities]
    return tuple(found)


def still_named(chips: Sequence[NamedChip], text: str) -> tuple[NamedChip, ...]:
    """The chips whose names are in the question: deleting a name removes its chip."""
    return tuple(each for each in chips if each.name in text)


class ChipPicker(ModalScreen[NamedChip | None]):
    """Letters narrow the list; Enter takes the row, F2 takes a chapter in full."""

    DEFAULT_CSS = """
    ChipPicker { align: right bottom; background: transparent; }
    ChipPicker > Vertical {
        width: 60; max-width: 100%; height: 16; border: round $primary; background: $surface; padding: 0 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", mark("Cancel"), priority=True, id="chips.cancel"),
        Binding("down", "move(1)", mark("Down"), show=False, priority=True, id="chips.down"),
        Binding("up", "move(-1)", mark("Up"), show=False, priority=True, id="chips.up"),
        Binding("f2", "take(True)", mark("In full"), priority=True, tooltip=mark("Send the whole chapter."),
                id="chips.full"),
    ]  # fmt: skip

    def __init__(self, choices: Sequence[NamedChip]) -> None:
        super().__init__()
        self._choices = tuple(choices)

    def compose(self) -> ComposeResult:
        """A line to type in, and the list."""
        with Vertical(classes="dialog"):
            yield Input(placeholder=_("a chapter, a name"), compact=True)
            yield PickList()
            yield Static(
                _("Enter: a summary   F2: the whole chapter   Esc: cancel"), markup=False, classes="dialog-keys"
            )

    def on_mount(self) -> None:
        """Everything at first."""
        self._fill("")
        self.query_one(Input).focus()

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Shows the matching items, the best first."""
        event.stop()
        self._fill(event.value.strip())

    def _fill(self, letters: str) -> None:
        matcher = Matcher(letters)
        scores = [(matcher.match(each.name) if letters else 1.0, at) for at, each in enumerate(self._choices)]
        best = sorted((each for each in scores if each[0] > 0), key=lambda each: (-each[0], each[1]))[:_MOST]
        rows = self.query_one(PickList)
        rows.set_options([Option(self._choices[at].name, id=str(at)) for _score, at in best])
        rows.action_first()

    @on(Input.Submitted)
    def take_typed(self, event: Input.Submitted) -> None:
        """Enter in the line."""
        event.stop()
        self.action_take(False)

    @on(OptionList.OptionSelected)
    def take_row(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click on a row."""
        event.stop()
        self.action_take(False)

    def action_move(self, rows: int) -> None:
        """The cursor of the list, while letters are typed."""
        listed = self.query_one(PickList)
        (listed.action_cursor_down if rows > 0 else listed.action_cursor_up)()

    def action_take(self, whole: bool) -> None:
        """Give the row under the cursor back."""
        picked = self.query_one(PickList).picked
        if picked is not None:
            chosen = self._choices[int(picked)]
            is_whole = whole and chosen.chip.kind == "chapter"
            name = f"{chosen.name}!" if is_whole else chosen.name
            self.dismiss(NamedChip(name, replace(chosen.chip, whole=is_whole)))
