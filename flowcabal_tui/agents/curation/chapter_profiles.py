"""The profiles that one chapter makes due, asked for in one question behind the text of the chapter.

The check and the reading of the chapter begin alike, so a provider's cache holds the chapter already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.curation.curator import L0_TOKENS, Curator
from flowcabal_tui.agents.curation.profile_sources import ProfileGoal
from flowcabal_tui.agents.curation.profiler import ProfileMaterial, ProfileThought
from flowcabal_tui.agents.parts import is_too_long
from flowcabal_tui.agents.profile_kinds import BOOK
from flowcabal_tui.agents.prompt_library import Fenced, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.shapes.curation import ProfilesAnswer
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.prompt_parts import chapter_label, escaped, in_attribute

TASK: Final = "curator.profiles"
MOST: Final = 4
"""Profiles in one question; more would make an answer that is cut."""
Due = tuple[ProfileGoal, ProfileMaterial]


async def states_together(
    curator: Curator, due: Sequence[Due], chapter: str, *, spend: bool
) -> Mapping[str, ProfileThought]:
    """A model's answers for the profiles that are due as of one chapter with this text, by uri.

    A profile without any supported sentence is left out; all are when the question does not fit the model's window, or
    its answer cannot be read. Without `spend` only a stored answer is read. Raises ModelError.
    """
    positions = {f"manuscript/{each.id}": each.position for each in await due[0][0].view.chapters()}
    sources = _sources(due, chapter, positions)
    values = _question(due, chapter, sources)
    try:
        if not curator.fits(TASK, values, ProfilesAnswer):
            return {}
        answer = await (curator.ask if spend else curator.answered)(TASK, values, ProfilesAnswer)
    except ModelError as error:
        if is_too_long(error) or error.fault is ModelFault.SCHEMA:
            return {}
        raise
    if answer is None:
        return {}
    found = {goal.uri: ProfileThought.of(answer.of(f"p{at}"), sources) for at, (goal, _seen) in enumerate(due, start=1)}
    return {uri: thought for uri, thought in found.items() if thought is not None}


def _sources(due: Sequence[Due], chapter: str, positions: Mapping[str, int]) -> tuple[SourceText, ...]:
    """The chapter, and of all profiles the passages of earlier chapters, each once, in story order; those of one
    chapter are pieces of one source."""
    here = due[0][0].chapter
    uri = f"manuscript/{here.id}"
    earlier = {(each.uri, each.start): each for _goal, seen in due for each in seen.sources if each.uri != uri}
    ordered = sorted(earlier.values(), key=lambda each: (positions[each.uri], each.start))
    ids = {uri: f"s{at}" for at, uri in enumerate(dict.fromkeys(each.uri for each in ordered), start=1)}
    return SourceText("chapter", uri, here.title, chapter), *(replace(each, id=ids[each.uri]) for each in ordered)


def _question(due: Sequence[Due], chapter: str, sources: Sequence[SourceText]) -> dict[str, str | Fenced]:
    first = due[0][0]
    language = first.view.language
    wanted: dict[str, list[str]] = {}
    for at, (goal, _seen) in enumerate(due, start=1):
        wanted.setdefault(" ".join(goal.kind.prompt(language).split()), []).append(f"`p{at}`")
    return {
        "language": language,
        "limit": str(L0_TOKENS),
        "title": chapter_label(first.chapter.position, first.chapter.title, language),
        "chapter": chapter,
        "wanted": Fenced("\n".join(f"- {', '.join(ids)}: {words}" for words, ids in wanted.items())),
        "names": name_lines({goal.entity.id: goal.entity for goal, _seen in due if goal.entity}.values()),
        "profiles": Fenced("\n".join(_profile(f"p{at}", *each) for at, each in enumerate(due, start=1))),
        "sources": fenced_sources(sources[1:]),
    }


def _profile(id_: str, goal: ProfileGoal, seen: ProfileMaterial) -> str:
    kind, name = (goal.entity.kind, goal.entity.name) if goal.entity else (BOOK, "")
    before = escaped(seen.previous.text) if seen.previous else ""
    return f'<profile id="{id_}" kind="{in_attribute(kind)}" name="{in_attribute(name)}">\n{before}\n</profile>'
