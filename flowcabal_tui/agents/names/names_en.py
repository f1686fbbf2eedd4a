"""English names without a model: capitalised words that are capitalised inside sentences too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flowcabal_tui.agents.names.names_zh import FoundName
from flowcabal_tui.agents.words import alternatives, word_list, word_table, words_of
from flowcabal_tui.domain.memory import EntityKind

_TITLES: Final = f"(?:{'|'.join(words_of('titles.en'))})"
_TITLE: Final = rf"{_TITLES}\.?"
_UPPER: Final = "A-Z\u00c0-\u00d6\u00d8-\u00de"
_LOWER: Final = "a-z\u00df-\u00f6\u00f8-\u00ff"
_WORD: Final = rf"(?:[Dd]['’]|[OL]['’])?(?:Ste?\.\s+)?[{_UPPER}][{_LOWER}]+(?:[-’'][{_UPPER}][{_LOWER}]+)*"
_WORDS: Final = word_table("names", "english")
_PARTICLE: Final = rf"(?:(?:{alternatives(_WORDS['particles'])})\s+)?"
_NAME: Final = re.compile(rf"(?:{_TITLE}\s+{_PARTICLE})?{_WORD}(?:\s+{_PARTICLE}{_WORD})*(?:\s+[IVX]+\b)?")
_ONLY_TITLE: Final = re.compile(rf"(?:{_TITLE}\s*)+")
_LEADING: Final = re.compile(rf"^(?:{_TITLE}\s+)+{_PARTICLE}")
_OF: Final = re.compile(rf"\s(?:{alternatives(_WORDS['joining'])})\s")
_OPENS: Final = frozenset(".!?:;\"'“”‘’—-–(*\n")
_PLACE: Final = re.compile(
    rf"\b(?:{'|'.join(words_of('places.en'))})\b|^(?:{'|'.join(words_of('foreign_places.en'))})\b"
)
_BUILDING: Final = re.compile(rf"\b(?:{alternatives(_WORDS['buildings'])})$")
_WHERE: Final = frozenset(_WORDS["where"].split())
_HUSBAND: Final = re.compile(rf"^(?:{alternatives(_WORDS['men'])})\.?\s")
_ACTS: Final = word_list("acts.en")
_NEXT: Final = re.compile(rf"\s{{1,2}}[{_LOWER}]{{1,20}}\b")
_COMMON: Final = word_list("not_names.en") | word_list("peoples.en")
_OF_A_KIND: Final = re.compile("(?:ese|isms?|shire(?:man|men))$")
"""Endings of words for a people or a doctrine."""
_LEAST: Final = 2
_LEAST_WHERE: Final = 0.15


@dataclass(slots=True)
class _Seen:
    """Counts of capitalised words: inside sentences, at the beginning of sentences, after a word of place, after
    "the", and before a verb of speech or action.
    """

    inside: Counter[str] = field(default_factory=Counter)
    opening: Counter[str] = field(default_factory=Counter)
    where: Counter[str] = field(default_factory=Counter)
    article: Counter[str] = field(default_factory=Counter)
    acting: Counter[str] = field(default_factory=Counter)
    lower: Counter[str] = field(default_factory=Counter)


def english_names(texts: Sequence[str]) -> tuple[FoundName, ...]:
    """Names of one or more capitalised words, only those seen inside sentences; most frequent first."""
    seen = _Seen()
    for text in texts:
        seen.lower.update(re.findall(rf"(?<![\w’'])[{_LOWER}]+\b", text))
        for match in _NAME.finditer(text):
            name, before = " ".join(match[0].split()), text[max(0, match.start() - 12) : match.start()]
            last = before[-2:].strip(" \t")[-1:]
            opens = not last or last in _OPENS
            (seen.opening if opens else seen.inside)[name] += 1
            word = "" if opens else (before.split() or [""])[-1].lower()
            seen.where[name] += word in _WHERE
            seen.article[name] += word == "the"
            seen.acting[name] += (_NEXT.match(text, match.end()) or [""])[0].strip() in _ACTS
    counts = {
        name: seen.inside[name] + seen.opening[name]
        for name in sorted(seen.inside)
        if seen.inside[name] >= _LEAST and _looks_like_a_name(name, seen)
    }
    return tuple(sorted(_grouped(counts, seen), key=lambda each: (-each.count, each.name)))


def _looks_like_a_name(name: str, seen: _Seen) -> bool:
    words = [word for word in name.split() if word != word.lower()]
    bare = [word.rstrip(".") for word in words]
    if bare[0] in {"I", "The", "A", "An"} or _ONLY_TITLE.fullmatch(name):
        return False
    if len(bare) == 1 and _OF_A_KIND.search(bare[0]):
        return False
    if all(word in _COMMON or f"{word}." in _COMMON or word.removesuffix("s") in _COMMON for word in bare):
        return False
    if len(words) == 1:
        return seen.lower[bare[0].lower()] <= seen.inside[name] // 4
    # A phrase in capitals (Post Office) is of common words; a street or a titled person may be as well.
    own = [word for word in bare if not re.fullmatch(_TITLES, word)]
    plain = [word for word in own if seen.lower[word.lower()] > seen.inside[name] or word in _COMMON]
    return len(plain) < len(own) or bool(_PLACE.search(name))


def _grouped(counts: Mapping[str, int], seen: _Seen) -> Iterator[FoundName]:
    """Joins a last word with the only full name that ends in it, and a first word with the only one that begins with
    it.

    Names that differ only by a title (Ralph, Ralph Nickleby, Mr. Ralph Nickleby) are proposed as one.
    """
    parts = {name: _parts(name) for name in counts}
    whole = {name: _whose(name) for name in counts}
    owners: dict[str, set[str]] = {}
    for name in counts:
        if " " in name:
            for part in parts[name]:
                owners.setdefault(part, set()).add(whole[name])
    heads: dict[str, str] = {}
    for name in counts:
        for part in parts[name]:
            if part in counts and part != name and (len(owners[part]) == 1 or _is_his(name, part, counts)):
                heads[name] = part
    groups: dict[str, list[str]] = {}
    for name in counts:
        groups.setdefault(heads.get(name, name), []).append(name)
    for members in groups.values():
        yield _one(members, counts, seen)


def _one(members: Sequence[str], counts: Mapping[str, int], seen: _Seen) -> FoundName:
    """A group of names as one. One that always has an article and never acts is that of a thing: a ship, an inn."""
    ranked = sorted(members, key=lambda name: (-counts[name], name))
    long = [name for name in ranked[1:] if f" {ranked[0]} " in f" {name} "]
    sure = tuple(name for name in ranked[1:] if counts[name] >= _LEAST and (name not in long or len(long) == 1))
    total, at = sum(counts[name] for name in members), sum(seen.where[name] for name in members)
    titled = any(_LEADING.match(name) for name in members)
    place = any(_PLACE.search(name) for name in members) or (not titled and at >= max(_LEAST, _LEAST_WHERE * total))
    is_thing = not titled and all(seen.article[name] == counts[name] and not seen.acting[name] for name in members)
    kind: EntityKind = "location" if place else "item" if is_thing else "character"
    return FoundName(ranked[0], kind, sure, total, tuple(name for name in ranked[1:] if name not in sure))


def _is_his(name: str, part: str, counts: Mapping[str, int]) -> bool:
    """True when the bare name is as frequent as the name with a man's title: it then means him, even in a family."""
    return _LEADING.sub("", name) == part and bool(_HUSBAND.match(name)) and counts[part] >= counts[name]


def _whose(name: str) -> str:
    """The full name without its title, which stays before a single word unless it is a man's."""
    bare = _LEADING.sub("", name)
    return bare if " " in bare or _HUSBAND.match(name) else name


def _parts(name: str) -> tuple[str, ...]:
    """The words by which a name may be shortened: none for a place, the first of "Albert de Morcerf"."""
    if _PLACE.search(name):
        return (name.split()[0],) if _BUILDING.search(name) else ()
    bare = _LEADING.sub("", name)
    words = bare.split()
    if words[0] in ("St.", "Ste.", "Saint"):
        return ()
    if _OF.search(bare):
        return (words[0],) if " of " not in bare else ()
    return (words[0], words[-1]) if len(words) > 1 else tuple(words)
