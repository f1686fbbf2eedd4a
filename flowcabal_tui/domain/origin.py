"""The origin of a paragraph: version, author, run, node, attempt, and the node's context."""

from __future__ import annotations

from datetime import datetime

from flowcabal_tui.domain.comparison import PartSource
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.manuscript import Author
from flowcabal_tui.domain.value_class import dataclass


@dataclass(frozen=True, slots=True)
class ParagraphOrigin:
    """The origin of a paragraph: a version of a chapter, and the output that was kept there, if any.

    `before` is the origin of the text that this one changed; None for a new paragraph.
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
    before: ParagraphOrigin | None = None
    model: str = ""
    """The model that rewrote the passage, and below its instruction; "" when it was no rewrite."""
    instruction: str = ""

    @property
    def chain(self) -> tuple[ParagraphOrigin, ...]:
        """This origin and those of the texts it was changed from, newest first."""
        return (self, *(self.before.chain if self.before else ()))


@dataclass(frozen=True, slots=True)
class OriginSpan:
    """A span of a line, or of a text, and its origin."""

    start: int
    end: int
    origin: ParagraphOrigin


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """A line of a chapter's newest text: its number from 1, counting blank lines, and its start.

    `origin` is the origin of its last change; `spans` cover its text and give the origin of each word.
    """

    number: int
    start: int
    text: str
    origin: ParagraphOrigin
    spans: tuple[OriginSpan, ...] = ()
    candidate: PartSource | None = None
    """The candidate of the line, where the text was chosen or composed in a comparison."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A passage that a model rewrote and the writer accepted: `after` replaces text[start:end]."""

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
    """The attempt that first wrote a paragraph: the kept one, or one that it was based on."""

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
    """The origin of a line. `written` is None for text that was typed, imported, or changed outside."""

    line: BlamedLine
    written: Written | None = None
