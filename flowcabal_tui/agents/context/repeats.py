"""Finds repetitions in a context: overviews of chapters whose text is in it, and sentences of several sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.context.quoted import of_chapters
from flowcabal_tui.domain.context import BudgetClass
from flowcabal_tui.locale import _

_WHOLE: Final = 0.9
"""The part of a chapter from which its text counts as included."""
_LEAST: Final = 8
"""Characters of a sentence: a shorter one may occur in two places by chance."""
_MARKS: Final = '“”"「」 \u3000\t'
_ORDER: Final[tuple[BudgetClass, ...]] = ("summaries", "near", "profiles", "knowledge")
"""The classes of derived texts: a sentence stays in the first that has it."""


def repeats(chosen: Sequence[ContextText], fixed: int, language: str) -> Iterator[tuple[int, ContextText | None, str]]:
    """The index of each derived text that repeats others, its remaining text (None: nothing), and the rule.

    Texts before the index `fixed` do not change. The text of the book is never left out, since derived texts are the
    weaker sources.
    """
    lengths, included = Counter[str](), Counter[str]()
    texts: list[str] = []
    for each in chosen:
        if _is_of_book(each):
            included[each.uri] += each.end - each.start
            lengths[each.uri] = max(lengths[each.uri], each.of, each.source_length)
            texts.append(each.text)
    ordered = sorted(range(len(chosen)), key=lambda at: (at >= fixed, _rank(chosen[at])))
    for at in ordered:
        each = chosen[at]
        if _is_of_book(each) or each.budget_class not in _ORDER or each.level == "L2" or each.introduces:
            continue
        if at >= fixed and lengths[each.uri] and included[each.uri] >= _WHOLE * lengths[each.uri]:
            yield at, None, _("nearly all of the chapter's own text is included")
            continue
        if at >= fixed and (rest := _without(each, texts, language)) is not each:
            yield at, rest, _("all its sentences are included elsewhere")
            if rest is None:
                continue
            each = rest
        texts.append(each.text)


def _is_of_book(candidate: ContextText) -> bool:
    return candidate.level == "L2" and candidate.start >= 0


def _rank(candidate: ContextText) -> tuple[int, int]:
    name = candidate.budget_class
    return _ORDER.index(name) if name in _ORDER else len(_ORDER), -int(candidate.level[1])


def _without(candidate: ContextText, others: Sequence[str], language: str) -> ContextText | None:
    """The candidate without the sentences that the `others` contain; itself if there are none, None if nothing is left.

    A summary stays whole where less than half of it would be left: fragments summarise nothing.
    """

    def is_new(sentence: str) -> bool:
        words = sentence.strip(_MARKS)
        return len(words) < _LEAST or not any(words in text for text in others)

    why = _("{why}; without the sentences that are included elsewhere").format(why=candidate.reason)
    if candidate.quoted:
        kept = tuple(each for each in candidate.quoted if is_new(each[1]))
        if len(kept) == len(candidate.quoted):
            return candidate
        return replace(candidate, quoted=kept, text=of_chapters(kept, language), reason=why) if kept else None
    lines = candidate.text.splitlines()
    left = [line for line in lines if is_new(line)]
    is_fragment = candidate.budget_class == "summaries" and len(left) < len(lines) / 2
    if is_fragment or len(left) == len(lines):
        return candidate
    text = "\n".join(left)
    return replace(candidate, text=text, reason=why) if text.strip() else None
