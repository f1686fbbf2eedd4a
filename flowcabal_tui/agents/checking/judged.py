"""The result of a question about a draft: doubts for a second question, and the parts that were not judged."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flowcabal_tui.agents.checking.draft_statements import DraftStatement
from flowcabal_tui.agents.checking.evidence.ranking import Sentence
from flowcabal_tui.agents.checking.pairs import Pair, Pairs
from flowcabal_tui.agents.checking.taxonomy import BY_ANGLE
from flowcabal_tui.agents.context.gather import BookInputs
from flowcabal_tui.agents.shapes.claims import Claims
from flowcabal_tui.domain.errors import FlowCabalError, ModelError, ModelFault
from flowcabal_tui.domain.run import Angle, Quotation
from flowcabal_tui.locale import sentences

log = logging.getLogger(__name__)
_STATEMENT: Final = re.compile(r"\bc\d{1,5}\b")
_PASSAGE: Final = re.compile(r"\bp\d{1,5}\b")


@dataclass(frozen=True, slots=True)
class JudgedDraft:
    """The text to check, with its book. Quotations of the draft point to `uri`."""

    uri: str
    title: str
    text: str
    book: BookInputs
    waived: frozenset[tuple[str, str]]
    start: int = 0
    """The offset of `text` in the whole draft, of which it is a part."""
    evidence: tuple[Sentence, ...] = ()
    """Passages of the chapters on the same subjects, best first; `draft` offsets are in the whole draft."""
    statements: Mapping[int, DraftStatement] = field(default_factory=dict)
    """The statements of the whole draft by their start."""

    def quoted(self, start: int, end: int) -> Quotation:
        """A quotation of this part of the draft, by its offsets in it."""
        return Quotation(self.text[start:end], self.uri, self.start + start, self.start + end, self.title)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Words of a draft and of the book that a judge calls a contradiction.

    A strong one may be shown as sure. One without a `pair` was found by the model itself.
    """

    angles: tuple[Angle, ...]
    draft: Quotation
    source: Quotation
    pair: Pair | None = None
    angle: Angle | None = None
    subtype: str = ""
    explanation: str = ""
    confidence: float = 0.5
    strong: bool = False

    @property
    def is_own(self) -> bool:
        """True for a weak doubt that the model found itself, which cannot be judged again as a pair."""
        return self.pair is None and not self.strong

    @property
    def signature(self) -> tuple[str, str]:
        return self.draft.text, self.source.text


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer to one question about a draft, or about a part of it.

    `unjudged` are statements without a readable verdict, `unread` findings that could not be read, and `unfounded` the
    angles of findings without verbatim quotations. `problem` is the reason why nothing was checked.
    """

    angles: tuple[Angle, ...]
    goal: JudgedDraft | None
    doubts: tuple[Doubt, ...] = ()
    pairs: Pairs = Pairs()
    unjudged: tuple[str, ...] = ()
    unread: int = 0
    unfounded: tuple[Angle, ...] = ()
    is_empty: bool = False
    problem: str = ""

    def covers(self, part: tuple[int, int]) -> bool:
        """True when it judges the part of the draft with this start and length."""
        return self.goal is not None and (self.goal.start, len(self.goal.text)) == part


def judged_pairs(answers: Sequence[Claims], pairs: Pairs) -> tuple[list[Pair], tuple[str, ...]]:
    """The pairs that are called contradictions, and the statements without a readable verdict. Later answers supplement
    earlier ones.

    A statement is judged when it is listed as compatible, when one of its passages has another verdict, or when each of
    its passages has one: `compatible` for one passage of several does not cover the others.
    """
    by_key = {pair.key: pair for pair in pairs.all}
    passages: dict[str, list[str]] = {}
    for statement, passage in by_key:
        passages.setdefault(statement, []).append(passage)
    clashing: dict[tuple[str, str], Pair] = {}
    judged: set[str] = set()
    compatible: dict[str, set[str]] = {}
    for answer in answers:
        judged.update(each for listed in answer.compatible for each in _STATEMENT.findall(listed))
        for statement, passage, verdict in _verdicts(answer, passages):
            if verdict == "compatible":
                compatible.setdefault(statement, set()).add(passage)
                continue
            judged.add(statement)
            if verdict == "contradiction":
                clashing[statement, passage] = by_key[statement, passage]
    judged |= {statement for statement, seen in compatible.items() if seen >= set(passages[statement])}
    return list(clashing.values()), tuple(each for each in passages if each not in judged)


def _verdicts(answer: Claims, passages: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    """Statement, passage and verdict of the pairs in the question; the id of a single passage may be omitted."""
    for verdict in answer.verdicts:
        named = _PASSAGE.findall(verdict.passage)
        for statement in _STATEMENT.findall(verdict.statement):
            known = passages.get(statement, ())
            for passage in named or (known if len(known) == 1 and not verdict.passage.strip() else ()):
                if passage in known:
                    yield statement, passage, verdict.verdict


def of_pair(pair: Pair, goal: JudgedDraft, angles: tuple[Angle, ...]) -> Doubt:
    """The doubt for a pair: the whole statement against the whole passage."""
    statement, source = pair.statement, pair.passage
    draft = Quotation(statement.text, goal.uri, statement.start, statement.end, goal.title)
    book = Quotation(source.text, source.uri, source.start, source.start + len(source.text), source.title)
    return Doubt(angles, draft, book, pair, strong=pair.strong)


def angle_of(named: str, subtype: str, angles: Sequence[Angle]) -> Angle:
    """The angle that a model names; else one that looks for the subtype, or the first."""
    plain = re.sub(r"[^a-z]+", "_", named.strip().lower())
    fitting = (angle for angle in angles if subtype in BY_ANGLE[angle])
    return next((angle for angle in angles if angle == plain), next(fitting, angles[0]))


def problem_words(error: FlowCabalError) -> str:
    """The reason why nothing was checked. The details of an invalid answer go to the log only."""
    if isinstance(error, ModelError) and error.fault is ModelFault.SCHEMA:
        log.warning("a check had no answer: %s %s", error.title, error.detail)
        return error.title
    return sentences(error.title, error.detail)
