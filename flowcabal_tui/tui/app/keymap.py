"""The user's own keys: overrides by action id, validated before use."""

from __future__ import annotations

import difflib
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import Final

from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.actions import WHERE_WORDS, KeyRow, with_twins

_RENAMED: Final = {"book.shelf": "book.browser", "shelf": "browser", "bench": "candidates"}
"""Ids, or the part before the point, that an older version had: still accepted in the user's settings."""


def current_ids(overrides: Mapping[str, str]) -> dict[str, str]:
    """`overrides` with current ids; if an action is set under its old and its new id, the new one wins."""
    known = {_current_id(name): keys for name, keys in overrides.items()}
    return known | {name: keys for name, keys in overrides.items() if name in known}


def _current_id(name: str) -> str:
    place, point, rest = name.partition(".")
    return _RENAMED.get(name, _RENAMED.get(place, place) + point + rest)


_MODIFIERS: Final = ("ctrl", "shift", "alt", "super", "hyper", "meta")
_NAMED: Final = frozenset(each.value.rpartition("+")[2] for each in Keys) | set(KEY_NAME_REPLACEMENTS.values())


def key_name(written: str) -> str:
    """Textual's name of a key as a user writes it, such as `Ctrl+R`, `?` or `F5`; "" for an unknown key."""
    if len(written) == 1:
        return written if written.isprintable() and not written.isspace() else ""
    *modifiers, last = written.split("+")
    names = [each.lower() for each in modifiers]
    if len(last) != 1:
        last = last.lower()
    elif "ctrl" in names:
        last = last.lower() if last.isalnum() else next(iter(_names_of(last)), "")
    if any(each not in _MODIFIERS for each in names) or not (last in _NAMED or key_to_character(last)):
        return ""
    return "+".join([*names, last])


def _names_of(character: str) -> Iterator[str]:
    """The names of a sign, as in `ctrl+backslash`."""
    if name := unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_"):
        yield KEY_NAME_REPLACEMENTS.get(name, name)


def usable_keymap(overrides: Mapping[str, str]) -> dict[str, str]:
    """`overrides` in the form of Textual's keymap, with both names of Shift and a function key.

    Unknown keys are left out, and an action without any valid key keeps its default.
    """
    keymap = {}
    for name, keys in overrides.items():
        if known := [key for each in keys.split(",") if (key := key_name(each.strip()))]:
            keymap[name] = with_twins(",".join(known))
    return keymap


def key_problems(overrides: Mapping[str, str]) -> tuple[str, ...]:
    """The errors in the user's own keys, one sentence each: old ids, unknown ids, unknown keys, conflicting keys."""
    from flowcabal_tui.tui.app.keys_page import all_keys  # knows every screen: read when keys were changed

    renamed = [
        _("The action {old} is now called {new}; the next release no longer accepts the old name.").format(
            old=name, new=_current_id(name)
        )
        for name in overrides
        if _current_id(name) != name
    ]
    overrides, rows = current_ids(overrides), all_keys()
    clashing = (
        _("{key} is set for {ids} in one place.").format(key=clash.key, ids=_(", ").join(clash.ids))
        for clash in clashes(usable_keymap(overrides), rows)
    )
    return (*renamed, *_unknown(overrides, [row.id for row in rows]), *clashing)


def _unknown(overrides: Mapping[str, str], ids: Sequence[str]) -> Iterator[str]:
    for name, keys in overrides.items():
        if name not in ids:
            yield _("No action has the id {name}. {advice}").format(name=name, advice=_advice(name, ids))
        for key in keys.split(","):
            if not key_name(key.strip()):
                words = _("{name} is set to {key}, which is not a key. {advice}")
                near = _advice(key.strip().lower(), sorted(_NAMED | {f"ctrl+{each}" for each in ascii_lowercase}))
                yield words.format(name=name, key=key.strip() or '""', advice=near)


def _advice(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.4)
    return _("Did you mean {near}?").format(near=near[0]) if near else _("docs/keys.md lists them all.")


@dataclass(frozen=True, slots=True)
class KeyClash:
    """One key with two actions in the same place."""

    key: str
    place: str
    ids: tuple[str, ...]


def clashes(overrides: Mapping[str, str], rows: Sequence[KeyRow]) -> tuple[KeyClash, ...]:
    """Keys that two actions share after the overrides, in one place or in one place and everywhere."""
    owners: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        for key in overrides[row.id].replace(" ", "").split(",") if row.id in overrides else row.keys:
            owners[row.place, key].append(row.id)
    everywhere = WHERE_WORDS["app"]
    found = []
    for (place, key), ids in owners.items():
        shared = ids if place == everywhere else ids + owners.get((everywhere, key), [])
        if len(shared) > 1 and any(name in overrides for name in shared):
            found.append(KeyClash(key, place, tuple(shared)))
    return tuple(found)
