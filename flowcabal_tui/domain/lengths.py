"""The length of a text by the conventions of writers, platforms and Word."""

from __future__ import annotations

import operator
from typing import Final, Literal

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import foreign_words, han_count
from flowcabal_tui.domain.value_class import dataclass

Counting = Literal["plain", "word", "platform"]
"""Ways to count a Chinese text. plain: Chinese characters and foreign words; word: with full-width punctuation, like
the 字数 of Word; platform: every character that is not blank."""
_FULL_WIDTH_SIGN: Final = late(
    "[\u2014\u2018\u2019\u201c\u201d\u2026\u3001\u3002\u3008-\u3011\u3014-\u301f\u00b7"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
_NOT_BLANK: Final = late(r"[^\s\u200b\u3000]+")


@dataclass(frozen=True, slots=True)
class TextLength:
    """Counts of one text, or of the difference of two.

    `words` are foreign words, `signs` full-width punctuation marks, `characters` all that are not blank, `groups` runs
    between blanks (the words of Word in an English text).
    """

    han: int = 0
    words: int = 0
    signs: int = 0
    characters: int = 0
    groups: int = 0

    def __add__(self, other: TextLength) -> TextLength:
        return TextLength(*map(operator.add, _COUNTS(self), _COUNTS(other)))

    def __sub__(self, other: TextLength) -> TextLength:
        return TextLength(*map(operator.sub, _COUNTS(self), _COUNTS(other)))

    def count(self, how: Counting, *, chinese: bool) -> int:
        """The length by one way of counting; platforms count an English text in words."""
        if how == "platform" and chinese:
            return self.characters
        if how == "word":
            return self.han + self.words + self.signs if chinese else self.groups
        return self.han + self.words


_COUNTS: Final = operator.attrgetter("han", "words", "signs", "characters", "groups")


def text_length(text: str) -> TextLength:
    """Counts a text in every way at once. The counts of its lines add up to those of the text."""
    groups = _NOT_BLANK.findall(text)
    return TextLength(
        han_count(text), foreign_words(text), len(_FULL_WIDTH_SIGN.findall(text)), sum(map(len, groups)), len(groups)
    )
