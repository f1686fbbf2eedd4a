"""Recognises the heading lines of a novel: chapter or volume, number, title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters
from typing import Final, Literal

from flowcabal_tui.headings.numerals import NUMERAL, chinese_number, leading_number
from flowcabal_tui.headings.words import alternatives, words_of

HeadingKind = Literal["chapter", "volume"]
Trust = Literal["sure", "habit", "next", "bare"]

_GAP: Final = r"[ \t\u3000:：、.．·—–\-_|/（(【《「『]"
_VOLUME: Final = (
    rf"(?:第\s*(?P<number>{NUMERAL})\s*[卷部篇册冊辑輯]|卷之?(?P<after>{NUMERAL})|卷[上中下]|[上中下][卷部篇册冊])"
)
_VOLUME_ZH: Final = re.compile(rf"^{_VOLUME}(?P<rest>(?:{_GAP}.*)?)$")
_BOTH: Final = re.compile(rf"^(?P<volume>{_VOLUME}(?:{_GAP}.{{0,24}}?)?)\s*(?=第\s*{NUMERAL}\s*[章回节節话話])")
_CHAPTER_ZH: Final = re.compile(
    rf"^(?:第\s*(?P<number>{NUMERAL})\s*(?P<unit>[章回节節话話集幕折])|(?P<plain>{NUMERAL})章)(?P<rest>.*)$"
)
_APART_ZH: Final = re.compile(rf"^(?:{alternatives('apart', 'zh')})\s*(?:{NUMERAL})?(?:{_GAP}.{{0,40}})?$")
_SPACED: Final = re.compile(r"^([楔引序尾终終后後番跋])[ \u3000]{1,2}(?=[子章声聲记記外])")
_INSIDE_A_SENTENCE: Final = re.compile("[,，。;；:：!！?？“”「」]")
_SELDOM_A_TITLE: Final = "".join(words_of("running", "zh"))
_CHAPTERS_EN: Final = alternatives("units", "chapters_en")
_VOLUMES_EN: Final = alternatives("units", "volumes_en")
_UNITS_EN: Final = re.compile(
    rf"^(?:(?P<chapter>{_CHAPTERS_EN})|(?P<volume>{_VOLUMES_EN}))\s+(?:the\s+)?", re.IGNORECASE
)
_LAST_EN: Final = re.compile(r"^chapter the last\b.{0,80}$", re.IGNORECASE)
_LONG_TITLE: Final = re.compile(r"^chapter\s+[0-9ivxlc]+[.:].{1,400}$", re.IGNORECASE)
_APART_EN: Final = re.compile(
    rf"^(?:{alternatives('apart', 'en')}|author['’]s note)(?:\s+(?:[0-9]+|[ivxlc]+))?(?:\s*[.:—–-].*)?$", re.IGNORECASE
)
_BARE_ZH: Final = re.compile(rf"^(?P<number>{NUMERAL})(?:\s*[、.．:：]\s*|\s+|$)(?P<title>.{{0,30}})$")
_BARE_EN: Final = re.compile(r"^(?P<number>[0-9]{1,3}|[IVXLC]+)(?:\.?|[.:)]?\s+(?P<title>[A-Z‘“].{0,60}[^.,;:]))$")
_LETTERS: Final = frozenset(ascii_letters)
_JOINTS: Final = " \t\u3000:：、.．·—–-_|/"
_ORNAMENT: Final = "—–-=*~～_◆◇★☆■□●○※▲△▼▽♦❖§+#"
_BRACKETED: Final = re.compile(r"^[（(\[〈「『〔<]\s*(?P<core>[^）)\]〉」』〕>]+?)\s*[）)\]〉」』〕>]\s*(?P<rest>.*)$")
_BEFORE: Final = re.compile(rf"^(?:正文卷?|《[^》]{{1,30}}》)\s*(?=第|卷|{NUMERAL}章)")
_BARE_LINE: Final = re.compile(r"[A-Za-z0-9][\x21-\x7e]*(?: [\x21-\x7e]+)*(?<![-=*~_#+])")
"""Words of plain ASCII with one blank between them, no ornament at an end."""
_PLAIN: Final = {
    **{ord(wide): ord(wide) - 0xFEE0 for wide in "０１２３４５６７８９"},
    **{code: code - 0xFEE0 for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))},
    ord("【"): " ",
    ord("】"): " ",
}
"""Full-width digits and letters made plain; the title keeps its own punctuation."""
_POSSIBLE: Final = re.compile(
    rf"\n(?:[^\S\n]|[{re.escape(_ORNAMENT)}•【】（(\[〈「『〔<《])*"
    rf"(?:第|卷|[上中下][卷部篇册冊]|{alternatives('apart', 'begins_zh')}|正文"
    rf"|{NUMERAL}|[0-9０-９Ａ-Ｚａ-ｚ]|[IVXLC]+(?![A-Za-z])"
    rf"|(?i:{_CHAPTERS_EN}|{_VOLUMES_EN}|{alternatives('apart', 'en')}|author))",
    re.MULTILINE,
)
"""A line that may be a heading, with the line break before it; most lines of a long text are none."""
_LONGEST_ZH: Final = 60
LONGEST: Final = 100
"""Longer lines are headings only if they begin with Chapter and a number and a stop (Cervantes's do)."""

LONGEST_MARKED: Final = 400
"""A longer line is text, even if a Markdown mark or the style of a document makes it a heading."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line.

    `unit` is the counted word: 章, 节, "chapter", "part" ("": none).

    `trust`: "sure"; "habit": only the numeral distinguishes it from running text, so it counts only if the book writes
    its headings this way; "next": it reads like running text (第四回中…), so it counts only if it has the next number;
    "bare": a number with or without a title, which counts only if the book numbers all chapters from one by such lines.
    """

    kind: HeadingKind
    title: str
    number: int | None = None
    volume: str = ""
    trust: Trust = "sure"
    unit: str = ""


def heading_of(line: str) -> Heading | None:
    """The heading in a single line; None for running text. Markdown marks are not handled."""
    return _heading_of(line) if len(line) > LONGEST else _known_heading_of(line)


def _heading_of(line: str) -> Heading | None:
    line = _undecorated(line)
    if not line or (len(line) > LONGEST and not _LONG_TITLE.match(line)):
        return None
    if line[0].isascii() and (english := _english(line)):
        return english
    return _chinese(line) if len(line) <= _LONGEST_ZH else None


_known_heading_of = lru_cache(maxsize=16_384)(_heading_of)
"""A title is read again for each of its parts and chapters; long lines are not kept."""


def possible_headings(text: str) -> tuple[int, ...]:
    """The starts of the lines that `heading_of` may take for headings."""
    return tuple(match.start() for match in _POSSIBLE.finditer(f"\n{text}"))


def is_untitled(title: str) -> bool:
    """True when the title of a chapter or volume is only a number (第一回, 卷二, CHAPTER XII., 12)."""
    return _after_number(title) == ""


def title_words(title: str) -> str:
    """A title without its number: 王熙凤毒设相思局 of 第十二回 王熙凤毒设相思局."""
    words = _after_number(title)
    return title.strip() if words is None else words


@lru_cache(maxsize=16_384)
def _after_number(title: str) -> str | None:
    """The text after the number of a title; None when it has no number."""
    if title[:1] not in _LETTERS and (found := _CHAPTER_ZH.match(title) or _VOLUME_ZH.match(title)):
        return found["rest"].strip(_JOINTS)
    if found := _UNITS_EN.match(title):
        number, rest = leading_number(title[found.end() :])
        return None if number is None else rest.strip(_JOINTS)
    bare = _BARE_ZH.match(title) or _BARE_EN.match(title)
    return (bare["title"] or "").strip() if bare else None


def is_apart(title: str) -> bool:
    """True for a prologue, an epilogue or the like, which is not numbered."""
    heading = heading_of(title)
    return heading is not None and heading.kind == "chapter" and heading.number is None and heading.trust == "sure"


def _undecorated(line: str) -> str:
    """Without ornaments and brackets around it, and without the words before the number (正文, the book's name)."""
    if _BARE_LINE.fullmatch(line):
        return line
    line = " ".join(line.translate(_PLAIN).split(" ")).strip()
    bare = line.strip(_ORNAMENT + " \t\u3000")
    if bare != line and (line[:1] in _ORNAMENT or line[-1:] in _ORNAMENT):
        line = bare
    if found := _BRACKETED.match(line):
        core = f"{found['core']} {found['rest']}".strip()
        line = core if core[:1] in "第卷" or _UNITS_EN.match(core) else line
    return re.sub(r"[ \t]{2,}", " ", _BEFORE.sub("", line))


def _chinese(line: str) -> Heading | None:
    if line[-1] in "。,;:，；：、":
        return None
    volume = ""
    if both := _BOTH.match(line):
        volume, line = both["volume"].strip(), line[both.end() :]
    if found := _CHAPTER_ZH.match(line):
        rest, unit = found["rest"], found["unit"] or "章"
        trust: Trust = "habit" if found["plain"] else "sure"
        if rest and not re.match(_GAP, rest):
            if unit not in "章回" or _INSIDE_A_SENTENCE.search(rest):
                return None
            trust = "next" if rest[0] in _SELDOM_A_TITLE else "habit"
        return Heading("chapter", line, chinese_number(found["number"] or found["plain"]), volume, trust, unit)
    if found := _VOLUME_ZH.match(line):
        return Heading("volume", line, chinese_number(found["number"] or found["after"] or ""), unit="卷")
    if _APART_ZH.match(together := _SPACED.sub(r"\1", line)):
        return Heading("chapter", together)
    if found := _BARE_ZH.match(line):
        return Heading("chapter", line, chinese_number(found["number"]), trust="bare")
    return None


def _english(line: str) -> Heading | None:
    if _APART_EN.match(line) or _LAST_EN.match(line):
        return Heading("chapter", line)
    if found := _UNITS_EN.match(line):
        unit = (found["chapter"] or found["volume"]).lower().rstrip(".")
        number, rest = leading_number(line[found.end() :])
        if number is None or (rest and rest[0] not in " \t.:—–-"):
            return None
        title = rest.lstrip(" .:—–-\t")
        apart = rest.lstrip()[:1] in ".:—–-"
        if title and not apart and (title[0].islower() or title[-1] in ".,;!?"):
            return None
        return Heading("chapter" if found["chapter"] else "volume", line, number, unit=unit)
    if found := _BARE_EN.match(line):
        return Heading("chapter", line, leading_number(found["number"])[0], trust="bare")
    return None
