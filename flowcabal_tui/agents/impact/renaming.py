"""A name and its derived forms: their places in texts, and their replacements.

A form never matches inside a longer name of somebody else (林 in 林如海), inside a word of letters, or if its first
character ends another Chinese word (林 in 森林, 孙宝玉 in 嫡孙宝玉), as counted in the same book.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.words import word_list, word_table
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import Rename
from flowcabal_tui.domain.memory import Entity

_HAN: Final = re.compile("[\u3007\u3400-\u9fff]")
_FORM, _OTHER = EntityId("form"), EntityId("other")
_BOUND: Final = 3.0
"""Two adjacent characters that occur together more than this many times as often as by chance are a word."""
_LEAST: Final = 3
_BESIDE_A_NAME: Final = frozenset(
    word_table("characters", "evidence")["acts"] + word_table("characters", "renaming")["beside"]
)
_TITLES: Final = word_list("address.zh") | {word for word in word_list("roles.zh") if len(word) > 1}
_MOST_UNMERGED: Final = 8
_APOSTROPHES: Final = "'\u2019"
_SENTENCE_END: Final = frozenset('.!?…\n“"‘')


@dataclass(frozen=True, slots=True)
class RenamePlan:
    """Each form with its replacement. `doubtful` ones are not ticked; `others`: names of others with a form in them."""

    forms: Mapping[str, str]
    doubtful: frozenset[str] = frozenset()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamePlace:
    """Words of the text number `text` and their replacement; `sure`: there is no reason against it."""

    text: int
    start: int
    before: str
    after: str
    sure: bool = True


def plan_of(rename: Rename, entities: Iterable[Entity]) -> RenamePlan:
    """The forms of a name: those of its bearer, else of all whose names contain it as a part."""
    known = tuple(entities)
    forms = {rename.name: rename.to, **dict(rename.aliases)}
    own = [entity for entity in known if rename.name in entity.names]
    for entity in own or known:
        for name in entity.names:
            if (new := carried(name, rename.name, rename.to)) != name and (own or _holds(name, rename.name)):
                forms.setdefault(name, new)
    doubtful: set[str] = set()
    if not _HAN.search(rename.name):
        for form, new in tuple(forms.items()):
            if len(form) > 1:
                forms.setdefault(form.upper(), new.upper())
        plural = f"{rename.name}s"
        if rename.name[-1:] != "s" and plural not in forms:
            forms[plural] = f"{rename.to}s"
            doubtful.add(plural)
    names = {name for entity in known for name in entity.names if name not in forms}
    return RenamePlan(forms, frozenset(doubtful), tuple(sorted(name for name in names if _touches(name, forms))))


def unmerged(rename: Rename, entities: Iterable[Entity], texts: Iterable[str]) -> tuple[str, ...]:
    """The forms of the old surname with a form of address that the texts have and the name does not list: 沈师兄 for
    沈砚之, if nobody else of the book has that surname."""
    family, _given = _parted(rename.name)
    if not family or _parted(rename.to)[0] == family:
        return ()
    forms = re.compile(f"{family}(?:{'|'.join(sorted(_TITLES))})")
    for entity in entities:
        if rename.name not in entity.names and any(
            name.startswith(family) and not forms.match(name) for name in entity.names if _parted(name)[1]
        ):
            return ()
    listed = {name for entity in entities if rename.name in entity.names for name in entity.names}
    found = Counter(form for text in texts for form in forms.findall(text) if form not in listed)
    return tuple(form for form, _count in found.most_common(_MOST_UNMERGED))


def carried(name: str, old: str, new: str) -> str:
    """A further name adapted to the change of another one: `Miss Maud` becomes `Miss Vera` after Maud becomes Vera,
    苏姑娘 after 林黛玉 is 苏黛玉.
    """
    if name == old:
        return new
    return _carried_zh(name, old, new) if _HAN.search(old) else _carried_words(name, old, new)


def _carried_words(name: str, old: str, new: str) -> str:
    words, before, after = name.split(), old.split(), new.split()
    for at in range(len(words) - len(before) + 1):
        if words[at : at + len(before)] == before:
            return " ".join((*words[:at], *after, *words[at + len(before) :]))
    if len(before) < 2:
        return name
    by = {before[0]: after[0], before[-1]: after[-1]} if len(after) > 1 else {before[0]: after[0]}
    if len(before) == len(after):
        by |= dict(zip(before, after, strict=True))
    return " ".join(by.get(word, word) for word in words)


def _carried_zh(name: str, old: str, new: str) -> str:
    if len(old) == 1:
        return new + name[1:] if name.startswith(old) else name
    if old in name:
        return name.replace(old, new)
    family, given = _parted(old)
    new_family, new_given = _parted(new)
    if not family or not new_family:
        return name
    if given in (name, name[: len(given)]):
        return new_given + name[len(given) :]
    return new_family + name[len(family) :] if name.startswith(family) else name


def _parted(name: str) -> tuple[str, str]:
    """Family name and given name; "" for an unknown family name."""
    surnames = word_list("surnames.zh")
    size = 2 if name[:2] in surnames and len(name) > 2 else 1
    return (name[:size], name[size:]) if name[:size] in surnames and len(name) > size else ("", name)


def _holds(name: str, part: str) -> bool:
    if _HAN.search(part):
        return name.startswith(part) if len(part) == 1 else part in name
    return re.search(rf"\b{re.escape(part)}\b", name) is not None


def _touches(name: str, forms: Mapping[str, str]) -> bool:
    """True when a place of the name and a place of a form can overlap."""
    return any(
        form in name or any(name.endswith(form[:size]) or name.startswith(form[-size:]) for size in range(1, len(form)))
        for form in forms
    )


def name_places(plan: RenamePlan, texts: Sequence[str]) -> list[NamePlace]:
    """Every place of a form in the texts, in order."""
    index = NameIndex((_entity(_FORM, tuple(plan.forms)), _entity(_OTHER, plan.others)))
    holding = {number for number, text in enumerate(texts) if any(form in text for form in plan.forms)}
    words = _Words(texts, plan.forms) if holding else None
    found: list[NamePlace] = []
    for number in sorted(holding):
        text = texts[number]
        for hit in index.find(text):
            form = text[hit.start : hit.end]
            if form in plan.forms and words is not None:
                sure = words.verdict(text, hit.start, hit.end)
                if sure is not None:
                    found.append(_place(plan, number, text, hit.start, form, sure))
    return found


def _place(plan: RenamePlan, number: int, text: str, start: int, form: str, sure: bool) -> NamePlace:
    after, end = plan.forms[form], start + len(form)
    if form[-1] in "sS" and after[-1:] not in ("s", "S") and _is_possessive(text, end, start):
        form, after = text[start : end + 1], f"{after}{text[end]}s"
    return NamePlace(number, start, form, after, sure and form not in plan.doubtful)


def _is_possessive(text: str, at: int, start: int) -> bool:
    """True when an apostrophe after a final s makes a possessive; not if it may close a quotation."""
    if text[at : at + 1] not in _APOSTROPHES or not text[at : at + 1] or not re.match(r" \w", text[at + 1 : at + 3]):
        return False
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return "\u2018" not in line and not re.search(r"(?:^|\s)'\w", line)


def _entity(identity: EntityId, names: Sequence[str]) -> Entity:
    return Entity(identity, "character", names[0] if names else "", tuple(names[1:]), by="hand")


class _Words:
    """Determines which places of the forms are parts of other words, from the use of these in the texts."""

    def __init__(self, texts: Sequence[str], forms: Mapping[str, str]) -> None:
        self._texts = texts
        self._rest = "\n".join(texts) if any(map(_HAN.search, forms)) else ""
        for form in sorted(forms, key=len, reverse=True):
            if len(form) > 1:
                self._rest = self._rest.replace(form, "\n")
        self._starts = {form[0] for form in forms if _HAN.match(form)}
        self._beside: dict[str, Counter[str]] = {}
        self._singles: dict[str, int] = {}
        self._common = {form for form in forms if self._is_common(form)}

    def verdict(self, text: str, start: int, end: int) -> bool | None:
        """True: certainly the name; False: perhaps; None: a part of another word."""
        form = text[start:end]
        if form in self._common and self._opens_a_sentence(text, start):
            return False
        if not _HAN.match(form):
            return True
        before, behind = text[start - 1 : start] if start else "", text[end : end + 1]
        if len(form) > 1:
            return not self._is_word(before, form[0])
        if self._is_word(before, form) or self._is_word(form, behind):
            return None
        return all(not _HAN.match(char) or char in _BESIDE_A_NAME for char in (before, behind))

    def _is_word(self, first: str, second: str) -> bool:
        if not _HAN.match(first) or not _HAN.match(second) or {first, second} & _BESIDE_A_NAME:
            return False
        together = self._pairs(first, second)
        return together >= _LEAST and together * len(self._rest) > _BOUND * self._count(first) * self._count(second)

    def _pairs(self, first: str, second: str) -> int:
        """The number of times that two characters occur together outside of the forms; one of them begins a form."""
        for key, anchor, other in ((f".(?={second})", second, first), (f"(?<={first}).", first, second)):
            if anchor in self._starts:
                if key not in self._beside:
                    self._beside[key] = Counter(re.findall(key, self._rest))
                return self._beside[key][other]
        return 0

    def _count(self, char: str) -> int:
        if char not in self._singles:
            self._singles[char] = self._rest.count(char)
        return self._singles[char]

    def _is_common(self, form: str) -> bool:
        """True for a word that the book also writes in lower case (Will, Grace)."""
        small = form.lower()
        if small == form or " " in form or _HAN.search(form) or form.isupper():
            return False
        pattern = re.compile(rf"\b{re.escape(small)}\b")
        return sum(1 for text in self._texts for _match in pattern.finditer(text)) >= _LEAST

    @staticmethod
    def _opens_a_sentence(text: str, start: int) -> bool:
        before = text[max(0, start - 8) : start].rstrip(" \t")
        return not before or before[-1] in _SENTENCE_END


def renamed(plan: RenamePlan, text: str) -> str:
    """A short text, such as the words of a record, with every form replaced."""
    for place in reversed([place for place in name_places(plan, [text]) if place.sure]):
        text = text[: place.start] + place.after + text[place.start + len(place.before) :]
    return text
