"""A rewrite that a model proposes: the passage before and after, and what differs, paragraph by paragraph."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Final, Literal, NewType

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import ProposalId

RewriteId = NewType("RewriteId", int)
RewriteState = Literal["waiting", "accepted", "refused"]
NO_REWRITE: Final = RewriteId(0)
PIECE: Final = 3_000
"""Characters that a model rewrites in one answer."""


@dataclass(frozen=True, slots=True)
class ParagraphChange:
    """before[start:end] becomes `after`; one of the two may be empty."""

    start: int
    end: int
    after: str


@dataclass(frozen=True, slots=True)
class ProposedRewrite:
    """`before` stands, or stood, at the character `start` of the chapter; `after` is what the model made of it.

    `findings` are those that it was asked to mend.
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
        """What differs."""
        return paragraph_changes(self.before, self.after)


def paragraph_changes(before: str, after: str) -> tuple[ParagraphChange, ...]:
    """The paragraphs that differ, in order; blank lines between them do not count.

    A paragraph that became one is a change of its own; several that became more or fewer are one change.
    """
    ours, theirs = _paragraphs(before), _paragraphs(after)
    left = [before[start:end] for start, end in ours]
    right = [after[start:end] for start, end in theirs]
    return tuple(_changes(before, ours, left, right))


def _changes(
    before: str, ours: Sequence[tuple[int, int]], left: Sequence[str], right: Sequence[str]
) -> Iterator[ParagraphChange]:
    gap = "\n\n" if "\n\n" in before or "\n" not in before.strip() else "\n"
    for change, i, i_end, j, j_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if change == "equal":
            continue
        if i_end - i == j_end - j:
            for (start, end), words in zip(ours[i:i_end], right[j:j_end], strict=True):
                yield ParagraphChange(start, end, words)
        elif i == i_end:
            place = ours[i][0] if i < len(ours) else len(before.rstrip())
            new = gap.join(right[j:j_end])
            yield ParagraphChange(place, place, new + gap if i < len(ours) else gap + new)
        elif j == j_end:
            end = ours[i_end][0] if i_end < len(ours) else ours[i_end - 1][1]
            start = ours[i][0] if i_end < len(ours) or not i else ours[i - 1][1]
            yield ParagraphChange(start, end, "")
        else:
            yield ParagraphChange(ours[i][0], ours[i_end - 1][1], gap.join(right[j:j_end]))


def with_changes(before: str, changes: Sequence[ParagraphChange], accepted: Collection[int]) -> str:
    """The passage with those changes that are accepted, by their numbers from 0."""
    text = before
    for number in sorted(accepted, reverse=True):
        change = changes[number]
        text = text[: change.start] + change.after + text[change.end :]
    return text


def pieces(text: str, most: int = PIECE) -> tuple[tuple[int, int], ...]:
    """Where a text is cut for a model: at ends of lines, each piece at most so long unless one line is longer."""
    found, start, at = [], 0, 0
    for line in text.splitlines(keepends=True):
        if at > start and at + len(line) - start > most:
            found.append((start, at))
            start = at
        at += len(line)
    return (*found, (start, len(text)))


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Where lines that are not blank begin and end, without the blanks around them."""
    spans, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            spans.append((at + len(line) - len(line.lstrip()), at + len(line.rstrip())))
        at += len(line)
    return spans
