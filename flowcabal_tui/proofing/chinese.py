"""Rules for Chinese: half-width and doubled punctuation, quotes, wrong characters, 的/地/得 by pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from flowcabal_tui.domain.proofing import ProofMark
from flowcabal_tui.proofing.lists import words, wrong_words
from flowcabal_tui.proofing.marks import DASH, ELLIPSIS, half_width_marks
from flowcabal_tui.proofing.speech import is_continued

_DOUBLED: Final = re.compile(
    rf"{ELLIPSIS.pattern}|{DASH.pattern}|。。|，{{2,}}|、{{2,}}|；{{2,}}|：{{2,}}|？{{4,}}|！{{4,}}|[，、；：][。，、；：]|。[，、；：]"
)
_DOUBLED_WORD: Final = re.compile(r"的的(?![确卡士])|被被|在在(?!所)|就就")
_DE_BEFORE: Final = "慢慢|轻轻|悄悄|静静|默默|狠狠|紧紧|缓缓|匆匆|偷偷|呆呆|渐渐|牢牢|死死|远远|飞快|猛烈|拼命"
_DE_AFTER: Final = re.compile(
    "(?<=[跑走飞说做写唱吃睡笑哭气吓累疼痛急])的(?=很[快慢好高远久多]|太[快慢多]|飞快|直发抖|说不出话|喘不过气|不得了|要命|不行)"
)
_PAIRS: Final = {"”": "“", "’": "‘", "」": "「", "』": "『", "）": "（", "》": "《", "】": "【"}
_CLOSING: Final = {opening: closing for closing, opening in _PAIRS.items()}
_QUOTE: Final = re.compile("[" + "".join((*_PAIRS, *_CLOSING)) + '"]')


def half_width(text: str) -> Iterator[ProofMark]:
    """Marks half-width punctuation beside Chinese."""
    for at, full in half_width_marks(text):
        yield ProofMark("half-width", at, at + 1, text[at], full)


def doubled_marks(text: str) -> Iterator[ProofMark]:
    """Marks punctuation that is doubled, consecutive, or half of a pair (…… and —— have two characters)."""
    for found in _DOUBLED.finditer(text):
        marks = found.group()
        right = "……" if ELLIPSIS.fullmatch(marks) else "——" if DASH.fullmatch(marks) else marks[-1]
        yield ProofMark("doubled-marks", *found.span(), marks, right)


def doubled_words(text: str) -> Iterator[ProofMark]:
    """Marks particles that were typed twice."""
    for found in _DOUBLED_WORD.finditer(text):
        yield ProofMark("doubled-words", *found.span(), found.group(), found.group()[0])


def wrong_characters(text: str) -> Iterator[ProofMark]:
    """Marks the commonest wrong characters of the list, also where they belong to two words."""
    for end, (wrong, right) in wrong_words("zh_wrong.tsv").iter(text):
        yield ProofMark("wrong-words", end + 1 - len(wrong), end + 1, wrong, right)


@lru_cache(maxsize=1)
def _adverbs() -> re.Pattern[str]:
    verbs = "|".join(sorted(words("zh_verbs.txt"), key=lambda word: (-len(word), word)))
    return re.compile(f"(?<=[慢轻悄静默狠紧缓匆偷呆渐牢死远快烈命])的(?={verbs})")


def particles(text: str) -> Iterator[ProofMark]:
    """Marks 的 in place of 地 between an adverb and a verb, or of 得 between a verb and its complement."""
    for found in _adverbs().finditer(text):
        if re.search(f"(?:{_DE_BEFORE})$", text[max(0, found.start() - 2) : found.start()]):
            yield ProofMark("de", *found.span(), "的", "地")
    for found in _DE_AFTER.finditer(text):
        yield ProofMark("de", *found.span(), "的", "得")


def quotes(text: str) -> Iterator[ProofMark]:
    """Marks straight quotes, closing marks without an opening one, and opening marks without a closing one.

    A speech of several paragraphs opens again in each of them.
    """
    waiting: list[tuple[str, int]] = []
    for found in _QUOTE.finditer(text):
        mark, at = found.group(), found.start()
        if mark == '"':
            yield ProofMark("quotes", at, at + 1, mark)
        elif mark in _CLOSING:
            while waiting and waiting[-1][0] == mark and "\n" in text[waiting[-1][1] : at]:
                _mark, before = waiting.pop()
                if not is_continued(text, before, at, _CLOSING[mark]):
                    yield ProofMark("quotes", before, before + 1, mark)
            waiting.append((mark, at))
        elif any(opened == _PAIRS[mark] for opened, _at in waiting):
            while (last := waiting.pop())[0] != _PAIRS[mark]:
                yield ProofMark("quotes", last[1], last[1] + 1, last[0])
        else:
            yield ProofMark("quotes", at, at + 1, mark)
    for mark, at in waiting:
        yield ProofMark("quotes", at, at + 1, mark)
