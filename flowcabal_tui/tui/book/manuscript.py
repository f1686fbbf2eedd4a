"""A chapter's text: reading, editing, rewriting a passage with an instruction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Center, Vertical
from textual.reactive import var
from textual.widgets import ContentSwitcher, Static

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion, Draft
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.book.comment_line import CommentLine
from flowcabal_tui.tui.book.manuscript_words import (
    KEYS,
    NO_CHAPTER,
    Face,
    PassageProposal,
    ProposalAccepted,
    ProposalRefused,
    chapter_head,
    is_possible,
    paragraph_at,
    paragraph_with,
)
from flowcabal_tui.tui.book.open_text import OpenText
from flowcabal_tui.tui.book.writing_line import WritingLine
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.view import OriginRequested
from flowcabal_tui.tui.shared.words import length_words
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.find_in_text import ask_to_find
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.noted_view import NotedView
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.role_words import key_words
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.widgets.writing_area import WritingArea


class ManuscriptPane(Vertical):
    """Shows one chapter. Unsaved text stays with the chapter until it is saved or discarded."""

    help = HelpData(
        mark("Manuscript"),
        mark(
            "`e` edits, Ctrl+s saves, Esc cancels. In the editor, select a passage and press Ctrl+r to have it "
            "rewritten."
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
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    is_unsaved = var(False, toggle_class="-unsaved", bindings=True)
    is_changed_outside = var(False, bindings=True)
    face: var[Face] = var("read")

    class SaveRequested(Request):
        """Requests that unsaved text be saved; `base` is the version on which it is based, None: unknown."""

        chapter: ChapterId
        text: str
        base: int | None

    class DraftEdited(Request):
        """Unsaved text changed, which is based on the version `base`; None: there is none any more."""

        chapter: ChapterId
        text: str | None
        base: int | None

    class RewriteRequested(Request):
        """Asks for another version of a passage: the characters from `start` up to `end`, which are `text`."""

        chapter: ChapterId
        start: int
        end: int
        text: str
        instruction: str

    class VersionsRequested(Request):
        """Asks to show these versions of the chapter, newest first, one of which can be restored."""

        chapter: ChapterId
        versions: tuple[ChapterVersion, ...]

    class OutsideRequested(Request):
        """Requests a comparison with the chapter's file, which another program changed."""

        chapter: ChapterId

    class EditorRequested(Request):
        """The writer requests their own editor for the text, which is based on the version `base`."""

        chapter: ChapterId
        text: str
        base: int | None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.book_language, self.opening = "", ""
        """`opening`: the head while the project opens."""
        self.is_read_only = False
        self._chapter: Chapter | None = None
        self._known: OpenText | None = None
        self._proposal: PassageProposal | None = None

    def compose(self) -> ComposeResult:
        """Yields the head, and one of: the text to read, the editor, a proposal."""
        yield Static(self.opening or key_words(_(NO_CHAPTER)), markup=False, classes="head")
        with ContentSwitcher(initial="read"):
            yield NotedView(id="read")
            yield WritingArea(id="edit")
            yield DiffView(id="proposal")
        yield CommentLine()
        with Center():
            yield WritingLine()

    @property
    def reader(self) -> NotedView:
        """The text to read."""
        return self.query_one("#read", NotedView)

    @property
    def area(self) -> WritingArea:
        """The editor."""
        return self.query_one(WritingArea)

    @property
    def version(self) -> int:
        """The newest version of the displayed chapter, 0 if nothing is written."""
        return self._known.chapter.version if self._known else 0

    @property
    def text(self) -> str:
        """The displayed text, saved or not."""
        saved = self._known.text if self._known else ""
        return self.area.text if self.face == "edit" else saved

    def opened(self) -> None:
        """The project is open: without a chapter, says how one is added."""
        self.opening = ""
        if self._chapter is None:
            self.query_one(".head", Static).update(key_words(_(NO_CHAPTER)))

    def show(
        self, chapter: Chapter, text: str, versions: Sequence[ChapterVersion], draft: Draft | None = None,
        *, is_changed_outside: bool = False, is_locked: bool = False, is_read_only: bool = False,
    ) -> None:  # fmt: skip
        """Shows a chapter; unsaved text of the same chapter stays, even after a save elsewhere."""
        known, same = self._known, self._chapter is not None and self._chapter.id == chapter.id
        if same and known is not None:
            if self.is_unsaved:
                known.type(self.text)
            known.refresh(chapter, text, versions)
        else:
            self._close_chapter()
            known = OpenText(chapter, text, versions, draft)
        self._known, self._chapter, self.is_unsaved = known, chapter, known.is_unsaved
        self.is_read_only = is_read_only
        known.is_locked, self.is_changed_outside = is_locked, is_changed_outside
        if self.face == "edit" and not self.is_unsaved and self.area.text != known.saved:
            self.area.load_text(known.saved)
        self._refresh_reading(follow_start=not same)
        self._refresh_head()

    def drop_unsaved(self) -> None:
        """Drops unsaved text, in the editor too."""
        if self._known is not None:
            self._turn_to("read")
            self._take_draft(self._known.saved)
            self._refresh_reading(follow_start=False)

    def take_edited(self, chapter: ChapterId, text: str) -> None:
        """Shows text from the writer's own editor in place of the unsaved text."""
        if self._chapter is not None and self._chapter.id == chapter:
            self._turn_to("read")
            self._take_draft(clean(text))
            self._refresh_reading(follow_start=False)

    def edit(self) -> None:
        """Opens the editor near the place that was being read."""
        if self.face == "edit" or not self._may_edit():
            return
        text, reader, area = self.text, self.reader, self.area
        place = int(len(text) * reader.scroll_offset.y / max(1, reader.virtual_size.height))
        area.load_text(text)
        self._turn_to("edit")
        area.move_cursor(area.offset_location(text.rfind("\n", 0, place + 1) + 1))
        area.scroll_cursor_visible(center=False)

    def _may_edit(self) -> bool:
        """True when the displayed chapter can be changed; otherwise shows a notice with the reason."""
        if self._need_chapter() is None:
            return False
        if self.is_read_only:
            self.notify(_("The project is open read-only."), markup=False)
            return False
        if self._known is not None and self._known.is_locked:
            self.notify(_("The chapter is locked: `L` in the revision (`H`) unlocks it."), markup=False)
            return False
        return True

    def edit_at(self, start: int, end: int) -> None:
        """Opens the editor with these characters selected."""
        self.edit()
        if self.face == "edit":
            self.area.select_span(start, end)

    def propose(self, start: int, end: int, before: str, after: str) -> None:
        """Shows another version of a passage, which can be inserted only while the old one is still in its place."""
        self._proposal = PassageProposal(start, end, before, clean(after), fits=self.text[start:end] == before)
        self._report_typed()
        self.query_one(DiffView).set_texts(before, self._proposal.after)
        self._turn_to("proposal")

    def _need_chapter(self) -> Chapter | None:
        """The displayed chapter. Without one, shows a notice with the key that adds a chapter."""
        if self._chapter is None:
            self.notify(_(NO_CHAPTER), markup=False)
        return self._chapter

    def _text_in_view(self) -> StreamView | ProseArea:
        if self.face == "edit":
            return self.area
        return self.query_one(f"#{self.face}", StreamView)

    def action_find(self) -> None:
        """Asks for the words to find in the text."""
        ask_to_find(self.app, self._text_in_view().find)

    def action_find_next(self) -> None:
        """Goes to the next match."""
        self._text_in_view().next_match()

    @property
    def place(self) -> int:
        """The character at the cursor; in the reader, the end of the marked words, or the first visible one."""
        shown = self._text_in_view()
        return shown.selected_span[1] if isinstance(shown, ProseArea) else shown.place

    def go_to(self, start: int, end: int) -> None:
        """Marks these characters of the text and scrolls to them; marks none below 0."""
        self.reader.highlight(start, end)
        if start >= 0:
            self.reader.scroll_to_offset(start)

    def action_origin(self) -> None:
        """Asks for the origin of the paragraph at `place`."""
        if (chapter := self._need_chapter()) is not None:
            origin = paragraph_with(self._text_in_view().text, self.place)
            self.post_message(OriginRequested(chapter.id, *origin))

    def _close_chapter(self) -> None:
        self._report_typed()
        self._proposal = None
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
        """Reports the editor's text at once, before the editor does."""
        if self.face == "edit" and self._known is not None and self.text != self._known.text:
            self._take_draft(self.text)

    def _take_draft(self, text: str) -> None:
        """Remembers unsaved text, or that there is none."""
        if self._known is None:
            return
        self._known.type(text)
        self.is_unsaved = self._known.is_unsaved
        self.post_message(self.DraftEdited(self._known.chapter.id, self._known.typed, self._known.base))
        self._refresh_head()

    def _refresh_reading(self, *, follow_start: bool) -> None:
        reader, text = self.reader, self.text
        if reader.text != text:
            row = 0 if follow_start else reader.scroll_offset.y
            reader.set_text(text, follow=False)
            reader.scroll_to(y=row, animate=False, force=True)

    def _refresh_head(self) -> None:
        if self._known is None:
            return
        words = chapter_head(
            self._known, self.text, self.face, self._proposal,
            is_unsaved=self.is_unsaved, is_changed_outside=self.is_changed_outside, book_language=self.book_language,
        )  # fmt: skip
        self.query_one(".head", Static).update(words)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disables keys that do not apply to the current view."""
        if action == "save":
            return self.face == "edit" or (self.face == "read" and self.is_unsaved)
        if action == "outside" and not self.is_changed_outside:
            return False
        return is_possible(self, self.face, action)

    @on(ProseArea.Edited)
    def _note_edit(self, message: ProseArea.Edited) -> None:
        message.stop()
        if self.face == "edit" and message.text == self.text:
            self._take_draft(message.text)

    @on(ProseArea.Changed)
    def _mark_unsaved(self, message: ProseArea.Changed) -> None:
        message.stop()
        if self.face == "edit" and not self.is_unsaved:
            self.is_unsaved = self._known is not None and self.text != self._known.saved
            self._refresh_head()

    def action_edit(self) -> None:
        """Opens the editor."""
        self.edit()

    def action_leave(self) -> None:
        """Returns to reading; unsaved text stays as a draft."""
        if self.face == "proposal":
            self.action_reject()
            return
        self._report_typed()
        self._turn_to("read")
        self._refresh_reading(follow_start=False)
        if self.is_unsaved:
            self.notify(_("Your text is not saved yet. It is kept as a draft; Ctrl+s saves it."), markup=False)

    def typed_now(self) -> DraftEdited | None:
        """The unsaved text with what was typed since the last report; None without any."""
        self._report_typed()
        if self._known is None or not self._known.is_unsaved:
            return None
        return self.DraftEdited(self._known.chapter.id, self._known.typed, self._known.base)

    def take_unsaved(self) -> tuple[str, int | None] | None:
        """Takes the unsaved text for saving, and the version on which it is based; None: there is none."""
        self._report_typed()
        return (self._known.post(), self._known.base) if self._known and self._known.is_unsaved else None

    def action_save(self) -> None:
        """Requests that the text be saved."""
        if self._chapter is None or (unsaved := self.take_unsaved()) is None:
            self.notify(_("There is nothing new to save."), markup=False)
            return
        self.post_message(self.SaveRequested(self._chapter.id, *unsaved))

    def action_discard(self) -> None:
        """Discards unsaved text after a question, and shows the saved text."""

        def discard(agreed: bool | None) -> None:
            if agreed:
                self.drop_unsaved()

        if not self.is_unsaved:
            self.notify(_("There is no unsaved text here."), markup=False)
        else:
            title = _("Discard the unsaved text?")
            words = _("The chapter returns to its last saved text. Later changes cannot be recovered.")
            self.app.push_screen(ConfirmScreen(title, words), discard)

    def action_editor(self) -> None:
        """Asks for the writer's own editor."""
        if self._may_edit() and self._known is not None:
            self._report_typed()
            self.post_message(self.EditorRequested(self._known.chapter.id, self.text, self._known.base))

    def action_outside(self) -> None:
        """Asks for a comparison of the book's text with the file's."""
        if self._chapter is not None:
            self.post_message(self.OutsideRequested(self._chapter.id))

    def action_rewrite(self) -> None:
        """Asks for an instruction for the selected passage, or for the paragraph at the cursor."""
        chapter = self._chapter
        if not self._may_edit() or chapter is None:
            return
        if self.face != "edit":
            self.edit()
            self.notify(_("Select a passage (Shift and arrows), then press Ctrl+r again."), markup=False)
            return
        text = self.text
        start, end = self.area.selected_span
        start, end = (start, end) if start != end else paragraph_at(text, start)
        passage = text[start:end]
        if not passage.strip():
            self.notify(_("There is no text at the cursor to rewrite."), markup=False)
            return
        request = partial(self.RewriteRequested, chapter.id, start, end, passage)

        def ask_for_it(instruction: str | None) -> None:
            if instruction:
                self.post_message(request(instruction))

        question = _("How should this passage be rewritten? ({length})")
        self.app.push_screen(PromptLine(question.format(length=length_words(passage, self.book_language))), ask_for_it)

    def action_accept(self) -> None:
        """Inserts the proposal, as one step for undo in the editor."""
        proposal = self._proposal
        if proposal is None or not proposal.fits:
            return
        if self.text[proposal.start : proposal.end] != proposal.before:
            self.propose(proposal.start, proposal.end, proposal.before, proposal.after)
            return
        self._proposal = None
        self.post_message(ProposalAccepted(proposal, self.text))
        self.edit()
        self.area.replace_span(proposal.start, proposal.end, proposal.after)
        self.area.report_edit()

    def action_reject(self) -> None:
        """Leaves the text unchanged."""
        self._proposal = None
        self.post_message(ProposalRefused())
        self._turn_to("read")
        self._refresh_reading(follow_start=False)

    def action_versions(self) -> None:
        """Asks for the earlier versions."""
        if self._need_chapter() is None or self._known is None:
            return
        if self._known.versions:
            self.post_message(self.VersionsRequested(self._known.chapter.id, self._known.versions))
        else:
            self.notify(_("There is no earlier version."), markup=False)
