"""The differences between two texts: by paragraph, then by word (Latin) or character (Chinese).

Differences are found with E. Myers, "An O(ND) difference algorithm and its variations" (1986). The number of steps is
limited: texts that share little are shown paragraph by paragraph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.value_class import dataclass

_TOKENS: Final = late(r"[A-Za-z0-9\u00c0-\u024f\u0370-\u052f]+|[^\S\n]+|[\s\S]")
STEPS: Final = 150_000
"""Search steps for a whole diff; about 100 ms."""
_PASSAGE_STEPS: Final = 30_000
_LARGE: Final = 400_000
"""Characters on both sides together above which paragraphs are paired by their order alone."""
_COMMON_SHARE: Final = 0.35
"""With less in common than this, a passage is shown as replaced in one piece."""


class DiffKind(StrEnum):
    """The kind of a run: equal, deleted or inserted."""

    EQUAL = "equal"
    INSERT = "insert"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A piece of text that is kept, deleted or inserted as a whole."""

    change: DiffKind
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch that is the same (`is_change` False, one run) or one that differs."""

    is_change: bool
    runs: tuple[DiffPiece, ...]


def prose_diff(old: str, new: str) -> tuple[DiffPiece, ...]:
    """The runs that turn `old` into `new`.

    Equal and deleted runs together form `old`, equal and inserted ones `new`; adjacent runs differ in kind.
    """
    budget = _Budget(STEPS)
    runs: list[DiffPiece] = []
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    for same, left, right in _blocks(before, after, budget):
        if same:
            runs.append(DiffPiece(DiffKind.EQUAL, "".join(left)))
        else:
            for one, other in _pairs(left, right):
                runs.extend(_passage("".join(one), "".join(other), budget))
    return tuple(_joined(runs))


def hunks(runs: Sequence[DiffPiece]) -> tuple[Hunk, ...]:
    """Runs gathered into stretches that differ and stretches that do not."""
    gathered: list[Hunk] = []
    for run in runs:
        is_change = run.change is not DiffKind.EQUAL
        if is_change and gathered and gathered[-1].is_change:
            gathered[-1] = Hunk(True, (*gathered[-1].runs, run))
        else:
            gathered.append(Hunk(is_change, (run,)))
    return tuple(gathered)


class _Budget:
    """Steps that may still be taken."""

    def __init__(self, steps: int) -> None:
        self.left = steps


Block = tuple[bool, Sequence[str], Sequence[str]]


def _blocks(old: Sequence[str], new: Sequence[str], budget: _Budget) -> Iterator[Block]:
    """Stretches of tokens, alternately the same and different."""
    shared = min(len(old), len(new))
    head = next((at for at in range(shared) if old[at] != new[at]), shared)
    tail = next((at for at in range(shared - head) if old[-1 - at] != new[-1 - at]), shared - head)
    if head:
        yield True, old[:head], new[:head]
    yield from _changed_blocks(old[head : len(old) - tail], new[head : len(new) - tail], budget)
    if tail:
        yield True, old[len(old) - tail :], new[len(new) - tail :]


def _changed_blocks(old: Sequence[str], new: Sequence[str], budget: _Budget) -> Iterator[Block]:
    if not old and not new:
        return
    matches = _matches(old, new, budget) if old and new else []
    x = y = 0
    for left, right, length in [*matches, (len(old), len(new), 0)]:
        if left > x or right > y:
            yield False, old[x:left], new[y:right]
        if length:
            yield True, old[left : left + length], new[right : right + length]
        x, y = left + length, right + length


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Pairs changed paragraphs with their new versions, which share most phrases with them, in order."""
    if len(old) == len(new) or sum(map(len, old)) + sum(map(len, new)) > _LARGE:
        yield from zip(((one,) for one in old), ((one,) for one in new), strict=False)
        shared = min(len(old), len(new))
        yield old[shared:], new[shared:]
        return
    home = {words[at : at + 4]: row for row, words in enumerate(new) for at in range(len(words) - 3)}
    x = y = 0
    for row, words in enumerate(old):
        votes = Counter(home.get(words[at : at + 4], -1) for at in range(0, len(words) - 3, 2))
        votes.pop(-1, None)
        best = max(votes, key=lambda at: (votes[at], -at), default=-1)
        if best >= y and votes[best] * 8 >= len(words) * _COMMON_SHARE:
            yield old[x:row], new[y:best]
            yield (words,), (new[best],)
            x, y = row + 1, best + 1
    yield old[x:], new[y:]


def _matches(old: Sequence[str], new: Sequence[str], budget: _Budget) -> list[tuple[int, int, int]]:
    """The equal parts: (start in old, start in new, length), in order; none if the budget ends first."""
    least = max(0, budget.left - _PASSAGE_STEPS)
    reach: dict[int, int] = {1: 0}
    trail: list[dict[int, int]] = []
    for distance in range(len(old) + len(new) + 1):
        budget.left -= distance + 1
        if budget.left < least:
            return []
        trail.append({})
        for diagonal in range(-distance, distance + 1, 2):
            down = diagonal == -distance or (
                diagonal != distance and reach.get(diagonal - 1, -1) < reach.get(diagonal + 1, -1)
            )
            x = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x += 1
                y += 1
            reach[diagonal] = trail[-1][diagonal] = x
            if x == len(old) and y == len(new):
                return _walk_back(trail, len(old), len(new))
    return []


def _walk_back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, int]]:
    """The agreements on the way that the search found, from its end."""
    found: list[tuple[int, int, int]] = []
    for distance in range(len(trail) - 1, -1, -1):
        diagonal = x - y
        before = trail[distance - 1] if distance else {}
        down = diagonal == -distance or (
            diagonal != distance and before.get(diagonal - 1, -1) < before.get(diagonal + 1, -1)
        )
        start = 0
        if distance:
            start = before[diagonal + 1] if down else before[diagonal - 1] + 1
        if x > start:
            found.append((start, start - diagonal, x - start))
        x, y = (start, start - diagonal - 1) if down else (start - 1, start - diagonal)
    found.reverse()
    return found


def _passage(old: str, new: str, budget: _Budget) -> list[DiffPiece]:
    """The runs of one changed passage, by word or character."""
    if old == new:
        return [DiffPiece(DiffKind.EQUAL, old)]
    whole = [DiffPiece(DiffKind.DELETE, old), DiffPiece(DiffKind.INSERT, new)]
    if not (old and new and budget.left):
        return whole
    blocks = [
        (same, "".join(left), "".join(right))
        for same, left, right in _blocks(_TOKENS.findall(old), _TOKENS.findall(new), budget)
    ]
    common = sum(len(left) for same, left, _right in blocks if same)
    if common < _COMMON_SHARE * min(len(old), len(new)):
        return whole
    return [run for block in _without_islands(blocks) for run in _runs_of(block)]


def _without_islands(blocks: list[tuple[bool, str, str]]) -> list[tuple[bool, str, str]]:
    """Merges single shared characters between larger changes into the changes, since they carry no meaning."""
    merged: list[tuple[bool, str, str]] = []
    for number, (same, left, right) in enumerate(blocks):
        amid = 0 < number < len(blocks) - 1
        if same and amid and len(left.strip()) <= 1 and "\n" not in left:
            neighbours = (blocks[number - 1], blocks[number + 1])
            if all(max(len(one), len(other)) > 2 for _same, one, other in neighbours):
                same = False
        if merged and not same and not merged[-1][0]:
            merged[-1] = (False, merged[-1][1] + left, merged[-1][2] + right)
        else:
            merged.append((same, left, right))
    return merged


def _runs_of(block: tuple[bool, str, str]) -> list[DiffPiece]:
    same, left, right = block
    if same:
        return [DiffPiece(DiffKind.EQUAL, left)]
    return [DiffPiece(DiffKind.DELETE, left), DiffPiece(DiffKind.INSERT, right)]


def _joined(runs: list[DiffPiece]) -> list[DiffPiece]:
    """Runs without empty ones; deletions come before insertions, and one run of each kind in a change."""
    joined: list[DiffPiece] = []
    deleted = inserted = ""
    end = DiffPiece(DiffKind.EQUAL, "")
    for run in [*runs, end]:
        if run.change is DiffKind.DELETE:
            deleted += run.text
        elif run.change is DiffKind.INSERT:
            inserted += run.text
        elif run.text or run is end:
            joined += [DiffPiece(DiffKind.DELETE, deleted)] if deleted else []
            joined += [DiffPiece(DiffKind.INSERT, inserted)] if inserted else []
            deleted = inserted = ""
            if run.text and joined and joined[-1].change is DiffKind.EQUAL:
                joined[-1] = DiffPiece(DiffKind.EQUAL, joined[-1].text + run.text)
            elif run.text:
                joined.append(run)
    return joined
