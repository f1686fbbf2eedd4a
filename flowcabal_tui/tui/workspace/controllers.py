"""The controllers of the workspace's panes, which are created once the visible panes are painted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.conversation import Chip
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.book.browser_controller import BrowserController
from flowcabal_tui.tui.book.controller import BookController
from flowcabal_tui.tui.book.maintenance import MaintenanceController
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.proof_controller import ProofController
from flowcabal_tui.tui.book.search_controller import SearchController
from flowcabal_tui.tui.book.writing import WritingController
from flowcabal_tui.tui.conversation.controller import ConversationController
from flowcabal_tui.tui.conversation.other_pages import OtherPages
from flowcabal_tui.tui.decisions.controller import DecisionController
from flowcabal_tui.tui.memory.controller import MemoryController
from flowcabal_tui.tui.memory.knowledge_controller import KnowledgeController
from flowcabal_tui.tui.memory.queue_controller import QueueController
from flowcabal_tui.tui.models.controller import ModelController
from flowcabal_tui.tui.models.settings_watch import SettingsWatch
from flowcabal_tui.tui.revision.controller import RevisionController
from flowcabal_tui.tui.revision.marks import CommentMarks
from flowcabal_tui.tui.runs.control import RunControl
from flowcabal_tui.tui.runs.controller import RunController
from flowcabal_tui.tui.runs.keeping import KeepController
from flowcabal_tui.tui.runs.node_controller import NodeController
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.receipt_controller import ReceiptController
from flowcabal_tui.tui.runs.waiting import WaitController
from flowcabal_tui.tui.shared.known_books import KnownBooks
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.story.controller import StoryController
from flowcabal_tui.tui.workflows.builds_controller import BuildController
from flowcabal_tui.tui.workflows.controller import GraphController
from flowcabal_tui.tui.workflows.document import WorkflowDocument
from flowcabal_tui.tui.workflows.library import LibraryController
from flowcabal_tui.tui.workspace.beats_beside import BeatsBeside
from flowcabal_tui.tui.workspace.name_card import NameCardController
from flowcabal_tui.tui.workspace.navigation import Navigation
from flowcabal_tui.tui.workspace.notices import EngineNotices
from flowcabal_tui.tui.workspace.pages import PageOpener
from flowcabal_tui.tui.workspace.summary import SummaryKeeper


class Controllers:
    """The controllers by subject; all but that of the book, which fills the first frame, are created here."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        book: BookController,
        output: OutputPane,
        now: Callable[[], datetime],
        editor: str,
        books: KnownBooks,
    ) -> None:
        self._screen, self._view, self.book = screen, view, book
        self.summary = SummaryKeeper(screen, project, view, book, now, books.keep)
        self.writing = WritingController(screen, project, view)
        self.beats = BeatsBeside(screen, project, view)
        self.document = WorkflowDocument(screen, project, view)
        self.models = ModelController(screen, project)
        self.settings_watch = SettingsWatch(screen, project)
        self.nodes = NodeController(screen, project, view, self.document, output)
        self.runs = RunController(screen, project, view, self.document, self.nodes, self.models.has_model)
        self.waiting = WaitController(screen, view, self.document, output, lambda: now().timestamp())
        self.navigation = Navigation(screen, project, view, book, self.runs, self.nodes)
        self.memory = MemoryController(screen, project, view, editor)
        self.background = QueueController(screen, project)
        self.knowledge = KnowledgeController(screen, project)
        self.questions = DecisionController(screen, project, view, editor)
        self.search = SearchController(screen, project)
        self.receipts = ReceiptController(screen, project, view, self.document, self.navigation.open_run)
        self.maintenance = MaintenanceController(screen, project, book, now)
        self.keeping = KeepController(screen, project, view)
        self.browser = BrowserController(
            screen, project, view, book, self.maintenance, self.navigation.open_at, self.receipts.origin
        )
        self.proof = ProofController(screen, project, book)
        self.pages = PageOpener(
            screen,
            view,
            now,
            self.navigation.open_at,
            browser=self.browser,
            proof=self.proof,
            search=self.search,
            background=self.background,
            knowledge=self.knowledge,
        )
        self.story = StoryController(screen, project, view, self.navigation.open_at, now)
        self.card = NameCardController(
            screen, project, view, self.story, self.navigation.open_at, self.memory.show_profile
        )
        self.revision = RevisionController(screen, project, view, self.navigation.open_at, book.drafts.write, now)
        self.comment_marks = CommentMarks(screen, project, view)
        self.talk = ConversationController(
            screen,
            project,
            view,
            self.navigation.open_at,
            self._selection,
            lambda: self.document.workflow.id if self.document.workflow else "",
            OtherPages(self.receipts.show, self.story.correct, lambda build: self.builds.review(build)),
        )
        self.graph = GraphController(screen, project, view, self.document, self.nodes.show_node, self.nodes.choose_node)
        self.builds = BuildController(screen, project, self.document, self.runs.show_template)
        self.library = LibraryController(screen, project, self.document, self.runs.show_template, self.builds.build)
        self.control = RunControl(screen, project, view, self.runs, self.nodes, self.document, self.graph, editor)

    @property
    def in_order(self) -> tuple[object, ...]:
        """All of them, in the order in which they receive events."""
        return (
            self.waiting,
            self.runs,
            self.nodes,
            self.control,
            self.graph,
            self.questions,
            self.keeping,
            self.receipts,
            self.book,
            self.book.drafts,
            self.book.reading,
            self.writing,
            self.beats,
            self.proof,
            self.browser,
            self.search,
            self.maintenance,
            self.navigation,
            self.pages,
            self.memory,
            self.background,
            self.knowledge,
            self.models,
            self.story,
            self.revision,
            self.comment_marks,
            self.card,
            self.talk,
            self.builds,
            self.library,
            self.settings_watch,
            EngineNotices(self._screen),
        )

    def _selection(self) -> Chip | None:
        """The passage that is selected in the editor."""
        pane, chapter = self._screen.query_one(ManuscriptPane), self._view.chapter
        start, end = pane.area.selected_span if pane.face == "edit" else (0, 0)
        return Chip("selection", chapter, start, end, text=pane.text[start:end]) if chapter and start < end else None
