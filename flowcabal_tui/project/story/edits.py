"""Proposed edits of a chapter, of the outline and of a workflow: writing and undoing them by the writer's decision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, OutputId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.proposals import (
    Edit,
    OutlineEdit,
    Proposal,
    ProposalId,
    Review,
    TextEdit,
    Verdict,
    WorkflowEdit,
)
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import AFTER_EDIT, following
from flowcabal_tui.project.book.outlining import Outlining
from flowcabal_tui.protocol.book import OutputPersisted, WriteOutlinePart

if TYPE_CHECKING:
    from flowcabal_tui.project.builder.builds import Builds

_NOTE: Final = 80
"""Characters of the reason in the note of a version."""


class ProposedEdits:
    """Writes and undoes proposed edits. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, outlining: Outlining, builds: Callable[[], Builds]) -> None:
        self._base, self._store, self._outlining, self._builds = base, base.store, outlining, builds

    async def write(self, row: Proposal, verdict: Verdict, edit: Edit | None = None) -> None:
        """Confirms an edit, or writes the writer's version of it.

        Raises VersionConflict when its words are missing, RunError; then nothing was changed.
        """
        row = row if edit is None else replace(row, difference=replace(row.difference, after=edit))
        match row.difference.after:
            case TextEdit() as change:
                await self._chapter(row, change, verdict)
            case OutlineEdit() as change:
                await self._outline(row, change, verdict)
            case WorkflowEdit() as change:
                await self._workflow(row.id, change)
        self._base.work.wake()

    async def _chapter(self, row: Proposal, edit: TextEdit, verdict: Verdict) -> None:
        if await self._store.drafts.of(edit.chapter) is not None:
            raise RunError(_("The chapter has unsaved text."), _("Nothing was changed."), _("Save it first."))
        chapter = await self._store.book.chapter(edit.chapter)
        text = await self._store.book.text(edit.chapter)
        start = place_of(text, edit.before, row.place.start if row.place else 0)
        end, after = start + len(edit.before), clean(edit.after)
        note = clean_line(row.reason.detail)[:_NOTE]
        await self._store.proposals.write_edit(
            row, verdict, text[:start] + after + text[end:], chapter.version, note, following(AFTER_EDIT)
        )
        if after:
            model, now = self._base.models.name("agent"), self._base.clock()
            await self._store.rewrites.add(Rewrite(edit.chapter, text, start, end, after, model, note, now))
        await self.emit_versions([chapter])

    async def _outline(self, row: Proposal, edit: OutlineEdit, verdict: Verdict) -> None:
        if (await self._store.book.outline()).beats(edit.chapter) != edit.before:
            raise VersionConflict(
                _("The outline of the chapter has been changed since."), _("Nothing was changed."), _("Ask again.")
            )

        async def write(text: str, version: int) -> None:
            note = clean_line(row.reason.detail)[:_NOTE]
            await self._store.proposals.write_edit(row, verdict, text, version, note, following(("knowledge",)))

        parts = (await self._store.book.outline()).of(edit.chapter)
        title, nth = (parts[0].part.title, parts[0].part.nth) if parts else ("", 1)
        await self._outlining.write(WriteOutlinePart(edit.after, title, nth, edit.chapter), write)

    async def _workflow(self, identity: ProposalId, edit: WorkflowEdit) -> None:
        """The build knows whether it was accepted, so that a kill between the two accepts nothing twice."""
        build = await self._builds().get(edit.id)
        if build.decided and not build.saved:
            raise RunError(_("You have rejected this build."), _("Nothing was changed."))
        if not build.decided:
            await self._builds().decisions.accept(edit.id)
        await self._store.proposals.decide([(identity, "confirm", None)])

    async def drop(self, row: Proposal) -> None:
        """Rejects the suggestion of a build, also in the build itself. Raises RunError for one that was accepted
        there."""
        edit = row.difference.after
        if not isinstance(edit, WorkflowEdit):
            return
        build = await self._builds().get(edit.id)
        if build.saved:
            raise RunError(_("You have accepted this build."), _("Nothing was changed."))
        if build.waits:
            await self._builds().decisions.reject(edit.id)

    async def take_back(self, rows: Sequence[Proposal], undo: Callable[[], Awaitable[tuple[Proposal, ...]]]) -> None:
        """Undoes a decision on these rows by `undo`, workflows first."""
        whole = any(isinstance(row.difference.after, Review) for row in rows)
        before = [each for each in await self._store.book.chapters() if whole or each.id in _chapters(rows)]
        for row in rows:
            if isinstance(row.difference.after, WorkflowEdit) and row.state == "confirmed":
                await self._builds().decisions.take_back(row.difference.after.id)
        await undo()
        if whole or any(isinstance(row.difference.after, OutlineEdit) for row in rows):
            await self._outlining.written()
        await self.emit_versions(before)
        self._base.work.wake()

    async def emit_versions(self, before: Sequence[Chapter]) -> None:
        """Emits the new versions of these chapters."""
        for chapter in before:
            now = await self._store.book.chapter(chapter.id)
            if now.version != chapter.version:
                self._base.emit(OutputPersisted(OutputId(""), chapter.id, now.version, True))


def place_of(text: str, words: str, start: int) -> int:
    """The place of the words: `start`, else their only place. Raises VersionConflict."""
    if words and text.startswith(words, start):
        return start
    if words and text.count(words) == 1:
        return text.index(words)
    raise VersionConflict(
        _("The words are no longer there: {words}.").format(words=words[:40]),
        _("Nothing was changed."),
        _("Read the chapter, and ask again."),
    )


def _chapters(rows: Sequence[Proposal]) -> set[ChapterId]:
    edits = (row.difference.after for row in rows)
    return {edit.chapter for edit in edits if isinstance(edit, TextEdit)}
