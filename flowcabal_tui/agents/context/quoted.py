"""Texts made by rule consist of sentences of the book, and are marked as quotations with their chapters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Final

from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.domain.context import BudgetClass
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Derived
from flowcabal_tui.domain.prompt_parts import in_language
from flowcabal_tui.domain.text import unbroken
from flowcabal_tui.locale import _

_QUOTED: Final = ("（原文摘句）", " (quoted)")
_OVERVIEW: Final = ("（提要）", " (overview)")
_BESIDE_PAGES: Final[frozenset[BudgetClass]] = frozenset(("near", "knowledge"))
"""The classes in which overviews are beside pages of the book."""
_ALL: Final = ("以下各章提要是原文摘句。", "These summaries of chapters are sentences quoted from them.")
_FROM_CHAPTER: Final = ("摘自第{n}章：{words}", "Quoted from chapter {n}: {words}")
_FROM_EARLIER: Final = ("摘自前文：{words}", "Quoted from an earlier chapter: {words}")
"""In Chinese and in English: these words are in the language of the book."""
_PAIRS: Final = (("“", "”"), ("「", "」"))


def is_by_rule(derived: Derived) -> bool:
    """True when it was extracted from sentences of the book, without a model or the writer."""
    return derived.method == "extract"


def tells(derived: Derived, names: Iterable[str]) -> bool:
    """False for a text by rule that names no entity of the book, since it says nothing about the story."""
    known = list(names)
    return not is_by_rule(derived) or not known or any(name in derived.text for name in known)


def levels(
    uri: str,
    title: str,
    reason: str,
    budget_class: BudgetClass,
    states: Iterable[Derived | None],
    places: Mapping[ChapterId, int],
    language: str,
    position: int = 0,
) -> list[ContextText]:
    """One candidate of the highest existing level, with the lower one as `smaller`. `states` are sorted smallest first.

    `places` are the positions of the chapters: a profile made by rule names the chapter of each sentence.
    """
    chosen: ContextText | None = None
    for derived in states:
        if derived is not None:
            smaller = chosen
            chosen = ContextText(
                uri, title, reason, derived.level, budget_class, derived.text, position, smaller=smaller
            )
            chosen = marked(chosen, derived, places, language)
    return [chosen] if chosen else []


def marked(candidate: ContextText, derived: Derived, places: Mapping[ChapterId, int], language: str) -> ContextText:
    """The candidate of a derived text, or of a part of it: a text by rule is marked as quoted.

    The model reads it in the title, or with each sentence of a profile; the writer reads it in the reason. Another
    overview of a chapter is marked as one where pages of the book are beside it.
    """
    if not is_by_rule(derived):
        is_beside = candidate.budget_class in _BESIDE_PAGES and candidate.uri.startswith("manuscript/")
        return replace(candidate, title=candidate.title + in_language(_OVERVIEW, language)) if is_beside else candidate
    reasoned = _with_reason(candidate)
    if candidate.uri.startswith("profiles/"):
        contained = [each for each in derived.evidence if each.sentence.strip() in candidate.text]
        quoted = tuple((places.get(each.chapter, 0), each.sentence.strip()) for each in contained)
        quoted = quoted or ((0, candidate.text.strip()),)
        return replace(reasoned, quoted=quoted, text=of_chapters(quoted, language))
    return replace(reasoned, title=candidate.title + in_language(_QUOTED, language), text=_lines_closed(candidate.text))


def summaries_of(
    states: Iterable[tuple[Derived, str, str]], language: str
) -> tuple[list[ContextText], list[ContextText]]:
    """Summaries of chapters from states with title and reason, preceded by a line that marks all as quoted.

    If only some of them were made by rule, there is no such line, and each of these is marked by itself.
    """
    given = list(states)
    all_by_rule = bool(given) and all(is_by_rule(state) for state, _title, _reason in given)
    found = []
    for state, title, reason in given:
        line = state.level == "L0"
        summary = ContextText(state.uri, title, reason, state.level, "summaries", state.text, state.position, line=line)
        if all_by_rule:
            summary = replace(_with_reason(summary), text=_lines_closed(summary.text))
        else:
            summary = marked(summary, state, {}, language)
        found.append(summary)
    words, why = in_language(_ALL, language), _("marks what is quoted")
    heading = ContextText("summaries/quoted", "", why, "L0", "summaries", words, line=True, introduces="manuscript/")
    return [replace(heading, label=_("quoted from the text, by rule"))] if all_by_rule else [], found


def _with_reason(candidate: ContextText) -> ContextText:
    return replace(candidate, reason=_(", ").join((candidate.reason, _("quoted from the text, by rule"))))


def of_chapters(quoted: Iterable[tuple[int, str]], language: str) -> str:
    """Sentences with the numbers of their chapters (0: not known), so that no old statement reads as still true."""
    lines = []
    for number, group in groupby(quoted, key=lambda each: each[0]):
        words = unbroken(" ".join(_closed(sentence) for _number, sentence in group))
        form = in_language(_FROM_CHAPTER if number else _FROM_EARLIER, language)
        lines.append(form.format(n=number, words=_in_marks(words)))
    return "\n".join(lines)


def _in_marks(words: str) -> str:
    """`words` in quotation marks; without another pair where its own marks would be doubled."""
    return words if words.startswith(("“", '"', "「")) or words.endswith(("”", '"', "」")) else f"“{words}”"


def _lines_closed(text: str) -> str:
    return "\n".join(map(_closed, text.split("\n")))


def _closed(words: str) -> str:
    """`words` with the quotation mark that a sentence lost where it was cut out of a longer speech."""
    for opens, closes in _PAIRS:
        depth = lowest = 0
        for mark in words:
            depth += (mark == opens) - (mark == closes)
            lowest = min(lowest, depth)
        words = opens * -lowest + words + closes * (depth - lowest)
    if words.count('"') % 2:
        words = f'"{words}' if words.endswith('"') else f'{words}"'
    return words
