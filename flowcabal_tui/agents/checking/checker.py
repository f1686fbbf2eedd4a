"""One checker of the Monitor: a few angles, their sources, and findings that two verbatim quotations show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.answer_tools import with_tools
from flowcabal_tui.agents.checking.check_sources import notes_for
from flowcabal_tui.agents.checking.evidence.ranking import Sentence
from flowcabal_tui.agents.checking.evidence.shown import shown
from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.checking.taxonomy import BY_ANGLE, subtype_of
from flowcabal_tui.agents.context.gather import Book
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.loop import Again, Agent
from flowcabal_tui.agents.names.called import as_called_here
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.prompt_library import Fenced, PromptLibrary, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.shapes.claims import Claim, Claims
from flowcabal_tui.domain.model_calls import Message, ModelRequest, TokenCounter
from flowcabal_tui.domain.run import AngleCheck, CheckFinding, Quotation
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Angle
from flowcabal_tui.locale import _, ngettext

_TASK: Final = "monitor.check"
_LEAST_SOURCES: Final = 5_000
_MOST_SOURCES: Final = 12_000
_SOURCES_A_TOKEN: Final = 2.5
_SOURCES_A_TOKEN_ZH: Final = 1.6
"""Tokens of sources for a token of the draft. In Chinese more of them brought no further passage into view
(docs/decisions/0028)."""
_MOST_NOTES: Final = 1_250
"""Tokens of notes, records and summaries for a question; the rest is for what the chapters say."""
GROUPS: Final[tuple[tuple[Angle, ...], ...]] = (("character_state", "echoes"), ("timeline", "world_rules"))
"""Angles that one checker looks from, by what they read: passages that name the cast, and what the writer noted.

So the outline, which is a plan and no fact, is not beside what is said of people. The draft is sent once for both.
"""
_PART: Final = 0.7
"""Of the sources for the first question, where both are asked."""
_OF_THE_WORLD: Final = frozenset({"place", "time"})
"""Kinds of things that the second question is shown; all others are said of people."""
_ABOUT: Final = re.compile(r"^\s*\[[^\]\n]*\]\s*")
"""Who a line of a source speaks of, which is put before it."""
_NAMES: Final = 30
NAMES_TOKENS: Final = _NAMES * 40
"""Of the names of the cast with their aliases, at most."""
Judged = list[tuple[Claim, CheckFinding | None]]
"""Claims, each with the finding that it is if its quotations stand in the texts."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is checked, against which book. `uri` is where the draft's quotations point."""

    uri: str
    title: str
    text: str
    book: Book
    waived: frozenset[tuple[str, str]]
    start: int = 0
    """The offset of `text` in the whole draft, of which it is a part."""
    evidence: tuple[Sentence, ...] = ()
    """What the chapters say of the same, those that fit best first; `draft` counts in the whole draft."""


@dataclass(frozen=True, slots=True)
class Material:
    """The sources and the messages that show them."""

    sources: tuple[SourceText, ...]
    messages: tuple[Message, ...]


class Checker(Agent[Draft, Material, Claims, tuple[AngleCheck, ...]]):
    """Checks a draft from a few angles at once. Two rounds: a model that quoted inexactly is told so once."""

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
        """`angles` come with the words that tell the model what they look at."""
        self._source_tokens = source_tokens
        self._angles, self._model, self._prompts, self._counter = angles, model, prompts, counter

    async def observe(self, goal: Draft) -> Material:
        """Raises SettingsError when the writer's own prompt does not fit."""
        sources = await sources_of(tuple(self._angles), goal, self._counter, self._source_tokens)
        cast = named_in(goal.text, goal.book.entities)
        messages = self._prompts.get(_TASK).fill(
            {
                "language": goal.book.view.language,
                "wanted": Fenced("\n".join(f"- `{angle}`: {words}" for angle, words in self._angles.items())),
                "subtypes": "\n".join(f"{angle}: {', '.join(BY_ANGLE[angle])}" for angle in self._angles),
                "names": name_lines(await as_called_here(goal.book.view, cast[:_NAMES])),
                "sources": fenced_sources(sources),
                "title": goal.title,
                "draft": goal.text,
            }
        )
        return Material(tuple(sources), messages)

    async def reason(self, goal: Draft, seen: Material, hints: tuple[str, ...]) -> Claims:
        """Asks the model; nothing to compare with needs no call. Raises ModelError."""
        if not seen.sources:
            return Claims(findings=[])
        messages = (*seen.messages, *(Message("user", hint) for hint in hints))
        request = with_tools(ModelRequest(messages, purpose=_TASK), Claims, self._model.endpoint)
        return await self._model.structured(request, Claims)

    async def act(self, goal: Draft, seen: Material, thought: Claims, last: bool) -> tuple[AngleCheck, ...] | Again:
        """Keeps the findings whose quotations stand in draft and source, word for word."""
        if not seen.sources:
            nothing = _("There is nothing yet to compare with.")
            return tuple(AngleCheck(angle, "passed", nothing) for angle in self._angles)
        draft = VerbatimText(goal.text)
        sources = [(source, VerbatimText(source.text)) for source in seen.sources]
        judged: dict[Angle, Judged] = {angle: [] for angle in self._angles}
        for claim in thought.findings:
            angle = self._angle_of(claim)
            judged[angle].append((claim, self._verified(claim, angle, goal, draft, sources)))
        unfounded = [claim for said in judged.values() if _only_unfounded(said) for claim, _finding in said]
        if unfounded and not last:
            return Again(_correction(unfounded))
        return tuple(_check(angle, said, goal.waived, len(thought.unread)) for angle, said in judged.items())

    def _angle_of(self, claim: Claim) -> Angle:
        """The angle that the model names; else one that looks for the subtype, or the first."""
        named = re.sub(r"[^a-z]+", "_", claim.angle.strip().lower())
        fitting = (angle for angle in self._angles if claim.subtype in BY_ANGLE[angle])
        return next((angle for angle in self._angles if angle == named), next(fitting, next(iter(self._angles))))

    def _verified(
        self,
        claim: Claim,
        angle: Angle,
        goal: Draft,
        draft: VerbatimText,
        sources: Sequence[tuple[SourceText, VerbatimText]],
    ) -> CheckFinding | None:
        in_draft = draft.find(claim.draft_quote)
        quote = _ABOUT.sub("", claim.source_quote)
        for source, text in sorted(sources, key=lambda each: each[0].id != claim.source_id):
            if in_draft and (in_source := text.find(quote)):
                return CheckFinding(
                    angle,
                    subtype_of(claim.subtype, angle),
                    clean(claim.explanation).strip(),
                    Quotation(
                        draft.words(in_draft),
                        goal.uri,
                        goal.start + in_draft.start,
                        goal.start + in_draft.end,
                        goal.title,
                    ),
                    Quotation(
                        text.words(in_source),
                        source.uri,
                        source.start + in_source.start,
                        source.start + in_source.end,
                        source.title,
                    ),
                    claim.confidence,
                )
        return None


def sources_at_most(draft: int, language: str = "") -> int:
    """Tokens of the sources of all questions together, for a draft of so many tokens; "": in any language."""
    ratio = _SOURCES_A_TOKEN_ZH if language.startswith("zh") else _SOURCES_A_TOKEN
    return int(min(_MOST_SOURCES, max(_LEAST_SOURCES, ratio * draft)))


def part_of(group: Sequence[Angle], questions: int, tokens: int) -> int:
    """Of so many tokens of sources those for one of the questions."""
    if questions == 1:
        return tokens
    return int(tokens * (_PART if set(group) <= set(GROUPS[0]) else 1 - _PART))


async def sources_of(angles: Sequence[Angle], goal: Draft, counter: TokenCounter, budget: int) -> list[SourceText]:
    """What was noted, then what the chapters say of the same as the draft, within `budget` tokens with the tags."""
    notes = await notes_for(angles, goal.book, goal.text, counter, min(_MOST_NOTES, budget // 2))
    here = [each for each in goal.evidence if goal.start <= each.draft < goal.start + len(goal.text)]
    of_people = set(angles) <= set(GROUPS[0])
    fitting = [each for each in here if bool(each.kinds and each.kinds <= _OF_THE_WORLD) != of_people]
    if not notes and not fitting:
        fitting = here  # there is no plan beside it
    room = budget - counter.count(fenced_sources(notes).text)
    return [*notes, *await shown(goal.book, fitting, counter, room, len(notes))]


def grouped(angles: Sequence[Angle]) -> tuple[tuple[Angle, ...], ...]:
    """The angles by the checkers that look from them: each is one call."""
    groups = (tuple(angle for angle in group if angle in angles) for group in GROUPS)
    return tuple(group for group in groups if group)


def of_parts(checks: Sequence[AngleCheck]) -> AngleCheck:
    """What one angle says of a draft that was read in parts: it passed only where every part did."""
    findings = tuple({each.signature: each for check in checks for each in check.findings}.values())
    details = " ".join(dict.fromkeys(check.detail for check in checks if check.detail))
    outcomes = {check.outcome for check in checks}
    outcome = next(each for each in ("found", "not checked", "passed") if each in outcomes)
    return AngleCheck(checks[0].angle, outcome, details, findings)


def merged(checks: Sequence[AngleCheck]) -> tuple[AngleCheck, ...]:
    """The same finding from two angles stays with the surer one, or the first; others lose it."""
    best: dict[tuple[str, str], tuple[float, int]] = {}
    for place, check in enumerate(checks):
        for finding in check.findings:
            known = best.get(finding.signature)
            if known is None or finding.confidence > known[0]:
                best[finding.signature] = (finding.confidence, place)
    kept = []
    for place, check in enumerate(checks):
        once = {finding.signature: finding for finding in reversed(check.findings)}
        findings = tuple(each for each in reversed(once.values()) if best[each.signature][1] == place)
        if check.findings and not findings:
            kept.append(replace(check, outcome="passed", detail=_("Found from another angle too."), findings=()))
        else:
            kept.append(replace(check, findings=findings))
    return tuple(kept)


def _only_unfounded(said: Judged) -> bool:
    return bool(said) and all(finding is None for _claim, finding in said)


def _check(angle: Angle, said: Judged, waived: frozenset[tuple[str, str]], unread: int) -> AngleCheck:
    """The result of an angle. It was not checked where no claim can be shown, or where one of the answer is unread."""
    if _only_unfounded(said):
        return AngleCheck(angle, "not checked", _("Only findings whose quotations are not in the text."))
    found = tuple(finding for _claim, finding in said if finding is not None)
    kept = tuple(each for each in found if each.signature not in waived)
    detail = _detail(len(said) - len(found), len(found) - len(kept), unread)
    return AngleCheck(angle, "found" if kept else "not checked" if unread else "passed", detail, kept)


def _detail(unfounded: int, waived: int, unread: int) -> str:
    parts = []
    if unread:
        parts.append(
            ngettext(
                "{n} part of the model's answer could not be read.",
                "{n} parts of the model's answer could not be read.",
                unread,
            ).format(n=unread)
        )
    if unfounded:
        parts.append(_("{n} findings without verbatim quotations were left out.").format(n=unfounded))
    if waived:
        parts.append(_("{n} findings are marked as intended.").format(n=waived))
    return " ".join(parts)


def _correction(unfounded: list[Claim]) -> str:
    quotes = "\n".join(
        f"- draft: {claim.draft_quote}\n  {claim.source_id}: {claim.source_quote}" for claim in unfounded
    )
    return (
        "These quotations do not stand in the draft and the source character by character:\n"
        f"{quotes}\nAnswer again. Copy exactly, or leave the finding out."
    )
