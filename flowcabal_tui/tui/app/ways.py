"""The places where commands of panes and pages are available, and how the palette reaches them."""

from __future__ import annotations

from typing import Final

from textual.dom import DOMNode

from flowcabal_tui.tui.app.commands import PaletteCommand, all_commands
from flowcabal_tui.tui.app.notices_screen import NoticesScreen
from flowcabal_tui.tui.app.settings.page import SettingsScreen
from flowcabal_tui.tui.book.browser import BrowserScreen
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.book.days import DaysScreen
from flowcabal_tui.tui.book.kept import KeptScreen
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.proof import ProofScreen
from flowcabal_tui.tui.book.search import SearchScreen
from flowcabal_tui.tui.conversation.screen import ConversationScreen
from flowcabal_tui.tui.decisions.comparison import ComparisonScreen
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.decisions.play import PlayScreen
from flowcabal_tui.tui.memory.beats_panel import BeatsPanel
from flowcabal_tui.tui.memory.knowledge import KnowledgeScreen
from flowcabal_tui.tui.memory.profiles import ProfilePane
from flowcabal_tui.tui.memory.queue import QueueScreen
from flowcabal_tui.tui.models.trust import TrustScreen
from flowcabal_tui.tui.revision.comments import CommentsScreen
from flowcabal_tui.tui.revision.pass_list import PassesScreen
from flowcabal_tui.tui.revision.revision import RevisionScreen
from flowcabal_tui.tui.runs.node_versions import NodeVersionsScreen
from flowcabal_tui.tui.runs.origin import BlameScreen
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.runs.sent import SentScreen
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.story.ego import EgoScreen
from flowcabal_tui.tui.story.entities import EntitiesScreen
from flowcabal_tui.tui.story.findings import FindingsScreen
from flowcabal_tui.tui.story.impact import ImpactScreen
from flowcabal_tui.tui.story.mentions import MentionsScreen
from flowcabal_tui.tui.story.proposals import ProposalsScreen
from flowcabal_tui.tui.story.records import RecordsScreen
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.builds_list import BuildsScreen
from flowcabal_tui.tui.workflows.workflow import WorkflowPane
from flowcabal_tui.tui.workflows.workflow_list import WorkflowList
from flowcabal_tui.tui.workflows.workflow_versions import WorkflowVersionsScreen

PANE_OF: Final[dict[type[DOMNode], str]] = {
    ChapterList: "chapters", WorkflowPane: "workflow", ManuscriptPane: "manuscript", OutputPane: "output",
    BlockEditor: "prompt", ReceiptPane: "context", ProfilePane: "profiles",
}  # fmt: skip
_OPENED_BY: Final[dict[type[DOMNode], str]] = {
    NoticesScreen: "app.notices", ConversationScreen: "app.conversation", SearchScreen: "book.search",
    BrowserScreen: "book.browser", KeptScreen: "browser.kept", ProofScreen: "book.proof",
    DecisionsScreen: "decisions.open", ComparisonScreen: "candidates.open", PlayScreen: "run.play",
    QueueScreen: "memory.queue", KnowledgeScreen: "memory.knowledge", TrustScreen: "project.trust",
    RevisionScreen: "revision.open",
    CommentsScreen: "revision.comments", PassesScreen: "revision.passes", NodeVersionsScreen: "workflow.versions",
    BlameScreen: "manuscript.origin", SentScreen: "run.sent", VersionsScreen: "manuscript.versions",
    EntitiesScreen: "story.names", EgoScreen: "names.graph", MentionsScreen: "names.mentions",
    RecordsScreen: "story.promises", ProposalsScreen: "story.proposals", FindingsScreen: "story.findings",
    ImpactScreen: "story.impact", WorkflowList: "workflow.template", WorkflowVersionsScreen: "workflows.versions",
    DaysScreen: "book.words", BuildsScreen: "builds.open", BeatsPanel: "book.beats", SettingsScreen: "app.settings",
}  # fmt: skip
"""The id of the command that opens a page. What is not here opens by itself, such as a question."""

_OF_PAGE: Final[dict[type[DOMNode], str]] = {
    BrowserScreen: "add bring-back kept merge origin rename unfold versions volume", DaysScreen: "goals",
    ProofScreen: "chapter repeats", KeptScreen: "book filter", QueueScreen: "done rebuild",
    KnowledgeScreen: "find install", ConversationScreen: "level others", SettingsScreen: "add",
    EntitiesScreen: "add filter kinds all character location plot-thread item organisation",
    RecordsScreen: "add all filter order promises timeline facts",
    ProposalsScreen: "chapter filter open waiting decided all",
    FindingsScreen: "chapter check filter report sort waiting put-aside decided resolved all",
    CommentsScreen: "add chapter filter kind open resolved lost all", PassesScreen: "add",
    RevisionScreen: "passes rewrites", WorkflowList: "build example new", BuildsScreen: "build",
    SearchScreen: "kind order", SentScreen: "template", BeatsPanel: "check",
}  # fmt: skip
"""Ids, after the point, of commands for a page as a whole or for the open chapter: no row has to be chosen first."""


def is_of_page(command: PaletteCommand) -> bool:
    """True for a command of a page that needs no row under the cursor."""
    owner = command.owner
    return owner is not None and command.id.partition(".")[2] in _OF_PAGE.get(owner, "").split()


def opener(owner: type[DOMNode]) -> PaletteCommand | None:
    """The command that opens the page of these keys; None: no command opens it."""
    name = _OPENED_BY.get(owner)
    return next((each for each in all_commands() if each.id == name), None)
