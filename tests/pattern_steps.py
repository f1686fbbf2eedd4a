"""How many steps a search with a pattern takes: the engine of `re` counts none, so its way is gone here in Python.

Backtracking as in `re`, without its short cuts: what is linear here is linear there. It knows the parts that the
patterns of the program are made of, and says which it does not know.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from re import _constants as parts  # type: ignore[attr-defined]  # private, as is the form of a pattern
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any


def steps(pattern: re.Pattern[str], text: str) -> int:
    """Steps of finding every match of `pattern` in `text`, one after the other."""
    return _searched(pattern, text).count


def ends(pattern: re.Pattern[str], text: str) -> list[int]:
    """Where the matches end that are not empty: as `finditer` says, if this goes the way of `re`."""
    return _searched(pattern, text).ends


def _searched(pattern: re.Pattern[str], text: str) -> _Walk:
    walk, at, depth = _Walk(text, pattern.flags), 0, sys.getrecursionlimit()
    tree = _tree(pattern)
    sys.setrecursionlimit(20_000)  # repeats of more than a character are calls in each other
    try:
        while at <= len(text):
            end = next(walk.match(tree, at), at)
            walk.ends += [end] if end > at else []
            at = max(end, at + 1)
    finally:
        sys.setrecursionlimit(depth)
    return walk


@cache
def _tree(pattern: re.Pattern[str]) -> list[Any]:
    """Kept as long as the process: `_IN_SET` knows its sets by their identity."""
    return list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


class _Walk:
    def __init__(self, text: str, flags: int) -> None:
        self.text, self.count, self.lines, self.whole = text, 0, bool(flags & re.MULTILINE), bool(flags & re.DOTALL)
        self.ends: list[int] = []

    def match(self, tree: Sequence[Any], at: int) -> Iterator[int]:
        """The ends of all ways to match the parts of `tree` from `at` on."""
        if not tree:
            yield at
            return
        (part, given), rest = tree[0], tree[1:]
        for end in self.part(part, given, at):
            yield from self.match(rest, end)

    def part(self, part: Any, given: Any, at: int) -> Iterator[int]:
        self.count += 1
        if part is parts.SUBPATTERN:
            yield from self.match(list(given[3]), at)
        elif part is parts.BRANCH:
            for way in given[1]:
                yield from self.match(list(way), at)
        elif part in (parts.MAX_REPEAT, parts.MIN_REPEAT):
            yield from self.repeat(given, at, greedy=part is parts.MAX_REPEAT)
        elif part is parts.POSSESSIVE_REPEAT:
            yield from islice(self.repeat(given, at, greedy=True), 1)
        elif part in (parts.ASSERT, parts.ASSERT_NOT):
            begin = at if given[0] > 0 else at - given[1].getwidth()[0]
            found = begin >= 0 and next(self.match(list(given[1]), begin), None) is not None
            if found is (part is parts.ASSERT):
                yield at
        elif part is parts.AT:
            if self.is_place(given, at):
                yield at
        elif at < len(self.text) and self.fits(part, given, self.text[at]):
            yield at + 1

    def is_place(self, given: Any, at: int) -> bool:
        before, after = self.text[max(0, at - 1) : at], self.text[at : at + 1]
        if given in (parts.AT_BEGINNING, parts.AT_BEGINNING_STRING):
            return at == 0 or (self.lines and given is parts.AT_BEGINNING and before == "\n")
        if given is parts.AT_END_STRING:
            return not after
        if given is parts.AT_END:
            return not after or (after == "\n" and (self.lines or at == len(self.text) - 1))
        if given in (parts.AT_BOUNDARY, parts.AT_NON_BOUNDARY):
            is_border = (bool(before) and _is_word(before)) is not (bool(after) and _is_word(after))
            return is_border is (given is parts.AT_BOUNDARY)
        raise NotImplementedError(given)

    def repeat(self, given: Any, at: int, *, greedy: bool) -> Iterator[int]:
        least, most, inner = given[0], math.inf if given[1] is parts.MAXREPEAT else given[1], list(given[2])
        if len(inner) == 1 and inner[0][0] in _SINGLE:
            way = self.longest(inner[0], at, most) if greedy else self.shortest(inner[0], at, most)
            yield from (end for end in way if end >= at + least)
        else:
            yield from self.rounds(inner, (least, most), 0, at, greedy=greedy)

    def longest(self, one: Any, at: int, most: float) -> Iterator[int]:
        """A repeat of one character: as far as it goes, then back one by one."""
        end = at
        while end < len(self.text) and end - at < most and self.fits(*one, self.text[end]):
            end += 1
            self.count += 1
        for each in range(end, at - 1, -1):
            self.count += 1
            yield each

    def shortest(self, one: Any, at: int, most: float) -> Iterator[int]:
        yield at
        for end in range(at, len(self.text)):
            self.count += 1
            if end - at >= most or not self.fits(*one, self.text[end]):
                return
            yield end + 1

    def rounds(
        self, inner: Sequence[Any], bounds: tuple[int, float], number: int, at: int, *, greedy: bool
    ) -> Iterator[int]:
        """A repeat of more than a character."""
        least, most = bounds
        if not greedy and number >= least:
            yield at
        if number < most:
            for end in self.match(inner, at):
                if end > at or number < least:
                    yield from self.rounds(inner, bounds, number + 1, end, greedy=greedy)
        if greedy and number >= least:
            yield at

    def fits(self, part: Any, given: Any, sign: str) -> bool:
        if part is not parts.IN:
            return self.whole if part is parts.ANY and sign == "\n" else _fits(part, given, sign)
        key = id(given), sign
        if (known := _IN_SET.get(key)) is None:
            known = _IN_SET[key] = _fits(part, given, sign)
        return known


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


_IN_SET: dict[tuple[int, str], bool] = {}
"""Whether a set of a kept tree has a character."""
_SINGLE = (parts.LITERAL, parts.NOT_LITERAL, parts.ANY, parts.IN)
_CATEGORIES = {
    parts.CATEGORY_SPACE: str.isspace,
    parts.CATEGORY_NOT_SPACE: lambda sign: not sign.isspace(),
    parts.CATEGORY_DIGIT: str.isdigit,
    parts.CATEGORY_NOT_DIGIT: lambda sign: not sign.isdigit(),
    parts.CATEGORY_WORD: _is_word,
    parts.CATEGORY_NOT_WORD: lambda sign: not _is_word(sign),
}


def _fits(part: Any, given: Any, sign: str) -> bool:
    if part is parts.LITERAL:
        return ord(sign) == given
    if part is parts.NOT_LITERAL:
        return ord(sign) != given
    if part is parts.ANY:
        return True
    if part is parts.RANGE:
        return bool(given[0] <= ord(sign) <= given[1])
    if part is parts.CATEGORY:
        return bool(_CATEGORIES[given](sign))
    if part is parts.IN:
        negated = given[0][0] is parts.NEGATE
        return negated is not any(_fits(*each, sign) for each in given[1 if negated else 0 :])
    raise NotImplementedError(part)
