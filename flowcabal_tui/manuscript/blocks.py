"""Common parts of exports: paragraphs, volumes, the language tag, and text that XML permits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.text import han_count
from flowcabal_tui.manuscript.words import word_table

_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TRADITIONAL: Final = frozenset(word_table("characters")["traditional"])
_SIMPLIFIED: Final = frozenset(word_table("characters")["simplified"])
_SAMPLE: Final = 20_000


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text: one for each line that is not blank."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def volume_starts(chapters: Sequence[ImportedChapter]) -> list[bool]:
    """For each chapter, True when a volume with a name begins there."""
    names = ["", *(chapter.volume for chapter in chapters)]
    return [bool(name) and name != before for before, name in pairwise(names)]


def language_tag(language: str, chapters: Sequence[ImportedChapter]) -> str:
    """zh-CN, zh-TW (if traditional characters predominate) or the language of the project."""
    if language != "zh":
        return language
    sample = "".join(chapter.text[:2000] for chapter in chapters[:10])[:_SAMPLE]
    traditional = sum(character in _TRADITIONAL for character in sample)
    return "zh-TW" if traditional > sum(character in _SIMPLIFIED for character in sample) else "zh-CN"


def legal(text: str) -> str:
    """`text` without the characters that XML 1.0 forbids."""
    return _ILLEGAL.sub("", text)


def bracketed(note: str) -> str:
    """A footnote inside the text: 〔…〕 for Chinese, [...] with a space before it otherwise."""
    return f"〔{note}〕" if han_count(note) else f" [{note}]"
