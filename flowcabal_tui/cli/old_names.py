"""Flags that were renamed: the old names are accepted for one release, with a note."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

OLD_FLAGS: Final[Mapping[tuple[str, str], str]] = {("import", "--last"): "--first"}
"""The new name of a flag, by its command and its old name. A row stays for one release."""


def with_new_names(words: Sequence[str], commands: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """Returns the words of a command line with new names, and the new name of each old one that it had.

    Words after `--` are values and stay as they are.
    """
    command = next((word for word in words if word in commands), "")
    end = words.index("--") if "--" in words else len(words)
    new, replaced = list(words), {}
    for place, word in enumerate(words[:end]):
        old, equals, value = word.partition("=")
        if flag := OLD_FLAGS.get((command, old)):
            new[place], replaced[old] = f"{flag}{equals}{value}", flag
    return new, replaced
