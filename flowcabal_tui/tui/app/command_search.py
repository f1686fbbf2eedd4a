"""Finds commands by typed letters: names, synonyms and explanations; letters may be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from flowcabal_tui.locale import _
from flowcabal_tui.tui.app.commands import PaletteCommand, synonyms

_EXACT, _START, _WORD, _WITHIN, _LETTERS = 100, 80, 60, 40, 10
_EXPLAINED, _PLACE = 0.4, 0.3
"""What the explanation and the place count beside the title and its synonyms."""
_NEAR, _BOOK, _TEXT = 20, 15, 5
"""Further points: keys of the pane or page with the focus; of the whole workspace; of the writer's own panes."""
_WRITER: Final = frozenset(("Chapters", "Manuscript", "Output"))
_FEW: Final = 3
"""Letters from which on some may be left out."""
_SMALL: Final = frozenset((
    "a", "an", "the", "my", "this", "that", "is", "was", "in", "on", "of", "to", "for", "from", "it", "i", "how", "can",
))  # fmt: skip
"""Words that say nothing about a command."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The searchable words of a command in lower case; `worth` is added to the score of the match."""

    command: PaletteCommand
    titles: tuple[str, ...]
    others: tuple[str, ...]
    explained: str
    place: str
    worth: int


def searched(command: PaletteCommand, *, is_near: bool = False) -> Searched:
    """Its titles in English and in the language of the screen, its synonyms, its explanation and its place."""
    others = synonyms().get(command.id, "")
    worth = _BOOK if command.owner is None else _NEAR if is_near else _TEXT * (command.place in _WRITER)
    return Searched(
        command,
        tuple(dict.fromkeys((_(command.title).casefold(), command.title.casefold(), command.id.casefold()))),
        tuple(each.strip().casefold() for each in others.split("|") if each.strip()),
        _(command.words).casefold(),
        _(command.place).casefold(),
        worth,
    )


def ranked(typed: str, rows: Sequence[Searched]) -> list[PaletteCommand]:
    """The matching commands, best first; all of them, in order, for an empty query.

    If no command has every word, those with most of them; then those with some two characters of a Chinese query.
    """
    query = " ".join(typed.casefold().split())
    if not query:
        return [row.command for row in rows]
    words = [word for word in query.split(" ") if word not in _SMALL] or query.split(" ")
    pairs = [word[at : at + 2] for word in words if not word.isascii() for at in range(len(word) - 1)]
    for score in (partial(_score, query, words), partial(_part, words), partial(_part, pairs, least=1)):
        scored = [(fits + row.worth, -place, row.command) for place, row in enumerate(rows) if (fits := score(row))]
        if scored:
            return [command for _fits, _place, command in sorted(scored, key=lambda each: each[:2], reverse=True)]
    return []


def _score(query: str, words: Sequence[str], row: Searched) -> float:
    """Rates how well a command matches: the whole query, or else each word of the query somewhere in it.

    0: no match.
    """
    whole = _best(query, row)
    if words == [query]:
        return whole
    each = [_best(word, row) for word in words]
    return max(whole, sum(each) / len(words) * 0.8 if all(each) else 0)


def _part(words: Sequence[str], row: Searched, least: int = 0) -> float:
    """Rates a name that contains some words of the query; 0 for fewer than `least` (0: half of them)."""
    each = [fits for word in words if (fits := max(_fit(word, name) for name in row.titles + row.others)) >= _WITHIN]
    return sum(each) / len(words) if each and len(each) >= (least or len(words) / 2) else 0


def _best(words: str, row: Searched) -> float:
    """The best fit of these words; of words without blanks between them, such as Chinese ones, also of two parts."""
    whole = _found(words, row)
    if whole or words.isascii() or " " in words:
        return whole
    halves = ((_found(words[:at], row), _found(words[at:], row)) for at in range(1, len(words)))
    return max((min(pair) and sum(pair) * 0.4 for pair in halves), default=0)


def _found(words: str, row: Searched) -> float:
    named = max(_fit(words, name) for name in (*row.titles, *row.others))
    within = _EXPLAINED * _WITHIN if words in row.explained else 0
    return max(named, within, _PLACE * _WITHIN if words in row.place else 0)


def _fit(words: str, text: str) -> float:
    """Rates how words match a name: the whole name, its start, the start of a word, a part, or its letters in order."""
    if words not in text:
        return _LETTERS if len(words) >= _FEW and words.isascii() and _has_letters(words, text) else 0
    if text.startswith(words):
        return _EXACT if words == text else _START
    return _WORD if f" {words}" in text or not words.isascii() else _WITHIN


def _has_letters(words: str, text: str) -> bool:
    """True when one word of `text` begins with the first letter of `words` and contains the others in order."""
    first = words[0]
    if not text.startswith(first) and f" {first}" not in text:
        return False
    return any(part[0] == first and _in_order(words, part) for part in text.split())


def _in_order(letters: str, text: str) -> bool:
    """True when the text contains the letters in this order."""
    at = -1
    return all((at := text.find(letter, at + 1)) >= 0 for letter in letters)
