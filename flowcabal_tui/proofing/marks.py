"""The marks of Chinese punctuation that proofing marks and an export replaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

HAN: Final = "\u4e00-\u9fff\u3400-\u4dbf"
FULL: Final = dict(zip(",.!?:;()", "，。！？：；（）", strict=True))
ELLIPSIS: Final = re.compile(r"\.{3,}|。{3,}|(?<!…)…(?!…)")
DASH: Final = re.compile(r"(?<!-)--(?!-)|(?<!—)—(?!—)")
_BEFORE: Final = rf"(?<=[{HAN}，。！？：；、…—“”‘’「」『』（）《》【】])"
_RUN: Final = re.compile(rf"{_BEFORE}[,.!?:;()\"'…]+")
"""Marks after Chinese text; straight quotes and dots may come between a character and its mark."""
_ONE: Final = re.compile(r"\.{2,}|[,.!?:;()]")
_PAIR: Final = re.compile(rf"(?:{_BEFORE}\(|\((?=[{HAN}]))[^()\n]*\)|\([^()\n]*\)(?=[{HAN}])")
_BRACKET: Final = re.compile(rf"[()](?=[{HAN}])")


def half_width_marks(text: str) -> Iterator[tuple[int, str]]:
    """The places of half-width punctuation beside Chinese with the full-width marks, in the order of the text.

    A mark directly before a Latin letter or a digit may belong to it, and dots in a row are an ellipsis.
    """
    found = {one.start(): one[0] for one in _BRACKET.finditer(text)}
    for pair in _PAIR.finditer(text):
        found |= {pair.start(): "(", pair.end() - 1: ")"}
    for run in _RUN.finditer(text):
        for one in _ONE.finditer(text, *run.span()):
            after = text[one.end() : one.end() + 1]
            if len(one[0]) == 1 and not (after.isascii() and after.isalnum()):
                found[one.start()] = one[0]
    return ((at, FULL[found[at]]) for at in sorted(found))
