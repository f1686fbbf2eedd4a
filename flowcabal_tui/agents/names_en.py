"""English names without a model: capitalised words that are capitalised inside sentences too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.names_zh import FoundName

_TITLE: Final = r"(?:Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord|Captain|Colonel|Major|General|Count|Countess|Prince|Princess|Madame|Monsieur|Mademoiselle|Abb[eé]|King|Queen|Uncle|Aunt|Father|Mother|Brother|Sister|Don|Do[nñ]a)\.?"
_WORD: Final = r"[A-Z\u00c0-\u00de][a-z\u00df-\u00ff]+(?:[-’'][A-Z][a-z]+)*"
_NAME: Final = re.compile(rf"(?:{_TITLE}\s+)?{_WORD}(?:\s+(?:(?:de|du|la|von|of the|of)\s+)?{_WORD})*")
_OPENS: Final = frozenset(".!?:;\"'“”‘’—-–(*\n")
_PLACE: Final = re.compile(
    r"\b(?:Street|Square|House|Hall|Inn|Castle|Island|River|Mount|Hill|Court|Park|Road|Bridge|City|Valley|Abbey|Palace|Harbour|Bay|Wood|Forest|Village|Tower|Gate|Lane)\b"
)
_COMMON: Final = frozenset(
    "I The A An And But Or If It He She They We You This That These Those There Here What When Where Who Why How Which Yes No Oh Ah O "
    "Not Now Then So As At In On Of For To From With Without By My Your His Her Our Their Its One Two Three God Heaven Lord Sir Madam "
    "Chapter Part Book Volume Mr Mrs Miss Dr Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June "
    "July August September October November December English French German Latin Christian Christmas Easter Well Good Come Let Do Did Is "
    "Was Are Were Has Have Had Will Would Shall Should Could Can May Might Must Be Every All Some Any Nothing Never Always Perhaps "
    "Monsieur Madame Mademoiselle Count King Queen Prince Captain Colonel General Majesty Excellency Highness Street".split()
)
_LEAST: Final = 3


def english_names(texts: Sequence[str]) -> tuple[FoundName, ...]:
    """Names of one or more capitalised words, those seen inside sentences only; most frequent first."""
    inside: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for text in texts:
        lower.update(re.findall(r"\b[a-z]+\b", text))
        for match in _NAME.finditer(text):
            before = text[: match.start()].rstrip(" \t")[-1:] if match.start() < 3 else text[match.start() - 2 : match.start()].strip(" \t")[-1:]
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
    for name in counts:
        for part in _parts(name):
            owners = [full for full in counts if " " in full and part in _parts(full)]
            if part in counts and part != name and len(owners) == 1:
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
