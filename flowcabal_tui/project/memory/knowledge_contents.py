"""The entries of the book in the knowledge server, and the texts that were not sent to it yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.memory import BackgroundTask, Freshness, Level
from flowcabal_tui.protocol.memory import KnowledgeStatus
from flowcabal_tui.viking.layout import level_of
from flowcabal_tui.viking.manifest import Record

TEXT_LIMIT: Final = 20_000
"""Characters of an entry's levels that are read from the server."""


@dataclass(frozen=True, slots=True)
class KnowledgeEntry:
    """One directory of the server's tree, or one that is still to be written.

    `subject` is the uri of its subject, even if that has moved. `step` is the state of the step that sends the current
    text: fresh means that the server has it. `pieces` are the files into which its L2 is divided; `position` is the
    last chapter that the text covers (0: none).
    """

    subject: str
    is_stored: bool
    step: Freshness
    levels: tuple[Level, ...] = ()
    pieces: int = 0
    position: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgeContents:
    """The state of the server and its entries, ordered by subject.

    Also the folder or address of its data, and the embedding model whose vectors it compares ("": it was not started).
    """

    status: KnowledgeStatus
    place: str
    embedder: str
    entries: tuple[KnowledgeEntry, ...]

    @property
    def is_up(self) -> bool:
        return self.status.state in ("ready", "external")


@dataclass(frozen=True, slots=True)
class KnowledgeFound:
    """A text that is near to a query. `score` is 0..1; unrelated texts have about 0.5."""

    subject: str
    level: Level
    score: float
    text: str


def entries(records: Iterable[tuple[str, Record]], steps: Iterable[BackgroundTask]) -> tuple[KnowledgeEntry, ...]:
    """Joins the server's content with the steps that update it, by subject."""
    stored = {record.subject: record for _path, record in records}
    latest = {step.subject: step for step in steps if step.kind == "knowledge"}
    return tuple(_entries(stored, latest))


def _entries(stored: Mapping[str, Record], latest: Mapping[str, BackgroundTask]) -> Iterator[KnowledgeEntry]:
    for subject in sorted({*stored, *latest}):
        record, step = stored.get(subject), latest.get(subject)
        if record is None:
            if step is not None and step.state != "fresh":  # one that is completed has removed a text
                yield KnowledgeEntry(subject, False, step.state, position=step.position, error=step.error)
            continue
        levels = [level_of(name) for name in record.files]
        state, error = (step.state, step.error) if step else ("fresh", "")
        found = tuple(level for level in ("L0", "L1", "L2") if level in levels)
        yield KnowledgeEntry(subject, True, state, found, levels.count("L2"), record.position, error)
