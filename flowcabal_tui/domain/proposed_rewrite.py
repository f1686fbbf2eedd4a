"""A rewrite that a model proposes: the passage before and after, and their differences by paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import Final, Literal, NewType

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.text import line_spans
from flowcabal_tui.domain.value_class import dataclass

RewriteId = NewType("RewriteId", int)
RewriteState = Literal["waiting", "accepted", "refused"]
NO_REWRITE: Final = RewriteId(0)
_ALIKE: Final = 0.5
_MOST_COMPARED: Final = 2_000
"""Limit of pairs of paragraphs that are compared in one stretch."""
PIECE: Final = 3_000
"""The number of characters that a model rewrites in one answer."""


@dataclass(frozen=True, slots=True)
class ParagraphChange:
    """before[start:end] becomes `after`; one of the two may be empty."""

    start: int
    end: int
    after: str


@dataclass(frozen=True, slots=True)
class ProposedRewrite:
    """`before` is the passage at character `start` of the chapter; `after` is the model's version of it.

    `findings` are the ones that the model was asked to fix.
    """

    chapter: ChapterId
    start: int
    before: str
    after: str
    model: str = ""
    instruction: str = ""
    findings: tuple[ProposalId, ...] = ()
    state: RewriteState = "waiting"
    at: datetime | None = None
    id: RewriteId = NO_REWRITE

    @property
    def changes(self) -> tuple[ParagraphChange, ...]:
        """The differences by paragraph."""
        return paragraph_changes(self.before, self.after)


def paragraph_changes(before: str, after: str) -> tuple[ParagraphChange, ...]:
    """Returns the paragraphs that differ, in order, ignoring blank lines between them.

    Each changed, added or removed paragraph is one change. Several paragraphs are one change if their number differs
    and none resembles an old one.
    """
    ours, theirs = _paragraphs(before), _paragraphs(after)
    left = [before[start:end] for start, end in ours]
    right = [after[start:end] for start, end in theirs]
    return tuple(_changes(before, ours, left, right))


def _changes(
    before: str, ours: Sequence[tuple[int, int]], left: Sequence[str], right: Sequence[str]
) -> Iterator[ParagraphChange]:
    for change, i, i_end, j, j_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if change != "equal":
            for x, x_end, y, y_end in _blocks(left, right, i, i_end, j, j_end):
                yield from _block(before, ours, right[y:y_end], x, x_end)


def _blocks(
    left: Sequence[str], right: Sequence[str], i: int, i_end: int, j: int, j_end: int
) -> Iterator[tuple[int, int, int, int]]:
    """A stretch that differs, cut where a paragraph was replaced by a similar one."""
    if i_end - i != j_end - j and (i_end - i) * (j_end - j) <= _MOST_COMPARED:
        for x in range(i, i_end):
            y = next((y for y in range(j, j_end) if _share(left[x], right[y]) >= _ALIKE), None)
            if y is not None:
                yield i, x, j, y
                yield x, x + 1, y, y + 1
                i, j = x + 1, y + 1
    yield i, i_end, j, j_end


def _block(
    before: str, ours: Sequence[tuple[int, int]], new: Sequence[str], i: int, i_end: int
) -> Iterator[ParagraphChange]:
    """The changes that turn the paragraphs from i to i_end into those of `new`."""
    gap = "\n\n" if "\n\n" in before or "\n" not in before.strip() else "\n"
    words = gap.join(new)
    if i_end - i == len(new):
        for (start, end), one in zip(ours[i:i_end], new, strict=True):
            if before[start:end] != one:
                yield ParagraphChange(start, end, one)
    elif i == i_end:
        place = ours[i][0] if i < len(ours) else len(before.rstrip())
        yield ParagraphChange(place, place, words + gap if i < len(ours) else gap + words)
    elif not new:
        is_last = i_end == len(ours)
        start = ours[i - 1][1] if is_last and i else ours[i][0]
        yield ParagraphChange(start, ours[i_end - 1][1] if is_last else ours[i_end][0], "")
    else:
        yield ParagraphChange(ours[i][0], ours[i_end - 1][1], words)


def _share(one: str, other: str) -> float:
    """The share of the shorter text's pairs of neighbouring characters that the other text contains."""
    ours, theirs = (Counter(text[at : at + 2] for at in range(len(text) - 1)) for text in (one, other))
    return sum((ours & theirs).values()) / max(1, min(ours.total(), theirs.total()))


def with_changes(before: str, changes: Sequence[ParagraphChange], accepted: Collection[int]) -> str:
    """The passage with the accepted changes, given by their numbers from 0."""
    text = before
    for number in sorted(accepted, reverse=True):
        change = changes[number]
        text = text[: change.start] + change.after + text[change.end :]
    return text


def pieces(text: str, most: int = PIECE) -> tuple[tuple[int, int], ...]:
    """Spans of a text for a model: cut at line ends, each at most `most` characters unless one line is longer."""
    found, start, at = [], 0, 0
    for line in text.splitlines(keepends=True):
        if at > start and at + len(line) - start > most:
            found.append((start, at))
            start = at
        at += len(line)
    return (*found, (start, len(text)))


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Spans of the lines that are not blank, without the blanks around them."""
    lines = ((text[start:end], start) for start, end in line_spans(text))
    return [(at + len(line) - len(line.lstrip()), at + len(line.rstrip())) for line, at in lines]
