"""Statements of the narration about things that named people own or receive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.speech import BLANK
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.late_pattern import late

_WORDS: Final = word_table("rules", "possession")
_SAME: Final = word_table("rules", "same")
_KIND: Final = {
    word: kind
    for kind in ("weapon", "mount", "thing")
    for language in ("zh", "en")
    for word in _WORDS[f"{kind}_{language}"].split()
}
_THING_ZH: Final = "|".join(sorted((word for word in _KIND if not word.isascii()), key=lambda word: (-len(word), word)))
_THING_EN: Final = "|".join(sorted((word for word in _KIND if word.isascii()), key=lambda word: (-len(word), word)))
_INNER_ZH: Final = r"[^，。！？；：、的了着把将\n\0]"
_HIS_ZH: Final = rf"(?P<his>{alternatives(_WORDS['his_zh'])})?"
_ONE_ZH: Final = rf"{_HIS_ZH}(?:{alternatives(_WORDS['held_zh'])})?[一两]?(?:{alternatives(_WORDS['measures_zh'])})?"
_WHOLE_ZH: Final = rf"(?P<mark>{_INNER_ZH}{{0,4}}?)(?P<thing>{_THING_ZH})(?![㐀-鿿]?[法手兵])"
_WHOLE_EN: Final = rf"(?P<mark>(?:[a-z][a-z-]+ ){{0,2}})(?P<thing>{_THING_EN})\b(?! [a-z]+(?:er|man)\b)"
_CLAUSE_ZH: Final = r"[^，。！？；：\n\0]{0,6}?"
_CLAUSE_EN: Final = r"[^.,;:!?\n\0]{0,50}?"
_USES_ZH: Final = rf"(?:{alternatives(_WORDS['uses_zh'])})[了着起出开下]?{_ONE_ZH}{_WHOLE_ZH}"
_USES_EN: Final = rf"\b(?:{alternatives(_WORDS['uses_en'])}) (?P<his>his|her) (?:own )?{_WHOLE_EN}"
_GETS_ZH: Final = rf"(?:{alternatives(_WORDS['gets_zh'])})[了着]?{_ONE_ZH}{_WHOLE_ZH}"
_GETS_EN: Final = rf"\b(?:{alternatives(_WORDS['gets_en'])}) (?:the|a|an|(?P<his>his|her)) {_WHOLE_EN}"
_GIVES_ZH: Final = rf"(?:{alternatives(_WORDS['gives_zh'])})[了给与予]{{0,2}}"
_GIVES_EN: Final = rf"\b(?:{alternatives(_WORDS['gives_en'])})"
_REACH: Final = 70

Act = Literal["has", "gets"]


@dataclass(frozen=True, slots=True)
class Belonging:
    """Somebody uses or receives a thing. `mark`: the words that distinguish it from others of its kind."""

    owner: EntityId
    act: Act
    thing: str
    kind: str
    mark: str
    is_own: bool
    """The words say whose it is."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns for belongings in one language."""

    after: tuple[tuple[Act, re.Pattern[str]], ...]
    """Follows the name of an owner."""
    he: re.Pattern[str]
    """An owner who is not named."""
    given: re.Pattern[str]
    """A thing, and a word of giving, before the name of somebody who gets it."""
    gives: re.Pattern[str]
    """A word of giving before such a name; then the thing follows it."""
    then: re.Pattern[str]


_PATTERNS: Final = {
    "zh": _Patterns(
        (
            ("has", late(rf"(?P<his>的){_WHOLE_ZH}")),
            ("has", late(_CLAUSE_ZH + _USES_ZH)),
            ("gets", late(_CLAUSE_ZH + _GETS_ZH)),
        ),
        late(rf"(?:(?<=[，。；：\n])|^)[他她]{_CLAUSE_ZH}{_USES_ZH}", re.MULTILINE),
        late(rf"[把将]{_ONE_ZH}{_WHOLE_ZH}{_INNER_ZH}{{0,3}}?{_GIVES_ZH}\Z"),
        late(rf"{_GIVES_ZH}\Z"),
        late(_ONE_ZH + _WHOLE_ZH),
    ),
    "en": _Patterns(
        (
            ("has", late(rf"(?P<his>[’']s?) (?:own )?{_WHOLE_EN}")),
            ("has", late(f" {_CLAUSE_EN}{_USES_EN}")),
            ("gets", late(f" {_CLAUSE_EN}{_GETS_EN}")),
        ),
        late(rf"\b[HhSs]h?e {_CLAUSE_EN}{_USES_EN}"),
        late(rf"{_GIVES_EN} (?:the|a|an|(?P<his>his|her)) {_WHOLE_EN} to \Z"),
        late(rf"{_GIVES_EN} \Z"),
        late(rf" (?:the|a|an|(?P<his>his|her)) {_WHOLE_EN}"),
    ),
}


def belongings(narrated: NarratedText, book: EarlierBook) -> Sequence[Belonging]:
    """The belongings stated by the narration, in order."""
    patterns = _PATTERNS[narrated.language[:2]]
    found: list[Belonging] = []
    for hit in book.hits(narrated):
        if book.by_id[hit.entity].kind != "character" or narrated.narration[hit.start] == BLANK:
            continue
        given = _gift(narrated, hit.start, hit.end, patterns)
        if given is not None:
            found.append(_belonging(hit.entity, "gets", given, hit.start))
            continue
        for act, pattern in patterns.after:
            match = pattern.match(narrated.narration, hit.end)
            if match and not book.hits_within(narrated, hit.start, match.start("thing")):
                found.append(_belonging(hit.entity, act, match, hit.start))
                break
    for match in patterns.he.finditer(narrated.narration):
        owner = book.subject(narrated, match.start())
        if owner is not None:
            found.append(_belonging(owner, "has", match, match.start()))
    return tuple(sorted(found, key=lambda each: (each.start, each.end)))


def things_of(text: str) -> set[tuple[str, str]]:
    """The kinds of things that a note names, each with the thing."""
    words = re.findall(rf"{_THING_ZH}|\b(?:{_THING_EN})\b", text.lower())
    return {(_KIND[word], _simple(word)) for word in words}


def _gift(narrated: NarratedText, start: int, end: int, patterns: _Patterns) -> re.Match[str] | None:
    first = max(0, start - _REACH, narrated.narration.rfind("\n", 0, start) + 1)
    if given := patterns.given.search(narrated.narration, first, start):
        return given
    return (
        patterns.then.match(narrated.narration, end)
        if patterns.gives.search(narrated.narration, first, start)
        else None
    )


def _belonging(owner: EntityId, act: Act, match: re.Match[str], start: int) -> Belonging:
    thing = match["thing"].lower()
    first, mark = min(start, match.start()), match["mark"].strip().lower()
    return Belonging(owner, act, _simple(thing), _KIND[thing], mark, bool(match["his"]), first, match.end())


def _simple(thing: str) -> str:
    """One word for all things of a kind: a sword is a sword, however long."""
    if not thing.isascii() and _KIND[thing] == "weapon":
        return thing if thing == "匕首" else thing[-1]
    same: str = _SAME.get(thing, thing)
    return same
