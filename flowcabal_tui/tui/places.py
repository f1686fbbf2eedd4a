"""Every class of the screen that has keys of its own, in the order of the keys page."""

from __future__ import annotations

from typing import Final

from textual.dom import DOMNode

from flowcabal_tui.tui.panes.block_editor import BlockEditor
from flowcabal_tui.tui.panes.chapter_list import ChapterList
from flowcabal_tui.tui.panes.lists import PickList, PickTree
from flowcabal_tui.tui.panes.manuscript import ManuscriptPane
from flowcabal_tui.tui.panes.output import OutputPane
from flowcabal_tui.tui.panes.profiles import ProfilePane
from flowcabal_tui.tui.panes.receipt import ReceiptPane
from flowcabal_tui.tui.panes.workflow import WorkflowPane
from flowcabal_tui.tui.screens.choose import ChooseScreen
from flowcabal_tui.tui.screens.decisions import DecisionsScreen
from flowcabal_tui.tui.screens.diff import DiffScreen
from flowcabal_tui.tui.screens.error import ErrorScreen
from flowcabal_tui.tui.screens.first_run import FirstRunScreen
from flowcabal_tui.tui.screens.new_project import NewProjectScreen
from flowcabal_tui.tui.screens.source import SourceScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.help import HelpScreen
from flowcabal_tui.tui.widgets.jump import JumpOverlay
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.stream_view import StreamView

KEYED: Final[tuple[type[DOMNode], ...]] = (
    ChapterList,
    WorkflowPane,
    ManuscriptPane,
    OutputPane,
    BlockEditor,
    ReceiptPane,
    ProfilePane,
    DecisionsScreen,
    SourceScreen,
    DiffScreen,
    PickList,
    PickTree,
    StreamView,
    HelpScreen,
    FirstRunScreen,
    NewProjectScreen,
    PromptLine,
    ConfirmScreen,
    JumpOverlay,
    ChooseScreen,
    ErrorScreen,
)
