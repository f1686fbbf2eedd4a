"""Questions of runs: counting, announcing, answering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from textual.app import App
from textual.screen import Screen

from flowcabal_tui.domain.comparison import ComparisonTarget
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import QuestionId, RunId
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.comparisons import ComparisonChanged, SiftProgress
from flowcabal_tui.protocol.memory import WaiveFinding
from flowcabal_tui.protocol.runs import (
    Decide,
    NodeCompleted,
    NodeNeedsHuman,
    NodeStarted,
    QuestionAnswered,
    RunStarted,
    RunStateChanged,
)
from flowcabal_tui.tui.decisions.decisions import Beginning, DecisionsScreen
from flowcabal_tui.tui.decisions.play import PlayScreen, is_replayed
from flowcabal_tui.tui.decisions.question_kinds import has_candidates
from flowcabal_tui.tui.decisions.typed_answer import Unsent
from flowcabal_tui.tui.shared.notices import NoticeOver
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import AnswerRequested, NoQuestionWaits, OpenView


class DecisionController:
    """Reads the questions, opens the screens that answer them, and sends the answers."""

    def __init__(self, screen: Screen[Any], project: Project, view: OpenView, editor: str) -> None:
        self._screen, self._project, self._view, self._editor = screen, project, view, editor
        self._waiting: tuple[Question, ...] = ()
        self._answered: set[QuestionId] = set()
        self._unsent = Unsent(project.drafts)
        self._called = ""
        """The last call for an answer."""

    @property
    def count(self) -> int:
        """The number of waiting decisions."""
        return len(self._waiting)

    @property
    def answered(self) -> int:
        """The number of decisions of this session."""
        return len(self._answered)

    async def load(self) -> None:
        """Reads the queue, oldest first; the decisions screen, if it is open, shows it."""
        questions = await self._project.runs.questions()
        self._waiting = tuple(question for question in questions if question.id not in self._answered)
        for screen in self._screen.app.screen_stack:
            if isinstance(screen, DecisionsScreen):
                screen.show_questions(self._waiting)
            elif isinstance(screen, PlayScreen):
                await screen.read_on(self._waiting)
        self.set_title()
        status = self._screen.query_one(StatusLine)
        status.facts = replace(status.facts, questions=self.count)
        self._screen.refresh_bindings()

    @on_event
    def _read_on(self, event: RunStarted | RunStateChanged | NodeStarted | NodeCompleted) -> None:
        """Loads the next questions of the run that is played."""
        if self._is_playing(event.run):
            attempt(self._screen, self.load(), group="questions", exclusive=True)

    @on_event
    def _ask(self, _event: NodeNeedsHuman) -> None:
        attempt(self._screen, self._load_and_call(), group="questions", exclusive=True)

    async def _load_and_call(self) -> None:
        await self.load()
        self.call()

    @on_event
    def _count(self, _event: QuestionAnswered) -> None:
        attempt(self._screen, self.load(), group="questions", exclusive=True)

    def set_title(self) -> None:
        """Sets the terminal's title: the project, and the number of waiting questions."""
        name = self._project.info.name
        title = f"({self.count}) {name}" if self._waiting else name
        set_terminal_title(self._screen.app, f"{title} - FlowCabal")

    def call(self) -> None:
        """Shows a notice of a new question; rings the bell only while the terminal lacks the focus."""
        if isinstance(self._screen.app.screen, PlayScreen):
            return
        self._called = _("A decision waits for you: F8.")
        if self._waiting and is_replayed(self._waiting[-1]):
            self._called = _("The story waits for your answer: F8, or `P` to play it.")
        self._screen.notify(self._called, markup=False)
        if not self._screen.app.app_focus:
            self._screen.app.bell()

    @on_request(AnswerRequested, group="decisions", exclusive=True)
    async def answer(self, question: QuestionId, action: str, attempt: int) -> None:
        """Opens the question, and carries out its action."""
        await self.open((question, action, attempt))

    @on_key("decisions.open", group="decisions", exclusive=True)
    async def open(self, begin: Beginning | None = None) -> None:
        """Opens the full-screen queue, at the question of the current run if it has one."""
        await self.load()
        self._screen.app.post_message(NoticeOver(self._called))
        if not self._waiting:
            self._view.publish(NoQuestionWaits())
            return
        await self._unsent.load(self._waiting)
        queue = DecisionsScreen(
            self._waiting, self._node_of, run=self._view.run, editor=self._editor, unsent=self._unsent, begin=begin
        )
        self._screen.app.push_screen(queue, self._write_down)

    def _write_down(self, _left: None) -> None:
        attempt(self._screen, self._unsent.save(), group="unsent")

    @on_request(DecisionsScreen.CompareRequested)
    def compare_question(self, question: QuestionId) -> None:
        """Opens the candidates of a question."""
        self._compare(ComparisonTarget(question))

    @on_key("candidates.open", group="candidates", exclusive=True)
    async def compare(self) -> None:
        """Opens the candidates of the current node: of a waiting question, else all that it has written."""
        view = self._view
        await self.load()
        waiting = [each for each in self._waiting if has_candidates(each) and each.chapter == view.chapter]
        mine = next((each for each in waiting if each.node == view.node), waiting[0] if waiting else None)
        if mine is not None:
            self._compare(ComparisonTarget(mine.id))
        elif view.node is None or view.run is None:
            self._screen.notify(_("Choose a node that has written something: `2`."), markup=False)
        else:
            workflow = (await self._project.runs.run_workflow(view.run)).id
            before = await self._project.comparisons.comparisons(workflow, view.node)
            known = [each.target for each in before if each.target.chapter == view.chapter]
            here = ComparisonTarget(workflow=workflow, node=view.node, chapter=view.chapter)
            self._compare(known[0] if known else here)

    def _compare(self, target: ComparisonTarget) -> None:
        from flowcabal_tui.tui.decisions.comparison import ComparisonScreen

        self._screen.app.push_screen(ComparisonScreen(self._project, target))

    @on_event
    def _candidates_moved(self, event: ComparisonChanged | SiftProgress) -> None:
        """A comparison that is open reads its candidates again."""
        from flowcabal_tui.tui.decisions.comparison import ComparisonScreen

        for screen in self._screen.app.screen_stack:
            if isinstance(screen, ComparisonScreen):
                if isinstance(event, SiftProgress):
                    screen.note_progress(event.done, event.total)
                else:
                    screen.work(screen.reload(), exclusive=True)

    @on_key("run.play", group="play", exclusive=True)
    async def play(self) -> None:
        """Shows the current run as a story on one page; other questions are answered in the queue."""
        if (run := self._view.run) is None:
            self._screen.notify(_("Nothing has run yet. F5 runs the workflow."), markup=False)
            return
        await self.load()

        async def events() -> Sequence[Event]:
            return await self._project.runs.replay(run)

        page = PlayScreen(self._view.title, run, events, self._waiting)
        if await self._screen.app.push_screen_wait(page):
            await self.open()

    def _is_playing(self, run: RunId) -> bool:
        """True when the run is shown on the page of the story."""
        pages = self._screen.app.screen_stack
        return any(isinstance(page, PlayScreen) and page.run_in_view == run for page in pages)

    async def _node_of(self, question: Question) -> NodeView:
        return await self._project.runs.node(question.run, question.node)

    @on_request(DecisionsScreen.Decided)
    async def decide(self, question: QuestionId, decision: Decision) -> None:
        """Sends the writer's answer; the question leaves the queue unless the answer is refused."""
        if all(each.run == self._view.run for each in self._waiting if each.id == question):
            self._view.following = True
            self._view.show_pane("output")
        self._answered.add(question)
        try:
            await self._project.carry_out(Decide(question, decision))
        except FlowCabalError:
            self._answered.discard(question)
            raise
        self._unsent.forget(question)
        await self._unsent.save()

    @on_request(DecisionsScreen.WaiveRequested)
    async def waive(self, draft_quote: str, source_quote: str, reason: str) -> None:
        """Marks a finding as intended; the reason is stored."""
        await self._project.carry_out(WaiveFinding(draft_quote, source_quote, reason))
        self._screen.notify(_("Noted as intended."), markup=False)


def set_terminal_title(app: App[Any], title: str) -> None:
    """Sets the title of the terminal window, through the driver that writes everything else in order."""
    driver = app._driver  # Textual writes OSC 52 the same way and offers no public method
    if driver is not None and not app.is_headless:
        driver.write(f"\x1b]2;{clean(title)}\x07")
