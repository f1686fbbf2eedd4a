"""The workflows of the project to choose from, with the keys to create, change and delete them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.locale import mark
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.workflows.rows import about_lines, template_rows

if TYPE_CHECKING:
    from flowcabal_tui.domain.workflow import Workflow


def _asks(keys: str, verb: str, label: str, tooltip: str, *, show: bool = True) -> Binding:
    return Binding(keys, f"ask('{verb}')", label, show=show, tooltip=tooltip, id=f"workflows.{verb}")


class WorkflowList(PickList):
    """One row per workflow. Enter chooses it; other keys request an action on it."""

    help = HelpData(
        mark("Workflows"),
        mark("Enter shows a workflow. `B` makes a new one from your request, `R` changes this one on request: you "
             "review every change before it applies. `i` adds an example, `c` copies, `+` makes an empty one."),
    )  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        _asks("B", "build", mark("Build"), mark("Describe a new workflow in your words; you review each change.")),
        _asks("R", "update", mark("Change"), mark("Describe in your own words what should change in this workflow.")),
        _asks("plus", "new", mark("New"), mark("Make a workflow with one node.")),
        _asks("i", "example", mark("Example"), mark("Add a template or an example to the project.")),
        _asks("v", "versions", mark("Versions"), mark("The versions of this workflow: compare, restore, delete.")),
        _asks("c", "duplicate", mark("Copy"), mark("Make a copy under another name."), show=False),
        _asks("n", "rename", mark("Rename"), mark("Give this workflow another name; its id stays."), show=False),
        _asks("D,delete", "delete", mark("Delete"), mark("Delete this workflow; runs keep their texts."), show=False),
        _asks("u", "undo", mark("Undo"), mark("Bring back the workflow that you deleted last."), show=False),
    ]  # fmt: skip

    class VerbRequested(Request):
        """The writer requests an action; `reference` is the workflow under the cursor, "" for none."""

        verb: str
        reference: str

    def __init__(self) -> None:
        super().__init__()
        self.listed: dict[str, Workflow] = {}

    def fill(self, workflows: Sequence[Workflow], current: str) -> None:
        """Lists workflows, with the cursor on the one in use."""
        self.listed = {each.reference: each for each in workflows}
        self.set_options([Option(row, id=reference) for reference, row in template_rows(workflows, current)])
        self.pick(current)
        if self.highlighted is None:
            self.action_first()

    def action_ask(self, verb: str) -> None:
        """Requests the action."""
        self.post_message(self.VerbRequested(verb, self.picked or ""))


class Templates(Vertical):
    """The list, above the purpose and the steps of the workflow under the cursor."""

    DEFAULT_CSS = """
    Templates { height: 1fr; }
    Templates > WorkflowList { height: auto; max-height: 60%; }
    Templates > .about { height: 1fr; padding: 0 1; border-top: solid $panel; }
    """

    def compose(self) -> ComposeResult:
        """Yields the list and the lines."""
        yield WorkflowList()
        yield Static(markup=False, classes="about")

    @on(OptionList.OptionHighlighted)
    def _show_details(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        workflow = self.query_one(WorkflowList).listed.get(message.option_id or "")
        self.query_one(".about", Static).update("\n".join(about_lines(workflow)) if workflow else "")
