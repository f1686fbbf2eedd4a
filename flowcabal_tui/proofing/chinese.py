"""Rules for Chinese: half-width and doubled punctuation, quotes, wrong characters, 的/地/得 by pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.domain.proofing import ProofMark
from flowcabal_tui.proofing.lists import rule_words, wrong_words
from flowcabal_tui.proofing.marks import DASH, ELLIPSIS, half_width_marks
from flowcabal_tui.proofing.speech import is_continued

_DOUBLED: Final = re.compile(
    rf"{ELLIPSIS.pattern}|{DASH.pattern}|。。|，{{2,}}|、{{2,}}|；{{2,}}|：{{2,}}|？{{4,}}|！{{4,}}|[，、；：][。，、；：]|。[，、；：]"
)
_DOUBLED_WORD: Final = re.compile(r"的的(?![确卡士])|被被|在在(?!所)|就就")
_WORDS: Final = rule_words("particles")
_ADVERBS: Final = tuple(_WORDS["adverbs"].split())
_VERBS: Final = "|".join(sorted(_WORDS["verbs"].split(), key=lambda word: (-len(word), word)))
_DE_BEFORE_VERB: Final = re.compile(f"(?<=[{''.join(adverb[-1] for adverb in _ADVERBS)}])的(?={_VERBS})")
_COMPLEMENTS: Final = "|".join(_WORDS["complements"].split())
_DE_BEFORE_COMPLEMENT: Final = re.compile(f"(?<=[{_WORDS['before_complements']}])的(?={_COMPLEMENTS})")
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


def particles(text: str) -> Iterator[ProofMark]:
    """Marks 的 in place of 地 between an adverb and a verb, or of 得 between a verb and its complement."""
    for found in _DE_BEFORE_VERB.finditer(text):
        if text.endswith(_ADVERBS, 0, found.start()):
            yield ProofMark("de", *found.span(), "的", "地")
    for found in _DE_BEFORE_COMPLEMENT.finditer(text):
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
