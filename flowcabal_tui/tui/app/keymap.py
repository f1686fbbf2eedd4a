"""The user's own keys: overrides by action id, checked before they are used."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.actions import WHERE_WORDS, KeyRow

_RENAMED: Final = {"book.shelf": "book.browser", "shelf": "browser", "bench": "candidates"}
"""Ids, or the part before the point, that an older version had: still accepted in the user's settings."""


def current_ids(overrides: Mapping[str, str]) -> dict[str, str]:
    """`overrides` by the ids of today; one that is set under its old and its new id keeps the new."""
    known = {}
    for name, keys in overrides.items():
        place, point, rest = name.partition(".")
        known[_RENAMED.get(name, _RENAMED.get(place, place) + point + rest)] = keys
    return known | {name: keys for name, keys in overrides.items() if name in known}


@dataclass(frozen=True, slots=True)
class Clash:
    """One key that would do two things in the same place."""

    key: str
    place: str
    ids: tuple[str, ...]


def checked_keymap(overrides: Mapping[str, str], rows: Sequence[KeyRow]) -> dict[str, str]:
    """`overrides` in the form of Textual's keymap. Raises SettingsError for an unknown action id."""
    known = [row.id for row in rows]
    for name in overrides:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.4)
            raise SettingsError(
                _("Unknown key setting: {name}").format(name=name),
                _("No action has this id."),
                _("Did you mean {near}?").format(near=near[0]) if near else _("docs/keys.md lists them all."),
            )
    return {name: keys.replace(" ", "") for name, keys in overrides.items()}


def clashes(overrides: Mapping[str, str], rows: Sequence[KeyRow]) -> tuple[Clash, ...]:
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
            found.append(Clash(key, place, tuple(shared)))
    return tuple(found)
