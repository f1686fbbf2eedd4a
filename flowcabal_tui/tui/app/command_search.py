"""Finds commands by typed letters: names, synonyms and explanations; letters may be left out."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final

from flowcabal_tui.locale import _
from flowcabal_tui.tui.app.commands import PaletteCommand, synonyms

_EXACT, _START, _WORD, _WITHIN, _LETTERS = 100, 80, 60, 40, 10
_EXPLAINED, _PLACE = 0.4, 0.3
"""Weights of the explanation and the place, relative to the title and its synonyms."""
_NEAR, _BOOK, _TEXT = 20, 15, 5
"""Further points: keys of the pane or page with the focus; of the whole workspace; of the writer's own panes."""
_WRITER: Final = frozenset(("Chapters", "Manuscript", "Output"))
_FEW: Final = 3
"""Letters from which on some may be left out."""
_SEARCH_WORDS: Final = Path(__file__).with_name("search_words.toml")


@dataclass(frozen=True, slots=True)
class Searched:
    """The searchable words of a command in lower case; `worth` is added to the score of the match.

    `names` are the titles and the other words, one a line; `parts` are their words, and `signs` their characters.
    """

    command: PaletteCommand
    titles: tuple[str, ...]
    others: tuple[str, ...]
    names: str
    parts: tuple[str, ...]
    signs: frozenset[str]
    explained: str
    place: str
    worth: int


@cache
def _small_words() -> frozenset[str]:
    """The words of a query that say nothing about a command."""
    table: dict[str, str] = tomllib.loads(_SEARCH_WORDS.read_text(encoding="utf-8"))
    return frozenset(table["small"].split())


def searched(command: PaletteCommand, *, is_near: bool = False) -> Searched:
    """Its titles in English and in the language of the screen, its synonyms, its explanation and its place."""
    titles = tuple(dict.fromkeys((_(command.title).casefold(), command.title.casefold(), command.id.casefold())))
    others = tuple(each.strip().casefold() for each in synonyms().get(command.id, "").split("|") if each.strip())
    names = "\n".join((*titles, *others))
    worth = _BOOK if command.owner is None else _NEAR if is_near else _TEXT * (command.place in _WRITER)
    return Searched(
        command,
        titles,
        others,
        names,
        tuple(dict.fromkeys(names.split())),
        frozenset(names),
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
    words = [word for word in query.split(" ") if word not in _small_words()] or query.split(" ")
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
    each = [fits for word in words if (fits := _named(word, row)) >= _WITHIN]
    return sum(each) / len(words) if each and len(each) >= (least or len(words) / 2) else 0


def _best(words: str, row: Searched) -> float:
    """The best fit of these words; of words without blanks between them, such as Chinese ones, also of two parts."""
    whole = _found(words, row)
    if whole or words.isascii() or " " in words:
        return whole
    halves = ((_found(words[:at], row), _found(words[at:], row)) for at in range(1, len(words)))
    return max((min(pair) and sum(pair) * 0.4 for pair in halves), default=0)


def _found(words: str, row: Searched) -> float:
    within = _EXPLAINED * _WITHIN if words in row.explained else 0
    return max(_named(words, row), within, _PLACE * _WITHIN if words in row.place else 0)


def _named(words: str, row: Searched) -> float:
    """Rates the best name: all of it, its start, the start of a word, a part, or the letters of a word in order."""
    if words in row.names:
        return max(_fit(words, name) for name in (*row.titles, *row.others) if words in name)
    if len(words) < _FEW or not words.isascii() or not row.signs.issuperset(words):
        return 0
    return _LETTERS if any(part[0] == words[0] and _in_order(words, part) for part in row.parts) else 0


def _fit(words: str, name: str) -> float:
    """Rates the place of words in a name that has them."""
    if name.startswith(words):
        return _EXACT if words == name else _START
    return _WORD if f" {words}" in name or not words.isascii() else _WITHIN


def _in_order(letters: str, text: str) -> bool:
    """True when the text contains the letters in this order."""
    at = -1
    return all((at := text.find(letter, at + 1)) >= 0 for letter in letters)
