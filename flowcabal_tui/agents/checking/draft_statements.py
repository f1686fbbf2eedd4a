"""The voice and mode of each statement of a draft (who says it, and how), read by rule, sentence by sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from flowcabal_tui.agents.checking.evidence.reading import TextReader
from flowcabal_tui.agents.checking.rules.speech import BLANK, without_speech
from flowcabal_tui.agents.sentences import paragraphs
from flowcabal_tui.agents.words import word_groups
from flowcabal_tui.domain.manuscript import Span

Voice = Literal["narration", "speech", "thought", "document"]
Mode = Literal["asserted", "supposed", "dreamt", "planned"]
_MODES: Final[tuple[Mode, ...]] = ("dreamt", "supposed", "planned")
_LEADS_IN: Final = 40
"""Characters before a quotation that may say that it was written, as in a letter."""


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """A sentence or clause of a draft, by offsets, with its speaker and mode."""

    id: str
    start: int
    end: int
    text: str
    voice: Voice = "narration"
    mode: Mode = "asserted"

    @property
    def binds(self) -> bool:
        """True when the book itself asserts it."""
        return self.voice == "narration" and self.mode == "asserted"


def statements_in(draft: str, language: str) -> dict[int, DraftStatement]:
    """All statements of a draft by their start offsets, numbered c1, c2 ..., as in `evidence.statements`."""
    reader = TextReader(language)
    narration = without_speech(draft)
    spans = (span for at, paragraph in paragraphs(draft) for span in reader.units(paragraph, at))
    return {
        span.start: DraftStatement(
            f"c{number}",
            span.start,
            span.end,
            draft[span.start : span.end],
            _voice(draft, narration, span, reader.language),
            _mode(draft[span.start : span.end], reader.language),
        )
        for number, span in enumerate(spans, start=1)
    }


def _voice(draft: str, narration: str, span: Span, language: str) -> Voice:
    words = narration[span.start : span.end]
    if 2 * words.count(BLANK) > len(words):
        opening = draft.rfind("\n", 0, span.start) + 1
        begun = span.start + words.find(BLANK)
        while begun > opening and narration[begun - 1] == BLANK:
            begun -= 1
        before = draft[max(opening, begun - _LEADS_IN) : begun]
        return "document" if _says("document", before, language) else "speech"
    return "thought" if _says("thought", words, language) else "narration"


def _mode(text: str, language: str) -> Mode:
    return next((mode for mode in _MODES if _says(mode, text, language)), "asserted")


def _says(group: str, text: str, language: str) -> bool:
    return _pattern(group, language).search(text) is not None


@cache
def _pattern(group: str, language: str) -> re.Pattern[str]:
    words = "|".join(map(re.escape, word_groups(f"voices.{language}")[group]))
    return re.compile(words if language == "zh" else rf"\b(?:{words})\b", re.IGNORECASE)
