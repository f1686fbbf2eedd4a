"""One checker of the Monitor: one angle, its sources, and findings that two verbatim quotations show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel, Field

from flowcabal_tui.agents.check_sources import sources_for
from flowcabal_tui.agents.context.gather import Book
from flowcabal_tui.agents.context.intent import named_in
from flowcabal_tui.agents.loop import Again, Agent
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.prompt_library import PromptLibrary, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.quotes import VerbatimText
from flowcabal_tui.agents.taxonomy import BY_ANGLE, subtype_of
from flowcabal_tui.domain.model_calls import Message, ModelRequest, TokenCounter
from flowcabal_tui.domain.run import AngleCheck, CheckFinding, Quotation
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Angle
from flowcabal_tui.locale import _

SOURCE_TOKENS: Final = 4_000
_NAMES: Final = 30


class Claim(BaseModel):
    """One finding as the model gives it."""

    subtype: str = ""
    draft_quote: str
    source_id: str
    source_quote: str
    explanation: str = ""
    confidence: float = Field(0.5, ge=0, le=1)


class Claims(BaseModel):
    """The answer of a checker."""

    findings: list[Claim] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Draft:
    """What is checked, against which book. `uri` is where the draft's quotations point."""

    uri: str
    title: str
    text: str
    book: Book
    waived: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Material:
    """The sources of an angle and the messages that show them."""

    sources: tuple[SourceText, ...]
    messages: tuple[Message, ...]


class Checker(Agent[Draft, Material, Claims, AngleCheck]):
    """Checks a draft from one angle. Two rounds: a model that quoted inexactly is told so once."""

    rounds = 2

    def __init__(self, angle: Angle, model: PaidOnce, prompts: PromptLibrary, counter: TokenCounter) -> None:
        self._angle, self._model, self._prompts, self._counter = angle, model, prompts, counter

    async def observe(self, goal: Draft) -> Material:
        """Raises SettingsError when the writer's own prompt does not fit."""
        sources = await sources_for(self._angle, goal.book, goal.text, self._counter, SOURCE_TOKENS)
        messages = self._prompts.get(f"monitor.{self._angle}").fill(
            {
                "language": goal.book.view.language,
                "subtypes": ", ".join(BY_ANGLE[self._angle]),
                "names": name_lines(named_in(goal.text, goal.book.entities)[:_NAMES]),
                "sources": fenced_sources(sources),
                "title": goal.title,
                "draft": goal.text,
            }
        )
        return Material(tuple(sources), messages)

    async def reason(self, goal: Draft, seen: Material, hints: tuple[str, ...]) -> Claims:
        """Asks the model; nothing to compare with needs no call. Raises ModelError."""
        if not seen.sources:
            return Claims()
        messages = (*seen.messages, *(Message("user", hint) for hint in hints))
        request = ModelRequest(messages, purpose=f"monitor.{self._angle}")
        return await self._model.structured(request, Claims)

    async def act(self, goal: Draft, seen: Material, thought: Claims, last: bool) -> AngleCheck | Again:
        """Keeps the findings whose quotations stand in draft and source, word for word."""
        if not seen.sources:
            return AngleCheck(self._angle, "passed", _("There is nothing yet to compare with."))
        draft = VerbatimText(goal.text)
        sources = {source.id: (source, VerbatimText(source.text)) for source in seen.sources}
        claims = [(claim, self._verified(claim, goal, draft, sources)) for claim in thought.findings]
        found = tuple(finding for _claim, finding in claims if finding is not None)
        unfounded = [claim for claim, finding in claims if finding is None]
        if unfounded and not found:
            if not last:
                return Again(_correction(unfounded))
            return AngleCheck(self._angle, "not checked", _("Only findings whose quotations do not stand in the text."))
        kept = tuple(each for each in found if each.signature not in goal.waived)
        return AngleCheck(
            self._angle, "found" if kept else "passed", _detail(len(unfounded), len(found) - len(kept)), kept
        )

    def _verified(
        self, claim: Claim, goal: Draft, draft: VerbatimText, sources: dict[str, tuple[SourceText, VerbatimText]]
    ) -> CheckFinding | None:
        in_draft = draft.find(claim.draft_quote)
        named = [sources[claim.source_id]] if claim.source_id in sources else []
        for source, text in (*named, *(each for name, each in sources.items() if name != claim.source_id)):
            if in_draft and (in_source := text.find(claim.source_quote)):
                return CheckFinding(
                    self._angle,
                    subtype_of(claim.subtype, self._angle),
                    clean(claim.explanation).strip(),
                    Quotation(draft.words(in_draft), goal.uri, in_draft.start, in_draft.end, goal.title),
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


def merged(checks: list[AngleCheck]) -> tuple[AngleCheck, ...]:
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


def _detail(unfounded: int, waived: int) -> str:
    parts = []
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
