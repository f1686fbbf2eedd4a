"""Chapters and the manuscript: listing, reading, writing, importing, exporting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen
from textual.suggester import Suggester

from flowcabal_tui.domain.errors import VersionConflict
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion
from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite, with_changes
from flowcabal_tui.domain.text import digest, word_count
from flowcabal_tui.locale import _, ngettext, sentences
from flowcabal_tui.manuscript.report import report_lines
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import unsaved_words
from flowcabal_tui.protocol.book import (
    AcceptRewrite,
    AddChapter,
    BookChanged,
    DropRewrite,
    EditChapter,
    ImportManuscript,
    OutputDeleted,
    OutputPersisted,
    OutsideEdit,
    RewriteProposed,
    RewriteSelection,
    WriteChapter,
)
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.book.drafts import ChapterDrafts
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.manuscript_words import PassageProposal, ProposalAccepted, ProposalRefused
from flowcabal_tui.tui.book.reading import ReadingController
from flowcabal_tui.tui.shared.diff import OutsideScreen, UnsavedAnswer, UnsavedScreen
from flowcabal_tui.tui.shared.editor import edit_outside, editor_command
from flowcabal_tui.tui.shared.rewrite_screen import RewriteScreen
from flowcabal_tui.tui.shared.spending import agrees_to_spend
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.typed_path import PathSuggester, typed_path
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.shared.words import counted, one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine

if TYPE_CHECKING:
    from flowcabal_tui.domain.overview import BookOverview

_MOST_WARNINGS: Final = 6
_MOST_REPORTED: Final = 8
_FIRST: Final = 5
"""Maximum chapters and volumes that the question before an import names."""


class BookController:
    """Lists, opens, saves, imports and exports chapters."""

    def __init__(
        self, screen: Screen[Any], project: Project, view: OpenView, now: Callable[[], datetime], editor: str
    ) -> None:
        self._screen, self._project, self._view, self._now, self._editor = screen, project, view, now, editor
        self.reading = ReadingController(screen, project)
        self.chapters: tuple[Chapter, ...] = ()
        self.overview: BookOverview | None = None
        self._proposed: RewriteProposed | None = None
        self._requested: set[tuple[ChapterId, int, str]] = set()
        self.drafts = ChapterDrafts(screen, project, self._list)

    @property
    def chapter(self) -> Chapter | None:
        """The open chapter."""
        return next((chapter for chapter in self.chapters if chapter.id == self._view.chapter), None)

    def _known(self, chapter: ChapterId) -> Chapter:
        return next(item for item in self.chapters if item.id == chapter)

    async def load(self) -> None:
        """Reads the chapters and the progress of the book."""
        await self.load_chapters()
        await self.count_today()
        await self.reading.load()

    async def load_chapters(self) -> None:
        """Reads the list; opens the next chapter to write, or the last one if all are written."""
        self.chapters = await self._project.book.chapters()
        await self.drafts.load()
        written = max((chapter.position for chapter in self.chapters if chapter.version), default=0)
        if self.chapters and self.chapter is None:
            self._view.chapter = self.chapters[min(written, len(self.chapters) - 1)].id
        self._list()
        await self.show()

    async def count_today(self) -> None:
        """Shows the words written today."""
        seen = self.overview = await self._project.book.overview()
        status = self._screen.query_one(StatusLine)
        status.facts = replace(status.facts, today=seen.today, day_goal=seen.goals.day)

    def _list(self) -> None:
        self._view.position = self.chapter.position if self.chapter else 0
        self._screen.query_one(ChapterList).show(self.chapters, self._view.chapter, self.drafts.chapters)

    async def open(self, chapter: ChapterId) -> None:
        """Opens a chapter in the manuscript pane."""
        self._view.chapter = chapter
        self._list()
        await self.show()

    async def show(self) -> None:
        """Shows the open chapter's text, and unsaved text from an earlier session."""
        chapter = self.chapter
        if chapter is None:
            return
        text, versions, draft, outside, locks = await asyncio.gather(
            self._project.book.chapter_text(chapter.id),
            self._project.book.chapter_versions(chapter.id),
            self._project.drafts.of(chapter.id),
            self._project.book.outside_text(chapter.id),
            self._project.revision.locks(),
        )
        pane = self._screen.query_one(ManuscriptPane)
        is_locked = chapter.id in locks and locks[chapter.id].locked
        pane.show(
            chapter, text, versions, draft=draft, is_changed_outside=outside is not None, is_locked=is_locked,
            is_read_only=self._project.is_read_only,
        )  # fmt: skip

    @on_event
    def _note_kept(self, event: OutputPersisted) -> None:
        self.noted_saved()
        attempt(self._screen, self.refresh(event.chapter), group="book")

    @on_event
    def _read_again(self, event: OutsideEdit | OutputDeleted | BookChanged) -> None:
        attempt(self._screen, self.refresh(getattr(event, "chapter", None)), group="book")

    async def refresh(self, chapter: ChapterId | None) -> None:
        """Reads the list again, and the open chapter if it changed or moved; `chapter` None: any may have changed."""
        before, self.chapters = self.chapter, await self._project.book.chapters()
        if self.chapter is None:
            at = min(before.position, len(self.chapters)) - 1 if before else 0
            self._view.chapter = self.chapters[at].id if self.chapters else None
        self._list()
        if chapter is None or chapter == self._view.chapter or self.chapter != before:
            await self.show()
        await self.count_today()

    @on_request(ChapterList.AddRequested)
    async def add(self) -> None:
        """Asks for a title and adds a chapter at the end."""
        title = await self._ask(_("Title of the new chapter"))
        if title:
            last = self.chapters[-1].volume if self.chapters else ""
            made = await self._project.carry_out(AddChapter(title, last))
            self.chapters = await self._project.book.chapters()
            if made:
                await self.open(ChapterId(made))

    @on_request(ChapterList.RenameRequested)
    async def rename(self, chapter: ChapterId) -> None:
        """Asks for a new title."""
        known = self._known(chapter)
        title = await self._ask(_("Title of the chapter"), known.title)
        if title and title != known.title:
            await self._project.carry_out(EditChapter(chapter, title=title))

    @on_request(ChapterList.MoveRequested)
    async def move(self, chapter: ChapterId, delta: int) -> None:
        """Moves a chapter earlier or later in the story."""
        known = self._known(chapter)
        position = min(max(1, known.position + delta), len(self.chapters))
        if position != known.position:
            await self._project.carry_out(EditChapter(chapter, position=position))
        else:
            none = _("There is no previous chapter.") if delta < 0 else _("There is no next chapter.")
            self._screen.notify(none, markup=False)

    @on_request(ChapterList.DeleteRequested)
    async def delete(self, chapter: ChapterId) -> None:
        """Removes a chapter from the book after a question; its versions stay."""
        known = self._known(chapter)
        title = _("Delete chapter {position}, {title}?").format(position=known.position, title=known.title)
        words = _(
            "It is removed from the book and its memory. Its versions stay in the project and can be brought back."
        )
        if chapter in self.drafts.chapters:
            more = _("It has unsaved text, which stays unsaved and returns when you restore the chapter.")
            words = sentences(words, more)
        if await self._screen.app.push_screen_wait(ConfirmScreen(title, words)):
            await self._project.carry_out(EditChapter(chapter, deleted=True))

    @on_request(ManuscriptPane.SaveRequested)
    async def save(self, chapter: ChapterId, text: str, base: int | None) -> None:
        """Saves text that is based on the version `base`; over another version only after both were compared."""
        seen: str | None = None
        while True:
            outside = await self._project.book.outside_text(chapter)
            if base is not None and outside in (None, text, seen):
                with suppress(VersionConflict):
                    await self.drafts.save(chapter, text, base)
                    break
            versions, seen = await self._project.book.chapter_versions(chapter), outside
            base = versions[0].version if versions else 0
            newest = await self._project.book.chapter_text(chapter) if outside is None else outside
            answer = await self._ask_which(chapter, newest, text)
            if answer is None:
                return
            if answer == "newer":
                if outside is not None:
                    await self._project.carry_out(WriteChapter(chapter, outside, expected_version=base))
                await self.discard(chapter)
                break
        self.noted_saved()
        await self.refresh(chapter)

    async def _ask_which(self, chapter: ChapterId, newest: str, mine: str) -> UnsavedAnswer | None:
        known = self._known(chapter)
        title = _("{title}: from the newest version to your unsaved text").format(title=known.title)
        answer: UnsavedAnswer | None = await self._screen.app.push_screen_wait(UnsavedScreen(title, newest, mine))
        return answer

    async def restore_older(self, chapter: Chapter, versions: tuple[ChapterVersion, ...]) -> bool:
        """Shows these versions with their differences and makes the chosen one the newest. False when nothing was
        written."""

        async def load(version: int) -> str:
            return await self._project.book.chapter_text(chapter.id, version)

        page = VersionsScreen(chapter.title, versions, load, self._project.info.language)
        text: str | None = await self._screen.app.push_screen_wait(page)
        newest = self._known(chapter.id)
        if text is None or digest(text) == newest.digest:
            return False
        older = next(each for each in versions if each.digest == digest(text))
        note = _("version {n} restored").format(n=older.version)
        await self._project.carry_out(WriteChapter(chapter.id, text, newest.version, note, is_older=True))
        return True

    @on_request(ManuscriptPane.VersionsRequested)
    async def restore(self, chapter: ChapterId, versions: tuple[ChapterVersion, ...]) -> None:
        """Makes the text of an older version, which the writer chooses, the newest; unsaved text stays."""
        if await self.restore_older(self._known(chapter), versions):
            self.noted_saved()
            await self.refresh(chapter)

    async def discard(self, chapter: ChapterId) -> None:
        """Discards the unsaved text of a chapter."""
        await self.drafts.discard(chapter)
        if chapter == self._view.chapter:
            self._screen.query_one(ManuscriptPane).drop_unsaved()

    def noted_saved(self) -> None:
        """Shows the time of the save in the status line."""
        status = self._screen.query_one(StatusLine)
        status.facts = replace(status.facts, saved_at=self._now())

    @on_key("manuscript.edit")
    def edit(self) -> None:
        """Shows the manuscript in the editor."""
        self._view.show_pane("manuscript")
        self._screen.query_one(ManuscriptPane).edit()

    @on_key("manuscript.editor")
    def edit_in_own_editor(self) -> None:
        """Opens the manuscript in $EDITOR."""
        self._screen.query_one(ManuscriptPane).action_editor()

    @on_request(ManuscriptPane.EditorRequested)
    async def edit_outside(self, chapter: ChapterId, text: str, base: int | None) -> None:
        """Opens the text, which is based on the version `base`, in the writer's editor and saves the result."""
        command = editor_command(self._editor)
        await self.drafts.write()
        known = self._known(chapter)
        edited = await edit_outside(self._screen.app, text, known.title, command)
        if edited is None:
            return
        self.drafts.edited(chapter, edited, base)
        await self.drafts.write()
        if chapter == self._view.chapter:
            self._screen.query_one(ManuscriptPane).take_edited(chapter, edited)
        await self.save(chapter, edited, base)

    @on_request(ManuscriptPane.OutsideRequested)
    async def compare_outside(self, chapter: ChapterId) -> None:
        """Shows another program's changes of a chapter's file; one of the two texts becomes the newest version."""
        known = self._known(chapter)
        outside, kept = (
            await self._project.book.outside_text(chapter),
            await self._project.book.chapter_text(chapter),
        )
        if outside is None:
            return
        title = _("{title}: from the book to its file").format(title=known.title)
        takes = await self._screen.app.push_screen_wait(OutsideScreen(title, kept, outside))
        if takes is not None:
            text = outside if takes else kept
            await self._project.carry_out(WriteChapter(chapter, text, expected_version=known.version))
            self.noted_saved()
            await self.refresh(chapter)

    @on_request(ManuscriptPane.RewriteRequested)
    async def rewrite(self, chapter: ChapterId, start: int, end: int, text: str, instruction: str) -> None:
        """Asks the writer's model for another version of a passage, after showing the price."""
        selection = RewriteSelection(chapter, start, end, text, instruction)
        await self.drafts.write()
        quote = await self._project.revision.quote_rewrite(selection)
        if not await agrees_to_spend(self._screen.app, self._project, _("Rewrite it?"), quote, "user"):
            return
        self._screen.notify(_("The passage is being rewritten ..."), markup=False)
        self._requested.add((chapter, start, text))
        await self._project.carry_out(selection)

    @on_event
    def propose(self, proposal: RewriteProposed) -> None:
        """Shows a rewritten passage that was requested here, if its chapter is open."""
        passage = (proposal.chapter, proposal.start, proposal.before)
        if passage in self._requested:
            self._requested.discard(passage)
            attempt(self._screen, self._propose(proposal))

    async def _propose(self, proposal: RewriteProposed) -> None:
        """Paragraph by paragraph, where it changes several; else as one difference."""
        self._view.show_pane("manuscript")
        if proposal.chapter != self._view.chapter:
            return
        self._proposed, pane = proposal, self._screen.query_one(ManuscriptPane)
        made = ProposedRewrite(
            proposal.chapter, proposal.start, proposal.before, proposal.after, proposal.model, proposal.instruction
        )
        changes = made.changes
        if len(changes) < 2:
            pane.propose(proposal.start, proposal.end, proposal.before, proposal.after)
            return
        title = self.chapter.title if self.chapter else ""
        accepted = await self._screen.app.push_screen_wait(RewriteScreen(title, made))
        if accepted:
            after = with_changes(proposal.before, changes, accepted)
            pane.propose(proposal.start, proposal.end, proposal.before, after)
            pane.action_accept()
        elif accepted is not None:
            await self.refused()

    @on_request(ProposalRefused)
    async def refused(self) -> None:
        """Marks the displayed rewrite as refused."""
        if (made := self._proposed) is not None and made.rewrite:
            self._proposed = None
            await self._project.carry_out(DropRewrite(made.rewrite))

    @on_request(ProposalAccepted)
    async def accepted(self, proposal: PassageProposal, text: str) -> None:
        """Records the model and the instruction behind the passage that went into `text`."""
        if (made := self._proposed) is not None:
            place = (made.chapter, text, proposal.start, proposal.end)
            words = (proposal.after, made.model, made.instruction, made.rewrite)
            await self._project.carry_out(AcceptRewrite(*place, *words))

    @on_key("book.import")
    async def import_book(self, path: Path | None = None) -> None:
        """Shows a preview of a file, and imports it after a confirmation."""
        if path is None:
            typed = await self._ask(_("File or folder to import (txt, md, docx, epub)"), suggester=PathSuggester())
            if not typed:
                return
            path = typed_path(typed)
        preview = await self._project.book.preview_import(path)
        new = [chapter for at, chapter in enumerate(preview.chapters) if at not in preview.known]
        again = not new
        title = ngettext("Import {n} chapter?", "Import {n} chapters?", len(new)).format(n=len(new))
        if again:
            title = _("All of it is already in the book. Import it again?")
        coming, chinese = new or preview.chapters, preview.language.startswith("zh")
        first = _(", ").join(chapter.title for chapter in coming[:_FIRST])
        length = counted(sum(word_count(chapter.text) for chapter in coming), chinese=chinese)
        lines = [_("{first} ... ({encoding})").format(first=first, encoding=f"{length}, {preview.encoding}")]
        if volumes := list(dict.fromkeys(chapter.volume for chapter in coming if chapter.volume)):
            shown = _(", ").join(one_line(volume, 20) for volume in volumes[:_FIRST])
            lines.append(_("Volumes: {n} ({names})").format(n=len(volumes), names=shown))
        lines += _reported(report_lines(preview.report))
        if preview.known and not again:
            lines.append(_("{n} are already in the book and are left out.").format(n=len(preview.known)))
        if await self._screen.app.push_screen_wait(ConfirmScreen(title, "\n".join((*lines, *_some(preview.warnings))))):
            await self._project.carry_out(ImportManuscript(str(path), again=again))
            await self.load()
            await self.reading.offer()

    @on_key("book.export")
    async def export_book(self) -> None:
        """Asks for the format, the chapters and the file or clipboard, and exports them."""
        from flowcabal_tui.tui.book.export import BookExport

        export = BookExport(self._screen, self._project)
        choice = await export.ask(self.chapters, self.chapter)
        words = _("The export has the saved text.")
        if choice and await self.may_leave_unsaved(_("Export without the unsaved text?"), words):
            await export.write(choice)

    async def unsaved_names(self) -> str:
        """A sentence that names the chapters with unsaved text; "" when there are none."""
        await self.drafts.write()
        return unsaved_words([chapter for chapter, _draft in await self._project.drafts.all()])

    async def may_leave_unsaved(self, title: str, words: str) -> bool:
        """Asks before leaving if chapters have unsaved text, and names them."""
        if not (names := await self.unsaved_names()):
            return True
        agreed: bool = await self._screen.app.push_screen_wait(ConfirmScreen(title, f"{names}\n{words}"))
        return agreed

    async def _ask(self, question: str, answer: str = "", suggester: Suggester | None = None) -> str | None:
        line = PromptLine(question, value=answer, suggester=suggester)
        answered: str | None = await self._screen.app.push_screen_wait(line)
        return answered


def _reported(lines: Sequence[str]) -> list[str]:
    """The report of a document in one paragraph, short enough to leave space for the answers."""
    more = len(lines) - _MOST_REPORTED
    words = _("{n} more lines: see `import --dry-run`.").format(n=more) if more > 0 else ""
    return [sentences(*lines[:_MOST_REPORTED], words)] if lines else []


def _some(warnings: Sequence[str]) -> list[str]:
    """As many warnings as leave space for the answers."""
    more = len(warnings) - _MOST_WARNINGS
    return [*warnings[:_MOST_WARNINGS], *([_("and {n} more notes").format(n=more)] if more > 0 else [])]
