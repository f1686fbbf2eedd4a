"""All keys of the screen: those of the table of actions, and those that panes, widgets and dialogs declare."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from textual.binding import Binding
from textual.dom import DOMNode

from flowcabal_tui.locale import _, use_language
from flowcabal_tui.tui.app.effects import EFFECT_WORDS, KEY_MEANINGS
from flowcabal_tui.tui.app.keyed import keyed
from flowcabal_tui.tui.shared.actions import ACTIONS, WHERE_WORDS, KeyRow, shown_key


def all_keys() -> tuple[KeyRow, ...]:
    """Every action that has an id, of the table and of all panes, widgets and dialogs."""
    rows = [
        KeyRow(WHERE_WORDS[action.where], action.id, tuple(action.keys.split(",")), action.description, action.wins)
        for action in ACTIONS
    ]
    known = {row.id for row in rows}
    for place, _owner, binding in declared_keys():
        if binding.id and binding.id not in known:
            known.add(binding.id)
            words = binding.tooltip or binding.description
            rows.append(KeyRow(place, binding.id, tuple(binding.key.split(",")), words, binding.priority))
    return tuple(rows)


def declared_keys() -> Iterator[tuple[str, type[DOMNode], Binding]]:
    """The bindings of every class of the screen, with its place and the class."""
    for kind, row in keyed().items():
        for binding in kind.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding):
                yield row.place, kind, binding


def keys_page() -> str:
    """The page docs/keys.md, in English: every key with the id by which `[keys]` in the settings changes it."""
    lines = [
        "# Keys",
        "",
        "Made by `python -m flowcabal_tui.tui.app.keys_page > docs/keys.md`; a test holds it.",
        'To change a key, write its id under `[keys]` in the user settings: `"run.start" = "ctrl+r"`.',
        "",
        "## One letter, one meaning",
        "",
        "In every pane a key of the second column does this and nothing else. A key of the third column may also show",
        "or mark something elsewhere, but never has the effect of another row.",
        "",
        "| effect | only this | also |",
        "| --- | --- | --- |",
        *_meaning_rows(),
    ]
    place = ""
    for row in all_keys():
        if row.place != place:
            place = row.place
            lines += ["", f"## {_(place)}", "", "| keys | does | id |", "| --- | --- | --- |"]
        keys = _shown(row.keys)
        lines.append(f"| {keys} | {_(row.words).replace('|', chr(92) + '|')} | `{row.id}` |")
    return "\n".join(lines) + "\n"


def _shown(keys: Iterable[str]) -> str:
    names = dict.fromkeys(shown_key(key) for key in keys)
    return " ".join(f"`{name}`" for name in names).replace("|", "\\|")


def _meaning_rows() -> Iterator[str]:
    for effect, keys in KEY_MEANINGS.items():
        yield f"| {_(EFFECT_WORDS[effect])} | {_shown(sorted(keys.only))} | {_shown(sorted(keys.too))} |"


if __name__ == "__main__":
    use_language("en")
    sys.stdout.write(keys_page())
