"""Rule: a name differs by one letter from a known one, which may be a typing error or somebody new."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.words import alternatives, word_list, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.text import han_count
from flowcabal_tui.locale import _

_KNOWN: Final = 8
"""Least occurrences in the book with which a name counts as known."""
_SELDOM: Final = 2
"""Most occurrences in one text with which a spelling counts as a slip."""
_OWN: Final = 0.9
"""Least share of the known spelling in the places of the characters common to both; otherwise these are a title."""
_WORDS: Final = word_table("rules", "name_drift")
_ACTS: Final = frozenset(_WORDS["acts_zh"])
"""Characters that follow a Chinese name and are rarely inside a word."""
_FUNCTION: Final = frozenset("".join(word_list("function.zh"))) | _ACTS | frozenset("知")
_ADDRESS: Final = word_list("address.zh")
_WORD: Final = late(r"[A-Za-zÀ-ɏ]+(?:['’-][A-Za-zÀ-ɏ]+)*")
_LEAST_LETTERS: Final = 5
_ARTICLE: Final = late(rf"\b(?:{alternatives(_WORDS['articles_en'])})\Z", re.IGNORECASE)
"""An article before a word, which then names not a person but a river, a title or a people."""
_PERSON: Final = late(
    r"\b([A-ZÀ-Þ][A-Za-zÀ-ɏ'’-]+) (?:" + "|".join(sorted(word_list("acts.en"))) + r")\b"
    r"|\b(?:" + "|".join(sorted(word_list("titles.en"))) + r")\.? ([A-ZÀ-Þ][A-Za-zÀ-ɏ'’-]+)"
)
_MARKS: Final = str.maketrans("", "", "'’-")
_ENDINGS: Final = tuple(_WORDS["endings"].split())
"""Endings of plurals, feminine and foreign forms, which are not slips."""


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per new spelling, with a sentence that has the known one."""
    slips = _chinese(draft, book) if draft.language.startswith("zh") else _lettered(draft, book)
    for span, known in slips:
        source = _where(known, book)
        if source is not None:
            new = draft.text[span.start : span.end]
            message = _("“{new}” differs by one character from “{known}”. Is it the same name?").format(
                new=new, known=known
            )
            yield RuleFinding("nomenclature confusion", message, draft.quoted(span.start, span.end), source)


def _where(known: str, book: EarlierBook) -> Quotation | None:
    for chapter in reversed(book.chapters):
        place = chapter.text.find(known)
        if place >= 0:
            return chapter.quoted(place, place + len(known))
    return None


def _chinese(draft: NarratedText, book: EarlierBook) -> Iterator[tuple[Span, str]]:
    names = [
        name
        for entity in book.entities
        if entity.kind == "character"
        for name in entity.names
        if len(name) == 3 and han_count(name) == 3 and name[1:] not in _ADDRESS and name[2] not in _ADDRESS
    ]
    parts: dict[tuple[int, str], list[str]] = {}
    for name in names:
        for gap in range(3):
            parts.setdefault((gap, name[:gap] + name[gap + 1 :]), []).append(name)
    known = {name for entity in book.entities for name in entity.names}
    seen: dict[str, tuple[int, str]] = {}
    for place in range(len(draft.text) - 2):
        three = draft.text[place : place + 3]
        if draft.text[place + 3 : place + 4] not in _ACTS or three in seen or three in known or han_count(three) < 3:
            continue
        for gap in range(3):
            for name in parts.get((gap, three[:gap] + three[gap + 1 :]), ()):
                if three[gap] not in _FUNCTION and _begins(draft.text[max(0, place - 1) : place], gap, name, book):
                    seen.setdefault(three, (place, name))
    for three, (place, name) in seen.items():
        gap = next(number for number in range(3) if three[number] != name[number])
        if draft.text.count(three) <= _SELDOM and not book.chapters_with(three, 0) and _own(name, gap, book):
            yield Span(place, place + 3), name


def _begins(before: str, gap: int, name: str, book: EarlierBook) -> bool:
    """True when a name can begin after this character: it ends no word, or the book has it before the known name."""
    return not han_count(before) or (gap > 0 and book.chapters_with(before + name, 0) > 0)


def _own(name: str, gap: int, book: EarlierBook) -> bool:
    """True when the name without one character belongs to this name alone."""
    own = sum(chapter.text.count(name) for chapter in book.chapters)
    if own < _KNOWN:
        return False
    rest = re.compile(re.escape(name[:gap]) + r"[㐀-鿿]" + re.escape(name[gap + 1 :]))
    return own >= _OWN * sum(len(rest.findall(chapter.text)) for chapter in book.chapters)


def _words(narrated: NarratedText) -> Counter[str]:
    return Counter(match[0] for match in _WORD.finditer(narrated.text))


def _borne(narrated: NarratedText) -> frozenset[str]:
    """The names of people: those followed by a verb of speech or movement, or preceded by a title."""
    return frozenset(match[1] or match[2] for match in _PERSON.finditer(narrated.text))


def _lettered(draft: NarratedText, book: EarlierBook) -> Iterator[tuple[Span, str]]:
    counts: Counter[str] = Counter()
    for chapter in book.chapters:
        counts.update(chapter.made(_words))
    here = draft.made(_words)
    people = {
        word for each in book.entities if each.kind == "character" for name in each.names for word in name.split()
    } & {word for chapter in book.chapters for word in chapter.made(_borne)}
    known = [
        word
        for word in sorted(people)
        if counts[word] >= _KNOWN and word[0].isupper() and len(word) >= _LEAST_LETTERS and not counts[word.lower()]
    ]
    parts: dict[str, list[str]] = {}
    for word in known:
        for part in _shortened(word):
            parts.setdefault(part, []).append(word)
    for match in _WORD.finditer(draft.text):
        word = match[0]
        usual = word[0].isupper() and len(word) >= _LEAST_LETTERS and here[word] <= _SELDOM
        if not usual or counts[word] or counts[word.lower()] or here[word.lower()]:
            continue
        near = {name for part in _shortened(word) for name in parts.get(part, ())}
        slips = [name for name in sorted(near) if _one_apart(word, name) and not _form_of(word, name)]
        if slips and _inside(draft.text, match.start()):
            yield Span(match.start(), match.end()), slips[0]


def _inside(text: str, place: int) -> bool:
    """True for a word inside a sentence and without an article, where a capital letter marks a name."""
    before = text[max(0, place - 2) : place]
    in_sentence = len(before) == 2 and before[1] == " " and (before[0].isalpha() or before[0] in ",;")
    return in_sentence and not _ARTICLE.search(text, max(0, place - 8), place - 1)


def _shortened(word: str) -> Iterator[str]:
    """The word, and each word made by leaving out one letter."""
    yield word
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]


def _one_apart(one: str, other: str) -> bool:
    """True when the words differ by one added, missing or changed letter, or by two swapped ones."""
    if len(one) == len(other):
        differs = [place for place in range(len(one)) if one[place] != other[place]]
        if len(differs) == 2 and differs[1] == differs[0] + 1:
            return one[differs[0]] == other[differs[1]] and one[differs[1]] == other[differs[0]]
        return len(differs) == 1
    if abs(len(one) - len(other)) != 1:
        return False
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return any(longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer)))


def _form_of(one: str, other: str) -> bool:
    """True when one is a plural, feminine or possessive of the other, or differs only in a hyphen or an apostrophe.

    A name that begins with another letter is another name: slips of the pen hardly ever change the first one.
    """
    if one[0] != other[0] or one.translate(_MARKS) == other.translate(_MARKS):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if len(longer) > len(shorter):
        return longer.startswith(shorter) and longer[len(shorter) :] in _ENDINGS
    return one[:-1] == other[:-1] and one[-1] in "aeoiy" and other[-1] in "aeoiy"
