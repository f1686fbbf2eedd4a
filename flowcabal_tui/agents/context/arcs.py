"""Arcs and the whole work as candidates: more distant ones are shorter; in a very long book they come first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.arcs import ARCS, WORK, StoryArc, arcs_of
from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.context.quoted import marked
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Derived, Level
from flowcabal_tui.locale import _

VERY_LONG: Final = 300
"""The number of chapters from which arcs are searched first, and chapter lines are included only for relevant arcs."""
_NEAR_ARCS: Final = 12
_LARGE: Final = 4
_RELEVANT: Final = 12
_LEVELS: Final[tuple[Level, ...]] = ("L0", "L1")


@dataclass(frozen=True, slots=True)
class ArcCandidates:
    """Candidates for arcs and the work (`first`: before chapters; `last`: in unused space), and chapters with lines."""

    first: tuple[ContextText, ...] = ()
    last: tuple[ContextText, ...] = ()
    chapters: frozenset[ChapterId] | None = None
    """Chapters with a line of their own; None: all."""


async def arc_candidates(
    view: MemoryView, chapters: tuple[Chapter, ...], relevant: Iterable[ChapterId]
) -> ArcCandidates:
    """The candidates for arcs that ended before the target's own. `relevant` are chapters, the most relevant first."""
    arcs = arcs_of(chapters)
    if len(arcs) < 2:
        return ArcCandidates()
    lines, overviews = [{each.uri: each for each in await view.derived_under(ARCS, level)} for level in _LEVELS]
    mattering = _mattering(arcs, relevant)
    very_long = len(chapters) > VERY_LONG
    before = [arc for arc in reversed(arcs[:-1]) if arc.uri in lines and _tells(lines[arc.uri], arc)]
    large = {arc.uri for arc in [*before[:1], *(mattering if very_long else ())]} & overviews.keys()
    first: list[ContextText] = []
    last: list[ContextText] = []
    for distance, arc in enumerate(before):
        matters = arc in mattering
        line = _candidate(arc, lines[arc.uri], view.language)
        if arc.uri in large:
            line = replace(_candidate(arc, overviews[arc.uri], view.language), smaller=line)
        (first if not very_long or matters or distance < _NEAR_ARCS else last).append(line)
    if not very_long:
        return ArcCandidates(tuple(first))
    wanted = {chapter.id for arc in (*mattering, *arcs[-2:]) for chapter in arc.chapters}
    return ArcCandidates((*await _work(view), *first), tuple(last), frozenset(wanted))


def _mattering(arcs: tuple[StoryArc, ...], relevant: Iterable[ChapterId]) -> list[StoryArc]:
    """The arcs of the most relevant chapters, in the order of these."""
    of_chapter = {chapter.id: arc for arc in arcs for chapter in arc.chapters}
    found = dict.fromkeys(of_chapter[each].uri for each in list(relevant)[:_RELEVANT] if each in of_chapter)
    by_uri = {arc.uri: arc for arc in arcs}
    return [by_uri[uri] for uri in list(found)[:_LARGE]]


def _tells(state: Derived, arc: StoryArc) -> bool:
    """False when the chapter as of which it was written has been moved before the arc."""
    return state.position >= arc.chapters[0].position


def _candidate(arc: StoryArc, state: Derived, language: str) -> ContextText:
    """An arc as far as its state covers it, which may be less than the whole."""
    known = tuple(chapter for chapter in arc.chapters if chapter.position <= state.position)
    title = replace(arc, chapters=known).title(language)
    is_line = state.level == "L0"
    found = ContextText(
        arc.uri, title, _("an earlier arc"), state.level, "summaries", state.text, state.position, line=is_line
    )
    return marked(found, state, {}, language)


async def _work(view: MemoryView) -> list[ContextText]:
    """The whole work so far, at L1 or shorter."""
    chosen: ContextText | None = None
    for level in _LEVELS:
        if (state := await view.derived(WORK, level)) is not None:
            title = "全书至此" if view.language.startswith("zh") else "The book so far"
            chosen = ContextText(
                WORK, title, _("the whole work"), level, "summaries", state.text, state.position, smaller=chosen
            )
            chosen = marked(chosen, state, {}, view.language)
    return [chosen] if chosen else []
