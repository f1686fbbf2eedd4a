"""Reads a stretch of text by rule: its words, and the kinds of things that it mentions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from operator import concat
from typing import Final, Literal

import ahocorasick

from flowcabal_tui.agents.context.unknown_names import EMPTY_HAN
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.agents.words import alternatives, word_groups, word_list, word_table
from flowcabal_tui.domain.manuscript import Span

_COUNTED: Final = "+"
"""Ends the name of a group whose words count only after a number."""
_NUMBER_BEFORE: Final = re.compile(r"[零〇一二三四五六七八九十百千万两几半数廿卅\d][来余多]?个?\Z")
_BEFORE: Final = 3
"""Characters before a unit in which its number ends."""
_HAN_RUN: Final = re.compile(r"[〇一-鿿]{2,}")
_WORD_EN: Final = re.compile(r"[a-zÀ-ɏ]+")
_CLAUSE: Final = re.compile(r"[，；：,;:]+[”’」』)\"]*")
_LONGEST: Final = {"zh": 80, "en": 300}
_SHORTEST: Final = {"zh": 30, "en": 90}
_LEAST_WORD: Final = 3
_NAME, _DEATH = "name", "death"
_NUMBER_ZH: Final = "[零〇一二三四五六七八九十百千万两几半廿卅0-9]{1,12}"
_NUMBERS: Final = word_table("rules", "numbers")
_NUMBERS_EN: Final = re.compile(
    rf"\b(?:{alternatives(_NUMBERS['small_en'])}|{alternatives(_NUMBERS['large_en'])}|[0-9][0-9,]{{0,11}})\b"
)
_DENIALS: Final = word_table("rules", "denials")
_MARKS_ZH: Final = re.compile(f"[{_DENIALS['zh']}]")
_MARKS_EN: Final = re.compile(rf"\b(?:{alternatives(_DENIALS['en'])})\b")
"""Words outside the kinds (sides, negations) that make otherwise equal sentences differ."""
Comparison = Literal["differ", "more", "same", "none"]


@dataclass(frozen=True, slots=True)
class SentenceContent:
    """The content of a sentence: its words by kind of thing, and its numbers."""

    words: Mapping[str, frozenset[str]]
    numbers: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    """Sides and negations."""
    kinds: frozenset[str] = frozenset()
    """The kinds that it has words of."""

    def compared(self, book: SentenceContent) -> Comparison:
        """Compares a statement with a sentence of the book.

        differ: both have words of one kind, numbers, sides or denials that the other lacks; or the book tells a death.
        more: only one of them has. same: both have the same. none: they share no kind. Names differ by words that no
        list has.
        """
        if self.numbers and book.numbers and self.numbers != book.numbers:
            return "differ"
        kinds = self.kinds & book.kinds
        if (_DEATH in book.kinds and _DEATH not in self.kinds) or _NAME in kinds:
            return "differ"
        if not kinds:
            return "none"
        pairs = [(self.marks, book.marks), *((self.words[kind], book.words[kind]) for kind in kinds)]
        if any(one - other and other - one for one, other in pairs):
            return "differ"
        return "same" if all(one == other for one, other in pairs) else "more"


class TextReader:
    """Reads texts of one language."""

    def __init__(self, language: str) -> None:
        self.language = "zh" if language.startswith("zh") else "en"
        self.groups = word_groups(f"kinds.{self.language}")
        """The words that speak of each kind of thing."""
        self.usual = _LONGEST[self.language] / 2
        """Characters of a sentence of usual length."""

    def words(self, text: str) -> frozenset[str]:
        """Pairs of characters, or stems of words, without those that every text has."""
        if self.language == "zh":
            pairs = chain.from_iterable(map(str.__add__, run, run[1:]) for run in _HAN_RUN.findall(text))
            return frozenset(pair for pair in pairs if EMPTY_HAN.isdisjoint(pair))
        empty = _empty()
        return frozenset(stem(word) for word in _words_en(text) if word not in empty)

    def words_among(self, text: str, known: frozenset[str]) -> frozenset[str]:
        """The known words that a text contains."""
        if self.language == "zh":
            return known.intersection(map(concat, text, text[1:]))
        return known.intersection([stem(word) for word in _words_en(text)])

    def forms(self, text: str) -> dict[str, frozenset[str]]:
        """The words of a text, each with the forms that the index of words may have."""
        if self.language == "zh":
            return {word: frozenset([word]) for word in self.words(text)}
        wanted, forms = self.words(text), defaultdict[str, set[str]](set)
        for form in set(_WORD_EN.findall(text.lower())):
            forms[stem(form)] |= {form, stem(form)}
        return {word: frozenset(forms[word]) for word in wanted}

    def content(self, text: str) -> SentenceContent:
        """The content of a text: the kinds of things that it mentions, with their words, and its numbers."""
        words: defaultdict[str, set[str]] = defaultdict(set)
        if self.language == "zh":
            for end, (start, kind, counted) in _kinds_zh().iter(text):
                if not counted or _NUMBER_BEFORE.search(text, max(0, end + start - _BEFORE), end + start):
                    words[kind].add(text[end + start : end + 1])
            numbers, marks = _counted_zh().findall(text), _MARKS_ZH.findall(text)
        else:
            known, lower = _kinds_en(), text.lower()
            for word in set(_WORD_EN.findall(lower)):
                for kind in known.get(word, ()):
                    words[kind].add(word)
            numbers, marks = _NUMBERS_EN.findall(lower), _MARKS_EN.findall(lower)
        sets = {kind: frozenset(each) for kind, each in words.items()}
        return SentenceContent(sets, frozenset(numbers), frozenset(marks), frozenset(sets))

    def units(self, text: str, start: int = 0) -> tuple[Span, ...]:
        """Sentences, long ones in clauses, short ones joined within a paragraph; offsets count from `start`."""
        least, found = _SHORTEST[self.language], list[Span]()
        for span in sentences(text):
            for piece in _clauses(text, span, _LONGEST[self.language]):
                before = found[-1] if found else None
                if before and before.end - before.start < least and "\n" not in text[before.end : piece.start]:
                    found[-1] = Span(before.start, piece.end)
                else:
                    found.append(piece)
        return tuple(Span(start + each.start, start + each.end) for each in found)


@lru_cache(20_000)
def stem(word: str) -> str:
    """An English word without its commonest endings; the stem need not be a word."""
    for ending, rest in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + rest
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _clauses(text: str, span: Span, longest: int) -> Iterator[Span]:
    if span.end - span.start < longest:
        yield span
        return
    start = span.start
    ends = [match.end() for match in _CLAUSE.finditer(text, span.start, span.end)]
    for end in (*ends, span.end):
        if end - start >= longest or end == span.end:
            if end > start:
                yield Span(start, end)
            start = end


@cache
def _empty() -> frozenset[str]:
    return word_list("empty.en") | word_list("empty_short.en")


@cache
def _kinds_zh() -> ahocorasick.Automaton:
    """An automaton that finds the words, each with its start, its kind, and whether it counts only after a number.

    A word of two kinds belongs to the first.
    """
    words: dict[str, tuple[int, str, bool]] = {}
    for kind, group in word_groups("kinds.zh").items():
        for word in group:
            words.setdefault(word, (1 - len(word), kind.removesuffix(_COUNTED), kind.endswith(_COUNTED)))
    automaton = ahocorasick.Automaton()
    for word, value in words.items():
        automaton.add_word(word, value)
    automaton.make_automaton()
    return automaton


@cache
def _counted_zh() -> re.Pattern[str]:
    """A number before one of the words that count only after a number."""
    words = (each for kind, group in word_groups("kinds.zh").items() if kind.endswith(_COUNTED) for each in group)
    units = "|".join(sorted(map(re.escape, set(words)), key=lambda word: (-len(word), word)))
    return re.compile(rf"{_NUMBER_ZH}(?={units})")


@cache
def _kinds_en() -> dict[str, tuple[str, ...]]:
    known: defaultdict[str, list[str]] = defaultdict(list)
    for kind, group in word_groups("kinds.en").items():
        for word in group:
            known[word].append(kind)
    return {word: tuple(kinds) for word, kinds in known.items()}


def _words_en(text: str) -> list[str]:
    return [word for word in _WORD_EN.findall(text.lower()) if len(word) >= _LEAST_WORD]
