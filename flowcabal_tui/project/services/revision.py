"""A revision of the book: comments on passages, locked chapters, passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from flowcabal_tui.domain.comments import Comment, CommentFilter
from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite, RewriteId
from flowcabal_tui.domain.revision import ChapterLock, PassId, PassProgress, RevisionPass, progress
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.text import clean, clean_line, nearest
from flowcabal_tui.locale import _
from flowcabal_tui.project.commands import Service, handles
from flowcabal_tui.project.words import unsaved_words
from flowcabal_tui.protocol.book import BookChanged, DropRewrite, RewriteSelection, TakeRewrite
from flowcabal_tui.protocol.revision import (
    AddComment,
    CommentsChanged,
    EditComments,
    LockChapters,
    PutPasses,
    RemoveComments,
    RevisionChanged,
    TickPass,
)


class RevisionService(Service):
    """Questions and commands about a revision. Lives on the engine's loop."""

    async def comments(self, where: CommentFilter) -> tuple[Comment, ...]:
        """The comments that match the filter, in story order."""
        return tuple(each for each in await self._store.comments.all() if where.fits(each))

    @handles(AddComment)
    async def add_comment(self, command: AddComment) -> str:
        """Adds a comment and returns its id. Raises RunError for a comment without words, or on words that are not in
        the chapter.
        """
        _require_words(command.words)
        identity = await self._store.comments.add(await self._placed(command))
        self._parts.base.emit(CommentsChanged(command.chapter))
        return str(identity)

    async def _placed(self, command: AddComment) -> Comment:
        words, start = clean(command.quotation), command.start
        text = await self._store.book.text(command.chapter)
        at = nearest(text, words, start) if words else 0
        if at < 0:
            draft = await self._store.drafts.of(command.chapter)
            if draft is None or words not in clean(draft.text):
                raise RunError(
                    _("These words are not in the chapter: {words}.").format(words=words[:40]),
                    _("Nothing was changed."),
                    _("Quote them as they are in the text."),
                )
        lost, place = at < 0, max(at, 0) if words else 0
        place = start if lost else place
        return Comment(command.chapter, command.words, command.kind, words, place, place + len(words), lost=lost)

    @handles(EditComments)
    async def edit_comments(self, command: EditComments) -> None:
        if command.words is not None:
            _require_words(command.words)
        await self._store.comments.edit(command.comments, command.words, command.kind, command.resolved)
        self._parts.base.emit(CommentsChanged())

    @handles(RemoveComments)
    async def remove_comments(self, command: RemoveComments) -> None:
        await self._store.comments.remove(command.comments)
        self._parts.base.emit(CommentsChanged())

    # Locked chapters

    async def locks(self) -> Mapping[ChapterId, ChapterLock]:
        """The locks of all chapters that are or were locked."""
        return await self._store.revision.locks()

    @handles(LockChapters)
    async def lock(self, command: LockChapters) -> None:
        """Locks or unlocks chapters. Raises RunError for a chapter with unsaved text, which could not be saved any
        more.
        """
        unsaved = {draft.chapter for draft in await self._store.drafts.all()}.intersection(command.chapters)
        if command.locked and unsaved:
            chapters = [each for each in await self._store.book.chapters() if each.id in unsaved]
            raise RunError(unsaved_words(chapters), _("Nothing was locked."), _("Save it or discard it first."))
        await self._store.revision.lock(command.chapters, locked=command.locked)
        self._parts.base.emit(RevisionChanged())
        self._parts.base.emit(BookChanged())

    # Passes

    async def passes(self) -> tuple[RevisionPass, ...]:
        """The passes in the writer's order."""
        return await self._store.revision.passes()

    async def pass_progress(self, of: PassId) -> PassProgress:
        """The progress of a pass in each chapter with text. Raises Gone for an unknown pass."""
        wanted = next((each for each in await self._store.revision.passes() if each.id == of), None)
        if wanted is None:
            raise Gone(of)
        chapters = {each.id: str(each.digest) for each in await self._store.book.chapters() if each.digest}
        comments = Counter((each.chapter, each.kind) for each in await self.comments(CommentFilter()))
        found = await self._store.findings.waiting()
        return progress(wanted, chapters, found, comments, await self._store.revision.ticks())

    @handles(PutPasses)
    async def put_passes(self, command: PutPasses) -> None:
        """Replaces all passes. Raises RunError for an empty list, a pass without a title, or two with the same id."""
        ids = {each.id for each in command.passes}
        if not ids or len(ids) < len(command.passes) or not all(clean_line(each.title) for each in command.passes):
            raise RunError(_("Each pass needs a title and a unique id."), _("Nothing was changed."))
        await self._store.revision.put_passes(command.passes)
        self._parts.base.emit(RevisionChanged())

    @handles(TickPass)
    async def tick(self, command: TickPass) -> None:
        """Ticks items of a pass for a chapter, or removes the ticks. Raises Gone for an unknown pass or chapter."""
        if command.of not in {each.id for each in await self._store.revision.passes()}:
            raise Gone(command.of)
        await self._store.revision.tick(command.of, command.chapter, command.items, on=command.on)
        self._parts.base.emit(RevisionChanged(command.chapter))

    # Proposed rewrites

    async def proposed_rewrites(self) -> tuple[ProposedRewrite, ...]:
        """The rewrites that wait for the writer, oldest first."""
        return await self._store.rewrites.waiting()

    async def proposed_rewrite(self, rewrite: RewriteId) -> ProposedRewrite:
        """A proposed rewrite, decided or not."""
        return await self._store.rewrites.proposed(rewrite)

    async def quote_rewrite(self, selection: RewriteSelection) -> Quote:
        """The price of a rewrite. Raises ModelError without a model, WorkflowError."""
        from flowcabal_tui.project.services.rewriting import quote_rewrite  # imports the Context agent

        await self._parts.base.models.learn_windows()
        return await quote_rewrite(self._parts, selection)

    @handles(TakeRewrite)
    async def take_rewrite(self, command: TakeRewrite) -> str:
        from flowcabal_tui.project.services.rewriting import take

        return str(await take(self._parts, command))

    @handles(DropRewrite)
    async def drop_rewrite(self, command: DropRewrite) -> None:
        await self._store.rewrites.settle(command.rewrite, "refused")
        self._parts.base.emit(RevisionChanged())


def _require_words(words: str) -> None:
    if not clean(words).strip():
        raise RunError(_("A comment needs words."), _("Nothing was changed."))
