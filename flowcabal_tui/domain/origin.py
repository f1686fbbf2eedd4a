"""Where a paragraph of the manuscript comes from: version, author, run, node, attempt, and what the node was given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flowcabal_tui.domain.comparison import PartSource
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.manuscript import Author


@dataclass(frozen=True, slots=True)
class Origin:
    """What brought a paragraph into the book: a version of a chapter, and the output that was kept there, if one was.

    `before` is what the paragraph was changed from, if it was changed and not written anew.
    """

    chapter: ChapterId
    version: int
    author: Author
    at: datetime
    text: str
    note: str = ""
    run: RunId = RunId("")
    node: NodeId = NodeId("")
    attempt: int = 0
    before: Origin | None = None
    model: str = ""
    """The model that rewrote the passage, and below what it was asked for; "" when it was no rewrite."""
    instruction: str = ""

    @property
    def chain(self) -> tuple[Origin, ...]:
        """This one and what it was changed from, newest first."""
        return (self, *(self.before.chain if self.before else ()))


@dataclass(frozen=True, slots=True)
class OriginSpan:
    """Characters of a line, or of a text, and what brought them."""

    start: int
    end: int
    origin: Origin


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """A line of a chapter's newest text: its number from 1, blank lines counted, and where it begins.

    `origin` is what last changed it; `spans` cover its text and tell what brought each word.
    """

    number: int
    start: int
    text: str
    origin: Origin
    spans: tuple[OriginSpan, ...] = ()
    candidate: PartSource | None = None
    """The candidate that the line comes from, where the text was chosen or put together in a comparison."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A passage that a model rewrote and the writer accepted: `after` came for text[start:end]."""

    chapter: ChapterId
    text: str
    start: int
    end: int
    after: str
    model: str
    instruction: str
    at: datetime

    @property
    def changed(self) -> str:
        """The text with the new passage."""
        return self.text[: self.start] + self.after + self.text[self.end :]


@dataclass(frozen=True, slots=True)
class Written:
    """The attempt that wrote a paragraph first: the one that was kept, or one on which that was built."""

    run: RunId
    node: NodeId
    title: str
    attempt: int
    author: str
    model: str
    workflow: str
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """All that is known of a line. `written` is None for what was typed, imported, or changed outside."""

    line: BlamedLine
    written: Written | None = None
