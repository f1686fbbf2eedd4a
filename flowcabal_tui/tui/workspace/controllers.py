"""Creates the controllers of the workspace's panes once the visible panes are painted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from flowcabal_tui.domain.conversation import Chip
from flowcabal_tui.tui.book.browser_controller import BrowserController
from flowcabal_tui.tui.book.maintenance import MaintenanceController
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.proof_controller import ProofController
from flowcabal_tui.tui.book.search_controller import SearchController
from flowcabal_tui.tui.book.writing import WritingController
from flowcabal_tui.tui.conversation.controller import ConversationController, OtherPages
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
from flowcabal_tui.tui.runs.receipt_controller import ReceiptController
from flowcabal_tui.tui.runs.waiting import WaitController
from flowcabal_tui.tui.shared.known_books import KnownBooks
from flowcabal_tui.tui.story.controller import StoryController
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.workflows.builds_controller import BuildController
from flowcabal_tui.tui.workflows.controller import GraphController
from flowcabal_tui.tui.workflows.document import WorkflowDocument
from flowcabal_tui.tui.workflows.library import LibraryController
from flowcabal_tui.tui.workspace.beats_beside import BeatsBeside
from flowcabal_tui.tui.workspace.name_card import NameCardController
from flowcabal_tui.tui.workspace.navigation import Navigation
from flowcabal_tui.tui.workspace.notices import EngineNotices
from flowcabal_tui.tui.workspace.summary import SummaryKeeper

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen


def add_controllers(
    screen: WorkspaceScreen, workbench: Project, now: Callable[[], datetime], editor: str, books: KnownBooks
) -> tuple[object, ...]:
    """Creates the controllers as attributes of the screen; returns them in the order in which they receive events."""
    view = screen.view
    screen.summary = SummaryKeeper(screen, workbench, view, screen.book, now, books.keep)
    screen.writing = WritingController(screen, workbench, view)
    screen.beats = BeatsBeside(screen, workbench, view)
    screen.document = WorkflowDocument(screen, workbench, view)
    screen.models = ModelController(screen, workbench)
    screen.settings_watch = SettingsWatch(screen, workbench)
    screen.nodes = NodeController(screen, workbench, view, screen.document, screen.output)
    screen.runs = RunController(screen, workbench, view, screen.document, screen.nodes, screen.models.has_model)
    screen.waiting = WaitController(screen, view, screen.document, screen.output, lambda: now().timestamp())
    screen.navigation = Navigation(screen, workbench, view, screen.book, screen.runs, screen.nodes)
    screen.memory = MemoryController(screen, workbench, view, editor)
    screen.background = QueueController(screen, workbench, now)
    screen.knowledge = KnowledgeController(screen, workbench)
    screen.questions = DecisionController(screen, workbench, view, editor)
    screen.search = SearchController(screen, workbench, screen.navigation.open_at)
    screen.receipts = ReceiptController(screen, workbench, view, screen.document, screen.navigation.open_run)
    screen.maintenance = MaintenanceController(screen, workbench, screen.book, now)
    screen.keeping = KeepController(screen, workbench, view)
    screen.browser = BrowserController(
        screen, workbench, view, screen.book, screen.maintenance, screen.navigation.open_at, screen.receipts.origin
    )
    screen.proof = ProofController(screen, workbench, screen.book, screen.navigation.open_at)
    screen.story = StoryController(screen, workbench, view, screen.navigation.open_at, now)
    screen.card = NameCardController(
        screen, workbench, view, screen.story, screen.navigation.open_at, screen.memory.show_profile
    )
    screen.revision = RevisionController(
        screen, workbench, view, screen.navigation.open_at, screen.book.drafts.write, now
    )
    screen.comment_marks = CommentMarks(screen, workbench, view)
    screen.talk = ConversationController(
        screen,
        workbench,
        view,
        screen.navigation.open_at,
        partial(_selection, screen),
        partial(_workflow_id, screen),
        OtherPages(screen.receipts.show, screen.story.correct, lambda build: screen.builds.review(build)),
    )
    screen.graph = GraphController(
        screen, workbench, view, screen.document, screen.nodes.show_node, screen.nodes.choose_node
    )
    screen.builds = BuildController(screen, workbench, screen.document, screen.runs.show_template)
    screen.library = LibraryController(
        screen, workbench, screen.document, screen.runs.show_template, screen.builds.build
    )
    screen.control = RunControl(
        screen, workbench, view, screen.runs, screen.nodes, screen.document, screen.graph, editor
    )
    return _in_order(screen)


def _in_order(screen: WorkspaceScreen) -> tuple[object, ...]:
    return (
        screen.waiting,
        screen.runs,
        screen.nodes,
        screen.control,
        screen.graph,
        screen.questions,
        screen.keeping,
        screen.receipts,
        screen.book,
        screen.book.drafts,
        screen.book.reading,
        screen.writing,
        screen.beats,
        screen.proof,
        screen.browser,
        screen.search,
        screen.maintenance,
        screen.navigation,
        screen.memory,
        screen.background,
        screen.knowledge,
        screen.models,
        screen.story,
        screen.revision,
        screen.comment_marks,
        screen.card,
        screen.talk,
        screen.builds,
        screen.library,
        screen.settings_watch,
        EngineNotices(screen),
    )


def _selection(screen: WorkspaceScreen) -> Chip | None:
    """The passage that is selected in the editor."""
    pane, chapter = screen.query_one(ManuscriptPane), screen.view.chapter
    start, end = pane.query_one(ProseArea).selected_span if pane.face == "edit" else (0, 0)
    return Chip("selection", chapter, start, end, text=pane.text[start:end]) if chapter and start < end else None


def _workflow_id(screen: WorkspaceScreen) -> str:
    return screen.document.workflow.id if screen.document.workflow else ""
