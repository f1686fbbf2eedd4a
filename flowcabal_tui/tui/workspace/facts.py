"""What the engine tells becomes what the workspace shows; the controllers are made here."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual import on

from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.proposals import ProposalWish
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.memory.bootstrap_words import said
from flowcabal_tui.tui.book.browser_controller import BrowserController
from flowcabal_tui.tui.book.controller import BookController
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.search_controller import SearchController
from flowcabal_tui.tui.book.upkeep import UpkeepController
from flowcabal_tui.tui.decisions.controller import DecisionController
from flowcabal_tui.tui.memory.controller import MemoryController
from flowcabal_tui.tui.memory.queue_controller import QueueController
from flowcabal_tui.tui.models.controller import ModelController
from flowcabal_tui.tui.runs.control import RunControl
from flowcabal_tui.tui.runs.controller import RunController
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.runs.receipt_controller import ReceiptController
from flowcabal_tui.tui.runs.waiting import WaitController
from flowcabal_tui.tui.shared import messages
from flowcabal_tui.tui.shared.bridge import Bridge
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.controller import StoryController
from flowcabal_tui.tui.workflows.controller import GraphController
from flowcabal_tui.tui.workflows.document import WorkflowDocument
from flowcabal_tui.tui.workspace.columns import ColumnsScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


class FactsScreen(ColumnsScreen):
    """The seven panes, kept up to date."""

    def __init__(self, workbench: Workbench, now: Callable[[], datetime], editor: str) -> None:
        super().__init__(OutputPane(id="output"), StatusLine.of(workbench.info))
        self._workbench, self._now, self._editor = workbench, now, editor
        self.bridge = Bridge(workbench, self.output, self.post_message, self._text_arrived)
        self.book = BookController(self, workbench, now, editor)
        self.document = WorkflowDocument(self, workbench)
        self.runs = RunController(self, workbench, self.bridge, self.document)
        self.waiting = WaitController(self, self.runs, self.document, self.output, lambda: now().timestamp())
        self.memory = MemoryController(self, workbench, editor)
        self.questions = DecisionController(self, workbench, editor)
        self.models = ModelController(self, workbench)
        self.background = QueueController(self, workbench)
        self.search = SearchController(self, workbench, self._open_at)
        self.receipts = ReceiptController(self, workbench, self._open_run)
        self.upkeep = UpkeepController(self, workbench, self.book, now)
        self.browser = BrowserController(self, workbench, self.book, self.upkeep, self._open_at, self.receipts.origin)
        self.story = StoryController(self, workbench, self._open_at)
        self.graph = GraphController(
            self, workbench, self.document, self._chapter_of_run, self.runs.show_node, self.runs.choose_node
        )
        self.control = RunControl(self, workbench, self.runs, self.document, self.graph, self._chapter_of_run, editor)

    def _chapter_of_run(self) -> ChapterId | None:
        return self.book.current

    def action_proposals(self) -> None:
        """What agents say of the book, to be confirmed, corrected or dropped."""
        self.story.proposals(self.book.current)

    async def _open_at(self, chapter: ChapterId, start: int, end: int) -> None:
        """A chapter, its newest run, and a place in its text."""
        await self.book.open(chapter)
        await self.runs.open_chapter(chapter)
        self.action_pane("manuscript")
        self.call_after_refresh(self.query_one(ManuscriptPane).go_to, start, end)

    async def _open_run(self, run: RunId, node: NodeId) -> None:
        """A node of a run of the history, with its chapter."""
        summary = (await self._workbench.run_details(run)).summary
        if summary.chapter is not None:
            await self.book.open(summary.chapter)
        await self.runs.show_run(summary)
        await self.runs.choose_node(node)
        self.action_pane("output")

    @on(ManuscriptPane.OriginRequested)
    def show_origin(self, event: ManuscriptPane.OriginRequested) -> None:
        """Where a paragraph comes from."""
        self._work(self.receipts.origin(event.chapter, event.paragraph, event.place), "looking", exclusive=True)

    @on(ReceiptPane.OtherRequested)
    def compare_receipt(self, event: ReceiptPane.OtherRequested) -> None:
        """Beside that of another run, node or chapter."""
        self._work(self.receipts.compare_receipt(event.receipt, self.document.workflow), "looking", exclusive=True)

    def action_sent(self) -> None:
        """The request of the attempt in view."""
        self._work(self._show_sent(), "sent", exclusive=True)

    async def _show_sent(self) -> None:
        from flowcabal_tui.tui.runs.sent import SentScreen

        if self.runs.run is None or self.runs.node is None or not self.output.attempt:
            self.notify(_("Nothing was sent for this node yet."), markup=False)
            return
        node, attempt_number = self.runs.node, self.output.attempt
        trace = await self._workbench.version_trace(self.runs.run, node, attempt_number)
        title = self.output.view.title if self.output.view else str(node)
        heading = _("{node}, attempt {n}: what was sent").format(node=one_line(title), n=attempt_number)
        self.app.push_screen(SentScreen(heading, trace))

    @on(ReceiptPane.SceneRequested)
    def set_scene(self, event: ReceiptPane.SceneRequested) -> None:
        """Who is in the scene of the receipt's chapter, where, when, and which kind it is."""
        self._work(self.receipts.set_scene(event.receipt, self.document.workflow), "looking", exclusive=True)

    def _work(self, work: Coroutine[Any, Any, Any], group: str = "work", *, exclusive: bool = False) -> None:
        attempt(self, work, group=group, exclusive=exclusive)

    def _show_counts(self) -> None:
        paused = sum(state == "paused" for state in self.runs.run_states.values())
        running = len(self.runs.active) - paused
        self.status.update_runs(running, paused, self.questions.count, len(self.runs.interrupted))

    @on(messages.RunMoved)
    def show_run_state(self, event: messages.RunMoved) -> None:
        """How many runs are active."""
        self.runs.run_states[event.run] = event.state
        if event.state not in ("running", "paused", "waiting"):
            self.waiting.ended(event.run)
        self._show_counts()
        if event.run == self.runs.run:
            self.control.tell_level()
        if self.questions.is_playing(event.run):
            self._work(self.questions.load(), "questions", exclusive=True)

    @on(messages.WorkflowShown)
    def show_what_is_known(self) -> None:
        """Stars, findings and what stands, beside the nodes of what is in view."""
        self.control.tell_level()
        self.count_proposals()
        self._work(self.graph.opened(), "marks", exclusive=True)

    @on(messages.TrustMoved)
    def show_trust(self, event: messages.TrustMoved) -> None:
        """Whether something waits for the user's confirmation."""
        self.status.update_trust(event.state)

    @on(messages.MarksMoved)
    def read_marks(self) -> None:
        """Outputs stand, are frozen or are out of date."""
        self._work(self.graph.refresh_marks(), "marks", exclusive=True)

    @on(messages.NodeMoved)
    def show_node_state(self, event: messages.NodeMoved) -> None:
        """One row of the workflow."""
        self.waiting.moved(event.run, event.node, event.state, event.detail)
        self._work(self._show_node_state(event), "moved")

    async def _show_node_state(self, event: messages.NodeMoved) -> None:
        await self.runs.node_moved(event.run, event.node, event.state, event.detail)
        self.control.tell_level()

    def _text_arrived(self, run: RunId, node: NodeId) -> None:
        self.call_later(self.waiting.waits.arrived, run, node)  # after the call, whose message waits in the queue

    @on(messages.CallSent)
    def note_call(self, event: messages.CallSent) -> None:
        """The seconds until its answer are counted."""
        self.waiting.sent(event.run, event.node)

    @on(messages.CallWaits)
    def count_down(self, event: messages.CallWaits) -> None:
        """The reason, and the seconds that are left."""
        self.waiting.again(event.run, event.node, event.seconds, event.reason)

    @on(messages.NodeTextMoved)
    def read_node(self, event: messages.NodeTextMoved) -> None:
        """An attempt began or is final."""
        self._work(self.runs.text_moved(event.run, event.node), "moved")
        if self.questions.is_playing(event.run):
            self._work(self.questions.load(), "questions", exclusive=True)

    @on(messages.QuestionsMoved)
    async def count_questions(self, event: messages.QuestionsMoved) -> None:
        """The status line, and the bell when nobody looks."""
        self._work(self._count_questions(event.asked), "questions", exclusive=True)

    async def _count_questions(self, asked: bool) -> None:
        await self.questions.load()
        if asked:
            self.questions.call()
        self._show_counts()

    @on(messages.BookMoved)
    def read_book(self, event: messages.BookMoved) -> None:
        """The list of chapters, and the open one."""
        if event.kept:
            self.book.noted_saved()
        self._work(self.book.refresh(event.chapter), "book")
        self.count_proposals()
        self.story.book_moved()

    def count_proposals(self) -> None:
        """The status line says how many wait for the writer."""
        self._work(self._count_proposals(), "proposals", exclusive=True)

    async def _count_proposals(self) -> None:
        page = await self._workbench.proposals(ProposalWish(("waiting",)), 0, 1)
        self.status.update_proposals(page.counts.get("waiting", 0))

    @on(messages.ProfilesMoved)
    def read_profiles(self) -> None:
        """The profile browser."""
        self._work(self.memory.refresh(), "profile", exclusive=True)

    @on(messages.TotalsMoved)
    def show_totals(self, event: messages.TotalsMoved) -> None:
        """Tokens and money."""
        self.status.update_totals(event.totals)

    @on(messages.KnowledgeMoved)
    def show_knowledge(self, event: messages.KnowledgeMoved) -> None:
        """The knowledge server."""
        self.status.update_knowledge(event.state, event.reason)

    @on(messages.MemoryMoved)
    def show_memory(self, event: messages.MemoryMoved) -> None:
        """Background work; names that are looked at show what it has counted."""
        self.status.update_memory(event.left, event.failed, event.reason)
        self.status.update_owed(*event.owed)
        if self.app.screen is not self:
            self.story.book_moved()

    @on(messages.ReadingMoved)
    def show_reading(self, event: messages.ReadingMoved) -> None:
        """The paid reading of an import."""
        self.status.update_reading(event.status)
        if event.status.state == "paused" and event.status.reason:
            self.notify(clean(event.status.reason), title=_("The reading paused"), severity="warning", markup=False)
        elif event.status.state == "done":
            self.notify(said(event.status), title=_("The imported chapters are read"), markup=False)

    @on(messages.RebuildMoved)
    def note_rebuild(self, event: messages.RebuildMoved) -> None:
        """For the page of background work."""
        self.background.rebuilt = event.progress

    @on(messages.RewriteCame)
    def show_rewrite(self, event: messages.RewriteCame) -> None:
        """A passage in another version, to be accepted or not."""
        self.book.propose(event.proposal)
        self.action_pane("manuscript")

    @on(messages.Said)
    def say(self, event: messages.Said) -> None:
        """Something to read."""
        self.notify(clean(event.words) or " ", title=clean(event.title), severity=event.severity, markup=False)
