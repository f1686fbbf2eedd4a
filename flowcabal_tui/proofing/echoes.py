"""Words repeated soon, and phrases repeated in the book. Verse and formulae are left out."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from flowcabal_tui.domain.proofing import ProofMark
from flowcabal_tui.domain.text import line_around
from flowcabal_tui.proofing.lists import words

_WORD: Final = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")
_LEAST_LETTERS: Final = 7
_NEAR_WORDS: Final = 45
_HAN_RUN: Final = re.compile("[\u4e00-\u9fff]{4,}")
_HAN_WORD: Final = 4
_NEAR_HAN: Final = 120
_TIMES: Final = 3
_CLAUSE: Final = re.compile("[，。；！？：、,.;!?\n ]+")
_VERSE_CLAUSES: Final = (4, 5, 7)
_VERSE_SHARE: Final = 0.7
_SHINGLE_ZH: Final = 14
_SHINGLE_EN: Final = 60
_MOST_PLACES: Final = 3
"""A phrase in more chapters counts as a formula of the book."""
_AT_ONCE: Final = 1_000_000
"""Phrases that are compared at once: 100 MB."""


def english_echoes(text: str) -> Iterator[ProofMark]:
    """Marks the third use within 45 words of a long word that the chapter has nowhere else; names are left out."""
    common = words("en_common.txt")
    places: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    names = set()
    for number, found in enumerate(_WORD.finditer(text)):
        word = found.group()
        if len(word) >= _LEAST_LETTERS and word.lower() not in common:
            if word[0].isupper():
                names.add(word.lower())
            places[word.lower()].append((number, *found.span()))
    for word, at in sorted(places.items()):
        if word not in names and len(at) == _TIMES and at[-1][0] - at[0][0] <= _NEAR_WORDS:
            _number, start, end = at[-1]
            yield ProofMark("echoes", start, end, text[start:end])


def chinese_echoes(text: str) -> Iterator[ProofMark]:
    """Marks the third use within 120 characters of four characters that the chapter has nowhere else; not in verse."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for run in _HAN_RUN.finditer(text):
        for at in range(run.start(), run.end() - _HAN_WORD + 1):
            places[text[at : at + _HAN_WORD]].append(at)
    last = -_NEAR_HAN
    close = sorted((at[-1], word) for word, at in places.items() if len(at) == _TIMES and at[-1] - at[0] <= _NEAR_HAN)
    for at, word in close:
        if at - last > _NEAR_HAN and not is_verse(text[slice(*line_around(text, at))]):
            last = at
            yield ProofMark("echoes", at, at + len(word), word)


def is_verse(paragraph: str) -> bool:
    """True when most clauses of a Chinese paragraph are as long as lines of verse."""
    clauses = [clause.strip("“”‘’「」　") for clause in _CLAUSE.split(paragraph)]
    lengths = Counter(len(clause) for clause in clauses if clause)
    size, count = lengths.most_common(1)[0] if lengths else (0, 0)
    return size in _VERSE_CLAUSES and count >= 3 and count / lengths.total() >= _VERSE_SHARE


def repeats(texts: Mapping[int, str], wanted: Collection[int], *, chinese: bool) -> dict[int, tuple[ProofMark, ...]]:
    """Marks long phrases of the wanted chapters that another chapter contains too, or that occur twice in one.

    `texts` are all chapters by position. The time is proportional to their length.
    """
    size = _SHINGLE_ZH if chinese else _SHINGLE_EN
    again, chapters = _repeated(texts.values(), size, chinese=chinese), defaultdict[str, list[int]](list)
    for position, text in texts.items():
        for at in _starts(text, size, chinese=chinese):
            phrase = text[at : at + size]
            if hash(phrase) in again:
                known = chapters[phrase]
                if known[-1:] != [position] and len(known) <= _MOST_PLACES + 1:
                    known.append(position)
    return {
        position: tuple(_repeats_of(position, texts[position], chapters, size, chinese=chinese)) for position in wanted
    }


def _repeated(texts: Collection[str], size: int, *, chinese: bool) -> frozenset[int]:
    """Hashes of the phrases that occur more than once; few of them in a book are compared at a time, to save memory."""
    hashes = array("q", (hash(text[at : at + size]) for text in texts for at in _starts(text, size, chinese=chinese)))
    parts, again = 1 + len(hashes) // _AT_ONCE, set[int]()
    for part in range(parts):
        seen = set[int]()
        for each in hashes:
            if each % parts == part:
                (again if each in seen else seen).add(each)
    return frozenset(again)


def _repeats_of(
    position: int, text: str, chapters: Mapping[str, Sequence[int]], size: int, *, chinese: bool
) -> Iterator[ProofMark]:
    """The marks of one chapter. `chapters` has the first positions of each phrase that occurs more than once."""
    found: dict[int, list[int]] = {}
    own = set[str]()
    for at in _starts(text, size, chinese=chinese):
        phrase = text[at : at + size]
        if phrase in chapters:
            others = [each for each in chapters[phrase] if each != position] + [0] * (phrase in own)
            if others:
                found[at] = others
            own.add(phrase)
    end = -1
    for here in sorted(found):
        if here <= end:
            continue
        end = here + size
        while end - size + 1 in found:
            end += 1
        is_formula = len(found[here]) > _MOST_PLACES
        if not is_formula and not is_verse(text[slice(*line_around(text, here))]):
            yield ProofMark("repeats", here, end, text[here:end], "", found[here][0])


def _starts(text: str, size: int, *, chinese: bool) -> Iterator[int]:
    """The places where a phrase can begin: anywhere in Chinese, at words in other scripts; none crosses a line end."""
    for line in re.finditer("[^\n]+", text):
        first, last = line.start(), line.end() - size
        if chinese:
            yield from range(first, last + 1)
        else:
            yield from (word.start() for word in _WORD.finditer(text, first, line.end()) if word.start() <= last)
