"""Chinese names without a model: speakers, people introduced by name, and places."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.names.evidence_zh import NameEvidence
from flowcabal_tui.agents.names.names_context import ADDRESS, DOUBTFUL, addressed, names_like, titled
from flowcabal_tui.agents.names.occurrences import occurrences
from flowcabal_tui.agents.words import alternatives, word_list, word_table, words_of
from flowcabal_tui.domain.memory import EntityKind

_HAN: Final = "\u3007\u4e00-\u9fff"
_LONGEST: Final = 4
_LEAST_SPEECHES: Final = 3
_LEAST_CALLED: Final = 2
_SURELY: Final = 8
"""Speeches from which a speaker's name may begin with a number (九叔, 三娘) or like another word (如来, 若兰)."""
_LEAST_PLACES: Final = 5
_ENOUGH_TO_JUDGE: Final = 40
_MOST_SURNAMES: Final = 3
_LEAST_TO_COUNT: Final = 2
"""Least occurrences that count: a single surname before a name may be chance (子孙宝玉)."""
_ONLY_PART_OF: Final = 0.9
"""Share of a name's places inside a longer name from which it is only a part of that: 薛姨 is always 薛姨妈."""
_LEAST_TAKEN: Final = 0.008
_LEAST_ENTERED: Final = 0.12

_SETS: Final = word_table("characters", "names")
_MANNER: Final = "|".join(words_of("manner.zh"))
_VOICE: Final = "|".join(words_of("speech.zh"))
_SPEAKS: Final = re.compile(
    rf"(?:^|[^{_HAN}])(?P<name>[{_HAN}]{{2,{_LONGEST}}}?)(?:{_MANNER}|{_VOICE})*"
    rf"(?:{alternatives(_SETS['speaks'])})[：，:,]",
    re.M,
)
_CALLED: Final = re.compile(
    rf"(?:{'|'.join(words_of('called.zh'))})(?:做|作|为|叫)?"
    rf"[“‘「『]?(?P<name>[{_HAN}]{{2,3}})(?=[^{_HAN}])"
)
_INTRODUCED: Final = re.compile(
    rf"(?:姓(?P<family>[{_HAN}]{{1,2}})[，,]?名(?P<given>[{_HAN}]{{1,2}})|(?<=[，,])字(?P<style>[{_HAN}]{{2}}))(?=[^{_HAN}])"
)
_PLACE: Final = re.compile(rf"(?=(?P<name>[{_HAN}]{{1,3}}[{_SETS['place_ends']}]))")
_ENTERS: Final = re.compile(f"[{_SETS['enters']}]$")
_ONLY_PLACES: Final = frozenset(_SETS["only_places"])
"""Endings of places that rarely end a verb."""
_GONE_TO: Final = frozenset(_SETS["gone_to"])
_BOUND: Final = 10.0
"""Logarithm of the cohesion from which characters are one word."""
_MOST_AFTER_ONE: Final = 0.5

_NOT_NAMES: Final = word_list("not_names.zh")
_INSIDE: Final = _SETS["not_inside"]
_NOT_INSIDE: Final = re.compile(f"[{_INSIDE}]")
_NOT_LAST: Final = frozenset(_SETS["not_last"])
_SOMETIMES_FIRST: Final = frozenset(_SETS["sometimes_first"])
_NOT_FIRST: Final = frozenset(_SETS["not_first"])
_NUMBERS: Final = frozenset(_SETS["numbers"])
_KIN: Final = frozenset(_SETS["kin"])
"""Forms of kinship; with a number (二姐), they mean somebody else in every family."""
_TAKEN: Final = re.compile(f"[{_SETS['taken']}]$")
_SURNAMES: Final = word_list("surnames.zh")
_CANDIDATE: Final = re.compile(
    rf"(?!(?:{'|'.join(sorted(_NOT_NAMES))})$)"
    rf"(?:[一二三四五六七八九]儿|[^{''.join(sorted(_NOT_FIRST - {'来'}))}{_INSIDE}]"
    rf"[^{_INSIDE}]{{0,2}}[^{''.join(sorted(_NOT_LAST - {'大'}))}{_INSIDE}])"
)


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name with its other forms, and the number of times that all of them occur in the text."""

    name: str
    kind: EntityKind
    aliases: tuple[str, ...]
    count: int
    proposed: tuple[str, ...] = ()


def chinese_names(texts: Sequence[str]) -> tuple[FoundName, ...]:
    """People who speak or are introduced by name, and places; most frequent first."""
    book = "\n".join(texts)
    speeches, introduced = _speeches(book), _introduced(book)
    people = _people(book, speeches, introduced)
    people |= names_like(texts, people, _SURNAMES, _CANDIDATE)
    people |= addressed(book, people, _SURNAMES)
    people |= {name: n for name, n in titled(book, people).items() if speeches[name] and _looks_like_a_name(name)}
    evidence = NameEvidence(texts, speeches, _SURNAMES - DOUBTFUL, introduced)
    places = evidence.places(_places(book, people), people)
    people = evidence.people({name: n for name, n in people.items() if name not in places})
    found = [*_with_aliases(people, evidence), *(FoundName(name, "location", (), n) for name, n in places.items())]
    return tuple(sorted(found, key=lambda each: (-each.count, each.name)))


def _speeches(book: str) -> Counter[str]:
    """The number of times that each word is the subject of a verb of speech."""
    return Counter(match["name"] for match in _SPEAKS.finditer(book))


def _introduced(book: str) -> frozenset[str]:
    """The names that the text introduces as such: 名唤, 姓…名…, 字…."""
    called = {match["name"] for match in _CALLED.finditer(book)}
    given = {match["style"] or match["family"] + match["given"] for match in _INTRODUCED.finditer(book)}
    return frozenset(called | given)


def _people(book: str, speeches: Counter[str], called: frozenset[str]) -> dict[str, int]:
    speaking = (name for name, n in speeches.items() if n >= _LEAST_SPEECHES)

    def is_likely(name: str) -> bool:
        """True for a possible name; one that speaks often or is introduced as a name may begin with 了 (了尘)."""
        often = speeches[name] >= _SURELY
        return _looks_like_a_name(name.removeprefix("了") if often or name in called else name, often=often)

    likely = occurrences(book, filter(is_likely, sorted({*speaking, *called})))
    longer = Counter[str]()
    for name, places in likely.items():
        longer.update({name[:end]: len(places) for end in range(1, len(name))})
    return {
        name: len(places)
        for name, places in likely.items()
        if len(places) >= (_LEAST_CALLED if name in called else _LEAST_SPEECHES)
        and longer[name] < _ONLY_PART_OF * len(places)
        and (
            len(places) < _ENOUGH_TO_JUDGE
            or (name in called and speeches[name] >= _SURELY)
            or _share_after(book, places, _TAKEN) >= _LEAST_TAKEN
        )
    }


def _looks_like_a_name(name: str, *, often: bool = False) -> bool:
    """True for a possible name. `often`: it may begin with a number. A form of address may have any character."""
    begins_well = name[0] not in _NOT_FIRST or (often and name[0] in _SOMETIMES_FIRST)
    ends_well = name[-1] not in _NOT_LAST or (name[0] in _SURNAMES and name[-1] in "家") or (often and name[-1] in "来")
    own = name[:-2] if name[-2:] in ADDRESS and len(name) > 2 else name
    return name not in _NOT_NAMES and begins_well and ends_well and not _NOT_INSIDE.search(own)


def _places(book: str, people: Iterable[str]) -> dict[str, int]:
    known = set(people)
    counts = Counter(match["name"] for match in _PLACE.finditer(book))
    likely = {
        name: n
        for name, n in counts.items()
        if n >= _LEAST_PLACES and len(name) > 1 and name not in known and _looks_like_a_name(name, often=len(name) > 2)
    }
    singles = Counter(book)
    kept = {
        name: likely[name]
        for name, places in occurrences(book, (name for name in likely if not _ENTERS.search(name[:1]))).items()
        if _share_after(book, places, _ENTERS) >= _LEAST_ENTERED
        or _is_one_word(book, name, likely[name], places, singles)
    }
    longest = Counter[str]()
    for name, n in kept.items():
        for end in _ends(name):
            longest[end] = max(longest[end], n)
    return {
        name: kept[name]
        for name in sorted(kept)
        if not any(kept.get(end, 0) >= 0.25 * kept[name] for end in _ends(name)) and longest[name] < 0.7 * kept[name]
    }


def _ends(name: str) -> Iterator[str]:
    return (name[at:] for at in range(1, len(name)))


def _is_one_word(book: str, name: str, count: int, places: Sequence[int], singles: Mapping[str, int]) -> bool:
    """True for a place: its characters belong together, and no single character precedes most occurrences."""
    if len(name) < 3 or name[-1] not in _ONLY_PLACES or name[0] in _GONE_TO:
        return False
    bound = math.log(count) + (len(name) - 1) * math.log(len(book)) - sum(math.log(singles[char]) for char in name)
    if bound < _BOUND:
        return False
    return max(Counter(_before(book, places)).values(), default=0) <= _MOST_AFTER_ONE * count


def _share_after(book: str, places: Sequence[int], pattern: re.Pattern[str]) -> float:
    """The share of the places preceded by a word of `pattern`: people are taken along, places are gone to."""
    before = _before(book, places)
    return sum(1 for char in before if pattern.search(char)) / max(1, len(before))


def _before(book: str, places: Sequence[int]) -> list[str]:
    """The character before each place ("": the beginning of the book)."""
    return [book[max(0, at - 1) : at] for at in places]


def _with_aliases(people: dict[str, int], evidence: NameEvidence) -> Iterator[FoundName]:
    """Joins 黛玉 and 林黛玉 (surname), 凤姐 and 凤姐儿 (suffix 儿), but not 宋嬷嬷 and 李嬷嬷, since 嬷嬷 is nobody.

    If one name has two surnames, the one shared by most people is right: 贾宝玉 is 宝玉, 甄宝玉 is another person.
    """
    bearers = Counter(name[0] for name in people)
    owners: dict[str, list[str]] = {}
    for name in sorted(people, key=lambda each: (-bearers[each[0]], each)):
        if len(name) == 3 and name[0] in _SURNAMES:
            owners.setdefault(name[1:], []).append(name)
    head: dict[str, str] = {}
    for name in sorted(people):
        for base in _bases(name):
            of = owners.get(base, [])
            several = sum(people[other] >= _LEAST_TO_COUNT for other in of)
            if base in people and (base == name[:-1] or (of[0] == name and several <= _MOST_SURNAMES)):
                head[name] = base
                break
    groups: dict[str, list[str]] = {}
    for name in sorted(people):
        root = name
        while root in head:
            root = head[root]
        groups.setdefault(root, []).append(name)
    shorter = {name: form for name in people if (form := _shorter(name)) and form not in people}
    evidence.read(shorter.values())
    having = _by_piece(name for name in people if not name.endswith("儿"))
    for members in groups.values():
        ranked = sorted(members, key=lambda name: (-people[name], name))
        outer = [name for name in members if not any(base in members for base in _bases(name))]
        others = [*ranked[1:], *sorted({shorter[name] for name in members if name in shorter})]
        sure = [name for name in others if _is_sure(name, ranked[0], having, evidence)]
        doubtful = tuple(name for name in others if name not in sure)
        found = FoundName(ranked[0], "character", tuple(sure), sum(people[name] for name in outer), doubtful)
        yield found


def _by_piece(names: Iterable[str]) -> dict[str, list[str]]:
    """The names that contain or equal each part of a name."""
    having = dict[str, list[str]]()
    for name in names:
        for piece in {name[start:end] for start in range(len(name)) for end in range(start + 1, len(name) + 1)}:
            having.setdefault(piece, []).append(name)
    return having


def _is_sure(alias: str, name: str, having: Mapping[str, Sequence[str]], evidence: NameEvidence) -> bool:
    """True when the alias occurs on its own more than once and can mean nobody else."""
    short, long = sorted((alias, name), key=len)
    if short in ADDRESS or (short[0] in _NUMBERS and short[1:] in _KIN):
        return False
    others = (*having.get(alias, ()), *(each for each in having.get(short, ()) if each[0] != long[0]))
    if any(each not in (alias, name) for each in others):
        return False
    inside = evidence.count(name) if alias in name else 0
    return evidence.free(alias) - inside >= _LEAST_TO_COUNT


def _shorter(name: str) -> str:
    """The short form of a name: 金钏 for 金钏儿, 宋妈 for 宋妈妈, 周瑞 for 周瑞家; "" when there is none."""
    if len(name) != 3 or name[0] == name[1]:
        return ""
    return name[:2] if name[2] in "儿家" or name[1] == name[2] else ""


def _bases(name: str) -> Iterator[str]:
    if name.endswith("儿") and len(name) > 2:
        yield name[:-1]
    if len(name) == 3 and name[0] in _SURNAMES:
        yield name[1:]
