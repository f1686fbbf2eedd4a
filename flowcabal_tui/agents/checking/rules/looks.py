"""Rule: a person looks different from an earlier description; colours, lengths and shapes exclude each other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.checking.rules.values import NarratedValue, clashes, same_person
from flowcabal_tui.agents.words import word_table
from flowcabal_tui.locale import _

_LEAST: Final = 3.7
_TOKEN: Final = re.compile(r"[\w’-]+|[,;:.!?—]")
_BEFORE: Final = 90
_PHRASE: Final = {"build": 5}
_LONGER_PHRASE: Final = 12
"""Words from an article to a quality of the whole person, and of a part of the body, at most."""
_ENDS: Final = frozenset([*";:.!?—", *word_table("rules", "looks")["definite_en"].split()])
_SOMEBODY: Final = frozenset(word_table("rules", "looks")["somebody_en"].split())
_IS: Final = frozenset(word_table("rules", "looks")["is_en"].split())


@dataclass(frozen=True, slots=True)
class _Looks:
    """The words of one language, compiled."""

    parts: dict[str, str]
    """Part by its word."""
    alone: dict[str, str]
    """Quality by a word that needs no part."""
    qualities: dict[str, str]
    near: frozenset[frozenset[str]]
    scales: dict[str, frozenset[str]]
    """The scales of the qualities that each part may have."""
    between: re.Pattern[str]
    """The text between a quality and its part."""
    after: re.Pattern[str]
    """The text between a part and its quality."""
    word: re.Pattern[str]
    """Finds all of them."""


@cache
def _looks(language: str) -> _Looks:
    table = tomllib.loads(Path(__file__).with_name("looks.toml").read_text(encoding="utf-8"))[language]
    parts = {word: part for part, words in table["parts"].items() for word in words.split()}
    alone = {word: quality for quality, words in table["alone"].items() for word in words.split()}
    qualities = {word: quality for quality, words in table["qualities"].items() for word in words.split()}
    every = sorted({*parts, *alone, *qualities}, key=lambda word: (-len(word), word))
    edge = r"\b" if language == "en" else ""
    pattern = re.compile(edge + "(?:" + "|".join(map(re.escape, every)) + ")" + edge, re.IGNORECASE)
    near = frozenset(frozenset(pair) for pair in table["near"])
    scales = {part: frozenset(words.split()) for part, words in table["scales"].items()}
    between, after = re.compile(table["between"], re.IGNORECASE), re.compile(table["after"], re.IGNORECASE)
    return _Looks(parts, alone, qualities, near, scales, between, after, pattern)


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per part of the body."""
    looks = _looks(book.language[:2])

    def disagree(now: frozenset[str], before: frozenset[str]) -> bool | None:
        if now & before:
            return False
        return True if any(_exclude(one, other, looks) for one in now for other in before) else None

    seen = set()
    for clash in clashes(draft, book, appearances, disagree, _LEAST, same_person):
        if clash.value.part not in seen and not _of_a_stranger(draft, clash.value):
            seen.add(clash.value.part)
            message = _("This contradicts how the book described it before.")
            yield clash.finding("appearance mismatch", message)


def _of_a_stranger(narrated: NarratedText, value: NarratedValue) -> bool:
    """True when an English sentence introduces somebody new: "a stout man", but not "he was a stout man"."""
    tokens = _TOKEN.findall(narrated.narration[max(0, value.start - _BEFORE) : value.start].lower())
    has_part = value.part == "build"
    for number in range(1, min(len(tokens), _PHRASE.get(value.part, _LONGER_PHRASE)) + 1):
        token = tokens[-number]
        if token in _SOMEBODY:
            return has_part and (number == len(tokens) or tokens[-number - 1] not in _IS)
        if token in _ENDS:
            return False
        has_part = has_part or token in ("with", "in")
    return False


def _exclude(one: str, other: str, looks: _Looks) -> bool:
    same_scale = one.partition(".")[0] == other.partition(".")[0]
    return same_scale and one != other and frozenset((one, other)) not in looks.near


def appearances(narrated: NarratedText) -> Sequence[NarratedValue]:
    """Parts of the body with their qualities, and words that imply both."""
    looks = _looks(narrated.language[:2])
    found: list[NarratedValue] = []
    last: tuple[str, int, int] | None = None
    pending: list[tuple[str, int, int]] = []
    for match in looks.word.finditer(narrated.narration):
        word = match[0].lower()
        if word in looks.alone:
            found.append(NarratedValue("build", frozenset([looks.alone[word]]), *match.span()))
        elif word in looks.parts:
            last = looks.parts[word], *match.span()
            near, at = [], match.start()
            for quality, start, end in reversed(pending):
                if looks.between.fullmatch(narrated.narration, end, at) and _fits(quality, last[0], looks):
                    near.append(quality)
                    at = start
            pending = []
            if near:
                found.append(NarratedValue(last[0], frozenset(near), at, match.end()))
        else:
            quality = looks.qualities[word]
            if (
                last
                and looks.after.fullmatch(narrated.narration, last[2], match.start())
                and _fits(quality, last[0], looks)
            ):
                found.append(NarratedValue(last[0], frozenset([quality]), last[1], match.end()))
            pending.append((quality, *match.span()))
    return tuple(found)


def _fits(quality: str, part: str, looks: _Looks) -> bool:
    return quality.partition(".")[0] in looks.scales[part]
