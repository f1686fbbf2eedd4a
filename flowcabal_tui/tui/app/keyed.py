"""Every class of the screen that has keys of its own, in the order of the keys page."""

from __future__ import annotations

from typing import Final

from textual.dom import DOMNode

from flowcabal_tui.locale import mark
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from flowcabal_tui.tui.app.first_run import FirstRunScreen
from flowcabal_tui.tui.app.leader import LeaderScreen
from flowcabal_tui.tui.app.new_project import NewProjectScreen
from flowcabal_tui.tui.app.notices_screen import NoticesScreen
from flowcabal_tui.tui.app.settings.keys import KeysScreen
from flowcabal_tui.tui.app.settings.page import SettingsScreen
from flowcabal_tui.tui.book.browser import BrowserScreen
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.book.days import DaysScreen
from flowcabal_tui.tui.book.kept import KeptScreen
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.month import MonthCalendar
from flowcabal_tui.tui.book.proof import ProofScreen
from flowcabal_tui.tui.book.replace import ReplaceScreen
from flowcabal_tui.tui.book.search import SearchScreen
from flowcabal_tui.tui.conversation.chips import ChipPicker
from flowcabal_tui.tui.conversation.screen import ConversationScreen
from flowcabal_tui.tui.decisions.answers import AnswerList
from flowcabal_tui.tui.decisions.comparison import ComparisonScreen
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.decisions.play import PlayScreen
from flowcabal_tui.tui.decisions.seam_changes import SeamChangesScreen
from flowcabal_tui.tui.memory.beats_panel import BeatsPanel
from flowcabal_tui.tui.memory.knowledge import KnowledgeScreen
from flowcabal_tui.tui.memory.outline import BeatsScreen, OutlineScreen
from flowcabal_tui.tui.memory.profiles import ProfilePane
from flowcabal_tui.tui.memory.queue import QueueScreen
from flowcabal_tui.tui.models.model_form import ModelForm
from flowcabal_tui.tui.models.trust import TrustScreen
from flowcabal_tui.tui.revision.comments import CommentsScreen
from flowcabal_tui.tui.revision.pass_list import PassesScreen
from flowcabal_tui.tui.revision.revision import RevisionScreen
from flowcabal_tui.tui.runs.inputs_form import InputsForm
from flowcabal_tui.tui.runs.node_versions import NodeVersionsScreen
from flowcabal_tui.tui.runs.origin import BlameScreen
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.runs.receipt_screen import ReceiptScreen
from flowcabal_tui.tui.runs.sent import SentScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.diff import DiffScreen, OutsideScreen, ReplacedScreen, UnsavedScreen
from flowcabal_tui.tui.shared.form import Choice, FormScreen
from flowcabal_tui.tui.shared.lists import PickList, PickTree
from flowcabal_tui.tui.shared.name_card import NameCardPanel
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.shared.rewrite_screen import RewriteScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.story.ego import EgoScreen
from flowcabal_tui.tui.story.entities import EntitiesScreen
from flowcabal_tui.tui.story.findings import FindingsScreen
from flowcabal_tui.tui.story.impact import ImpactScreen
from flowcabal_tui.tui.story.mentions import MentionsScreen
from flowcabal_tui.tui.story.proposals import ProposalsScreen
from flowcabal_tui.tui.story.records import RecordsScreen
from flowcabal_tui.tui.story.story_page import StoryPage
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.ego_graph import EgoGraph
from flowcabal_tui.tui.widgets.help import HelpScreen
from flowcabal_tui.tui.widgets.jump import JumpOverlay
from flowcabal_tui.tui.widgets.prompt_line import PromptLine, RunLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.rail_graph import RailGraph
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.widgets.type_name import TypeNameScreen
from flowcabal_tui.tui.workflows.action_picker import ActionPicker
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.build_review import BuildReviewScreen
from flowcabal_tui.tui.workflows.builds_list import BuildsScreen
from flowcabal_tui.tui.workflows.data_editor import DataEditor
from flowcabal_tui.tui.workflows.node_form import NodeForm
from flowcabal_tui.tui.workflows.params_form import ParamsForm
from flowcabal_tui.tui.workflows.workflow import WorkflowPane
from flowcabal_tui.tui.workflows.workflow_list import WorkflowList
from flowcabal_tui.tui.workflows.workflow_versions import WorkflowVersionsScreen

KEYED: Final[tuple[tuple[str, type[DOMNode]], ...]] = (
    (mark("Chapters"), ChapterList),
    (mark("Workflow"), WorkflowPane),
    (mark("Workflows"), WorkflowList),
    (mark("Versions of a workflow"), WorkflowVersionsScreen),
    (mark("Builds"), BuildsScreen),
    (mark("Review of a build"), BuildReviewScreen),
    (mark("Workflow as rails"), RailGraph),
    (mark("Manuscript"), ManuscriptPane),
    (mark("Text editor"), ProseArea),
    (mark("Card of a name"), NameCardPanel),
    (mark("Output"), OutputPane),
    (mark("Prompt"), BlockEditor),
    (mark("Parameters of a node"), NodeForm),
    (mark("Parameters of any node"), ParamsForm),
    (mark("Choice of an action"), ActionPicker),
    (mark("Edit as text"), DataEditor),
    (mark("Versions of a node"), NodeVersionsScreen),
    (mark("Context receipt"), ReceiptPane),
    (mark("Profiles"), ProfilePane),
    (mark("Search"), SearchScreen),
    (mark("Replace"), ReplaceScreen),
    (mark("The manuscript as a whole"), BrowserScreen),
    (mark("Proof"), ProofScreen),
    (mark("Words by day"), DaysScreen),
    (mark("Calendar"), MonthCalendar),
    (mark("Kept outputs"), KeptScreen),
    (mark("Background work"), QueueScreen),
    (mark("Knowledge server"), KnowledgeScreen),
    (mark("Line origins"), BlameScreen),
    (mark("Receipt on its own page"), ReceiptScreen),
    (mark("Names, relations, promises, timeline, facts"), StoryPage),
    (mark("Names"), EntitiesScreen),
    (mark("Places of a name"), MentionsScreen),
    (mark("Relations"), EgoScreen),
    (mark("Relations, the graph"), EgoGraph),
    (mark("Promises, timeline, facts"), RecordsScreen),
    (mark("Proposals"), ProposalsScreen),
    (mark("Findings"), FindingsScreen),
    (mark("What depends on a change"), ImpactScreen),
    (mark("Name and record forms"), FormScreen),
    (mark("Lists in forms of names"), Choice),
    (mark("The text on the whole screen"), ProseScreen),
    (mark("Decisions"), DecisionsScreen),
    (mark("Comparison of candidates"), ComparisonScreen),
    (mark("Changes at the seams"), SeamChangesScreen),
    (mark("Short answers"), AnswerList),
    (mark("Play"), PlayScreen),
    (mark("Source"), SourceScreen),
    (mark("What was sent"), SentScreen),
    (mark("Notices"), NoticesScreen),
    (mark("Versions"), VersionsScreen),
    (mark("Difference"), DiffScreen),
    (mark("Difference, inside"), DiffView),
    (mark("Changed outside"), OutsideScreen),
    (mark("Text to read"), StreamView),
    (mark("Conversation"), ConversationScreen),
    (mark("Texts sent with a question"), ChipPicker),
    (mark("Lists"), PickList),
    (mark("Trees"), PickTree),
    (mark("Help"), HelpScreen),
    (mark("Yes/no questions"), ConfirmScreen),
    (mark("One-line questions"), PromptLine),
    (mark("Questions answered by typing a name"), TypeNameScreen),
    (mark("Choices"), ChooseScreen),
    (mark("Jump mode"), JumpOverlay),
    (mark("After the leader key"), LeaderScreen),
    (mark("First steps"), FirstRunScreen),
    (mark("New project"), NewProjectScreen),
    (mark("Errors"), ErrorScreen),
    (mark("Outline"), OutlineScreen),
    (mark("Outline of a chapter"), BeatsScreen),
    (mark("Outline beside the text"), BeatsPanel),
    (mark("Trust"), TrustScreen),
    (mark("Settings"), SettingsScreen),
    (mark("Keys"), KeysScreen),
    (mark("Model"), ModelForm),
    (mark("Revision"), RevisionScreen),
    (mark("Comments"), CommentsScreen),
    (mark("Passes"), PassesScreen),
    (mark("Inputs of a run"), InputsForm),
    (mark("Unsaved text"), UnsavedScreen),
    (mark("Replaced text"), ReplacedScreen),
    (mark("Proposed rewrite"), RewriteScreen),
    (mark("Line of a run"), RunLine),
)
