"""A chapter's text: read, written by hand, a passage rewritten with an instruction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import var
from textual.widgets import ContentSwitcher, Static

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.panes.manuscript_words import FACES, Face, Proposal, head_words
from flowcabal_tui.tui.panes.places_in_text import PlacesInText
from flowcabal_tui.tui.panes.words import length_words
from flowcabal_tui.tui.screens.versions import VersionsScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.stream_view import StreamView


class ManuscriptPane(PlacesInText):
    """Shows one chapter. Unsaved text stays with the chapter until it is saved or thrown away."""

    help = HelpData(
        mark("Manuscript"),
        mark(
            "`e` edits, Esc leaves, Ctrl+s saves. In the editor select a passage and press Ctrl+r to have it rewritten."
        ),
    )
    jump_key = "m"
    DEFAULT_CSS = """
    ManuscriptPane > .head { height: auto; max-height: 4; padding: 0 1; color: $text-muted; }
    ManuscriptPane > ContentSwitcher { height: 1fr; }
    ManuscriptPane StreamView, ManuscriptPane DiffView { height: 1fr; padding: 0 1; }
    ManuscriptPane ProseArea { height: 1fr; padding: 0 1; }
    ManuscriptPane ProseArea, ManuscriptPane ProseArea:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "accept", mark("Accept"), id="manuscript.accept"),
        Binding("r", "reject", mark("Reject"), id="manuscript.reject"),
        Binding("e,enter", "edit", mark("Edit"), id="manuscript.edit-here"),
        Binding("escape", "leave", mark("Leave"), priority=True, id="manuscript.leave"),
        Binding("ctrl+s,f10", "save", mark("Save"), priority=True, id="manuscript.save"),
        Binding("ctrl+r", "rewrite", mark("Rewrite"), priority=True, id="manuscript.rewrite",
                tooltip=mark("Have the selected passage rewritten with an instruction.")),
        Binding("o", "outside", mark("Changed outside"), id="manuscript.outside",
                tooltip=mark("Compare with the chapter's file, which another program changed.")),
        Binding("V", "versions", mark("Versions"), id="manuscript.versions"),
        Binding("w,ctrl+t", "origin", mark("Where from"), show=False, id="manuscript.origin",
                tooltip=mark("Which version, run and sources brought this paragraph.")),
        Binding("E", "editor", mark("Edit in your own editor"), show=False, id="manuscript.own-editor"),
        Binding("D", "discard", mark("Throw unsaved text away"), show=False, id="manuscript.discard"),
        Binding("ctrl+f", "find", mark("Find"), show=False, priority=True, id="manuscript.find"),
        Binding("ctrl+g", "find_next", mark("Find next"), show=False, priority=True, id="manuscript.find-next"),
    ]  # fmt: skip
    is_unsaved = var(False, toggle_class="-unsaved")
    is_changed_outside = var(False, bindings=True)
    face: var[Face] = var("read")

    @dataclass
    class SaveRequested(Message):
        """The text is to be kept; `version` is the one that it was made from."""

        chapter: ChapterId
        text: str
        version: int

    @dataclass
    class DraftEdited(Message):
        """Unsaved text changed; equal to the saved text, it is no draft any more."""

        chapter: ChapterId
        text: str

    @dataclass
    class RewriteRequested(Message):
        """Another version of a passage is wanted: the characters from `start` up to `end`, which are `text`."""

        chapter: ChapterId
        start: int
        end: int
        text: str
        instruction: str

    @dataclass
    class VersionRequested(Message):
        """The text of a version is wanted; give it to `show_version`."""

        chapter: ChapterId
        version: int

    @dataclass
    class OutsideRequested(Message):
        """The chapter's file, changed by another program, is to be looked at."""

        chapter: ChapterId

    @dataclass
    class EditorRequested(Message):
        """The writer's own editor is wanted."""

        chapter: ChapterId
        text: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.book_language = self._notice = ""
        self._chapter: Chapter | None = None
        self._saved_text = ""
        self._draft_text: str | None = None
        self._posted_text: str | None = None
        self._versions: tuple[ChapterVersion, ...] = ()
        self._proposal: Proposal | None = None
        self._version_texts: dict[int, asyncio.Future[str]] = {}

    def compose(self) -> ComposeResult:
        """The head, and one of: the text to read, the editor, a proposal."""
        yield Static(_("No chapter is open."), markup=False, classes="head")
        with ContentSwitcher(initial="read"):
            yield StreamView(id="read")
            yield ProseArea(id="edit")
            yield DiffView(id="proposal")

    @property
    def text(self) -> str:
        """The text as it stands, saved or not."""
        if self.face == "edit":
            return self.query_one(ProseArea).text
        return self._saved_text if self._draft_text is None else self._draft_text

    def show(
        self, chapter: Chapter, text: str, versions: Sequence[ChapterVersion], draft: str | None = None,
        *, is_changed_outside: bool = False,
    ) -> None:  # fmt: skip
        """Shows a chapter; unsaved text of the same chapter stays, whatever was saved meanwhile."""
        self.is_changed_outside = is_changed_outside
        text, same = clean(text), self._chapter is not None and self._chapter.id == chapter.id
        if not same:
            self._close_chapter()
            self._draft_text = clean(draft) if draft is not None else None
        elif self.is_unsaved:
            self._draft_text = self.text
            if text not in (self._saved_text, self._posted_text):
                words = _(
                    "The chapter was changed elsewhere (version {n}). Yours is unsaved; both are kept if you save."
                )
                self._notice = words.format(n=chapter.version)
        if same and text == self._posted_text:
            self._posted_text, self._notice = None, ""
        self._chapter, self._saved_text, self._versions = chapter, text, tuple(versions)
        self._draft_text = None if self._draft_text == text else self._draft_text
        self.is_unsaved = self._draft_text is not None
        if self.face == "edit" and not self.is_unsaved and self.query_one(ProseArea).text != text:
            self.query_one(ProseArea).load_text(text)
        self._refresh_reading(follow_start=not same)
        self._refresh_head()

    def show_version(self, version: int, text: str) -> None:
        """The text of a version that was asked for."""
        if (waiting := self._version_texts.pop(version, None)) is not None and not waiting.done():
            waiting.set_result(clean(text))

    def take_edited(self, chapter: ChapterId, text: str) -> None:
        """Text from the writer's own editor takes the place of what was unsaved, and is to be saved."""
        if self._chapter is not None and self._chapter.id == chapter:
            self._turn_to("read")
            self._take_draft(clean(text))
            self._refresh_reading(follow_start=False)
            self.action_save()

    def edit(self) -> None:
        """Opens the editor at about the place that was being read."""
        if self.face == "edit" or self._need_chapter() is None:
            return
        text, reader, area = self.text, self.query_one("#read", StreamView), self.query_one(ProseArea)
        place = int(len(text) * reader.scroll_offset.y / max(1, reader.virtual_size.height))
        area.load_text(text)
        self._turn_to("edit")
        area.move_cursor(area.offset_location(text.rfind("\n", 0, place + 1) + 1))
        area.scroll_cursor_visible(center=False)

    def propose(self, start: int, end: int, before: str, after: str) -> None:
        """Shows another version of a passage; it can be put in only while the old one is still at its place."""
        self._proposal = Proposal(start, end, before, clean(after), fits=self.text[start:end] == before)
        self._report_typed()
        self.query_one(DiffView).set_texts(before, self._proposal.after)
        self._turn_to("proposal")

    # States

    def _close_chapter(self) -> None:
        self._report_typed()
        self._proposal, self._posted_text, self._notice = None, None, ""
        self._version_texts.clear()
        self._turn_to("read")

    def _turn_to(self, face: Face) -> None:
        """Shows another face; the focus goes there if it was in this pane."""
        had_focus = self.has_focus_within
        self.face = face
        self.query_one(ContentSwitcher).current = face
        if had_focus or face == "edit":
            self.query_one(f"#{face}").focus()
        self._refresh_head()
        self.refresh_bindings()

    def _report_typed(self) -> None:
        """Takes what the editor holds, without waiting for its own report."""
        known = self._saved_text if self._draft_text is None else self._draft_text
        if self.face == "edit" and self.text != known:
            self._take_draft(self.text)

    def _take_draft(self, text: str) -> None:
        """Remembers unsaved text, or that there is none."""
        self._draft_text = text if text != self._saved_text else None
        self.is_unsaved = self._draft_text is not None
        if self._chapter is not None:
            self.post_message(self.DraftEdited(self._chapter.id, text))
        self._refresh_head()

    def _refresh_reading(self, *, follow_start: bool) -> None:
        reader, text = self.query_one("#read", StreamView), self.text
        if reader.text != text:
            row = 0 if follow_start else reader.scroll_offset.y
            reader.set_text(text, follow=False)
            reader.scroll_to(y=row, animate=False, force=True)

    def _refresh_head(self) -> None:
        chapter = self._chapter
        if chapter is None:
            return
        words = head_words(
            chapter, self.text, self.face, self._proposal,
            is_unsaved=self.is_unsaved, is_changed_outside=self.is_changed_outside,
            notice=self._notice, book_language=self.book_language,
        )  # fmt: skip
        self.query_one(".head", Static).update(words)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that make no sense in what is shown are off."""
        if action == "save":
            return self.face == "edit" or (self.face == "read" and self.is_unsaved)
        if action == "outside" and not self.is_changed_outside:
            return False
        return self.face in FACES.get(action, (self.face,))

    def watch_is_unsaved(self) -> None:
        """The key that saves comes and goes."""
        self.refresh_bindings()

    @on(ProseArea.Edited)
    def _note_edit(self, message: ProseArea.Edited) -> None:
        message.stop()
        if self.face == "edit" and message.text == self.text:
            self._take_draft(message.text)

    @on(ProseArea.Changed)
    def _mark_unsaved(self, message: ProseArea.Changed) -> None:
        message.stop()
        if self.face == "edit" and not self.is_unsaved:
            self.is_unsaved = self.query_one(ProseArea).text != self._saved_text
            self._refresh_head()

    # Keys

    def action_edit(self) -> None:
        """Open the editor."""
        self.edit()

    def action_leave(self) -> None:
        """Back to reading; what was typed stays as a draft."""
        if self.face == "proposal":
            self.action_reject()
            return
        self._report_typed()
        self._turn_to("read")
        self._refresh_reading(follow_start=False)
        if self._draft_text is not None:
            self.notify(_("Your text is not saved yet. It is kept as a draft; Ctrl+s saves it."), markup=False)

    def action_save(self) -> None:
        """Ask to keep the text."""
        if self._chapter is None or (text := self.text) == self._saved_text:
            self.notify(_("There is nothing new to save."), markup=False)
            return
        self._posted_text = text
        self.post_message(self.SaveRequested(self._chapter.id, text, self._chapter.version))

    def action_discard(self) -> None:
        """Throw unsaved text away after a question, and show the saved text."""

        def discard(agreed: bool | None) -> None:
            if agreed:
                self._take_draft(self._saved_text)
                self._refresh_reading(follow_start=False)

        if self._draft_text is None:
            self.notify(_("Nothing is unsaved here."), markup=False)
        else:
            title = _("Throw the unsaved text away?")
            words = _("The chapter is then as it was last saved. What you typed since cannot be brought back.")
            self.app.push_screen(ConfirmScreen(title, words), discard)

    def action_editor(self) -> None:
        """Ask for the writer's own editor."""
        if (chapter := self._need_chapter()) is not None:
            self.post_message(self.EditorRequested(chapter.id, self.text))

    def action_outside(self) -> None:
        """Ask for the file's text beside the book's."""
        if self._chapter is not None:
            self.post_message(self.OutsideRequested(self._chapter.id))

    def action_rewrite(self) -> None:
        """Ask for an instruction for the selected passage, or for the paragraph at the cursor."""
        if (chapter := self._need_chapter()) is None:
            return
        if self.face != "edit":
            self.edit()
            self.notify(_("Select a passage (Shift and arrows), then press Ctrl+r again."), markup=False)
            return
        text = self.text
        start, end = self.query_one(ProseArea).selected_span
        if start == end:
            start = text.rfind("\n", 0, start) + 1
            end = text.find("\n", start) if "\n" in text[start:] else len(text)
        passage = text[start:end]
        if not passage.strip():
            self.notify(_("There is no text at the cursor to rewrite."), markup=False)
            return
        asked = partial(self.RewriteRequested, chapter.id, start, end, passage)

        def ask_for_it(instruction: str | None) -> None:
            if instruction:
                self.post_message(asked(instruction))

        question = _("How is this passage to be rewritten? ({length})")
        self.app.push_screen(PromptLine(question.format(length=length_words(passage, self.book_language))), ask_for_it)

    def action_accept(self) -> None:
        """Put the proposal in: one step for undo in the editor."""
        proposal = self._proposal
        if proposal is None or not proposal.fits:
            return
        if self.text[proposal.start : proposal.end] != proposal.before:
            self.propose(proposal.start, proposal.end, proposal.before, proposal.after)
            return
        self._proposal = None
        self.edit()
        area = self.query_one(ProseArea)
        area.replace_span(proposal.start, proposal.end, proposal.after)
        area.report_edit()

    def action_reject(self) -> None:
        """Leave the text as it is."""
        self._proposal = None
        self._turn_to("read")
        self._refresh_reading(follow_start=False)

    def action_versions(self) -> None:
        """Show the earlier versions."""
        if (chapter := self._need_chapter()) is None:
            return
        if not self._versions:
            self.notify(_("There is no earlier version."), markup=False)
            return

        def restore(text: str | None) -> None:
            if text is not None and text != self._saved_text:
                self._posted_text = text
                self.post_message(self.SaveRequested(chapter.id, text, chapter.version))

        versions = VersionsScreen(chapter.title, self._versions, self._load_version, self.book_language)
        self.app.push_screen(versions, restore)

    async def _load_version(self, version: int) -> str:
        """The text of a version, as soon as `show_version` brings it."""
        if self._chapter is None:
            return ""
        if version not in self._version_texts:
            self._version_texts[version] = asyncio.get_running_loop().create_future()
            self.post_message(self.VersionRequested(self._chapter.id, version))
        return await asyncio.shield(self._version_texts[version])
