"""Seven panes in three columns, or one at a time if three do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Input

from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.pane_tabs import PaneTabs
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.notice_row import NoticeRow
from flowcabal_tui.tui.widgets.panel import Panel
from flowcabal_tui.tui.workflows.workflow import WorkflowPane

if TYPE_CHECKING:
    from flowcabal_tui.tui.runs.output import OutputPane
    from flowcabal_tui.tui.workflows.block_editor import BlockEditor

PANES: Final = (
    ("1", "chapters", mark("Chapters")),
    ("2", "workflow", mark("Workflow")),
    ("3", "manuscript", mark("Manuscript")),
    ("4", "output", mark("Output")),
    ("5", "prompt", mark("Prompt")),
    ("6", "context", mark("Context")),
    ("7", "profiles", mark("Profiles")),
)
_COLUMNS: Final = {"left": ("chapters", "workflow"), "centre": ("manuscript", "output", "prompt"),
                   "right": ("context", "profiles")}  # fmt: skip
FIRST_PANE: Final = PANES[0][1]


class PaneColumns:
    """Arranges the panes of a screen, and shows one of them.

    `status` is created by the caller, which updates it. `mount_hidden` adds the panes that are not visible at first.
    """

    def __init__(self, screen: Screen[Any], status: StatusLine, name: str) -> None:
        """`name` is that of the project, which is being opened."""
        self._screen, self._status, self._name = screen, status, name
        self.pane = FIRST_PANE
        """The pane in view."""
        self._to_focus: str | None = None
        """The pane that gets the focus as soon as it is laid out."""

    def compose(self) -> ComposeResult:
        """Yields a row of names, three columns, the notices, the status line and the keys."""
        self._take_width()
        workflow, manuscript = WorkflowPane(id="workflow"), ManuscriptPane(id="manuscript")
        workflow.opening = opening = _("Opening {name} ...").format(name=self._name)
        # as high as the head of a chapter, so that nothing is laid out again when the chapter comes
        manuscript.opening = "\n".join((opening, _("Keys that you press now are not used.")))
        yield PaneTabs(PANES, classes="all-tabs")
        with Horizontal(classes="columns"):
            with Vertical(classes="column left", id="left"):
                with Panel("chapters"):
                    yield self._edge(PANES[:1])
                    yield ChapterList(id="chapters")
                with Panel("workflow"):
                    yield self._edge(PANES[1:2])
                    yield workflow
            with Panel(*_COLUMNS["centre"], classes="column centre", id="centre"):
                yield self._edge(PANES[2:5])
                with ContentSwitcher(initial="manuscript"):
                    yield manuscript
            with Panel(*_COLUMNS["right"], classes="column right", id="right"):
                yield self._edge(PANES[5:])
                with ContentSwitcher(initial="context"):
                    yield ReceiptPane(id="context")
        yield NoticeRow()
        yield self._status
        yield HintLine()

    def opened(self) -> None:
        """The project is open."""
        self._screen.query_one(WorkflowPane).opened()
        self._screen.query_one(ManuscriptPane).opened()

    async def mount_hidden(self) -> tuple[OutputPane, BlockEditor]:
        """Adds the panes that are hidden at first."""
        from flowcabal_tui.tui.memory.profiles import ProfilePane
        from flowcabal_tui.tui.runs.output import OutputPane
        from flowcabal_tui.tui.workflows.block_editor import BlockEditor

        output, prompt = OutputPane(id="output"), BlockEditor(id="prompt")
        for column, pane in (("centre", output), ("centre", prompt), ("right", ProfilePane(id="profiles"))):
            await self._screen.query_one(f"#{column} > ContentSwitcher", ContentSwitcher).add_content(pane)
        return output, prompt

    def _edge(self, panes: tuple[tuple[str, str, str], ...]) -> PaneTabs:
        return PaneTabs(panes, classes="column-tabs", is_edge=True, plain=is_plain(self._screen.app))

    def _take_width(self) -> None:
        """Takes the class of the terminal's width before anything is styled; Textual would style all of it again."""
        steps = sorted(self._screen.app.HORIZONTAL_BREAKPOINTS or (), reverse=True)
        width = self._screen.app.size.width
        self._screen.add_class(*[name for least, name in steps if width >= least][:1])

    def show(self, pane: str, *, focus: bool = True) -> None:
        """Shows a pane and focuses it.

        With three columns side by side no style depends on the current one: restyling them would repaint all.
        """
        self.pane = pane
        is_stacked = self._screen.has_class("-narrow") or self._screen.has_class("-zoom")
        for column, panes in _COLUMNS.items():
            self._screen.query_one(f"#{column}").set_class(pane in panes, "-current", update=is_stacked)
            for switcher in self._screen.query(f"#{column} > ContentSwitcher").results(ContentSwitcher):
                if pane in panes:
                    switcher.current = pane
        for panel in self._screen.query(Panel):
            if panel.id is None:
                panel.set_class(pane in panel.panes, "-current", update=is_stacked)
            panel.set_current(pane in panel.panes)
        self._mark_tabs()
        if focus:
            self._to_focus = pane
            self._screen.call_after_refresh(self._focus_pane, pane)

    def _mark_tabs(self) -> None:
        switchers = self._screen.query(".column > ContentSwitcher").results(ContentSwitcher)
        switched = {switcher.current for switcher in switchers}
        for tabs in self._screen.query(".column-tabs").results(PaneTabs):
            shown = tabs.panes & switched if len(tabs.panes) > 1 else tabs.panes
            tabs.show(next(iter(shown), ""), is_current=self.pane in tabs.panes)
        self._screen.query_one(".all-tabs", PaneTabs).show(self.pane)

    def _focus_pane(self, pane: str) -> None:
        if self._to_focus != pane:
            return
        self._to_focus = None
        widget = self._screen.query_one(f"#{pane}")
        inner = (item for item in widget.query("*") if item.focusable and not isinstance(item, Input))
        target = widget if widget.focusable else next(filter(_is_shown, inner), None)
        if target is not None:
            target.focus()

    def pane_of(self, focused: Widget) -> str | None:
        """The other pane that now has the focus; None for a late report of an earlier focus, as when a page closes."""
        if self._to_focus is not None or self._screen.focused is not focused:
            return None
        names = {pane for _digit, pane, _words in PANES} - {self.pane}
        return next((item.id for item in focused.ancestors_with_self if item.id in names), None)

    def beside(self, step: int) -> str:
        """The pane `step` places after the current one, wrapping around."""
        order = [pane for _digit, pane, _words in PANES]
        return order[(order.index(self.pane) + step) % len(order)]


def _is_shown(widget: Widget) -> bool:
    """True when the widget and all its parents are displayed.

    Textual lets hidden widgets of a switcher take the focus.
    """
    return all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
