"""Messages name the keys that are bound: those of the user's `[keys]` in place of the usual ones."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from flowcabal_tui.tui.shared.actions import shown_key

_FILE: Final = Path(__file__).with_name("named_keys.toml")


@cache
def named_actions() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The actions of the keys that a message names, by the message in English and the usual key."""
    read = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {words: {key: tuple(ids.split(",")) for key, ids in keys.items()} for words, keys in read.items()}


def named_keys(own: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The messages that name a key which the user has changed, with the bound key for each usual one."""
    found: dict[str, dict[str, str]] = {}
    for words, keys in named_actions().items() if own else ():
        changed = {usual: _bound(usual, ids, own) for usual, ids in keys.items()}
        if any(usual != bound for usual, bound in changed.items()):
            found[words] = changed
    return found


def _bound(usual: str, ids: tuple[str, ...], own: Mapping[str, str]) -> str:
    keys = [shown_key(own[name].split(",")[0]) if own.get(name) else usual for name in ids]
    return "/".join(dict.fromkeys(keys))
