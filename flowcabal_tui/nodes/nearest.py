"""Finds the most similar of the known names, in bounded time."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Final

_ALL_COMPARED: Final = 500
"""With more names, only those with the same beginning and a similar length are compared."""
_MOST_COMPARED: Final = 100
_LONGEST: Final = 200
_NUMBERS: Final = re.compile(r"\d+")


def nearest(name: str, known: Collection[str]) -> str:
    """The known name most similar to `name`; "" when none is similar."""
    if len(name) > _LONGEST:
        return ""
    candidates: Iterable[str] = known
    if len(known) > _ALL_COMPARED:
        alike = (one for one in known if one[:1] == name[:1] and abs(len(one) - len(name)) <= 2)
        candidates = islice(alike, _MOST_COMPARED)
    return "".join(difflib.get_close_matches(name, list(candidates), 1))


def unmistakable(name: str, meant: str, known: Collection[str] = ()) -> bool:
    """True when only `meant` can be intended: it is very similar to `name`, and no other known name is.

    Names with different numbers in them are never the same: `scene-8` is not `scene-9`.
    """
    if _NUMBERS.findall(name) != _NUMBERS.findall(meant):
        return False
    if name.casefold() == meant.casefold():
        return sum(one.casefold() == name.casefold() for one in known) <= 1
    if difflib.SequenceMatcher(None, name, meant).ratio() < 0.75:
        return False
    return len(difflib.get_close_matches(name, list(islice(known, _ALL_COMPARED)), 2, 0.75)) < 2
