"""A judge that errs on purpose, with known probabilities: its errors test the handling of judgements.

It knows the gold of a row, which no other checker gets, and reads its questions from the request alone.
"""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.model_calls import Answer, ModelEvent, ModelRequest, Usage
from flowcabal_tui.domain.text import digest

T = TypeVar("T", bound=BaseModel)
TRUE: Final = 0.97
"""The probability that a contradiction is called one."""
FALSE: Final = 0.25
"""The probability that an innocent pair is called a contradiction."""
DEFENCE: Final = 0.25
"""The probability that the defence errs."""
AGAIN: Final = 0.5
"""The probability of an error about a pair that was judged wrongly before."""
LEAST_OVERLAP: Final = 0.3
"""Least common share of the shorter of two places for them to count as the same."""
_CONFIDENCE: Final = 0.9
_STATEMENT: Final = re.compile(r'<statement id="(c\d+)"[^>]*?(?: see="([^"]*)")?>')
_PASSAGE: Final = re.compile(r"^(p\d+) \[(\d+)[^\]\n]*\] (.*)$")
_DOUBT: Final = re.compile(r'<doubt id="(d\d+)">\n(.*?)\n</doubt>', re.DOTALL)
_BOOK: Final = re.compile(r'<book chapter="(\d+)">(.*)</book>')


@dataclass(frozen=True, slots=True)
class Gold:
    """The place of a draft that contradicts places of chapters; empty if there is none."""

    span: Span = Span(0, 0)
    sources: tuple[tuple[int, Span], ...] = ()


@dataclass(frozen=True, slots=True)
class _Pair:
    """A pair as it appears in a request."""

    statement: str
    chapter: int
    passage: str


def read_gold(file: Path) -> dict[str, Gold]:
    """The gold of the contradictions in a file, or in a folder of such files, by the id of their row."""
    found = {}
    for each in sorted(file.rglob("*.jsonl")) if file.is_dir() else [file]:
        for line in filter(str.strip, each.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            if row.get("kind") == "contradiction" and row.get("source"):
                places = [row["source"], *row.get("also", ())]
                sources = tuple((place["chapter"], Span(place["start"], place["end"])) for place in places)
                found[row["id"]] = Gold(Span(*row["span"]), sources)
    return found


def is_same(one: Span, other: Span) -> bool:
    """True when two places share at least LEAST_OVERLAP of the shorter one."""
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared >= LEAST_OVERLAP * min(one.end - one.start, other.end - other.start) and shared > 0


@dataclass
class ScriptedJudge:
    """A model for one draft. `statements` are those of the draft by id, `chapters` the texts by number."""

    seed: str
    gold: Gold
    statements: Mapping[str, Span]
    chapters: Sequence[str]
    endpoint: Endpoint = field(default_factory=lambda: Endpoint(model="scripted", base_url="http://127.0.0.1"))
    requests: list[ModelRequest] = field(default_factory=list)
    judged: dict[_Pair, bool] = field(default_factory=dict)
    """True for a pair when the last answer about it was right."""
    found: set[_Pair] = field(default_factory=set)
    """True pairs that the first question called contradictions."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Checkers do not stream."""
        raise NotImplementedError
        yield

    async def answer(self, request: ModelRequest) -> Answer:
        """Checkers ask for structured answers only."""
        raise NotImplementedError

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        """Returns verdicts or readings for everything in the request."""
        self.requests.append(request)
        text = request.messages[1].content
        answer = self._readings(text) if request.purpose == "monitor.defence" else self._verdicts(text)
        value = shape.model_validate(answer)
        return value, Answer(value.model_dump_json(), "stop", Usage(0, 0), "scripted")

    def _verdicts(self, text: str) -> dict[str, Any]:
        verdicts, compatible = [], []
        for statement, passages in _shown(text):
            clashing = [name for name, pair in passages if self._calls_it_one(pair)]
            verdicts += [{"statement": statement, "passage": name, "verdict": "contradiction"} for name in clashing]
            if not clashing:
                compatible.append(statement)
        return {"verdicts": verdicts, "compatible": compatible, "findings": []}

    def _calls_it_one(self, pair: _Pair) -> bool:
        is_one = self.is_true(pair)
        chance = 1 - TRUE if is_one else FALSE
        first = pair not in self.judged
        errs = self._errs(pair, chance)
        if is_one and not errs and first:
            self.found.add(pair)
        return is_one != errs

    def _readings(self, text: str) -> dict[str, Any]:
        return {"readings": [self._reading(name, inner) for name, inner in _DOUBT.findall(text)]}

    def _reading(self, name: str, inner: str) -> dict[str, Any]:
        """A reading of the pair from the previous question; an innocent one quotes words from the texts."""
        statement, book = _STATEMENT.search(inner), _BOOK.search(inner)
        words = html.unescape(book[2]) if book else ""
        chapter = int(book[1]) if book else 0
        pairs = [
            each
            for each in self.judged
            if statement and each.statement == statement[1] and each.chapter == chapter and each.passage in words
        ]
        pair = min(pairs, key=lambda each: abs(2 * words.find(each.passage) + len(each.passage) - len(words)))
        is_contradiction = self.is_true(pair) != self._errs(pair, DEFENCE)
        innocent = {"verdict": "somebody_else", "reading_quote": pair.passage}
        verdict = {"verdict": "contradiction", "confidence": _CONFIDENCE} if is_contradiction else innocent
        return {"doubt": name, "subtype": "appearance mismatch", **verdict}

    def _errs(self, pair: _Pair, chance: float) -> bool:
        """True with the probability of an error; with `AGAIN` if it erred on the pair before."""
        chance = chance if self.judged.get(pair, True) else AGAIN
        key = f"{self.seed} {len(self.requests)} {pair.statement} {pair.chapter} {pair.passage}"
        errs = random.Random(digest(key)).random() < chance
        self.judged[pair] = not errs
        return errs

    def is_true(self, pair: _Pair) -> bool:
        """True when the gold names both places."""
        if not is_same(self.statements[pair.statement], self.gold.span):
            return False
        text = " ".join(self.chapters[pair.chapter - 1].split())
        start = text.find(pair.passage)
        place = Span(start, start + len(pair.passage))
        golden = (
            " ".join(self.chapters[chapter - 1][span.start : span.end].split())
            for chapter, span in self.gold.sources
            if chapter == pair.chapter
        )
        return any(is_same(place, Span(at, at + len(each))) for each in golden if (at := text.find(each)) >= 0)


def _shown(text: str) -> list[tuple[str, list[tuple[str, _Pair]]]]:
    """The statements of a question with their passages, by the ids that both have in it."""
    found: list[tuple[str, list[tuple[str, _Pair]]]] = []
    passages: dict[str, tuple[int, str]] = {}
    for line in text.partition("<statements>")[2].partition("</statements>")[0].splitlines():
        if statement := _STATEMENT.match(line):
            known = [(name, _Pair(statement[1], *passages[name])) for name in (statement[2] or "").split()]
            found.append((statement[1], known))
        elif (passage := _PASSAGE.match(line)) and found:
            passages[passage[1]] = int(passage[2]), html.unescape(passage[3])
            found[-1][1].append((passage[1], _Pair(found[-1][0], *passages[passage[1]])))
    return found
