"""The versions of a workflow: comparing with the newest, restoring, deleting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.versions import WorkflowVersion
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempted
from flowcabal_tui.tui.shared.versions import VersionsPage
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Column, Columns
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.workflows.data_editor import as_yaml


class WorkflowVersionsScreen(VersionsPage[Workflow]):
    """Returns the document to make the newest version, or None. `versions` are newest first."""

    help = HelpData(
        mark("Versions of a workflow"),
        mark("Every saved document, compared with the newest. `a` makes the one under the cursor the newest again, "
             "`D` deletes it."),
    )  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="workflow-versions.back"),
        Binding("a", "restore", mark("Restore"), tooltip=mark("Make this document the newest version."),
                id="workflow-versions.restore"),
        Binding("D,delete", "delete", mark("Delete"), tooltip=mark("Delete this version; runs keep theirs."),
                id="workflow-versions.delete"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(
        self,
        title: str,
        versions: Sequence[WorkflowVersion],
        load: Callable[[str], Awaitable[Workflow]],
        delete: Callable[[str], Awaitable[None]],
    ) -> None:
        super().__init__(title, _rows(versions), load)
        self._versions, self._delete_version = list(versions), delete

    async def show_version(self, key: str) -> None:
        """Loads the two documents, once each, and shows them."""
        newest = self._versions[0]
        words = _("from version {old} to version {new}")
        old = key.rpartition("@")[2]
        self.query_one(".details", Static).update(words.format(old=old, new=newest.version))
        texts = [_plain(await self.contents(each)) for each in (key, newest.reference)]
        self.query_one(DiffView).set_texts(*texts)

    @attempted()
    async def action_delete(self) -> None:
        """Deletes the version under the cursor, after a question."""
        if (reference := self.query_one(PickList).picked) is None:
            return
        title = _("Delete {name}?").format(name=reference)
        if await self.app.push_screen_wait(ConfirmScreen(title, _("It cannot be restored."))):
            await self._delete_version(reference)
            self._versions = [each for each in self._versions if each.reference != reference]
            self.query_one(PickList).refill(_rows(self._versions), self._versions[0].reference)


def _rows(versions: Sequence[WorkflowVersion]) -> list[Option]:
    columns = Columns(
        Column(is_number=True), Column(role="secondary"), Column(rank=1, fill=True), Column(rank=2, role="secondary")
    )
    rows = []
    for each in versions:
        nodes = ngettext("{n} node", "{n} nodes", each.nodes).format(n=each.nodes)
        row = columns.row(f"v{each.version}", f"{each.at:%Y-%m-%d %H:%M}", one_line(each.name), nodes)
        rows.append(Option(row, id=each.reference))
    return rows


def _plain(workflow: Workflow) -> str:
    return as_yaml(workflow.model_dump(mode="json", exclude={"version"}, exclude_defaults=True))
