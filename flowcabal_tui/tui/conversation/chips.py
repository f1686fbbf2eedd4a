"""Texts sent with a question: chosen by a few letters, named in the question with `@`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.fuzzy import Matcher
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.conversation import Chip
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.headings.numerals import chinese_number
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.lists import MovesList, PickList
from flowcabal_tui.tui.shared.words import one_line

_MOST: Final = 200
_LONGEST: Final = 60
"""Characters of a name."""
_WITHIN: Final = late(r"[A-Za-z][A-Za-z]|\d\d")
_COUNTED: Final = late("(?<=第)[一二三四五六七八九十百千两]+(?:[零〇][一二三四五六七八九十百]*)?")
SIGN: Final = "@"


@dataclass(frozen=True, slots=True)
class NamedChip:
    """A chip and its name in the question, such as `@12 The Ferry`; it can also be typed in `other` words."""

    name: str
    chip: Chip
    other: tuple[str, ...] = ()

    @property
    def typed(self) -> tuple[str, ...]:
        """All words that can be typed for it after the sign."""
        return (self.name.removeprefix(SIGN), *self.other)


@dataclass(frozen=True, slots=True)
class Picked:
    """The chosen chip, None for none, and the typed letters that are not part of its name."""

    chosen: NamedChip | None
    rest: str = ""


def offered(chapters: Sequence[Chapter], entities: Sequence[Entity], selection: Chip | None) -> tuple[NamedChip, ...]:
    """All possible chips: the selection first, then chapters, then names."""
    found = [NamedChip(SIGN + _("selection"), selection)] if selection else []
    found += [
        NamedChip(
            f"{SIGN}{each.position} {one_line(each.title, 40)}".rstrip(),
            Chip("chapter", each.id),
            tuple(
                filter(None, (str(each.position), _("chapter {n}").format(n=each.position), one_line(each.title, 40)))
            ),
        )
        for each in chapters
        if each.version
    ]
    found += [NamedChip(f"{SIGN}{one_line(each.name, 40)}", Chip("name", each.id)) for each in entities]
    return tuple(found)


def still_named(chips: Sequence[NamedChip], text: str) -> tuple[NamedChip, ...]:
    """The chips whose names are in the question; deleting a name removes its chip."""
    return tuple(each for each in chips if each.name in text)


def named_first(choices: Sequence[NamedChip], text: str) -> Picked:
    """The choice whose name begins the text, the longest one, and the rest of the text.

    Chinese has no blanks, so any character ends a name, except a Latin letter or a digit after another one. An
    ambiguous name matches nothing.
    """
    named: dict[str, list[NamedChip]] = {}
    for each in choices:
        for words in filter(None, dict.fromkeys(map(_plain, each.typed))):
            named.setdefault(words, []).append(each)
    for end in range(min(len(text), _LONGEST), 0, -1):
        found = named.get(_plain(text[:end]), ())
        if len(found) == 1 and not text[end - 1].isspace() and not _WITHIN.match(text, end - 1):
            return Picked(found[0], text[end:])
    return Picked(None, text)


def _plain(words: str) -> str:
    """Words without blanks, with the Chinese numbers of chapters in digits."""
    return _COUNTED.sub(lambda found: str(chinese_number(found[0]) or found[0]), "".join(words.casefold().split()))


class ChipPicker(ModalScreen[Picked], MovesList):
    """Typing narrows the list; Enter takes the row, F2 takes a chapter in full. Words without a match close it."""

    DEFAULT_CSS = """
    ChipPicker { align: right bottom; background: transparent; }
    ChipPicker > Vertical {
        width: 60; max-width: 100%; height: 16; border: round $primary; background: $surface; padding: 0 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", mark("Cancel"), priority=True, id="chips.cancel"),
        Binding("down", "go('cursor_down')", mark("Down"), show=False, priority=True, id="chips.down"),
        Binding("up", "go('cursor_up')", mark("Up"), show=False, priority=True, id="chips.up"),
        Binding("f2", "take(True)", mark("In full"), priority=True, tooltip=mark("Send the whole chapter."),
                id="chips.full"),
    ]  # fmt: skip

    def __init__(self, choices: Sequence[NamedChip], letters: str = "") -> None:
        super().__init__()
        self._choices, self._letters = tuple(choices), letters

    def compose(self) -> ComposeResult:
        """Yields a line to type in, and the list."""
        with Vertical(classes="dialog"):
            yield Input(self._letters, placeholder=_("a chapter, a name"), compact=True)
            yield PickList()
            yield Static(
                _("Enter: a summary   F2: the whole chapter   Esc: cancel"), markup=False, classes="dialog-keys"
            )

    def on_mount(self) -> None:
        """Shows everything, or the matches of the letters."""
        self._fill("")
        line = self.query_one(Input)
        line.focus()
        line.cursor_position = len(line.value)
        self._narrow()

    def on_key(self, event: Key) -> None:
        """Handles a character typed before the input has the focus."""
        line = self.query_one(Input)
        if event.is_printable and event.character and not line.has_focus:
            event.stop()
            line.insert_text_at_cursor(event.character)

    @on(Input.Changed)
    def _narrow(self) -> None:
        typed = self.query_one(Input).value  # several keys may have come since
        if not self.is_current:
            return
        if not typed:
            self._fill("")
            return
        if not typed.strip():
            self.dismiss(Picked(None, typed))
        elif not self._fill(typed.strip()) or self._is_ended(typed):
            self.dismiss(named_first(self._choices, typed))

    def _is_ended(self, typed: str) -> bool:
        """True for a name with a blank behind it that no longer name begins with."""
        words = _plain(typed)
        longer = any(
            _plain(each).startswith(words) and _plain(each) != words for one in self._choices for each in one.typed
        )
        return typed[-1].isspace() and not longer and named_first(self._choices, typed).chosen is not None

    def _fill(self, letters: str) -> int:
        """Returns the number of rows."""
        matcher, words = Matcher(letters), _plain(letters)
        scores = [(_score(each, matcher, words) if letters else 1.0, at) for at, each in enumerate(self._choices)]
        best = sorted((each for each in scores if each[0] > 0), key=lambda each: (-each[0], each[1]))[:_MOST]
        rows = self.query_one(PickList)
        rows.set_options([Option(self._choices[at].name, id=str(at)) for _score, at in best])
        rows.action_first()
        return len(best)

    @on(Input.Submitted)
    def take_typed(self, event: Input.Submitted) -> None:
        """Takes the row on Enter in the input."""
        event.stop()
        self.action_take(False)

    @on(OptionList.OptionSelected)
    def take_row(self, event: OptionList.OptionSelected) -> None:
        """Takes the row on Enter or a click."""
        event.stop()
        self.action_take(False)

    def action_take(self, whole: bool) -> None:
        """Returns the row under the cursor."""
        picked = self.query_one(PickList).picked
        if picked is not None:
            chosen = self._choices[int(picked)]
            is_whole = whole and chosen.chip.kind == "chapter"
            name = f"{chosen.name}!" if is_whole else chosen.name
            self.dismiss(Picked(NamedChip(name, replace(chosen.chip, whole=is_whole))))

    def action_leave(self) -> None:
        """Closes without a choice; the letters stay in the question."""
        self.dismiss(Picked(None, self.query_one(Input).value))


def _score(choice: NamedChip, matcher: Matcher, words: str) -> float:
    """A choice that is typed in full comes first, then those that begin so."""
    typed = [_plain(each) for each in choice.typed]
    if words in typed:
        return 3.0
    return 2.0 if any(each.startswith(words) for each in typed) else matcher.match(choice.name)
