"""The profiles that one chapter makes due, and the arcs that end with it, requested in one question after its text.

The check and the reading of the chapter begin with the same text, so a provider's cache already holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.arcs import WORK
from flowcabal_tui.agents.curation.arc_summariser import ArcGoal, ArcMaterial
from flowcabal_tui.agents.curation.curator import L0_TOKENS, Curator
from flowcabal_tui.agents.curation.profile_sources import ProfileGoal
from flowcabal_tui.agents.curation.profiler import ProfileMaterial, ProfileThought
from flowcabal_tui.agents.parts import is_too_long
from flowcabal_tui.agents.profile_kinds import BOOK
from flowcabal_tui.agents.prompt_library import Fenced, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.shapes.curation import ProfilesAnswer
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import chapter_label, escaped, in_attribute

TASK: Final = "curator.profiles"
MOST: Final = 4
"""Profiles in one question; more would make an answer that is cut."""
_EARLIER: Final = 0.4
"""Share of a kind's tokens for passages of earlier chapters that the profile does not use yet. A chapter that ends an
arc leaves them half of it, one that ends the arc for good a third."""
ARCS: Final = "curator.arcs"
"""The words for an arc in this question."""
Due = tuple[ProfileGoal, ProfileMaterial]
DueArc = tuple[ArcGoal, ArcMaterial]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A subject of the question: a profile, an arc, or the work."""

    uri: str
    kind: str
    name: str
    wanted: str
    before: str
    sources: tuple[SourceText, ...]


async def states_together(
    curator: Curator, due: Sequence[Due], chapter: str, arcs: Sequence[DueArc] = (), *, spend: bool
) -> Mapping[str, ProfileThought]:
    """A model's answers for the profiles that are due as of one chapter with this text, and for arcs, by uri.

    A text without a supported sentence is left out; all are left out when the question does not fit the model's window,
    or its answer cannot be read. Without `spend`, only a stored answer is used. Raises ModelError.
    """
    positions = {f"manuscript/{each.id}": each.position for each in await due[0][0].view.chapters()}
    share = _EARLIER / (1 + len(arcs))
    texts = [*(_of_profile(each, share, curator.counter) for each in due), *(_of_arc(curator, *each) for each in arcs)]
    sources = _sources(texts, due[0][0], chapter, positions)
    values = _question(texts, due, chapter, sources)
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
    found = {each.uri: ProfileThought.of(answer.of(f"p{at}"), sources) for at, each in enumerate(texts, start=1)}
    return {uri: thought for uri, thought in found.items() if thought is not None}


def _of_profile(due: Due, share: float, counter: TokenCounter) -> _Wanted:
    goal, seen = due
    kind, name = (goal.entity.kind, goal.entity.name) if goal.entity else (BOOK, "")
    before = seen.previous.text if seen.previous else ""
    space = int(goal.kind.settings.tokens * share)
    sources = tuple(_beside_the_chapter(goal, seen, space, counter))
    return _Wanted(goal.uri, kind, name, goal.kind.prompt(goal.view.language), before, sources)


def _beside_the_chapter(
    goal: ProfileGoal, seen: ProfileMaterial, space: int, counter: TokenCounter
) -> Iterator[SourceText]:
    """The earlier sentences that support the profile, and the newest of the other passages within the tokens.

    The chapter itself, which elsewhere takes most of a kind's tokens, is in the question as a whole.
    """
    rested = [(f"manuscript/{each.chapter}", each.start) for each in seen.previous.evidence] if seen.previous else []
    for each in reversed(seen.sources):
        if any(uri == each.uri and each.start <= start < _end(each) for uri, start in rested):
            yield each
        elif each.uri != f"manuscript/{goal.chapter.id}" and (tokens := counter.count(each.text)) <= space:
            space -= tokens
            yield each


def _of_arc(curator: Curator, goal: ArcGoal, seen: ArcMaterial) -> _Wanted:
    kind = "work" if goal.uri == WORK else "arc"
    return _Wanted(goal.uri, kind, goal.title, curator.prompts.part(ARCS), "", seen.sources)


def _sources(
    texts: Iterable[_Wanted], goal: ProfileGoal, chapter: str, positions: Mapping[str, int]
) -> tuple[SourceText, ...]:
    """The chapter, and the passages of earlier chapters for all subjects, each once, in story order.

    Passages of one chapter are pieces of one source, whose id contains the number of the chapter and replaces the
    title.
    """
    uri = f"manuscript/{goal.chapter.id}"
    earlier = [_stripped(each) for one in texts for each in one.sources if each.uri != uri]
    ordered: list[SourceText] = []
    for each in sorted(earlier, key=lambda each: (positions[each.uri], each.start, -len(each.text))):
        if not (ordered and ordered[-1].uri == each.uri and _end(each) <= _end(ordered[-1])):
            ordered.append(each)
    here = SourceText("chapter", uri, goal.chapter.title, chapter)
    return here, *(replace(each, id=f"s{positions[each.uri]}", title="") for each in ordered)


def _stripped(source: SourceText) -> SourceText:
    """The source without surrounding white space."""
    left = len(source.text) - len(source.text.lstrip())
    return replace(source, text=source.text.strip(), start=source.start + left)


def _end(source: SourceText) -> int:
    return source.start + len(source.text)


def _question(
    texts: Sequence[_Wanted], due: Sequence[Due], chapter: str, sources: Sequence[SourceText]
) -> dict[str, str | Fenced]:
    first = due[0][0]
    language = first.view.language
    wanted: dict[str, list[str]] = {}
    for at, each in enumerate(texts, start=1):
        wanted.setdefault(" ".join(each.wanted.split()), []).append(f"`p{at}`")
    return {
        "language": language,
        "limit": str(L0_TOKENS),
        "title": chapter_label(first.chapter.position, first.chapter.title, language),
        "chapter": chapter,
        "wanted": Fenced("\n".join(f"- {', '.join(ids)}: {words}" for words, ids in wanted.items())),
        "names": Fenced(escaped(name_lines({goal.entity.id: goal.entity for goal, _ in due if goal.entity}.values()))),
        "profiles": Fenced("\n".join(_profile(f"p{at}", each) for at, each in enumerate(texts, start=1))),
        "sources": fenced_sources(sources[1:]),
    }


def _profile(id_: str, each: _Wanted) -> str:
    name = f' name="{in_attribute(each.name)}"' if each.name else ""
    before = f"\n{escaped(each.before)}\n" if each.before else ""
    return f'<profile id="{id_}" kind="{in_attribute(each.kind)}"{name}>{before}</profile>'
