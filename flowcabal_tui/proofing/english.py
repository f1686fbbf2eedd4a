"""Rules for English: doubled words and marks, quotes, common misspellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.domain.proofing import ProofMark
from flowcabal_tui.domain.text import lowered
from flowcabal_tui.proofing.lists import rule_words, wrong_words
from flowcabal_tui.proofing.speech import is_continued

_DOUBLED: Final = re.compile(r",{2,}|;{2,}|:{2,}|(?<!\.)\.\.(?!\.)|,\.|\?{4,}|!{4,}|(?<=\w) [,;:!?.](?=\s)")
_TWICE: Final = re.compile(r"\b([A-Za-z]+)[ \n]\1\b")
_MAY_DOUBLE: Final = frozenset(rule_words("doubled")["may_double"].split())
_DOUBLE_QUOTE: Final = re.compile('[“”"]')


def doubled_marks(text: str) -> Iterator[ProofMark]:
    """Marks punctuation that is doubled or follows a blank."""
    for found in _DOUBLED.finditer(text):
        marks = found.group()
        yield ProofMark("doubled-marks", *found.span(), marks, marks[-1])


def doubled_words(text: str) -> Iterator[ProofMark]:
    """Marks a word that was typed twice, except names and words that may be doubled."""
    for found in _TWICE.finditer(text):
        if found[1].islower() and found[1] not in _MAY_DOUBLE:
            yield ProofMark("doubled-words", *found.span(), found.group(), found[1])


def misspellings(text: str) -> Iterator[ProofMark]:
    """Marks common wrong spellings and phrases of the list, as whole words."""
    for end, (wrong, right) in wrong_words("en_wrong.tsv").iter(lowered(text)):
        start = end + 1 - len(wrong)
        before, after = text[start - 1 : start], text[end + 1 : end + 2]
        is_of_course = wrong.endswith(" of") and text.startswith(" course", end + 1)
        if not (before.isalnum() or after.isalnum() or before == "-" or is_of_course):
            word = text[start : end + 1]
            yield ProofMark("wrong-words", start, end + 1, word, right.capitalize() if word[:1].isupper() else right)


def quotes(text: str) -> Iterator[ProofMark]:
    """Marks closing quotes without an opening one, opening ones without a closing one, and straight ones among curly.

    A speech of several paragraphs opens again in each of them, and closes in the last.
    """
    curly = "“" in text
    waiting: list[int] = []
    for found in _DOUBLE_QUOTE.finditer(text):
        mark, at = found.group(), found.start()
        if mark == '"':
            if curly:
                yield ProofMark("quotes", at, at + 1, mark)
        elif mark == "“":
            between = text[waiting[-1] : at] if waiting else "‘"
            if "‘" not in between or "\n" in between:  # a quote within a quote is between single ones
                before = waiting.pop()
                if not is_continued(text, before, at, "”"):
                    yield ProofMark("quotes", before, before + 1, mark)
                if "\n" in between:
                    waiting.clear()
            waiting.append(at)
        elif waiting:
            waiting.pop()
        else:
            yield ProofMark("quotes", at, at + 1, mark)
    for at in waiting:
        yield ProofMark("quotes", at, at + 1, "“")
