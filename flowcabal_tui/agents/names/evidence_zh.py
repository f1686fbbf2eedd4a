"""Filters Chinese names proposed by rules: keeps those used as names, judged by the words before and after them.

The rules are not specific to a book. They use closed classes of words (adverbs, conjunctions, nouns for people and
places in general) and distribution: a common noun is counted and pointed at ("个", "众", "那"), a piece of a longer
word has nearly always the same neighbour, a person speaks, acts and is spoken to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from flowcabal_tui.agents.names.names_context import ADDRESS
from flowcabal_tui.agents.names.occurrences import occurrences
from flowcabal_tui.agents.words import word_list, word_table

_HAN: Final = re.compile("[\u3007\u4e00-\u9fff]")
_FUNCTION: Final = word_list("function.zh")
_ROLES: Final = word_list("roles.zh") | ADDRESS
_PLACES: Final = word_list("places.zh")
_SETS: Final = word_table("characters", "evidence")
_COUNTED: Final = frozenset(_SETS["counted"])
_POINTED_AT: Final = frozenset(_SETS["pointed_at"])
_PLURAL: Final = "们"
_COMPANY: Final = frozenset(_SETS["company"])
"""Characters before a person: with, to, for, by, call, see, ask."""
_ACTS: Final = frozenset(_SETS["acts"])
"""Characters after a subject: verbs of speech, and adverbs that begin a predicate."""
_INSIDE: Final = frozenset(_SETS["inside"])
"""Characters that end no name of a person: they turn a word into a place, a time or a kind of person."""
_PLACED: Final = frozenset(_SETS["placed"])
"""Characters next to a place: on, in, to, come, go."""
_CLOSED: Final = frozenset(_SETS["closed"])
_NEGATES: Final = frozenset(_SETS["negates"])
_PLACE_ENDS: Final = frozenset(_SETS["place_ends"])
_TOWNS: Final = frozenset(_SETS["towns"])
"""Endings of towns; a place of two characters with another ending is an ordinary building (花厅, 高楼)."""
_TAKES_A_NOUN: Final = _COMPANY | frozenset(_SETS["before_a_noun"])
_SMALL: Final = frozenset(_SETS["small"])
_HEADS: Final = frozenset(_SETS["heads"])
"""Nouns for kinds of beings, which follow a modifier: 老僧, 女童, 二魔."""
_PART_OF: Final = 0.6
_LEAST_TO_JUDGE: Final = 3
_MOST_COUNTED: Final = 0.03
_MOST_POINTED_AT: Final = 0.3
_EVERYWHERE: Final = 0.6
"""Share of the chapters from which a name that is rarely counted is one person, even after a pointing word ("那")."""
_LEAST_PLURAL: Final = 0.02
_LEAST_SHARE: Final = 0.2
_SURELY: Final = 10
_ALWAYS: Final = 0.9
_LEAST_UNNAMED: Final = 6
_LEAST_SILENT: Final = 8
"""Least mentions of a name without surname or form of address that never speaks; `_LEAST_UNNAMED` if it speaks."""
_LEAST_IN_COMPANY: Final = 4
_COMPANION: Final = 0.4
"""Share of its mentions after a word of company from which `_LEAST_IN_COMPANY` mentions of a name suffice."""
_SPEAKER: Final = 0.5
_LEAST_FREE: Final = 0.5
_LEAST_SHORT_PLACE: Final = 10
_LEAST_EPITHET: Final = 5
_PREFIXED: Final = 20
_KIN: Final = frozenset(_SETS["kin"])
_OFTEN: Final = 8
_ENOUGH: Final = 5
_BORNE: Final = 0.1
_RIVALS: Final = 0.4
"""A form of address belongs to one person if one surname precedes at least the share `_BORNE` of its mentions, and all
other surnames together at most this share of those."""
_HEAVIER: Final = 4
_BOUND: Final = 3.0
"""Two adjacent characters that occur together more than this many times as often as by chance are a word."""
_AT: Final = frozenset(_SETS["at"])
_CLASSIFIERS: Final = frozenset(_SETS["classifiers"])
_NUMERALS: Final = frozenset(_SETS["numerals"])
_GENERAL: Final = frozenset(_SETS["general"])


def is_part_of_a_word(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """True when it has one Chinese neighbour everywhere, of no other word (嫡孙宝玉 for 孙宝玉)."""
    before = {text[start - 1] if start else "" for start, _end in spans}
    behind = {text[end : end + 1] for _start, end in spans}
    sides = ((before, _COMPANY | _CLOSED | _POINTED_AT), (behind, _ACTS | _CLOSED | _PLACED | frozenset("的了是")))
    for neighbours, words in sides:
        (only, *others) = neighbours
        if not others and _HAN.match(only) and only not in words and only not in _FUNCTION:
            return True
    return False


@dataclass(slots=True)
class _Use:
    """The use of a name: its mentions, the characters next to them, and the chapters that have it."""

    count: int
    before: Counter[str]
    behind: Counter[str]
    acts: int
    chapters: float

    def count_before(self, chars: Collection[str]) -> int:
        """The number of mentions after one of these characters."""
        return sum(n for char, n in self.before.items() if char in chars)


class NameEvidence:
    """Judges names by the texts of the chapters of one book."""

    def __init__(
        self, texts: Sequence[str], speeches: Mapping[str, int], surnames: Collection[str], called: Collection[str]
    ) -> None:
        """`speeches` counts how often each name is the subject of a verb of speech; `surnames` are not common words.

        `called` are names that the text itself introduces as such.
        """
        self._book = "\n".join(texts)
        self._chapters = [0, *accumulate(len(text) + 1 for text in texts)]
        self._speeches, self._surnames, self._called = speeches, surnames, called
        self._used: dict[str, _Use] = {}
        self._singles, self._pairs = Counter(self._book), Counter(map("".join, pairwise(self._book)))

    def people(self, found: Mapping[str, int]) -> dict[str, int]:
        """The names of `found` that are used as names of people."""
        self.read(found)
        heavy = {name for name, n in found.items() if n >= _OFTEN}
        short = _short_forms(found)
        used = {
            name: n
            for name, n in found.items()
            if not _is_word(name, known=name[1:] in heavy or self._speeches.get(name, 0) >= _OFTEN)
            and not self._is_phrase(name, n, found, heavy)
            and self._is_used_as_a_name(name, found, short)
        }
        return {name: n for name, n in used.items() if not self._has_title(name) or self._is_epithet(name, n, used)}

    def places(self, found: Mapping[str, int], people: Collection[str]) -> dict[str, int]:
        """The names of `found` that are proper names of places."""
        self.read(found)
        short = _short_forms(found)
        return {
            name: n
            for name, n in found.items()
            if not _is_common_place(name)
            and (len(name) > 2 or (n >= _LEAST_SHORT_PLACE and name[-1] in _TOWNS))
            and (name[2:] not in _PLACES or any(name[:at] in people for at in range(1, len(name) + 1)))
            and not self._is_piece(name, self._used[name], short)
        }

    def count(self, name: str) -> int:
        """The number of times that `name` occurs in the book, also inside longer words."""
        return self._used[name].before.total()

    def free(self, name: str) -> int:
        """How often `name` occurs where its first character ends no longer word (嫡孙宝玉 is not 孙宝玉)."""
        before = self._used[name].before
        others = {char: self._pairs[char + name[0]] - n for char, n in before.items() if _HAN.match(char)}
        bound = {
            char
            for char, n in others.items()
            if n >= _LEAST_TO_JUDGE and n * len(self._book) > _BOUND * self._singles[char] * self._singles[name[0]]
        }
        return sum(n for char, n in before.items() if char not in bound)

    def read(self, names: Iterable[str]) -> None:
        """Reads the places of the names; must be called before the other methods are asked about them."""
        places = occurrences(self._book, (name for name in names if name not in self._used))
        self._used |= {name: self._seen(len(name), each) for name, each in places.items()}

    def _seen(self, length: int, places: Sequence[int]) -> _Use:
        before, behind, acts = Counter[str](), Counter[str](), 0
        for start in places:
            left = self._book[max(0, start - 1) : start] or "\n"
            right = self._book[start + length : start + length + 1] or "\n"
            before[left] += 1
            behind[right] += 1
            acts += right in _ACTS and not _HAN.match(left)
        chapters = {bisect_right(self._chapters, start) for start in places}
        return _Use(max(1, len(places)), before, behind, acts, len(chapters) / max(1, len(self._chapters) - 1))

    def _is_used_as_a_name(self, name: str, found: Mapping[str, int], short: Collection[str]) -> bool:
        use = self._used[name]
        family = name[0] in self._surnames
        titled = len(name) > 2 and (name[1:] in _ROLES or name[2:] in _ROLES)
        if name in _ROLES or _is_general(name):
            return self._is_one_persons(use)
        spoken = self._speeches.get(name, 0)
        if spoken >= max(_LEAST_TO_JUDGE, _SPEAKER * use.count):
            return True
        if self._is_piece(name, use, short) and not name.endswith("家"):
            return False
        if name in self._called:
            return max(use.behind.values()) < use.count or use.behind.keys() <= {"\n", "，", "。"}
        if use.behind[_PLURAL] >= 2 and use.behind[_PLURAL] >= _LEAST_PLURAL * use.count:
            return False
        if not family and self._is_common(use):
            return False
        company = use.count_before(_COMPANY)
        seen = use.acts + company + spoken
        if family:
            known = titled or seen >= 1 or use.count >= _ENOUGH or name[1:] in found
            return known and self.free(name) >= max(2, _LEAST_FREE * use.count)
        if titled:
            return use.count >= 2
        if len(name) > 2 and not spoken and name[-1] not in _PLACE_ENDS:
            return False
        if use.count >= _LEAST_IN_COMPANY and company >= max(2, _COMPANION * use.count):
            return True
        least = _LEAST_UNNAMED if spoken else _LEAST_SILENT
        if use.count >= _OFTEN and not use.count_before(_TAKES_A_NOUN):
            return False
        return use.count >= least and seen >= max(2, min(_SURELY, _LEAST_SHARE * use.count))

    def _has_title(self, name: str) -> bool:
        return name[0] not in self._surnames and len(name) > 2 and (name[1:] in _ROLES or name[2:] in _ROLES)

    def _is_epithet(self, name: str, count: int, names: Mapping[str, int]) -> bool:
        """True when a form of address with a modifier is a name: 哪吒太子, 托塔天王, but not 公主娘娘."""
        if len(name) == 3:
            return count >= _LEAST_EPITHET or self._speeches.get(name, 0) >= _LEAST_TO_JUDGE
        if name[:2] in _ROLES or name[:2] in _FUNCTION:
            return False
        return name[:2] in names or (count >= _LEAST_EPITHET and name[-1] not in _KIN)

    def _is_piece(self, name: str, use: _Use, short: Collection[str]) -> bool:
        """True when it nearly always has one character before or after it, and is no short form of a known name."""
        beside = [*use.before.items(), *use.behind.items()]
        most = max((n for char, n in beside if _HAN.match(char) and char not in _PLACED), default=0)
        if most < max(_LEAST_TO_JUDGE, _PART_OF * use.count):
            return False
        if most >= _ALWAYS * use.count:
            return True
        return name not in short

    def _is_common(self, use: _Use) -> bool:
        """True when it is counted or pointed at like a common noun."""
        counted = use.count_before(_COUNTED)
        if counted >= 2 and counted >= _MOST_COUNTED * use.count:
            return True
        pointed = use.count >= _ENOUGH and use.count_before(_POINTED_AT) >= _MOST_POINTED_AT * use.count
        return pointed and use.chapters < _EVERYWHERE

    def _is_one_persons(self, use: _Use) -> bool:
        """True when a form of address is nearly always that of one person with a surname (孙大圣 for 大圣)."""
        if self._is_common(use):
            return False
        borne = sorted((n for char, n in use.before.items() if char in self._surnames), reverse=True) or [0]
        rivals = sum(borne[1:])
        return use.count >= _LEAST_UNNAMED * _OFTEN and borne[0] >= _BORNE * use.count and rivals <= _RIVALS * borne[0]

    def _is_phrase(self, name: str, count: int, found: Mapping[str, int], heavy: Collection[str]) -> bool:
        """True for a known name or noun with a word before or after it: 行者看, 刚才老爷, 连王夫人, 尤氏李纨."""
        for at in range(2, len(name)):
            head, tail = name[:at], name[at:]
            if head in heavy and found[head] >= _HEAVIER * count and tail not in _ROLES and tail not in "儿家女":
                return True
            if head in _ROLES and tail not in found:
                return True
        for at in range(1, len(name) - 1):
            head, tail = name[:at], name[at:]
            if at == 1 and head in _CLOSED and (tail in found or tail in _ROLES or tail[-2:] in _ROLES):
                return True
            known = tail in heavy and found[tail] >= _HEAVIER * count and tail not in _ROLES
            if known and not (at == 1 and (head in self._surnames or (count >= _PREFIXED and head not in _SMALL))):
                return True
        return False


def _short_forms(names: Iterable[str]) -> frozenset[str]:
    """The beginnings and endings of longer names."""
    return frozenset(part for name in names for at in range(1, len(name)) for part in (name[:at], name[at:]))


def _is_word(name: str, *, known: bool) -> bool:
    """True for a word that is, or begins or ends with, one of a closed class. `known`: its end is no such word."""
    if name[0] in _NEGATES or name[0] == "假" or name in _FUNCTION or name[:2] in _FUNCTION or name[:3] in _FUNCTION:
        return True
    if len(set(name)) == 1:
        return True
    return name[-1] in _INSIDE and not known


def _is_general(name: str) -> bool:
    """True for a modifier with a noun for a kind of being, or for a role (老僧, 二魔, 小太监)."""
    return name[0] in _SMALL and (name[1:] in _HEADS or name[1:] in _ROLES)


def _is_common_place(name: str) -> bool:
    if name in _PLACES or name in _FUNCTION or name[0] in _AT:
        return True
    if name[:2] in _ROLES or name[:2] in _FUNCTION:
        return True
    if name[0] in _NUMERALS and (len(name) == 2 or name[1] in _CLASSIFIERS or name[2] in _NUMERALS):
        return True
    return name[0] in _GENERAL and (len(name) == 2 or name[1:] in _PLACES)
