"""Which line of a novel is a heading, and what it says: chapter or volume, number, title."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

HeadingKind = Literal["chapter", "volume"]
Trust = Literal["sure", "habit", "next"]

_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_TENS: Final = {"廿": 20, "卅": 30}
_NUMERAL: Final = r"[0-9零〇一二三四五六七八九十百千两兩廿卅]{1,9}"
_GAP: Final = r"[ \t\u3000:：、.．·—–\-（(【《]"
_IN_LINE: Final = re.compile(
    rf"^(?P<volume>(?:第\s*{_NUMERAL}\s*[卷部篇]|卷之?{_NUMERAL}).{{0,24}}?)\s+(?=第\s*{_NUMERAL}\s*[章回])"
)
_CHAPTER_ZH: Final = re.compile(rf"^第\s*(?P<number>{_NUMERAL})\s*(?P<unit>[章回節节話话集幕折])(?P<rest>.*)$")
_VOLUME_ZH: Final = re.compile(
    rf"^(?:第\s*(?P<number>{_NUMERAL})\s*[卷部篇]|卷之?(?P<after>{_NUMERAL}))(?P<rest>(?:{_GAP}.*)?)$"
)
_APART_ZH: Final = re.compile(
    rf"^(?:楔子|引子|引言|序章|序幕|序言|序|前言|自序|尾声|尾聲|终章|終章|大结局|后记|後記|跋|附录|附錄|番外篇?\s*(?:{_NUMERAL})?)"
    rf"(?:{_GAP}.*)?$"
)
_INSIDE_A_SENTENCE: Final = re.compile("[,，。;；:：!！?？“”「」]")
_SELDOM_A_TITLE: Final = "中里裡内內的末上说說讲講是有之所合课課目团團"
"""What follows 第四回 or 第二节 in running text: 第四回中…, 第三回合, 第二节课."""
_ENGLISH: Final = re.compile(
    r"^(?P<unit>chapter|part|book|volume)\s+(?P<number>[0-9]+|[ivxlc]+|[a-z]+(?:-[a-z]+)?)(?P<rest>(?:[\s.:—–-].*)?)$",
    re.IGNORECASE,
)
_LONG_TITLE: Final = re.compile(r"^chapter\s+[0-9ivxlc]+[.:].{1,400}$", re.IGNORECASE)
_APART_EN: Final = re.compile(
    r"^(?:prologue|epilogue|preface|foreword|afterword|introduction|interlude|appendix)(?P<rest>(?:\s*[.:—–-].*)?)$",
    re.IGNORECASE,
)
_SMALL: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_ROUND: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ROMAN: Final = re.compile(r"^(?=.)c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})$")
_PLAIN: Final = {
    **{ord(wide): ord(wide) - 0xFEE0 for wide in "０１２３４５６７８９"},
    **{code: code - 0xFEE0 for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))},
    ord("【"): None,
    ord("】"): None,
}
"""Full-width digits and letters made plain; the title keeps its own punctuation."""
_LONGEST_ZH: Final = 60
LONGEST: Final = 100
"""Longer lines are headings only if they begin with Chapter and a number and a stop (Cervantes's do)."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line.

    `trust`: "sure"; "habit", when only the numeral tells it from running text, so that it must be how this book
    writes headings; "next", when it reads like running text (第四回中…), so that it must be the next in number.
    """

    kind: HeadingKind
    title: str
    number: int | None = None
    volume: str = ""
    trust: Trust = "sure"


def chinese_number(text: str) -> int | None:
    """`一百二十`, `一二〇`, `１２` or `12` as an int; None when it is no numeral."""
    text = unicodedata.normalize("NFKC", text)
    if text.isascii():
        return int(text) if text.isdigit() else None
    if not any(c in _UNITS or c in _TENS for c in text):
        digits = [_DIGITS.get(c, int(c) if c.isascii() and c.isdigit() else None) for c in text]
        return int("".join(map(str, digits))) if None not in digits else None
    total, digit = 0, 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _TENS:
            total, digit = total + _TENS[character], 0
        elif character in _UNITS:
            total, digit = total + (digit or 1) * _UNITS[character], 0
        else:
            return None
    return total + digit


def english_number(text: str) -> int | None:
    """`12`, `XII`, `twelve` or `twenty-one` as an int; None when it is no numeral."""
    text = text.lower()
    if text.isdigit():
        return int(text)
    if text in _SMALL:
        return _SMALL.index(text)
    tens, _, ones = text.partition("-")
    if tens in _ROUND and (not ones or ones in _SMALL[1:10]):
        return 20 + 10 * _ROUND.index(tens) + (_SMALL.index(ones) if ones else 0)
    if not _ROMAN.match(text):
        return None
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[c] for c in text]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


def heading_of(line: str) -> Heading | None:
    """What a line of its own says as a heading; None for running text. Markdown marks are not its business."""
    line = line.translate(_PLAIN).strip()
    line = re.sub(r"^(?:正文|《[^》]{1,30}》)\s*(?=第|卷)", "", line)
    if not line or (len(line) > LONGEST and not _LONG_TITLE.match(line)):
        return None
    if line[0].isascii():
        return _english(line)
    return _chinese(line) if len(line) <= _LONGEST_ZH else None


def _chinese(line: str) -> Heading | None:
    if line[-1] in "。,;:，；：、":
        return None
    volume = ""
    if both := _IN_LINE.match(line):
        volume, line = both["volume"].strip(), line[both.end() :]
    if found := _CHAPTER_ZH.match(line):
        rest = found["rest"]
        trust: Trust = "sure"
        if rest and not re.match(_GAP, rest):
            if found["unit"] not in "章回" or _INSIDE_A_SENTENCE.search(rest):
                return None
            trust = "next" if rest[0] in _SELDOM_A_TITLE else "habit"
        return Heading("chapter", line, chinese_number(found["number"]), volume, trust)
    if found := _VOLUME_ZH.match(line):
        return Heading("volume", line, chinese_number(found["number"] or found["after"]))
    return Heading("chapter", line) if _APART_ZH.match(line) else None


def _english(line: str) -> Heading | None:
    if found := _APART_EN.match(line):
        return Heading("chapter", line)
    found = _ENGLISH.match(line)
    if found is None or (number := english_number(found["number"])) is None:
        return None
    rest = found["rest"]
    title = rest.lstrip(" .:—–-\t")
    if (
        title
        and rest[:1].isspace()
        and rest.lstrip()[:1] not in ".:—–-"
        and (title[0].islower() or title[-1] in ".,;!?")
    ):
        return None
    kind: HeadingKind = "chapter" if found["unit"].lower() == "chapter" else "volume"
    return Heading(kind, line, number)
