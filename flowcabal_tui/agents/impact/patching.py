"""A patch for a place that no rule can change: one question to a model, whose answer may change that place only."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, Literal

from flowcabal_tui.agents.checking.rules.leftovers import is_free_of
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.domain.answer_schema import StructuredAnswer, long_text
from flowcabal_tui.domain.impact import PatchQuestion
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.proposals import plain_quotation
from flowcabal_tui.domain.text import clean

TASK: Final = "impact.patch"
_AROUND: Final = 400
"""Characters of the passage on both sides of the place."""
_LONGER: Final = 2
_ROOM: Final = 80
"""A patch may be `_LONGER` times as long as the place, plus this many characters."""
_KEPT: Final = 0.3
"""Least share of the words of the place that a patch must keep; otherwise it is another text."""
_LEAST: Final = 6
"""Letters from which a sentence beside the place is known again in an answer."""
_WORDS: Final = re.compile(r"[〇一-鿿]|[^\W_〇一-鿿]+")
Verdict = Literal["patch", "same", "unusable"]


class PlacePatch(StructuredAnswer):
    """The corrected words of the place."""

    place: str = long_text(description="The corrected words of <place>; unchanged where they already fit.")


def patch_request(prompts: PromptLibrary, change: PatchQuestion, text: str, place: Span, language: str) -> ModelRequest:
    """The question about a place of a text. Raises SettingsError or ModelError for a prompt of the project's own."""
    values = {
        "language": language,
        "kind": change.kind,
        "was": change.was,
        "now": change.now,
        "before": text[max(0, place.start - _AROUND) : place.start],
        "place": text[place.start : place.end],
        "after": text[place.end : place.end + _AROUND],
    }
    return ModelRequest(prompts.get(TASK).fill(values), TASK)


def patch_of(text: str, place: Span, answer: PlacePatch) -> tuple[Verdict, str]:
    """The verdict on an answer and the new text of the place; "" if the answer cannot be used.

    An answer is unusable if it is empty or on several lines, removes almost all of the place, is far longer, addresses
    the user, or repeats a neighbouring sentence.
    """
    old, new = text[place.start : place.end], clean(answer.place).strip()
    if plain_quotation(new) == plain_quotation(old) and new:
        return "same", old
    plain = plain_quotation(new)
    is_usable = (
        bool(plain)
        and "\n" not in new
        and len(new) <= _LONGER * len(old) + _ROOM
        and is_free_of(new)
        and _shared(old, new) >= _KEPT
        and not any(each in plain for each in _beside(text, place) if each not in plain_quotation(old))
    )
    return ("patch", new) if is_usable else ("unusable", "")


def _shared(old: str, new: str) -> float:
    """The share of the words of one text that the other contains."""
    words, others = (Counter(_WORDS.findall(text.lower())) for text in (old, new))
    return (words & others).total() / max(1, words.total())


def _beside(text: str, place: Span) -> list[str]:
    """The sentences next to the place, reduced to letters."""
    before, after = text[max(0, place.start - _AROUND) : place.start], text[place.end : place.end + _AROUND]
    near = [before[span.start : span.end] for span in sentences(before)[-1:]]
    near += [after[span.start : span.end] for span in sentences(after)[:1]]
    return [plain for each in near if len(plain := plain_quotation(each)) >= _LEAST]
