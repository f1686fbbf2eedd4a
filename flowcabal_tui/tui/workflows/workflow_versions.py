"""The versions of a workflow: comparing with the newest, restoring, deleting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.versions import WorkflowVersion
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.workflows.data_editor import as_yaml

Load = Callable[[str], Awaitable[Workflow]]


class WorkflowVersionsScreen(ModalScreen[Workflow | None]):
    """Returns the document to make the newest version, or None. `versions` are newest first."""

    help = HelpData(
        mark("Versions of a workflow"),
        mark("Every saved document, compared with the newest. `a` makes the one under the cursor the newest again, "
             "`D` deletes it."),
    )  # fmt: skip
    DEFAULT_CSS = """
    WorkflowVersionsScreen { background: $background; }
    WorkflowVersionsScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    WorkflowVersionsScreen > PickList { height: auto; max-height: 30%; }
    WorkflowVersionsScreen > .details { height: 1; padding: 0 1; color: $text-muted; }
    WorkflowVersionsScreen > DiffView { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", mark("Back"), priority=True, id="workflow-versions.back"),
        Binding("a", "restore", mark("Restore"), tooltip=mark("Make this document the newest version."),
                id="workflow-versions.restore"),
        Binding("D,delete", "delete", mark("Delete"), tooltip=mark("Delete this version; runs keep theirs."),
                id="workflow-versions.delete"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(
        self, title: str, versions: Sequence[WorkflowVersion], load: Load, delete: Callable[[str], Awaitable[None]]
    ) -> None:
        super().__init__()
        self._heading, self._versions, self._load, self._delete_version = title, list(versions), load, delete
        self._documents: dict[str, Workflow] = {}

    def compose(self) -> ComposeResult:
        """Yields the versions above; below, the changes from the chosen one to the newest."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        names = PickList()
        names.add_options(self._rows())
        yield names
        yield Static(markup=False, classes="details")
        yield DiffView()
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the version before the newest, which is the most likely choice."""
        names = self.query_one(PickList)
        names.focus()
        names.highlighted = min(1, len(self._versions) - 1)

    def _rows(self) -> list[Option]:
        columns = Columns(
            Column(is_number=True),
            Column(role="secondary"),
            Column(rank=1, fill=True),
            Column(rank=2, role="secondary"),
        )
        return [Option(self._row(columns, item), id=item.reference) for item in self._versions]

    def _row(self, columns: Columns, version: WorkflowVersion) -> ColumnRow:
        nodes = ngettext("{n} node", "{n} nodes", version.nodes).format(n=version.nodes)
        return columns.row(f"v{version.version}", f"{version.at:%Y-%m-%d %H:%M}", one_line(version.name), nodes)

    @on(OptionList.OptionHighlighted)
    def _follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        if message.option.id is not None:
            attempt(self, self._show(message.option.id), group="show", exclusive=True)

    async def _document(self, reference: str) -> Workflow:
        if reference not in self._documents:
            self._documents[reference] = await self._load(reference)
        return self._documents[reference]

    async def _show(self, reference: str) -> None:
        newest = self._versions[0]
        words = _("from version {old} to version {new}")
        old = reference.rpartition("@")[2]
        self.query_one(".details", Static).update(words.format(old=old, new=newest.version))
        texts = [_plain(await self._document(each)) for each in (reference, newest.reference)]
        self.query_one(DiffView).set_texts(*texts)

    def action_leave(self) -> None:
        """Leaves without restoring anything."""
        self.dismiss(None)

    def action_restore(self) -> None:
        """Returns the document, to be saved as the newest version."""
        if (picked := self.query_one(PickList).picked) is not None:
            attempt(self, self._restore(picked))

    async def _restore(self, reference: str) -> None:
        self.dismiss(await self._document(reference))

    def action_delete(self) -> None:
        """Deletes the version under the cursor, after a question."""
        if (picked := self.query_one(PickList).picked) is not None:
            attempt(self, self._delete(picked))

    async def _delete(self, reference: str) -> None:
        title = _("Delete {name}?").format(name=reference)
        if await self.app.push_screen_wait(ConfirmScreen(title, _("It cannot be restored."))):
            await self._delete_version(reference)
            self._versions = [each for each in self._versions if each.reference != reference]
            self.query_one(PickList).refill(self._rows(), self._versions[0].reference)


def _plain(workflow: Workflow) -> str:
    return as_yaml(workflow.model_dump(mode="json", exclude={"version"}, exclude_defaults=True))
