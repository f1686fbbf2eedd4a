"""English names without a model: capitalised words that are capitalised inside sentences too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.names.names_zh import FoundName
from flowcabal_tui.agents.words import word_list

_TITLE: Final = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord|Captain|Colonel|Major|General|Count|Countess|Prince|Princess|Madame|Monsieur|"
    r"Mademoiselle|Abb[eé]|King|Queen|Uncle|Aunt|Father|Mother|Brother|Sister|Don|Do[nñ]a)\.?"
)
_WORD: Final = r"[A-Z\u00c0-\u00de][a-z\u00df-\u00ff]+(?:[-’'][A-Z][a-z]+)*"
_NAME: Final = re.compile(rf"(?:{_TITLE}\s+)?{_WORD}(?:\s+(?:(?:de|du|la|von|of the|of)\s+)?{_WORD})*")
_OPENS: Final = frozenset(".!?:;\"'“”‘’—-–(*\n")
_PLACE: Final = re.compile(
    r"\b(?:Street|Square|House|Hall|Inn|Castle|Island|River|Mount|Hill|Court|Park|Road|Bridge|City|Valley|Abbey|Palace|"
    r"Harbour|Bay|Wood|Forest|Village|Tower|Gate|Lane)\b"
)
_COMMON: Final = word_list("not_names.en")
_LEAST: Final = 2


def english_names(texts: Sequence[str]) -> tuple[FoundName, ...]:
    """Names of one or more capitalised words, those seen inside sentences only; most frequent first."""
    inside: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for text in texts:
        lower.update(re.findall(r"\b[a-z]+\b", text))
        for match in _NAME.finditer(text):
            before = text[max(0, match.start() - 2) : match.start()].strip(" \t")[-1:]
            (opening if not before or before in _OPENS else inside)[" ".join(match[0].split())] += 1
    counts = {
        name: inside[name] + opening[name]
        for name in sorted(inside)
        if inside[name] >= _LEAST and _looks_like_a_name(name, inside, opening, lower)
    }
    return tuple(sorted(_grouped(counts), key=lambda each: (-each.count, each.name)))


def _looks_like_a_name(name: str, inside: Counter[str], opening: Counter[str], lower: Counter[str]) -> bool:
    if name.rstrip(".") in _COMMON or name.split()[0] in {"I", "The", "A", "An"}:
        return False
    return " " in name or lower[name.lower()] <= inside[name] // 4


def _grouped(counts: dict[str, int]) -> Iterator[FoundName]:
    """Joins a last word with the full names that end in it, and a first word with the one full name that begins so."""
    heads: dict[str, str] = {}
    parts = {name: _parts(name) for name in counts}
    owners = Counter(part for name in counts if " " in name for part in {*parts[name]})
    for name in counts:
        for part in parts[name]:
            if part in counts and part != name and owners[part] == 1:
                heads[name] = part
    groups: dict[str, list[str]] = {}
    for name in counts:
        groups.setdefault(heads.get(name, name), []).append(name)
    for members in groups.values():
        ranked = sorted(members, key=lambda name: (-counts[name], name))
        place = any(_PLACE.search(name) for name in members)
        yield FoundName(
            ranked[0], "location" if place else "character", tuple(ranked[1:]), sum(counts[name] for name in members)
        )


def _parts(name: str) -> tuple[str, ...]:
    words = re.sub(rf"^{_TITLE}\s+", "", name).split()
    return (words[0], words[-1]) if len(words) > 1 else tuple(words)
