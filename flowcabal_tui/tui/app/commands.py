"""Every command of the program, from the table of actions and from all panes, pages and dialogs, each with its
place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from textual.dom import DOMNode

from flowcabal_tui.tui.app.keyed import keyed
from flowcabal_tui.tui.app.keys_page import declared_keys
from flowcabal_tui.tui.shared.actions import ACTIONS, WHERE_WORDS, shown_key

_BASIC: Final = (
    "list.",
    "tree.",
    "rail.",
    "stream.",
    "prose.",
    "confirm.",
    "jump.",
    "help.",
    "answer.",
    "palette.",
    "leader.",
    "wizard.down",
    "wizard.up",
)
"""Ids of cursor movements, exits and answers: keys that are not listed as commands."""
_MOVES: Final = frozenset(
    ("escape", "enter", "q", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "tab", "backspace")
)
_SYNONYMS: Final = Path(__file__).with_name("synonyms.toml")


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """One command. `title`, `words` and `place` are marked, not translated; `action` is Textual's.

    `owner` is the class with its key; None for a place in `where`: the app, the start page or the workspace.
    """

    id: str
    title: str
    words: str
    place: str
    keys: tuple[str, ...]
    action: str
    where: str = ""
    owner: type[DOMNode] | None = None

    def shown_key(self, own: Mapping[str, str]) -> str:
        """The first key, or the one that the user set."""
        return shown_key((own[self.id].replace(" ", "") if self.id in own else ",".join(self.keys)).split(",")[0])


@cache
def all_commands() -> tuple[PaletteCommand, ...]:
    """Commands available everywhere in the workspace first, then by place, in the order of the keys page."""
    listed = [
        PaletteCommand(
            each.id, each.label, each.description, WHERE_WORDS[each.where], tuple(each.keys.split(",")),
            each.does or f"key('{each.id}')", each.where,
        )
        for each in sorted(ACTIONS, key=lambda each: ("workspace", "app", "home").index(each.where))
    ]  # fmt: skip
    return (*listed, *_declared({each.id for each in listed}))


def _declared(known: set[str]) -> Iterator[PaletteCommand]:
    """Commands that classes declare; of several with the same words, such as one for each digit, only the first."""
    seen: set[tuple[type[DOMNode], str, str]] = set()
    for place, owner, binding in declared_keys():
        keys = tuple(binding.key.split(","))
        title = binding.description or binding.tooltip
        is_new = binding.id not in known and (owner, title, binding.tooltip) not in seen
        if binding.id and is_new and not is_basic_key(binding.id, keys):
            known.add(binding.id)
            seen.add((owner, title, binding.tooltip))
            yield PaletteCommand(binding.id, title, binding.tooltip, place, keys, binding.action, "", owner)


def is_of_page(command: PaletteCommand) -> bool:
    """True for a command of a page that needs no row under the cursor."""
    owner = command.owner
    return owner is not None and command.id.partition(".")[2] in keyed()[owner].of_page.split()


def opener(owner: type[DOMNode]) -> PaletteCommand | None:
    """The command that opens the page of these keys; None: no command opens it."""
    return next((each for each in all_commands() if each.id == keyed()[owner].opener), None)


def is_basic_key(name: str, keys: tuple[str, ...]) -> bool:
    """True for a cursor movement, a way out or an answer, which are not commands."""
    return name.startswith(_BASIC) or all(key in _MOVES for key in keys)


@cache
def synonyms() -> Mapping[str, str]:
    """Other words for a command, by its id, in both languages, with `|` between them."""
    found: dict[str, str] = tomllib.loads(_SYNONYMS.read_text(encoding="utf-8"))
    return found
