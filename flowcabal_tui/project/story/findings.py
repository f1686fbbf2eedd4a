"""The writer's decisions on findings, and checks of kept chapters on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.domain.comments import CommentId
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.findings import CheckReport, FindingFilter, report_of
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.proposals import Finding, Proposal
from flowcabal_tui.domain.run import AngleCheck
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.domain.text import clean_line, digest_of
from flowcabal_tui.locale import _
from flowcabal_tui.project.agents import AgentFactory
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.check_results import CheckResults
from flowcabal_tui.project.story.reader_notes import split
from flowcabal_tui.project.story.records import StoryRecords
from flowcabal_tui.protocol.findings import (
    ChangeFromHere,
    CheckChapters,
    CheckProgress,
    DecideFindings,
    FindingsChanged,
)
from flowcabal_tui.protocol.revision import CommentsChanged

_FAILURES: Final = 2
"""Chapters in a row that the model could not check, after which it gets no further ones."""


class Findings:
    """Lists and decides findings. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, story: StoryRecords, agents: AgentFactory, results: CheckResults) -> None:
        self._store, self._emit, self._clock = base.store, base.emit, base.clock
        self._story, self._agents, self._results = story, agents, results
        self._stops = False

    async def report(self) -> CheckReport:
        """The checked texts, and the usefulness of each check."""
        chapters = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        digests = {chapter.id: chapter.digest for chapter in chapters}
        checked = {
            identity: replace(seen, is_current=digests.get(identity) == text)
            for identity, (text, seen) in (await self._store.findings.checked()).items()
        }
        rates = await self._store.findings.rates()
        return report_of([chapter.id for chapter in chapters], checked, rates, self._agents.rules.off)

    async def decide(self, command: DecideFindings) -> None:
        """Decides findings.

        Raises RunError for "intended" without a reason, which notes of readers do not need; Gone for an unknown id.
        Then nothing was changed.
        """
        found, notes = split(command.findings)
        if command.verdict == "intended" and (found or not notes) and not clean_line(command.reason).strip():
            raise RunError(_("A reason is needed: later checks read it."), _("Nothing was changed."))
        await self._store.findings.decide(found, command.verdict, command.reason, notes)
        self._emit(FindingsChanged())
        if notes:
            self._emit(CommentsChanged())

    async def change(self, command: ChangeFromHere) -> RecordId:
        """Writes the fact and ends the one that the other passage states. Raises RunError; then nothing was changed."""
        (row,) = await self._store.proposals.get([command.finding])
        finding = row.difference.after
        if not isinstance(finding, Finding) or row.place is None or finding.draft:
            raise RunError(
                _("Only the text of a chapter can change the story."),
                _("Nothing was changed."),
                _("Keep the draft first."),
            )
        fact = await self._checked(command.fact or fact_of(row))
        ended = [replace(each, until=row.place.chapter) for each in await self._stated(finding) if each.id != fact.id]
        await self._store.findings.change(row.id, [*ended, fact])
        self._emit(FindingsChanged(row.place.chapter))
        return fact.id

    async def change_by_note(self, note: CommentId, row: Proposal, fact: Fact | None) -> RecordId:
        """Writes the fact, which answers the note of a reader. Raises RunError; then nothing was changed."""
        written = await self._checked(fact or fact_of(row))
        await self._store.findings.change_by_note(note, [written])
        self._emit(FindingsChanged(row.place.chapter if row.place else None))
        self._emit(CommentsChanged())
        return written.id

    async def _checked(self, fact: Fact) -> Fact:
        """The fact with an id. Raises RunError for one that cannot be written."""
        await self._story.require_record(fact)
        return fact if fact.id else replace(fact, id=RecordId(digest_of([fact.text, self._clock().isoformat()])[:12]))

    async def _stated(self, finding: Finding) -> Sequence[Fact]:
        """Facts that hold, with evidence in the second passage."""
        source = finding.source
        return [
            fact
            for fact in (await self._story.story()).facts
            if fact.until is None
            and any(
                each.chapter == finding.against and each.start < source.end and source.start < each.end
                for each in fact.evidence
            )
        ]

    async def withdraw(self, rule: str) -> None:
        """Withdraws the undecided findings of a rule that is switched off."""
        await self._store.findings.withdraw(rule)
        self._emit(FindingsChanged())

    def stop(self) -> None:
        """Starts no further chapter."""
        self._stops = True

    async def chapters(self, first: int | None, last: int | None) -> list[Chapter]:
        """The chapters with text between two positions, both included."""
        return [
            chapter
            for chapter in await self._store.book.chapters()
            if chapter.digest and (first or 1) <= chapter.position and (last is None or chapter.position <= last)
        ]

    async def check(self, command: CheckChapters) -> int:
        """Checks chapters one after the other; each result is stored at once. Raises ModelError without a model."""
        monitor = self._agents.required_monitor() if command.model else None
        chapters, failures, self._stops = await self.chapters(command.first, command.last), 0, False
        for done, chapter in enumerate(chapters):
            if self._stops:
                break
            self._emit(CheckProgress(done, len(chapters)))
            usable_monitor = monitor if failures < _FAILURES else None
            checks = await self._check(chapter, usable_monitor)
            failures = failures + 1 if usable_monitor and _failed(checks) else 0
        self._emit(CheckProgress(len(chapters), len(chapters)))
        where = FindingFilter(chapters=tuple(chapter.id for chapter in chapters), folded=True)
        return (await self._store.findings.page(where, 0, 1)).total if chapters else 0

    async def _check(self, chapter: Chapter, monitor: Monitor | None) -> Sequence[AngleCheck]:
        generation = await self._store.memory.generation()
        view, text = await self._store.memory.view(chapter.id, generation), await self._store.book.text(chapter.id)
        uri = f"manuscript/{chapter.id}"
        checks = await self._agents.rules.check(view, text, uri, chapter.title)
        if monitor is not None:
            checks = (*checks, *await monitor.check_text(text, uri, chapter.title, chapter.id, generation))
        await self._results.put_chapter(chapter, text, checks)
        return checks


def fact_of(row: Proposal) -> Fact:
    """The statement of a finding's chapter, as a fact that is valid from there on."""
    finding, place = row.difference.after, row.place
    if not isinstance(finding, Finding) or place is None:
        raise TypeError(f"{row.id} is no finding of a chapter")
    words = clean_line(row.quotation).strip()
    evidence = Evidence(row.quotation, place.chapter, place.start, place.end)
    return Fact(RecordId(""), words, finding.about, since=place.chapter, evidence=(evidence,))


def _failed(checks: Sequence[AngleCheck]) -> bool:
    return all(check.outcome == "not checked" for check in checks if check.angle != "rules")
