"""Orders the steps of a reading, and estimates their price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from pydantic import BaseModel

from flowcabal_tui.agents.arcs import StoryArc
from flowcabal_tui.agents.parts import parts_at_most, schema_tokens, space_of
from flowcabal_tui.agents.profile_kinds import BOOK, ProfileKind
from flowcabal_tui.agents.shapes.curation import Line, Overview, ProfileAnswer
from flowcabal_tui.agents.shapes.story import StoryAnswer
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, BootstrapQuote, Entity, TaskKind
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.run import Spend
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.models.bounds import bound_of, output_bound, sent_limit, structured_extra, with_margin
from flowcabal_tui.models.registry import cost
from flowcabal_tui.models.structured import REPAIRS
from flowcabal_tui.project.book.following import tasks
from flowcabal_tui.project.memory.summary_steps import MOST_OF_MANY

CHAPTER_STEPS: Final[tuple[TaskKind, ...]] = ("story", "l1", "l0")
BLOCK: Final = 10
"""Chapters between two states of a profile."""
_PROMPT: Final[dict[TaskKind, int]] = {"story": 4_500, "l1": 1_200, "l0": 1_200, "profile": 2_000, "arc": 2_000}
"""Maximum tokens of a step's question besides the chapter's text or its sources."""
_SOURCES: Final = 5_000
"""Maximum tokens of the passages from which a profile or an arc is written."""
_SHAPES: Final[dict[TaskKind, type[BaseModel]]] = {
    "story": StoryAnswer,
    "l1": Overview,
    "l0": Line,
    "profile": ProfileAnswer,
    "arc": ProfileAnswer,
}
_USUAL_PROMPT: Final[dict[TaskKind, int]] = {"story": 1_000, "l1": 250, "l0": 300, "profile": 450, "arc": 350}
_USUAL_SOURCES: Final = 1_600
_SHARE_NAMED: Final = 4
"""Divisor: the passages of a profile are this part of a short book's text. `_USUAL_PROMPT` and `_USUAL_SOURCES`: as
above, for a usual question."""
_ANSWER: Final[dict[TaskKind, int]] = {"story": 2_000, "l1": 300, "l0": 80, "profile": 800, "arc": 800}
"""Tokens of a usual answer."""
ASKS: Final = frozenset(_PROMPT)
"""Steps that ask a model."""
_READS_CHAPTER: Final = ("story", "l1")
_CALL_SECONDS, _TOKENS_A_SECOND = 2.0, 50.0
_OFFLINE_SECONDS = 0.2
"""A step with the embedded model, which answers at once."""


@dataclass(frozen=True, slots=True)
class Job:
    """The stored state of a reading: its steps are rows of the outbox.

    `steps` counts past and, at most, future steps. `planned` counts the blocks of chapters whose profiles have rows;
    the arcs count as one more.
    """

    id: str
    chapters: tuple[ChapterId, ...]
    steps: int
    max_cost: Decimal | None = None
    planned: int = 0
    state: Literal["running", "paused", "dropped", "done"] = "running"
    reason: str = ""


def undone(rows: Iterable[BackgroundTask]) -> list[BackgroundTask]:
    """The rows that wait or run; failed and cancelled ones block nothing."""
    return [row for row in rows if row.state in ("waiting", "running")]


def ready(rows: Iterable[BackgroundTask], now: float) -> list[BackgroundTask]:
    """The rows that may begin.

    Chapters are read in story order, each is summarised after it was read; profiles and arcs come last, those as of one
    chapter before those as of the next.
    """
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

    return [row for row in left if row.state == "waiting" and row.is_due(now) and may_begin(row)]


def blocks(chapters: Sequence[Chapter]) -> list[Sequence[Chapter]]:
    """Groups of chapters; profiles are written as of the last chapter of each."""
    return [chapters[start : start + BLOCK] for start in range(0, len(chapters), BLOCK)]


def rows_to_come(chapters: int, planned: int, profiles: int, most: int = MOST_OF_MANY) -> list[BackgroundTask]:
    """The highest number of steps that get rows once all chapters were read: profiles of each block, and finally the
    arcs.

    `planned` counts the blocks that already have rows; one more than the number of blocks: the arcs have them too.
    `profiles` is the setting: profiles that a chapter may renew. `most` is the number for a block.
    """
    of_book = -(-chapters // BLOCK)
    sizes = [min(BLOCK, chapters - BLOCK * block) for block in range(planned, of_book)]
    rows = [_row("profile")] * sum(min(most, profiles * size) for size in sizes)
    return rows + [_row("arc")] * of_book if planned <= of_book else []


def _row(kind: TaskKind) -> BackgroundTask:
    return BackgroundTask(0, kind, "", Digest(""), "waiting")


def questions(rows: Iterable[BackgroundTask], arcs: Sequence[StoryArc]) -> Counter[TaskKind]:
    """The questions of each kind, at most: one for each step, but an arc is summarised at each tenth chapter and at its
    end, and may then change the summary of the work."""
    found = Counter(row.kind for row in rows)
    if found["arc"]:
        found["arc"] = max(found["arc"], sum(len(arc.parts()) + 1 + arc.closed for arc in arcs))
    return found


def weight(kinds: Iterable[TaskKind]) -> float:
    """The relative duration of steps, by the length of their answers."""
    return sum(_CALL_SECONDS + _ANSWER.get(kind, 0) / _TOKENS_A_SECOND for kind in kinds)


@dataclass(frozen=True, slots=True)
class Price:
    """The values that price questions. `pace` is in seconds per token, as measured in an earlier reading; None:
    unknown."""

    counter: TokenCounter
    endpoint: Endpoint
    pace: float | None = None


def profiles_due(kinds: Iterable[ProfileKind], names: Iterable[Entity]) -> int:
    """The profiles that a block is likely to make due: of each kind those of the book or of its names."""
    known = Counter(name.kind for name in names)
    of_kinds = (1 if kind.settings.subject == BOOK else known[kind.settings.subject] for kind in kinds)
    return min(MOST_OF_MANY, sum(of_kinds))


def usual_questions(rows: Iterable[BackgroundTask], arcs: Sequence[StoryArc]) -> Counter[TaskKind]:
    """The questions that are likely: an arc is due only where it ends or has ten more chapters."""
    found = Counter(row.kind for row in rows)
    found["arc"] = min(found["arc"], sum(len(arc.parts()) + arc.closed for arc in arcs))
    return found


def likely(counts: Counter[TaskKind], lengths: Sequence[int], price: Price, sources: int = _USUAL_SOURCES) -> Spend:
    """The likely price of questions, whose `counts` are by kind. `lengths` are the tokens of the chapters, `sources`
    those of the passages of a profile.

    The reading of a chapter gives its overview and its line too, unless its answer cannot be whole; in parts it gives
    no line. Answers have their usual length; where the endpoint's limit cuts them, another question gets the rest.
    """
    counts, space = Counter(counts), space_of(price.endpoint)
    for kind in ("l1", "l0"):
        counts[kind] = max(0, counts[kind] - counts["story"])
    for length, times in _texts("story", counts["story"], lengths):
        cut = _ANSWER["story"] > (1 + REPAIRS) * output_bound(price.endpoint, None)
        counts["l1"] += times * cut
        counts["l0"] += times * (cut or parts_at_most(length, _USUAL_PROMPT["story"], space) > 1)
    calls = sent = received = 0
    for kind, number in counts.items():
        answer, question = (
            _ANSWER[kind],
            _USUAL_PROMPT[kind] + schema_tokens(_SHAPES[kind], price.counter, price.endpoint),
        )
        limit = sent_limit(price.endpoint, None) or answer
        tries, answer = min(1 + REPAIRS, -(-answer // limit)), min(answer, limit)
        for length, times in _texts(kind, number, lengths, sources):
            parts = parts_at_most(length, question, space) if kind != "l0" else 1
            calls += parts * tries * times
            sent += (tries * (parts * question + length) + parts * answer * tries * (tries - 1) // 2) * times
            received += parts * tries * answer * times
    spent = cost(price.endpoint, Usage(sent, received, 0, sent))  # assumes no savings by a cache
    return Spend(calls, sent, received, spent)


def at_most(counts: Counter[TaskKind], lengths: Sequence[int], price: Price) -> tuple[Spend, Spend]:
    """The highest price, and that of the dearest call: with every part, repair and repetition after a failed call, and
    answers of the greatest length."""
    endpoint, counter, space = price.endpoint, price.counter, space_of(price.endpoint)
    out, tries = output_bound(endpoint, None), (1 + REPAIRS) * (1 + endpoint.retries)
    most = dearest = Spend()
    for kind, number in counts.items():
        extra = structured_extra(counter, endpoint, _SHAPES[kind])
        for length, times in _texts(kind, number, lengths):
            parts = parts_at_most(with_margin(counter, length), _PROMPT[kind], space) if kind != "l0" else 1
            prompt = _PROMPT[kind] + length
            sent = with_margin(counter, (prompt if space is None or parts == 1 else min(prompt, space)) + extra)
            one = bound_of(endpoint, sent, out)
            call = Spend(1, one.input_tokens, one.output_tokens, one.cost)
            most = most.plus(call.times(parts * tries * times))
            dearest = max(dearest, call, key=lambda each: each.tokens)
    return most, dearest


def _texts(kind: TaskKind, number: int, lengths: Sequence[int], sources: int = _SOURCES) -> Iterator[tuple[int, int]]:
    """The lengths of the texts of a number of questions, and how many have each length."""
    if kind not in _READS_CHAPTER or not lengths:
        yield sources if kind in ("profile", "arc") else 0, number
        return
    known = sorted(lengths, reverse=True)
    yield from Counter(known[:number]).items()
    if number > len(known):
        yield known[0], number - len(known)


def quote(
    counts: Counter[TaskKind], usual_counts: Counter[TaskKind], lengths: Sequence[int], price: Price
) -> BootstrapQuote:
    """The quote of a reading, for the most and the usual questions; `lengths` are the tokens of its chapters."""
    sources = min(_USUAL_SOURCES, sum(lengths) // _SHARE_NAMED or _USUAL_SOURCES)
    usual, most = likely(usual_counts, lengths, price, sources), at_most(counts, lengths, price)[0]
    tokens = usual.input_tokens + usual.output_tokens
    seconds = None if price.pace is None else price.pace * tokens
    return BootstrapQuote(
        chapters=len(lengths),
        calls=most.calls,
        input_tokens=most.input_tokens,
        output_tokens=most.output_tokens,
        cost=most.cost,
        currency=price.endpoint.currency,
        seconds=_OFFLINE_SECONDS * usual.calls if price.endpoint.provider == "offline" else seconds,
        likely_calls=usual.calls,
        likely_tokens=tokens,
        likely_cost=usual.cost,
    )


def first_rows(chapters: Sequence[Chapter]) -> list[BackgroundTask]:
    """The steps that read each chapter."""
    return [
        task for chapter in chapters for task in tasks(CHAPTER_STEPS, chapter.id, source(chapter), chapter.position)
    ]


def source(chapter: Chapter) -> Digest:
    """A digest that differs from that of the steps by rule, which these replace."""
    return digest_of(["by model", chapter.digest])
