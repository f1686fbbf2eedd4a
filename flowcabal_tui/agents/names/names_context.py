"""Finds more Chinese names from the book itself: words with the same neighbours as certain names.

Names with speech are certain. The characters that are more frequent before and after them than anywhere else show which
other groups of two to four characters are used like a name (a bootstrap; no model, no dictionary). This finds names
that never speak, and ones that occur three times in a million characters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.names.occurrences import occurrences, outermost
from flowcabal_tui.agents.words import word_list, word_table

_LEAST: Final = 2
_LEAST_LIKE: Final = {2: (0.7, -0.3), 3: (1.15, 0.1), 4: (0.3, -0.5)}
_LEAST_LIKE_OF_A_FAMILY: Final = 0.55
_LEAST_LIKE_IF_FREQUENT: Final = 0.2
_FREQUENT: Final = 30
"""Occurrences from which a cohesive name with a surname needs only `_LEAST_LIKE_IF_FREQUENT`. By length, `_LEAST_LIKE`
has the least score of both sides, and that of the weaker side."""
_CREDIT: Final = 0.12
_USUALLY_BOUND: Final = 5.0
_MOST_BOUND: Final = 11.0
"""Maximum cohesion that counts: cohesive characters are a little more like a name."""
_DOUBT: Final = 1.0
"""Added to the number of occurrences: one further, neutral occurrence of every candidate."""
_BUNCHED: Final = 0.5
_LEAST_BUNCHED: Final = 1.8
_FEW_OF: Final = 3
"""Names cluster in chapters: for a candidate in at most one of this many chapters, the logarithm of its mentions per
chapter is added."""
_STRONGEST: Final = 2.5
_PRIOR: Final = 20.0
_ENOUGH: Final = 3
_LEAST_BOUND: Final = 2.0
_LEAST_UNSURE: Final = 4
"""Least occurrences of three characters that neither begin with a surname nor end in a form of address."""
_MOSTLY: Final = 0.5
_NEARLY_ALL: Final = 0.7
_LONGEST: Final = 4
"""Maximum characters of a name; one of this length must end in a form of address (金角大王)."""
_LEAST_BEARERS: Final = 2
ADDRESS: Final = word_list("address.zh")
_SETS: Final = word_table("characters", "context")
_SHORT_ADDRESS: Final = _SETS["short_address"]
_IS_ADDRESSED: Final = re.compile(rf"(?={'|'.join(sorted(each for each in ADDRESS if len(each) == 2))})")
DOUBTFUL: Final = word_list("doubtful_surnames.zh")
"""Surnames that are common words too."""
_TAILS: Final = frozenset(_SETS["tails"])
_GRAM: Final = {size: re.compile(rf"[\u3007\u4e00-\u9fff]{{{size}}}") for size in (2, 3, 4)}


@dataclass(slots=True)
class _Seen:
    count: int = 0
    chapters: int = 0
    latest: int = -1
    before: float = 0.0
    behind: float = 0.0


def names_like(
    texts: Sequence[str],
    sure: Mapping[str, int],
    surnames: Collection[str],
    looks_like_a_name: re.Pattern[str],
) -> dict[str, int]:
    """Other names of two to four characters and their counts in the `texts` of the chapters.

    `sure` are names with their counts; if there are too few, nothing is learned. `looks_like_a_name` must match a
    candidate as a whole.
    """
    if len(sure) < _ENOUGH:
        return {}
    book = "\n".join(texts)
    before, behind = _beside(book, sure)
    singles = {char: math.log(n) for char, n in Counter(book).items()}
    liked = {}
    for name, seen in _candidates(texts, before, behind, looks_like_a_name).items():
        by, n = seen.before + seen.behind, seen.count
        bound = math.log(n) + (len(name) - 1) * math.log(len(book)) - sum(map(singles.__getitem__, name))
        family = name[0] in surnames and name[0] not in DOUBTFUL
        bunched = _bunched(seen, len(texts))
        like = by / (n + _DOUBT) + bunched
        if family or len(name) == 2:
            like += _CREDIT * (min(bound, _MOST_BOUND) - _USUALLY_BOUND)
        least, side = (_LEAST_LIKE_OF_A_FAMILY, -math.inf) if family else _LEAST_LIKE[len(name)]
        if family and n >= _FREQUENT and bound >= _USUALLY_BOUND:
            least = _LEAST_LIKE_IF_FREQUENT
        if like >= least and min(seen.before, seen.behind) / n + bunched >= side and bound >= _LEAST_BOUND:
            liked[name] = n
    return _without_pieces({**liked, **sure}, sure, surnames)


def _bunched(seen: _Seen, chapters: int) -> float:
    often = seen.count / seen.chapters
    if seen.count < _LEAST_UNSURE or often < _LEAST_BUNCHED or seen.chapters * _FEW_OF > chapters:
        return 0.0
    return _BUNCHED * math.log(often)


def _beside(book: str, sure: Collection[str]) -> tuple[dict[str, float], dict[str, float]]:
    """The logarithm of how much oftener each character occurs before and after a certain name than anywhere."""
    before: Counter[str] = Counter()
    behind: Counter[str] = Counter()
    for start, end in outermost(book, sure):
        before[book[start - 1 : start]] += 1
        behind[book[end : end + 1]] += 1
    anywhere = Counter(book)
    return _ratios(before, anywhere), _ratios(behind, anywhere)


def _ratios(seen: Counter[str], anywhere: Counter[str]) -> dict[str, float]:
    total, whole = seen.total(), anywhere.total()
    found = {}
    for char, count in anywhere.items():
        usual = count / whole
        found[char] = min(_STRONGEST, math.log((seen[char] + _PRIOR * usual) / (total + _PRIOR) / usual))
    return found


def _candidates(
    texts: Sequence[str], before: Mapping[str, float], behind: Mapping[str, float], looks_like_a_name: re.Pattern[str]
) -> dict[str, _Seen]:
    book, found = "\n".join(texts), dict[str, _Seen]()
    for size, gram in _GRAM.items():
        counts = Counter(_grams(book, size))
        wanted = {
            name: _Seen()
            for name, n in counts.items()
            if n >= _LEAST and gram.fullmatch(name) and looks_like_a_name.fullmatch(name)
        }
        for number, text in enumerate(texts):
            for at in range(len(text) - size + 1):
                seen = wanted.get(text[at : at + size])
                if seen is not None:
                    seen.count += 1
                    seen.chapters += seen.latest != number
                    seen.latest = number
                    seen.before += before.get(text[at - 1 : at] or "\n", 0.0)
                    seen.behind += behind.get(text[at + size : at + size + 1] or "\n", 0.0)
        found |= wanted
    return found


def _grams(book: str, size: int) -> Iterator[str]:
    """All strings of a size; of the longest, only those that end in a form of address."""
    if size < _LONGEST:
        return map("".join, zip(*(book[at:] for at in range(size)), strict=False))
    return (book[max(0, match.start() - 2) : match.start() + 2] for match in _IS_ADDRESSED.finditer(book))


def _without_pieces(counts: Mapping[str, int], sure: Collection[str], surnames: Collection[str]) -> dict[str, int]:
    """Removes names with a word after (黛玉冷) or before them, and those that are nearly always part of a longer name.

    牛魔王 stays beside 魔王, which is a form of address.
    """
    kept = {}
    for name, n in counts.items():
        head, tail = name[:-1], name[1:]
        if name not in sure and len(name) > 2:
            if n < _LEAST_UNSURE and name[0] not in surnames and name[-1] not in _TAILS and name[2:] not in ADDRESS:
                continue
            if head in counts and n < _MOSTLY * counts[head] and name[-1] not in _TAILS and len(name) < _LONGEST:
                continue
            if tail in counts and n < _MOSTLY * counts[tail] and name[0] not in surnames and tail not in ADDRESS:
                continue
        kept[name] = n
    longer: Counter[str] = Counter()
    for name, n in kept.items():
        for start in range(len(name)):
            for end in range(start + 2, len(name) + 1):
                if end - start < len(name):
                    piece = name[start:end]
                    longer[piece] = max(longer[piece], n)
    return {name: n for name, n in kept.items() if name not in sure and longer[name] < _NEARLY_ALL * n}


def addressed(book: str, names: Mapping[str, int], surnames: Collection[str]) -> dict[str, int]:
    """Surnames with a form of address (李嬷嬷, 张道士) or before a known name (薛宝钗), with their counts.

    The surnames are those that several of the `names` have.
    """
    bearers = Counter(name[0] for name in names if name[0] in surnames and name[0] not in DOUBTFUL)
    families = "".join(sorted(family for family, n in bearers.items() if n >= _LEAST_BEARERS))
    if not families:
        return {}
    given = {name for name in names if len(name) == 2 and name[0] not in surnames}
    counts = Counter(match[1] for match in re.finditer(rf"(?=([{families}][\u4e00-\u9fff]{{2}}))", book))
    wives = Counter(match[1] for match in re.finditer(rf"(?=([{families}][\u4e00-\u9fff]家)的)", book))
    short = Counter(match[1] for match in re.finditer(rf"(?=([{families}][{_SHORT_ADDRESS}]))", book))
    return {
        name: n
        for name, n in sorted((counts | short).items())
        if name not in names
        and (
            name[1:] in given
            or (n >= _LEAST and (name[1:] in ADDRESS or wives[name] >= _LEAST))
            or (n >= _LEAST_UNSURE and len(name) == 2)
        )
    }


def titled(book: str, names: Collection[str]) -> dict[str, int]:
    """Words that occur before forms of address often enough to be names without them: 观音 of 观音菩萨."""
    forms = "|".join(sorted(ADDRESS))
    found = Counter(match[1] for match in re.finditer(rf"(?=([\u4e00-\u9fff]{{2}})(?:{forms}))", book))
    often = [name for name, n in sorted(found.items()) if n >= _LEAST_UNSURE and name not in names]
    counts = {name: len(places) for name, places in occurrences(book, often).items()}
    return {name: n for name, n in counts.items() if n >= 2 * found[name]}
