"""One question of the Monitor: compares the statements of a draft with the book and with notes, from a few angles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.answer_tools import with_tools
from flowcabal_tui.agents.checking.check_sources import notes_for
from flowcabal_tui.agents.checking.judged import Doubt, JudgedDraft, Judgement, angle_of, judged_pairs, of_pair
from flowcabal_tui.agents.checking.pairs import Pairs, pairs_of
from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.checking.taxonomy import BY_ANGLE
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.loop import Again, Agent
from flowcabal_tui.agents.names.called import as_called_here
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.prompt_library import Fenced, PromptLibrary, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.shapes.claims import Claim, Claims
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.run import Angle, Quotation
from flowcabal_tui.domain.text import clean

_TASK: Final = "monitor.check"
_LEAST_SOURCES: Final = 5_000
_MOST_SOURCES: Final = 9_600
_SOURCES_A_TOKEN: Final = 1.95
_SOURCES_A_TOKEN_ZH: Final = 1.28
"""Tokens of sources for each token of the draft. In Chinese, more found no further passage (docs/decisions/0028)."""
_MOST_NOTES: Final = 1_250
"""Maximum tokens of notes, records and summaries for a question; the rest is for passages of the chapters."""
GROUPS: Final[tuple[tuple[Angle, ...], ...]] = (("character_state", "echoes"), ("timeline", "world_rules"))
"""Angles that share one checker, by their sources: passages that name the cast, and the writer's notes.

The outline, which is a plan and not a fact, is therefore kept apart from facts about people. The draft is sent once for
both.
"""
_PART: Final = 0.85
"""The first question's share of the sources when both are sent: one sentence in nine is about place and time only."""
_OF_THE_WORLD: Final = frozenset({"place", "time"})
"""Kinds of things that the second question is shown; all others concern people."""
_ABOUT: Final = re.compile(r"^\s*\[[^\]\n]*\]\s*")
"""The subject in brackets before a line of a source."""
_PAIRS_ALONE: Final = "- `statements`: each statement beside its passages, and nothing else; `findings` stays empty."
_NAMES: Final = 30
NAMES_TOKENS: Final = _NAMES * 40
"""Maximum tokens for the names of the cast with their aliases."""


@dataclass(frozen=True, slots=True)
class Material:
    """Notes and pairs, and the messages that show them."""

    notes: tuple[SourceText, ...]
    pairs: Pairs
    messages: tuple[Message, ...]


class Checker(Agent[JudgedDraft, Material, Claims, Judgement]):
    """Judges a draft from a few angles at once. A second round asks once more for missing or inexact quotations."""

    rounds = 2
    shape: Final = Claims

    def __init__(
        self,
        angles: Mapping[Angle, str],
        model: PaidOnce,
        prompts: PromptLibrary,
        counter: TokenCounter,
        source_tokens: int = _LEAST_SOURCES,
    ) -> None:
        """`angles` come with the words that describe them to the model; without any it judges pairs alone."""
        self._source_tokens = source_tokens
        self._angles, self._model, self._prompts, self._counter = angles, model, prompts, counter
        self._answers: list[Claims] = []

    async def observe(self, goal: JudgedDraft) -> Material:
        """Raises SettingsError when the writer's own prompt does not fit."""
        self._answers = []
        notes, pairs = await material_of(tuple(self._angles), goal, self._counter, self._source_tokens)
        return Material(tuple(notes), pairs, await self.messages(goal, notes, pairs))

    async def messages(self, goal: JudgedDraft, notes: Sequence[SourceText], pairs: Pairs) -> tuple[Message, ...]:
        """The question about a draft, these notes and these pairs."""
        cast = named_in(goal.text, goal.book.entities)
        wanted = [f"- `{angle}`: {words}" for angle, words in self._angles.items()]
        return self._prompts.get(_TASK).fill(
            {
                "language": goal.book.view.language,
                "wanted": Fenced("\n".join(wanted) or _PAIRS_ALONE),
                "subtypes": Fenced("\n".join(f"{angle}: {', '.join(BY_ANGLE[angle])}" for angle in self._angles)),
                "names": name_lines(await as_called_here(goal.book.view, cast[:_NAMES])),
                "sources": fenced_sources(notes),
                "statements": pairs.fenced,
                "title": goal.title,
                "draft": goal.text,
            }
        )

    async def reason(self, goal: JudgedDraft, seen: Material, hints: tuple[str, ...]) -> Claims:
        """Asks the model, unless there is nothing to compare with. Raises ModelError."""
        if not seen.notes and not seen.pairs.all:
            return Claims(verdicts=[], compatible=[], findings=[])
        *before, question = seen.messages
        messages = (*before, replace(question, content="\n\n".join((question.content, *hints))))
        request = with_tools(ModelRequest(messages, purpose=_TASK), Claims, self._model.endpoint)
        return await self._model.structured(request, Claims)

    async def act(self, goal: JudgedDraft, seen: Material, thought: Claims, last: bool) -> Judgement | Again:
        """Keeps the pairs that the model calls contradictions, and findings whose quotations are verbatim."""
        if not seen.notes and not seen.pairs.all:
            return Judgement(tuple(self._angles), goal, is_empty=True)
        self._answers.append(thought)
        clashing, missing = judged_pairs(self._answers, seen.pairs)
        sources = (*seen.notes, *seen.pairs.passages)
        against = [self._against(claim, goal, sources) for claim in thought.findings]
        unfounded = [claim for claim, doubt in zip(thought.findings, against, strict=True) if doubt is None]
        hopeless = [claim for claim in unfounded if self._is_alone(claim, thought.findings, against)]
        if (missing or hopeless) and not last:
            return Again(_correction(hopeless, missing))
        claims = [claim for answer in self._answers for claim in answer.findings]
        founded = [doubt for claim in claims if (doubt := self._against(claim, goal, sources))]
        doubts = [*(of_pair(pair, goal, tuple(self._angles)) for pair in clashing), *founded]
        return Judgement(
            tuple(self._angles),
            goal,
            tuple({each.signature: each for each in sorted(doubts, key=lambda each: each.confidence)}.values()),
            seen.pairs,
            tuple(seen.pairs.statements[each].text for each in missing),
            sum(place.startswith("findings") for place in thought.unread),
            tuple(self._angle_of(claim) for claim in unfounded),
        )

    def _is_alone(self, claim: Claim, claims: Sequence[Claim], found: Sequence[Doubt | None]) -> bool:
        """True when no claim of the same angle has two quotations."""
        angle = self._angle_of(claim)
        return not any(doubt for other, doubt in zip(claims, found, strict=True) if self._angle_of(other) == angle)

    def _angle_of(self, claim: Claim) -> Angle:
        return angle_of(claim.angle, claim.subtype, tuple(self._angles))

    def _against(self, claim: Claim, goal: JudgedDraft, sources: Sequence[SourceText]) -> Doubt | None:
        """The doubt for a claim whose quotations, of a note or a passage, are verbatim; None otherwise."""
        quote = _ABOUT.sub("", claim.source_quote)
        in_draft = VerbatimText(goal.text).find(claim.draft_quote)
        if in_draft is None:
            return None
        for source in sorted(sources, key=lambda each: each.id != claim.source_id):
            if in_source := VerbatimText(source.text).find(quote):
                start, end = in_source.start, in_source.end
                return Doubt(
                    tuple(self._angles),
                    goal.quoted(in_draft.start, in_draft.end),
                    Quotation(
                        source.text[start:end], source.uri, source.start + start, source.start + end, source.title
                    ),
                    angle=self._angle_of(claim),
                    subtype=claim.subtype,
                    explanation=clean(claim.explanation).strip(),
                    confidence=claim.confidence,
                    strong=not source.uri.startswith("manuscript/"),
                )
        return None


def sources_at_most(draft: int, language: str = "") -> int:
    """The tokens of the sources of all questions together, for a draft of `draft` tokens; "": in any language."""
    ratio = _SOURCES_A_TOKEN_ZH if language.startswith("zh") else _SOURCES_A_TOKEN
    return int(min(_MOST_SOURCES, max(_LEAST_SOURCES, ratio * draft)))


def part_of(group: Sequence[Angle], questions: int, tokens: int) -> int:
    """The share of `tokens` for the sources of one of the questions."""
    if questions == 1:
        return tokens
    return int(tokens * (_PART if set(group) <= set(GROUPS[0]) else 1 - _PART))


async def material_of(
    angles: Sequence[Angle], goal: JudgedDraft, counter: TokenCounter, budget: int
) -> tuple[list[SourceText], Pairs]:
    """The notes, and the statements with passages on the same subject, within `budget` tokens with the tags."""
    notes = await notes_for(angles, goal.book, goal.text, counter, min(_MOST_NOTES, budget // 2))
    here = [each for each in goal.evidence if goal.start <= each.draft < goal.start + len(goal.text)]
    fitting = here
    if any(set(angles) <= set(group) for group in GROUPS):
        of_people = set(angles) <= set(GROUPS[0])
        fitting = [each for each in here if bool(each.kinds and each.kinds <= _OF_THE_WORLD) != of_people]
    if not notes and not fitting:
        fitting = here  # there is no plan beside it
    space = budget - counter.count(fenced_sources(notes).text)
    return notes, await pairs_of(goal.book, fitting, goal.statements, counter, space)


def grouped(angles: Sequence[Angle]) -> tuple[tuple[Angle, ...], ...]:
    """The angles grouped by checker: each group is one call."""
    groups = (tuple(angle for angle in group if angle in angles) for group in GROUPS)
    return tuple(group for group in groups if group)


async def questions_of(
    angles: Sequence[Angle], goal: JudgedDraft, counter: TokenCounter
) -> tuple[tuple[Angle, ...], ...]:
    """The angles by question: a single question for all when the only sources are passages of the book.

    Plans, notes and derived texts must not be compared with facts about people (docs/decisions/0014).
    """
    groups = grouped(angles)
    noted = [
        each for group in groups[1:] for each in await notes_for(group, goal.book, goal.text, counter, _MOST_NOTES)
    ]
    return groups if any(not each.uri.startswith("manuscript/") for each in noted) else (tuple(angles),)


def _correction(unfounded: Sequence[Claim], missing: Sequence[str]) -> str:
    """The correction for the second round."""
    parts = []
    if missing:
        parts.append(f"These statements have no readable verdict: {', '.join(missing)}. Give them one now.")
    if unfounded:
        quotes = [
            f"- draft: “{claim.draft_quote}”\n  {claim.source_id}: “{claim.source_quote}”"
            for claim in unfounded
            if claim.draft_quote and claim.source_quote
        ]
        why = "had these quotations, which do not stand in the draft and the source character by character:\n"
        why = why + "\n".join(quotes) if quotes else "had findings without a quotation."
        parts.append(f"An earlier answer {why}\nAnswer again. Copy exactly, or leave the finding out.")
    return "\n\n".join(parts)
