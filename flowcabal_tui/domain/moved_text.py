"""The place of a passage in a text after an edit."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.domain.text import line_spans, shared_start
from flowcabal_tui.domain.value_class import dataclass

_ALIKE: Final = 0.5
"""The least share of a passage's pairs of neighbouring characters that its new wording contains."""
_LONGEST: Final = 4
"""The greatest length of a new wording, as a multiple of the old one."""
_SLACK: Final = 200
_MOST_COMPARED: Final = 2_000
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Same:
    """`length` characters that both texts have, at `old` and at `new`."""

    old: int
    new: int
    length: int


class MovedText:
    """Finds passages of `old` in `new`: unchanged, moved, or reworded in the same place."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new
        self._same = tuple(each for each in _blocks(old, new, 0, 0) if each.length)

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """The present place of old[start:end]; None: the text no longer has its words.

        Words that occur once in both texts are followed wherever they went; other words keep their place between the
        unchanged text around them, as long as half of them are still there.
        """
        words = self._old[start:end]
        first, last = self._after(start), self._before(end)
        if words and self._new.startswith(words, first):
            return first, first + len(words)
        if words and self._old.count(words) == 1 == self._new.count(words):
            at = self._new.index(words)
            return at, at + len(words)
        found = self._new[first:last]
        if not words or len(found) > _LONGEST * len(words) + _SLACK or _share(words, found) < _ALIKE:
            return None
        return first + len(found) - len(found.lstrip()), first + len(found.rstrip())

    def _after(self, place: int) -> int:
        """The new place of a character; for a changed one, the end of the unchanged text before it."""
        before = [each for each in self._same if each.old <= place]
        if not before:
            return 0
        return before[-1].new + min(place - before[-1].old, before[-1].length)

    def _before(self, place: int) -> int:
        """The new place of an end; for one in changed words, the start of the unchanged text after it."""
        behind = next((each for each in self._same if each.old + each.length >= place), None)
        if behind is None:
            return len(self._new)
        return behind.new + max(0, place - behind.old)


def _blocks(old: str, new: str, at: int, to: int) -> Iterator[_Same]:
    """The common text at both ends, in whole lines, and between them the lines that each text has once, in order."""
    head = old.rfind("\n", 0, shared_start(old, new)) + 1
    tail = shared_start(old[head:][::-1], new[head:][::-1])
    border = old.find("\n", len(old) - tail)
    tail = len(old) - border if tail and border >= 0 else 0
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if not (left and right):
        yield from _ends(old, new, at, to)
        return
    yield _Same(at, to, head)
    yield from _lines(left, right, at + head, to + head)
    yield _Same(at + len(old) - tail, to + len(new) - tail, tail)


def _lines(old: str, new: str, at: int, to: int) -> Iterator[_Same]:
    ours, theirs = _once(old), _once(new)
    pairs = _rising([(ours[line], theirs[line], len(line)) for line in ours if line in theirs])
    x = y = 0
    for left, right, length in pairs:
        yield from _changed(old[x:left], new[y:right], at + x, to + y)
        yield _Same(at + left, to + right, length)
        x, y = left + length, right + length
    yield from _changed(old[x:], new[y:], at + x, to + y)


def _changed(old: str, new: str, at: int, to: int) -> Iterator[_Same]:
    """The common text at both ends of each changed line and its new form."""
    ours, theirs = line_spans(old), line_spans(new)
    if not (ours and theirs):
        return
    pairs = zip(ours, theirs, strict=True) if len(ours) == len(theirs) else _alike(old, new, ours, theirs)
    for (x, until), (y, end) in pairs:
        yield from _ends(old[x:until], new[y:end], at + x, to + y)


def _alike(old: str, new: str, ours: Sequence[_Span], theirs: Sequence[_Span]) -> Iterator[tuple[_Span, _Span]]:
    """Pairs of lines: each with the first line after the last pair that has half of its words. Only for few lines."""
    rest = list(theirs)
    for x, until in ours if len(ours) * len(theirs) <= _MOST_COMPARED else ():
        found = next((n for n, (y, end) in enumerate(rest) if _share(old[x:until], new[y:end]) >= _ALIKE), None)
        if found is not None:
            yield (x, until), rest[found]
            del rest[: found + 1]


def _ends(old: str, new: str, at: int, to: int) -> Iterator[_Same]:
    """The common text at both ends of a changed stretch."""
    head = shared_start(old, new)
    tail = shared_start(old[head:][::-1], new[head:][::-1])
    yield _Same(at, to, head)
    yield _Same(at + len(old) - tail, to + len(new) - tail, tail)


def _once(text: str) -> dict[str, int]:
    """Lines that occur once, with their places, in order."""
    lines = [(text[start:end], start) for start, end in line_spans(text)]
    times = Counter(line for line, _start in lines)
    return {line: start for line, start in lines if times[line] == 1}


def _rising(pairs: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The longest subsequence of pairs, in order on the left, that is in order on the right too."""
    ends: list[int] = []
    rows: list[int] = []
    before: list[int] = []
    for row, (_left, right, _length) in enumerate(pairs):
        at = bisect_left(ends, right)
        before.append(rows[at - 1] if at else -1)
        ends[at:], rows[at:] = (
            ([right], [row]) if at == len(ends) else ([right, *ends[at + 1 :]], [row, *rows[at + 1 :]])
        )
    chosen, row = [], rows[-1] if rows else -1
    while row >= 0:
        chosen.append(pairs[row])
        row = before[row]
    return chosen[::-1]


def _share(words: str, found: str) -> float:
    """The share of the pairs of neighbouring characters of `words` that `found` contains."""
    ours, theirs = _pairs(words), _pairs(found)
    return sum((ours & theirs).values()) / max(1, ours.total())


def _pairs(text: str) -> Counter[str]:
    letters = "".join(text.split())
    return Counter(letters[at : at + 2] for at in range(len(letters) - 1)) or Counter([letters])
