"""Makes messages name the bound keys: those of the user's `[keys]` instead of the defaults."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.tui.shared.actions import shown_key

KEY_IN_WORDS: Final = late(
    r"`([^`\s]{1,14})`|(?<![A-Za-z])((?:Shift\+|Ctrl\+)?F\d{1,2}|Ctrl\+[^\s,.;:，。；：、]|Shift\+Delete)(?![A-Za-z0-9])"
)
"""A key as messages write it: a letter or sign in backticks, or a function key, or one with Ctrl."""
_FILE: Final = Path(__file__).with_name("named_keys.toml")


@cache
def named_actions() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The actions of the keys in messages, by English message and default key."""
    read = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {words: {key: tuple(ids.split(",")) for key, ids in keys.items()} for words, keys in read.items()}


def named_keys(own: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The messages with a key that the user has changed, with the bound key for each default one."""
    found: dict[str, dict[str, str]] = {}
    for words, keys in named_actions().items() if own else ():
        changed = {usual: _bound(usual, ids, own) for usual, ids in keys.items()}
        if any(usual != bound for usual, bound in changed.items()):
            found[words] = changed
    return found


def _bound(usual: str, ids: tuple[str, ...], own: Mapping[str, str]) -> str:
    keys = [shown_key(own[name].split(",")[0]) if own.get(name) else usual for name in ids]
    return "/".join(dict.fromkeys(keys))
