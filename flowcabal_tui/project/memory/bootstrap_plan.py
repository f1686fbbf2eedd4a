"""Which step of a reading may begin, and what all of them would take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from flowcabal_tui.agents.curation.arcs import LONGEST, STEP
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapQuote, TaskKind
from flowcabal_tui.domain.model_calls import Endpoint, Usage
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.models.registry import cost
from flowcabal_tui.project.book.curation import tasks
from flowcabal_tui.project.memory.summary_steps import MOST_OF_MANY

CHAPTER_STEPS: Final[tuple[TaskKind, ...]] = ("story", "l1", "l0")
BLOCK: Final = 10
"""Chapters between two states of a profile."""
_PROMPT: Final[dict[TaskKind, int]] = {"story": 4_000, "l1": 1_200, "l0": 1_200, "profile": 7_000, "arc": 7_000}
"""Tokens of a step's question at most, beside the chapter's text."""
_ANSWER: Final[dict[TaskKind, int]] = {"story": 2_000, "l1": 800, "l0": 80, "profile": 800, "arc": 800}
"""Tokens of a usual answer."""
_READS_CHAPTER: Final = ("story", "l1")
_CALL_SECONDS, _TOKENS_A_SECOND = 2.0, 50.0
_OFFLINE_SECONDS = 0.2
"""A step with the embedded model, which answers at once."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is kept of a reading: its steps are rows of the outbox.

    `steps` counts all that there were and, at most, will be. `planned` counts the blocks of chapters whose profiles
    have their rows, and the arcs as one more.
    """

    id: str
    chapters: tuple[ChapterId, ...]
    steps: int
    max_cost: Decimal | None = None
    planned: int = 0
    state: Literal["running", "paused", "dropped", "done"] = "running"
    reason: str = ""


def undone(rows: Iterable[BackgroundTask]) -> list[BackgroundTask]:
    """Those that wait or run; what failed or was cancelled holds up nothing."""
    return [row for row in rows if row.state in ("waiting", "running")]


def ready(rows: Iterable[BackgroundTask], now: float) -> list[BackgroundTask]:
    """Those that may begin: chapters are read in story order, each is summarised when it was read; profiles and arcs
    come last, those as of one chapter before those as of the next."""
    left = undone(rows)
    of_chapter = {(row.kind, row.position) for row in left}
    reading = min((row.position for row in left if row.kind == "story"), default=None)
    in_chapters = any(row.kind in CHAPTER_STEPS for row in left)
    first: dict[TaskKind, int] = {}
    for row in left:
        first[row.kind] = min(first.get(row.kind, row.position), row.position)

    def may_begin(row: BackgroundTask) -> bool:
        if row.kind == "story":
            return row.position == reading
        if row.kind in CHAPTER_STEPS:
            before = CHAPTER_STEPS[: CHAPTER_STEPS.index(row.kind)]
            return not any((kind, row.position) in of_chapter for kind in before)
        return not in_chapters and row.position == first[row.kind]

    return [row for row in left if row.state == "waiting" and row.not_before <= now and may_begin(row)]


def blocks(chapters: Sequence[Chapter]) -> list[Sequence[Chapter]]:
    """Chapters as of whose last one profiles are written."""
    return [chapters[start : start + BLOCK] for start in range(0, len(chapters), BLOCK)]


def rows_to_come(chapters: int, planned: int) -> list[BackgroundTask]:
    """Steps that get their rows when all chapters were read, at most: profiles of each block, and at last the arcs.

    `planned` of the blocks have theirs already; one more than there are blocks: the arcs have them too.
    """
    of_book = -(-chapters // BLOCK)
    profiles = [_row("profile")] * MOST_OF_MANY * max(0, of_book - planned)
    return profiles + [_row("arc")] * of_book if planned <= of_book else []


def _row(kind: TaskKind) -> BackgroundTask:
    return BackgroundTask(0, kind, "", Digest(""), "waiting")


def calls_at_most(rows: Iterable[BackgroundTask]) -> Counter[TaskKind]:
    """A call for each step, but for arcs, which are told once for each tenth chapter, at their end and in the whole."""
    calls = Counter(row.kind for row in rows)
    calls["arc"] *= LONGEST // STEP + 1
    return calls


def weight(kinds: Iterable[TaskKind]) -> float:
    """How long steps take, against each other: as their answers."""
    return sum(_CALL_SECONDS + _ANSWER.get(kind, 0) / _TOKENS_A_SECOND for kind in kinds)


def quote(chapters: int, calls: Counter[TaskKind], text_tokens: int, endpoint: Endpoint) -> BootstrapQuote:
    """`text_tokens` is the length of all chapters together; those that are left are taken to be as long as the mean."""
    mean = text_tokens / max(1, chapters)
    sent = sum(_PROMPT.get(kind, 0) * n for kind, n in calls.items())
    sent += round(mean * sum(calls[kind] for kind in _READS_CHAPTER))
    received = sum(_ANSWER.get(kind, 0) * n for kind, n in calls.items())
    one_by_one = weight(["story"]) * calls["story"]
    side_by_side = weight(calls.elements()) / endpoint.concurrency
    return BootstrapQuote(
        chapters=chapters,
        calls=sum(calls.values()),
        input_tokens=sent,
        output_tokens=received,
        cost=cost(endpoint, Usage(sent, received, 0, sent)),  # no cache is taken to help
        currency=endpoint.currency,
        seconds=_OFFLINE_SECONDS * calls.total() if endpoint.provider == "offline" else max(one_by_one, side_by_side),
    )


def first_rows(chapters: Sequence[Chapter]) -> list[BackgroundTask]:
    """The steps that read each chapter."""
    return [
        task for chapter in chapters for task in tasks(CHAPTER_STEPS, chapter.id, source(chapter), chapter.position)
    ]


def source(chapter: Chapter) -> Digest:
    """Another than that of the steps by rule, whose place they take."""
    return digest_of(["by model", chapter.digest])
