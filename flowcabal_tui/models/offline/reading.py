"""Small tools for reading a text without a model: sentences, terms, names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_END_EN: Final = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)([.!?…]+[”\"’']*)(?=\s|$)")
_END_ZH: Final = re.compile(r"([。！？…]+[”’」』]*)")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_HAN_RUN: Final = re.compile(r"[\u4e00-\u9fff]+")
_FULL_NAME: Final = re.compile(r"(?<!\bthe )(?<!\bThe )\b[A-Z][a-z]+(?: [A-Z][a-z]+)+")
_STOP: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by did do does for from had has have he her him his how i in is it its me my "
        "not of on or our out she so that the their them then there they this to up was we were what when where which "
        "who whom whose why will with would you your",
    )
)
_STOP_ZH: Final = frozenset("的了是在有和就也都不这那他她它我你们着过与及或什么谁哪怎吗呢吧啊把被从到里上下")
PERSON: Final = "character"
SURNAME: Final = (
    "(?:欧阳|司马|上官|诸葛|[赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹苏潘葛范彭郎鲁韦马苗方任袁柳唐罗薛雷"
    "贺倪汤毕郝安常于时傅齐康伍余顾孟黄穆萧尹姚邵汪祁毛米贝戴谈宋庞熊纪舒屈项祝董梁杜阮蓝季贾江童郭梅林刁钟徐邱骆高夏蔡田"
    "樊胡凌霍万卢莫丁邓石崔龚程邢陆翁段侯秋白叶])"
)
SURNAME_FIRST: Final = re.compile(SURNAME + "[\u4e00-\u9fff]{1,2}$")


@dataclass(frozen=True, slots=True)
class Name:
    """An entity as a prompt lists it: all its names, the chief one first."""

    kind: str
    names: tuple[str, ...]

    @property
    def chief(self) -> str:
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its place in the text it was cut from, and the paragraph around it."""

    text: str
    start: int
    paragraph: str


def is_chinese(text: str) -> bool:
    """More Chinese characters than Latin words?"""
    return sum(map(len, _HAN_RUN.findall(text))) > len(_WORD.findall(text))


def sentences(text: str, chinese: bool) -> list[Sentence]:
    """The sentences, verbatim without the space around them; none reaches over a line end."""
    found: list[Sentence] = []
    end = _END_ZH if chinese else _END_EN
    offset = 0
    for line in text.split("\n"):
        start = 0
        for cut in [*(match.end() for match in end.finditer(line)), len(line)]:
            piece = line[start:cut]
            if bare := piece.strip():
                at = offset + start + len(piece) - len(piece.lstrip())
                found.append(Sentence(bare, at, line.strip()))
            start = cut
        offset += len(line) + 1
    return found


@lru_cache(maxsize=4_096)
def terms(text: str, chinese: bool) -> frozenset[str]:
    """What a text is about: words without the common ones; pairs of characters in Chinese."""
    words = {word.lower() for word in _WORD.findall(text)} - _STOP
    if not chinese:
        return frozenset(words)
    runs = _HAN_RUN.findall("".join(" " if c in _STOP_ZH else c for c in text))
    return frozenset(words | {run[i : i + 2] for run in runs for i in range(len(run) - 1)})


def parse_names(listed: str) -> tuple[Name, ...]:
    """The `<names>` of a prompt: `kind: name | alias`, one a line."""
    found: list[Name] = []
    for line in listed.splitlines():
        kind, colon, rest = line.partition(":")
        names = tuple(name.strip() for name in rest.split("|") if name.strip())
        if colon and names:
            found.append(Name(kind.strip(), names))
    return tuple(found)


def full_names(text: str) -> tuple[str, ...]:
    """English names of two or more words, in order of appearance (Tobias Crane; not the Drowned Mile)."""
    found = (name for name in _FULL_NAME.findall(text) if name.split()[0].lower() not in _STOP)
    return tuple(dict.fromkeys(found))


def with_short_forms(names: Iterable[Name]) -> tuple[Name, ...]:
    """English persons are also called by the parts of their names that nobody else has."""
    all_names = list(names)
    parts = [part for name in all_names if name.kind == PERSON for part in set(name.chief.split())]
    result: list[Name] = []
    for name in all_names:
        own = [p for p in name.chief.split() if parts.count(p) == 1] if name.kind == PERSON else []
        result.append(Name(name.kind, tuple(dict.fromkeys([*name.names, *own]))))
    return tuple(result)


def mentions(text: str, names: Sequence[Name]) -> list[tuple[int, int, Name]]:
    """Where names stand in `text`, longest first, none inside another, in order."""
    taken: list[tuple[int, int, Name]] = []
    there = ((form, name) for name in names for form in name.names if form in text)
    for form, name in sorted(there, key=lambda pair: (-len(pair[0]), pair[0])):
        pattern = re.escape(form)
        if form[:1].isascii():
            pattern = rf"(?<!\w){pattern}(?!\w)"
        for match in re.finditer(pattern, text):
            if all(match.end() <= start or match.start() >= end for start, end, _ in taken):
                taken.append((match.start(), match.end(), name))
    return sorted(taken, key=lambda mention: mention[:2])


def token_estimate(text: str) -> int:
    """A character beyond ASCII counts one token; four others, or three quarters of a word, count one."""
    wide = sum(1 for c in text if c > "\x7f")
    return wide + max((len(text) - wide + 3) // 4, -(-4 * len(_WORD.findall(text)) // 3))


def clipped(text: str, limit: int, chinese: bool) -> str:
    """`text` within `limit` tokens, cut at a clause where there is one."""
    if token_estimate(text) <= limit:
        return text
    clauses = re.split(r"(?<=[，；：])" if chinese else r"(?<=[,;:])\s", text)
    kept = ""
    for clause in clauses:
        longer = kept + clause if chinese or not kept else f"{kept} {clause}"
        if token_estimate(longer) > limit - 1:
            break
        kept = longer
    if not kept:
        units = list(text) if chinese else text.split()
        while units and token_estimate(("" if chinese else " ").join(units)) > limit - 1:
            units.pop()
        kept = ("" if chinese else " ").join(units)
    return kept.rstrip("，；：,;: ") + ("。" if chinese else ".")
