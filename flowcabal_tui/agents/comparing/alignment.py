"""Aligns the paragraphs of candidates with the beats of a plan, by shared words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import ceil, log
from typing import Final

from flowcabal_tui.domain.comparison import CandidateRow, paragraphs_of
from flowcabal_tui.domain.text import clean

_BEATS: Final = 24
"""Maximum number of beats that are distinguished; the last one includes the rest."""
_GROUP: Final = 3
_GROUPS: Final = 8
"""Maximum number of rows without beats; until then a row has `_GROUP` paragraphs of the longest candidate."""
_DISTANCE: Final = 0.05
"""The penalty of a paragraph at the other end of the text than its beat in the plan."""
_COVERED: Final = 0.2
_OWN_WORDS: Final = 3
"""Least distinctive words of a beat that can be missing: then less than `_COVERED` of these words are in the text."""
_MARK: Final = re.compile(
    r"^\s*(?:[-*+•·]|\(?\d{1,3}[.)、．]|[（(][一二三四五六七八九十\d]+[)）]|[一二三四五六七八九十]+、)\s*"
)
_TITLE: Final = re.compile(r"^\s*#+\s|[:：]\s*$")
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f]{4,}")
_STEM: Final = 5
"""Letters that are compared of an alphabetic word: walked and walking are equal."""


def beats_in(plan: str) -> tuple[str, ...]:
    """The beats of a plan: its list entries, else its paragraphs; () for a plan of a single paragraph."""
    rows = [row for row in clean(plan).splitlines() if row.strip()]
    entries = [_MARK.sub("", row).strip() for row in rows if _MARK.match(row)]
    beats = entries if len(entries) > 1 else [row.strip() for row in rows if not _TITLE.search(row)]
    beats = [each for each in beats if each]
    if len(beats) > _BEATS:
        beats = [*beats[: _BEATS - 1], " ".join(beats[_BEATS - 1 :])]
    return tuple(beats) if len(beats) > 1 else ()


def rows_of(beats: Sequence[str], texts: Sequence[str]) -> tuple[CandidateRow, ...]:
    """A row for each beat; without beats, rows of a few paragraphs, each candidate divided by its length."""
    parts = [paragraphs_of(text) for text in texts]
    if beats:
        columns = [aligned(beats, each) for each in parts]
        count = len(beats)
    else:
        count = min(_GROUPS, max((ceil(len(each) / _GROUP) for each in parts), default=0))
        columns = [_divided(each, count) for each in parts]
    return tuple(
        CandidateRow(
            beats[row] if beats else "",
            tuple(tuple(n for n, at in enumerate(column) if at == row) for column in columns),
        )
        for row in range(count)
    )


def aligned(beats: Sequence[str], paragraphs: Sequence[str]) -> tuple[int, ...]:
    """The beat of each paragraph, in ascending order: the assignment with most shared words."""
    if not paragraphs:
        return ()
    scores = _scores(beats, paragraphs)
    best = [scores[0]]
    back: list[list[int]] = []
    for row in scores[1:]:
        totals, came, top = [], [], 0
        for at, score in enumerate(row):
            if best[-1][at] > best[-1][top]:
                top = at
            totals.append(best[-1][top] + score)
            came.append(top)
        best.append(totals)
        back.append(came)
    at = max(range(len(beats)), key=lambda n: (best[-1][n], -n))
    found = [at]
    for came in reversed(back):
        at = came[at]
        found.append(at)
    found.reverse()
    return _joined(found, [row[at] > 0 for row, at in zip(scores, found, strict=True)])


def _joined(found: list[int], shares: Sequence[bool]) -> tuple[int, ...]:
    """Lets a paragraph that shares no word with its beat continue the one before, unless that skips a beat."""
    joined = list(found)
    for number in range(1, len(found)):
        following = next((found[n] for n in range(number, len(found)) if shares[n]), found[-1])
        if not shares[number] and following <= joined[number - 1] + 1 and any(shares[:number]):
            joined[number] = joined[number - 1]
    return tuple(joined)


def missing_beats(beats: Sequence[str], text: str) -> tuple[int, ...]:
    """The beats (from 0) whose distinctive words are almost all missing in a text."""
    covered, of_beats = terms(text), [terms(beat) for beat in beats]
    often = Counter(term for each in of_beats for term in each)
    found = []
    for number, each in enumerate(of_beats):
        own = {term for term in each if often[term] == 1}
        if len(own) >= _OWN_WORDS and len(own & covered) < _COVERED * len(own):
            found.append(number)
    return tuple(found)


def terms(text: str) -> frozenset[str]:
    """The terms by which two texts are matched: pairs of Han characters, beginnings of longer words."""
    pairs = {run[n : n + 2] for run in _HAN.findall(text) for n in range(len(run) - 1)}
    return frozenset(pairs | {word.lower()[:_STEM] for word in _WORD.findall(text)})


def _scores(beats: Sequence[str], paragraphs: Sequence[str]) -> list[list[float]]:
    """For each paragraph and beat, the share of the beat's words in the paragraph; rare ones count more."""
    of_beats, of_texts = [terms(each) for each in beats], [terms(each) for each in paragraphs]
    in_beats = Counter(term for each in of_beats for term in each)
    in_texts = Counter(term for each in of_texts for term in each)
    weight = {term: log(1 + len(paragraphs) / in_texts[term]) / n for term, n in in_beats.items() if term in in_texts}
    whole = [sum(weight.get(term, 0.0) for term in each) or 1.0 for each in of_beats]
    last, end = max(1, len(beats) - 1), max(1, len(paragraphs) - 1)
    return [
        [
            sum(weight[term] for term in own & each if term in weight) / whole[at]
            - _DISTANCE * abs(at / last - number / end)
            for at, each in enumerate(of_beats)
        ]
        for number, own in enumerate(of_texts)
    ]


def _divided(paragraphs: Sequence[str], count: int) -> tuple[int, ...]:
    """For each paragraph, the part that contains its middle, of `count` parts of equal length."""
    whole = sum(map(len, paragraphs)) or 1
    found, before = [], 0
    for each in paragraphs:
        found.append(min(count - 1, int((before + len(each) / 2) * count / whole)))
        before += len(each)
    return tuple(found)
