"""The queue of decisions that wait for the writer, one key each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Static

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import QuestionId, RunId
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.decisions import question_kinds as kinds
from flowcabal_tui.tui.decisions.answers import AnswerList
from flowcabal_tui.tui.decisions.attempts import Attempts
from flowcabal_tui.tui.decisions.finding_view import FindingView
from flowcabal_tui.tui.decisions.typed_answer import TypedAnswer, Unsent
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import GRACE
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.role_words import head_words, key_words
from flowcabal_tui.tui.widgets.stream_view import StreamView

Beginning = tuple[QuestionId, str, int]
"""A question, and an action of this page that is carried out at once on one of its attempts."""


class _Attempt(StreamView):
    """Rows that are read with ease; the scroll bar stays at the edge of the screen."""

    measure = 76


class DecisionsScreen(Screen[None]):
    """Shows one question after the other, oldest first, starting with `run`; typed text is kept. `now`: seconds."""

    help = HelpData(
        mark("Decisions"),
        mark("`a` approves the attempt that is shown, `r` asks for another, `e` edits it. `w` explains the finding."),
    )
    DEFAULT_CSS = kinds.CSS
    BINDINGS: ClassVar[list[BindingType]] = kinds.KEYS

    class Decided(Request):
        """The writer has answered."""

        question: QuestionId
        decision: Decision

    class CompareRequested(Request):
        """Requests a comparison of the candidates of a question."""

        question: QuestionId

    class WaiveRequested(Request):
        """The writer marks a finding as intended."""

        draft_quote: str
        source_quote: str
        reason: str

    class SourceOpened(Request):
        """Requests the source of a quotation."""

        uri: str
        start: int
        end: int

    def __init__(
        self, questions: Sequence[Question], load: kinds.Load, *, run: RunId | None = None,
        editor: str = "", now: kinds.Clock = time.monotonic, unsent: Unsent | None = None,
        begin: Beginning | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.attempts = Attempts()
        self._typed = TypedAnswer(self, self.attempts, lambda: self.question, self.refresh_attempt, unsent, editor)
        self._waiting, self._load_view, self._now, self._appeared = list(questions), load, now, now()
        first, self._begin = begin[0] if begin else run, begin
        self._place = next((place for place, item in enumerate(questions) if first in (item.id, item.run)), 0)
        self._ends_when_shown = False
        """The last question was answered on a screen above this one."""

    def compose(self) -> ComposeResult:
        """Yields the question, the checks, the attempt, and the keys."""
        yield Static(markup=False, classes="head")
        yield Static(markup=False, classes="reason")
        yield FindingView()
        yield Static(markup=False, classes="attempt")
        with ContentSwitcher(initial="text"):
            yield _Attempt(id="text")
            yield DiffView(id="changes")
            yield ProseArea(id="editor")
            with Vertical(id="choice"):
                yield StreamView(id="explanation")
                yield AnswerList(id="answers")
        yield Static(markup=False, classes="keys")

    @property
    def editor_area(self) -> ProseArea:
        """The editor for the answer."""
        return self.query_one("#editor", ProseArea)

    @property
    def face(self) -> str | None:
        """The id of the view below the attempt's line."""
        return self.query_one(ContentSwitcher).current

    def on_mount(self) -> None:
        """Shows the oldest question first; candidates are displayed at once."""
        self._appear()
        if self.question is not None and kinds.has_candidates(self.question):
            self.post_message(self.CompareRequested(self.question.id))

    def on_screen_resume(self) -> None:
        """Closes the queue if a screen on top of it has decided the last question."""
        if self._ends_when_shown:
            self.dismiss(None)

    @property
    def question(self) -> Question | None:
        """The displayed question."""
        return self._waiting[self._place] if self._waiting else None

    def show_questions(self, questions: Sequence[Question]) -> None:
        """Shows another queue; the current question stays if it still waits, else the next is displayed."""
        shown = self.question
        self._waiting = list(questions)
        kept = next((place for place, item in enumerate(self._waiting) if shown and item.id == shown.id), None)
        if kept is not None:
            self._place = kept
            self._refresh_head()
        else:
            self._appear()

    def _appear(self) -> None:
        """Shows the question at the cursor from its start; the grace begins."""
        if not self._waiting:
            self._ends_when_shown = self.app.screen is not self
            if not self._ends_when_shown:
                self.dismiss(None)
            return
        self._place = min(self._place, len(self._waiting) - 1)
        self._appeared = self._now()
        self.attempts.clear()
        question = self._waiting[self._place]
        self._refresh_head()
        self.set_class(question.kind != "review", "-plain")
        self.query_one(FindingView).show(None)
        self.query_one("#text", StreamView).set_text("")
        if question.kind == "review":
            self._turn_to("text")
            attempt(self, self._fetch(question), exclusive=True)
        else:
            self._show_proposal(question)

    async def _fetch(self, question: Question) -> None:
        """Loads the attempts behind a review."""
        try:
            view = await self._load_view(question)
        except FlowCabalError as error:
            self.query_one(".attempt", Static).update(clean(str(error)))
            return
        if self.question is not None and self.question.id == question.id:
            newest, begin, self._begin = self.attempts.load(view, question), self._begin, None
            asks = begin is not None and begin[0] == question.id
            self._show_attempt(begin[2] if begin and asks else newest)
            if begin and asks:
                self._appeared -= GRACE  # the key was pressed for this question
                await self.run_action(begin[1])

    def _show_proposal(self, question: Question) -> None:
        """Shows the proposal: an input starts from it, a confirmation displays the text that would be used."""
        text = clean(question.proposal)
        self.query_one(".attempt", Static).update(key_words(kinds.proposal_hint(question)))
        if question.kind == "choice":
            self._show_choices(question)
            return
        if question.kind == "input":
            self._typed.load(text)
            self.query_one(ContentSwitcher).current = "editor"
            self.set_focus(None)
            self._refresh_keys()
            self.refresh_bindings()
        else:
            self.query_one("#text", StreamView).set_text(text, follow=False)
            self._turn_to("text")

    def _show_choices(self, question: Question) -> None:
        """Short answers below the text of the question; candidates are compared on a screen of their own."""
        if kinds.has_candidates(question):
            self.query_one("#text", StreamView).set_text(clean(question.reason), follow=False)
            self._turn_to("text")
        else:
            explanation = "\n\n".join(part for part in (clean(question.reason), clean(question.proposal)) if part)
            self.query_one("#explanation", StreamView).set_text(explanation, follow=False)
            self.query_one(AnswerList).show(question.choices)
            self.query_one(ContentSwitcher).current = "choice"
            self.query_one(AnswerList).focus()
        self._refresh_keys()
        self.refresh_bindings()

    @on(AnswerList.Taken)
    def take_answer(self, message: AnswerList.Taken) -> None:
        """Takes one of the short answers."""
        if not self.is_grace():
            self._decide(Decision("choose", message.number))

    def _refresh_head(self) -> None:
        question = self.question
        if question is None:
            return
        number = _("decision {n} of {m}").format(n=self._place + 1, m=len(self._waiting))
        self.query_one(".head", Static).update(head_words(kinds.heading(question), number))
        self.query_one(".reason", Static).update(key_words(kinds.reason_words(question)))
        self._refresh_keys()

    def on_resize(self) -> None:
        """The keys are in other rows for another width."""
        self.call_after_refresh(self._refresh_keys)

    def _refresh_keys(self) -> None:
        if self.question is not None:
            attempts = len(self.attempts.all)
            findings, is_editing = self.query_one(FindingView).count, self.face == "editor"
            idle = kinds.idle_actions(self.question, findings, attempts, is_editing=is_editing)
            line = self.query_one(".keys", Static)
            line.update(kinds.keys_line(self.question, idle, line.scrollable_content_region.width or 78))

    def _show_attempt(self, number: int) -> None:
        self.attempts.number = number
        if (shown := self.attempts.shown) is None:
            return
        self.refresh_attempt()
        self.query_one(FindingView).show(shown.evaluation)
        self.query_one("#text", StreamView).set_text(shown.text, follow=False)
        if shown.paragraphs and self.attempts.earlier is not None:
            self.action_changes()
            return
        self._turn_to("text")
        self.call_after_refresh(self._mark_finding)

    def refresh_attempt(self) -> None:
        """Shows the number of the attempt, and whether its edited text is unsent."""
        if words := self.attempts.words(unsent=self._typed.waits):
            self.query_one(".attempt", Static).update(key_words(words))

    def _mark_finding(self) -> None:
        self.query_one(FindingView).mark_in(self.query_one("#text", StreamView))

    @on(ProseArea.Edited, "#editor")
    def write_down(self) -> None:
        """Saves the typed text in a pause in typing, so that it survives a crash."""
        self._typed.remember()
        attempt(self, self._typed.unsent.save(), group="unsent")

    def _turn_to(self, face: str) -> None:
        self.query_one(ContentSwitcher).current = face
        self.query_one(f"#{face}").focus()
        self._refresh_keys()
        self.refresh_bindings()

    def _decide(self, decision: Decision) -> None:
        """Posts the answer and shows the next question."""
        question = self.question
        if question is not None:
            self.post_message(self.Decided(question.id, decision))
            self._waiting.pop(self._place)
            self._appear()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disables keys of other kinds of questions, and j and k while the writer types."""
        if not self.is_mounted or self.question is None:
            return True
        if action == "question":
            return not isinstance(self.focused, (ProseArea, PickList))
        if action == "submit":
            return self.face == "editor"
        return kinds.allows(self.question, action)

    def is_grace(self) -> bool:
        """True while the question has only just appeared."""
        return self._now() - self._appeared < GRACE

    def action_why(self) -> None:
        """Shows the whole finding."""
        self.query_one(FindingView).open_in_full()

    def action_intended(self) -> None:
        """Marks the finding as intended; the reason is stored."""
        if not self.is_grace():
            self.query_one(FindingView).ask_reason()

    @on(FindingView.CalledIntended)
    def waive(self, message: FindingView.CalledIntended) -> None:
        """Marks the finding as intended."""
        message.stop()
        self.post_message(self.WaiveRequested(message.finding.draft.text, message.finding.source.text, message.reason))

    def action_source(self) -> None:
        """Opens the place that the finding quotes from the book."""
        if (finding := self.query_one(FindingView).finding) is not None:
            self.post_message(self.SourceOpened(finding.source.uri, finding.source.start, finding.source.end))

    def action_finding(self) -> None:
        """Shows the next finding."""
        self.query_one(FindingView).next_finding()
        self._mark_finding()

    def action_approve(self) -> None:
        """Approves the displayed attempt, the proposal, or the model."""
        question = self.question
        if self.is_grace() or question is None:
            return
        if question.kind == "input":
            self._hand_in(question)
        elif kinds.has_candidates(question):
            self.post_message(self.CompareRequested(question.id))
        elif question.kind == "choice":
            self.query_one(AnswerList).action_select()
        elif question.kind in ("confirm", "gate", "limit") or self.attempts.shown is not None:
            self._typed.go_past(lambda: self._decide(Decision("approve", self.attempts.number)))

    def action_retry(self) -> None:
        """Asks for another attempt; the note may be empty."""
        self._ask_again("retry", _("What should be different? (may be empty)"), needed=False)

    def action_mend(self) -> None:
        """Asks for the displayed attempt with only the affected paragraphs changed; findings need no note."""
        found = self.query_one(FindingView).count > 0
        words = _("What should be different? (may be empty)") if found else _("What should be different?")
        self._ask_again("mend", words, needed=not found)

    def _ask_again(self, kind: Literal["retry", "mend"], words: str, *, needed: bool) -> None:
        """Asks for a note, which is ignored if another question is displayed by then."""
        question, number = self.question, self.attempts.number
        if self.is_grace() or self.attempts.shown is None:
            return

        def noted(note: str | None) -> None:
            if note is None or self.question != question:
                return
            if needed and not note.strip():
                self.notify(_("Describe what should be different: the check found nothing to correct."), markup=False)
                return
            self._decide(Decision(kind, number, note=note.strip()))

        self._typed.go_past(lambda: self.app.push_screen(PromptLine(words), noted))

    def action_reject(self) -> None:
        """Rejects the attempt: nodes that depend on it do not run."""
        if not self.is_grace():
            self._typed.go_past(lambda: self._decide(Decision("reject", self.attempts.number)))

    def action_edit(self) -> None:
        """Edits the attempt, or writes the answer."""
        shown, question = self.attempts.shown, self.question
        if self.is_grace() or question is None:
            return
        if shown is not None:
            self._typed.load(shown.text)
        if shown is not None or question.kind == "input":
            self._turn_to("editor")

    def action_editor(self) -> None:
        """Edits in the writer's own editor."""
        self.action_edit()
        if self.face == "editor" and self.editor_area.has_focus:
            attempt(self, self._typed.edit_outside(), exclusive=True)

    def action_submit(self) -> None:
        """Sends the text of the editor."""
        question = self.question
        if self.is_grace() or question is None or self.face != "editor":
            return
        if question.kind == "input":
            self._hand_in(question)
        else:
            self._decide(Decision("edit", self.attempts.number, text=self.editor_area.text))

    def _hand_in(self, question: Question) -> None:
        text = self.editor_area.text
        if not text.strip():
            self.notify(_("Write an answer first: `e`."), markup=False)
        elif text == clean(question.proposal):
            self._decide(Decision("approve", text=text))
        else:
            self._decide(Decision("edit", text=text))

    def action_attempt(self, step: int) -> None:
        """Shows the attempt before or after."""
        if (number := self.attempts.beside(step)) is not None:
            self._typed.remember()
            self._show_attempt(number)

    def action_changes(self) -> None:
        """Switches between the attempt and its changes from the one that it was made from."""
        shown, earlier = self.attempts.shown, self.attempts.earlier
        if self.face == "changes":
            self._turn_to("text")
        elif earlier is not None and shown is not None:
            self.query_one(DiffView).set_texts(earlier.text, shown.text)
            self._turn_to("changes")
        else:
            self.notify(_("There is no earlier attempt."), markup=False)

    def action_turn(self, step: int) -> None:
        """Goes to the next or previous question where j and k move in a list."""
        self.action_question(step)

    def action_question(self, step: int) -> None:
        """Goes to the next or previous question."""
        self._typed.remember()
        place = min(max(self._place + step, 0), len(self._waiting) - 1)
        if place != self._place:
            self._place = place
            self._appear()

    def action_leave(self) -> None:
        """Leaves the editor or the difference, else the page."""
        if self.editor_area.has_focus and self.question is not None:
            self._typed.remember()
            if self.question.kind == "input":
                self.set_focus(None)
            else:
                self._turn_to("text")
        elif self.face == "changes":
            self._turn_to("text")
        else:
            self.dismiss(None)
