"""A full-screen editor for one text."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.shared.editor import edit_outside, editor_command
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.trouble import attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen


class ProseScreen(TypedScreen[str]):
    """Returns the text, or None when it was left or is unchanged."""

    help = HelpData(mark("Write"), mark("Ctrl+s applies your text, Esc discards it, F4 opens your own editor."))
    DEFAULT_CSS = """
    ProseScreen { background: $background; }
    ProseScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    ProseScreen > ProseArea, ProseScreen > ProseArea:focus { height: 1fr; border: none; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "take", mark("Apply"), priority=True, id="prose-form.take"),
        Binding("escape", "leave", mark("Leave"), priority=True, id="prose-form.leave"),
        Binding("f4", "editor", mark("Editor"), priority=True, id="prose-form.editor"),
        HELP_KEYS,
    ]

    def __init__(self, title: str, text: str, editor: str = "", *, may_be_empty: bool = False) -> None:
        """`editor` is an external editor's command from the settings. An empty text is unchanged, unless it may be."""
        super().__init__()
        self._heading, self._before, self._editor, self._may_be_empty = title, clean(text), editor, may_be_empty

    def compose(self) -> ComposeResult:
        """Yields the title and the text."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        yield ProseArea(self._before)
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the text."""
        self.query_one(ProseArea).focus()

    def action_take(self) -> None:
        """Returns the text."""
        text = clean(self.query_one(ProseArea).text).strip()
        self.dismiss(text if (text or self._may_be_empty) and text != self._before.strip() else None)

    @attempted()
    async def action_editor(self) -> None:
        """Opens the writer's own editor and takes its text."""
        area = self.query_one(ProseArea)
        edited = await edit_outside(self.app, area.text, self._heading, editor_command(self._editor))
        if edited is not None:
            area.load_text(edited)
