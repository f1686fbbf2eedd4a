"""The versions of a node: listing, reading, comparing, selecting, freezing, editing."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.screen import ModalScreen
from textual.widgets import ContentSwitcher, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId
from flowcabal_tui.domain.run import OutputAuthor
from flowcabal_tui.domain.versions import NodeVersion
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.workflows import EditOutput, FreezeNode, SelectVersion, UnfreezeNode
from flowcabal_tui.tui.runs.sent import SentScreen
from flowcabal_tui.tui.shared.editor import edit_outside, editor_command
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt, noticed
from flowcabal_tui.tui.shared.words import author_role, one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.confirm import past_typed
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.widgets.stream_view import StreamView

AUTHORS: Final[dict[OutputAuthor, str]] = {
    "model": mark("a model"),
    "human": mark("by hand"),
    "program": mark("a program"),
}


_COLUMNS: Final = (
    Column(most=1, least=1),
    Column(most=2, least=2),
    Column(is_number=True),
    Column(rank=2, role="secondary"),
    Column(rank=1, fill=True),
    Column(rank=3, is_number=True, role="secondary"),
    Column(rank=1, role="key"),
)


class NodeVersionsScreen(ModalScreen[None]):
    """A list above the text of the selected version, or its difference from another one."""

    help = HelpData(
        mark("Versions of a node"),
        mark("Every output of this node. `a` makes the one under the cursor current, `f` freezes it, `e` edits it; "
             "`m` marks one to compare with, `d` shows the difference."),
    )  # fmt: skip
    DEFAULT_CSS = """
    NodeVersionsScreen { background: $background; }
    NodeVersionsScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    NodeVersionsScreen > PickList { height: auto; max-height: 35%; }
    NodeVersionsScreen > .details { height: 1; padding: 0 1; color: $text-muted; }
    NodeVersionsScreen > ContentSwitcher { height: 1fr; }
    NodeVersionsScreen StreamView, NodeVersionsScreen DiffView { height: 1fr; padding: 0 1; }
    NodeVersionsScreen ProseArea, NodeVersionsScreen ProseArea:focus { height: 1fr; border: none; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", mark("Back"), priority=True, id="node-versions.back"),
        Binding("a", "select", mark("Select"), tooltip=mark("Make this version the node's current output."),
                id="node-versions.select"),
        Binding("f", "freeze", mark("Freeze"), tooltip=mark("Later runs use this version; again: no longer."),
                id="node-versions.freeze"),
        Binding("e", "edit", mark("Edit"), tooltip=mark("Write a version by hand, beginning with this one."),
                id="node-versions.edit"),
        Binding("d", "changes", mark("Difference"), id="node-versions.diff",
                tooltip=mark("The difference to the marked version, or to the current output.")),
        Binding("m", "mark", mark("Mark"), show=False, tooltip=mark("Compare with this version."),
                id="node-versions.mark"),
        Binding("p", "prompt", mark("Prompt"), show=False, tooltip=mark("What was sent for this version."),
                id="node-versions.prompt"),
        Binding("E", "editor", mark("$EDITOR"), show=False, tooltip=mark("Edit in your own editor."),
                id="node-versions.editor"),
        Binding("ctrl+s,f2", "take", mark("Apply"), priority=True, show=False, id="node-versions.take"),
        HELP_KEYS,
    ]  # fmt: skip
    face = var("text")

    def __init__(
        self, title: str, project: Project, workflow: str, node: NodeId, chapter: ChapterId | None, editor: str = ""
    ) -> None:
        super().__init__()
        self._heading, self._project, self._editor = title, project, editor
        self._workflow, self._node_id, self._chapter = workflow, node, chapter
        self._listed: Sequence[NodeVersion] = ()
        self._texts: dict[Digest, str] = {}
        self._marked: int | None = None

    def compose(self) -> ComposeResult:
        """Yields the versions, the details of the chosen one, and its text."""
        yield Static(_("Versions of {node}").format(node=one_line(self._heading)), markup=False, classes="head")
        yield PickList()
        yield Static(markup=False, classes="details")
        with ContentSwitcher(initial="text"):
            yield StreamView(id="text")
            yield DiffView(id="changes")
            yield ProseArea(id="editor")
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the newest version."""
        self.query_one(PickList).focus()
        self._after(self._load())

    def _after(self, work: Coroutine[Any, Any, None]) -> None:
        attempt(self, noticed(self, work))

    async def _load(self, *, newest: bool = False) -> None:
        """Reads the versions again; the cursor stays, or goes to the newest."""
        self._listed = await self._project.workflows.versions(self._workflow, self._node_id, self._chapter)
        self.query_one(PickList).refill(self._rows(), str(self._listed[0].number) if newest and self._listed else None)
        await self._show()

    def _rows(self) -> list[Option]:
        columns = Columns(*_COLUMNS)
        return [Option(self._row(columns, each), id=str(each.number)) for each in self._listed]

    def _row(self, columns: Columns, version: NodeVersion) -> ColumnRow:
        signs = ("→" if version.current else " ") + ("■" if version.frozen else " ")
        tokens = version.usage.output_tokens
        by_model = version.author == "model"
        marks = (version.current, _("current")), (version.frozen, _("frozen")), (version.chosen, _("chosen by you"))
        return columns.row(
            Cell("+" if version.number == self._marked else "", "added"),
            Cell(signs, "key"),
            f"v{version.number}",
            f"{version.at:%m-%d %H:%M}",
            Cell((one_line(version.model) or _("a model")) if by_model else _(AUTHORS[version.author]),
                 author_role(version.author)),
            _("{n} tokens").format(n=f"{tokens:,}") if tokens else "",
            "  ".join(words for has, words in marks if has),
        )  # fmt: skip

    @property
    def version(self) -> NodeVersion | None:
        """The version under the cursor."""
        picked = self.query_one(PickList).picked
        return next((each for each in self._listed if str(each.number) == picked), None)

    @on(OptionList.OptionHighlighted)
    def follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        """Shows the version under the cursor."""
        message.stop()
        if self.face != "editor":
            self._after(self._show())

    async def _text(self, version: NodeVersion) -> str:
        if version.digest not in self._texts:
            (self._texts[version.digest],) = await self._project.workflows.texts((version,))
        return self._texts[version.digest]

    def _other(self) -> NodeVersion | None:
        """The other side of the comparison: the marked version, else the current output, else the version before."""
        shown = self.version
        ways = [
            [each for each in self._listed if each.number == self._marked],
            [each for each in self._listed if each.current],
            [each for each in self._listed if shown and each.number == shown.number - 1],
        ]
        return next((each for way in ways for each in way if each is not shown), None)

    async def _show(self) -> None:
        version = self.version
        if version is None:
            return
        text, other = await self._text(version), self._other()
        seconds = _("{n} s").format(n=round(version.seconds, 1)) if version.seconds else ""
        tokens = _("{n:,} tokens in").format(n=version.usage.input_tokens) if version.usage.input_tokens else ""
        compared = ""
        if self.face == "changes" and other is not None:
            self.query_one(DiffView).set_texts(await self._text(other), text)
            compared = _("from version {old} to version {new}").format(old=other.number, new=version.number)
        else:
            self.query_one("#text", StreamView).set_text(text, follow=False)
        run = _("run {run}").format(run=version.run) if version.run else ""
        self.query_one(".details", Static).update(facts_words(*map(one_line, (compared, seconds, tokens, run))))

    def watch_face(self, face: str) -> None:
        """Shows the text, the difference or the editor."""
        if self.is_mounted:
            self.query_one(ContentSwitcher).current = face
            self.query_one("#editor" if face == "editor" else PickList).focus()
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disables letter keys while the writer types."""
        return action in ("leave", "take") if self.face == "editor" and action in _OWN else True

    def action_changes(self) -> None:
        """Switches between text and difference."""
        if self.face != "changes" and self._other() is None:
            self.notify(_("There is no other version."), markup=False)
            return
        self.face = "text" if self.face == "changes" else "changes"
        self._after(self._show())

    def action_mark(self) -> None:
        """Marks this version for comparison."""
        version = self.version
        if version is not None:
            self._marked = None if self._marked == version.number else version.number
            self.query_one(PickList).refill(self._rows())

    async def _carry_out(self, command: Command) -> None:
        await self._project.carry_out(command)
        await self._load(newest=isinstance(command, EditOutput))

    def _edited(self, version: NodeVersion, text: str) -> EditOutput:
        return EditOutput(self._workflow, self._node_id, text, self._chapter, version.digest)

    def action_select(self) -> None:
        """Makes it the node's current output."""
        if (version := self.version) is not None:
            command = SelectVersion(self._workflow, self._node_id, version.digest, self._chapter)
            self._after(self._carry_out(command))

    def action_freeze(self) -> None:
        """Freezes or unfreezes the version."""
        if (version := self.version) is not None:
            command: Command = FreezeNode(self._workflow, self._node_id, self._chapter, version.digest)
            if version.frozen:
                command = UnfreezeNode(self._workflow, self._node_id, self._chapter)
            self._after(self._carry_out(command))

    def action_edit(self) -> None:
        """Opens the editor with this version's text."""
        if (version := self.version) is not None and version.digest in self._texts:
            self.query_one(ProseArea).load_text(self._texts[version.digest])
            self.face = "editor"

    def action_editor(self) -> None:
        """Opens the writer's own editor."""
        if (version := self.version) is not None:
            self._after(self._edit_outside(version))

    async def _edit_outside(self, version: NodeVersion) -> None:
        text = await self._text(version)
        edited = await edit_outside(self.app, text, self._heading, editor_command(self._editor))
        if edited is not None:
            await self._carry_out(self._edited(version, edited))

    def action_take(self) -> None:
        """Stores the typed text as a version."""
        version, text = self.version, self.query_one(ProseArea).text
        if self.face == "editor" and version is not None:
            self.face = "text"
            if text != self._texts.get(version.digest):
                self._after(self._carry_out(self._edited(version, text)))

    def action_prompt(self) -> None:
        """Shows the request behind this version."""
        version = self.version
        if version is None or not version.run or not version.attempt:
            self.notify(_("Nothing was sent for this version."), markup=False)
        else:
            self._after(self._show_prompt(version))

    async def _show_prompt(self, version: NodeVersion) -> None:
        title = _("What was sent for version {n}").format(n=version.number)
        trace = await self._project.runs.version_trace(version.run, version.node, version.attempt)
        self.app.push_screen(SentScreen(title, trace))

    def action_leave(self) -> None:
        """Leaves the editor or the difference, else the page."""
        version = self.version
        if self.face == "text":
            self.dismiss(None)
        else:
            before = self._texts.get(version.digest) if version else None
            is_changed = self.face == "editor" and self.query_one(ProseArea).text != before
            past_typed(self, is_changed, self._to_text)

    def _to_text(self) -> None:
        self.face = "text"
        self._after(self._show())


_OWN: Final = ("select", "freeze", "edit", "changes", "mark", "prompt", "editor", "take", "leave")
