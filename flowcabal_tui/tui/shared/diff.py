"""Compares two texts on the whole screen."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import head_words, key_words


class DiffScreen(ModalScreen[Any]):
    """Shows how `old` becomes `new`."""

    help = HelpData(mark("Difference"), mark("What was removed and added between two texts. Esc goes back."))
    DEFAULT_CSS = """
    DiffScreen { background: $background; }
    DiffScreen > .head { height: auto; max-height: 6; padding: 0 1; text-style: bold; }
    DiffScreen > DiffView { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="diff.back"),
        HELP_KEYS,
    ]
    hint: ClassVar[str] = ""
    keys_of_the_moment: ClassVar[tuple[str, ...]] = ()

    def __init__(self, title: str, old: str, new: str) -> None:
        super().__init__()
        self._heading, self._old_text, self._new_text = title, old, new

    def compose(self) -> ComposeResult:
        """Yields the title with the number of changes and the possible actions, and the changes."""
        changes = DiffView(self._old_text, self._new_text)
        count = changes.hunk_count
        counted = ngettext("{n} change", "{n} changes", count).format(n=count) if count else _("no difference")
        lines = [head_words(one_line(self._heading), counted), *([key_words(_(self.hint))] if self.hint else [])]
        yield Static(Content("\n").join(lines), markup=False, classes="head")
        yield changes
        yield HintLine()


UnsavedAnswer = Literal["mine", "newer"]


class UnsavedScreen(DiffScreen):
    """Compares the newest text of a chapter or another text with unsaved text that is based on an older one.

    Returns which of the two becomes the newest version; None: undecided.
    """

    help = HelpData(
        mark("Unsaved text on an older version"),
        mark("The text was changed after you began to type. Below are the changes from the newest version to your "
             "text. `a` saves your text as a new version; the other one stays among the versions. `D` uses the "
             "newest version and discards your text. Esc goes back to your text, which stays unsaved."),
    )  # fmt: skip
    keys_of_the_moment = ("unsaved.mine", "unsaved.newer")
    hint = mark("`a` saves yours as a new version, `D` uses the newest and discards yours, Esc goes back to editing.")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "dismiss('mine')", mark("Save mine"), tooltip=mark("Make your text the newest version."),
                id="unsaved.mine"),
        Binding("D", "dismiss('newer')", mark("Use the newest"),
                tooltip=mark("Discard your unsaved text."), id="unsaved.newer"),
    ]  # fmt: skip


class ReplacedScreen(DiffScreen):
    """Compares the writer's text of a chapter with an output that would replace it; True keeps the output."""

    help = HelpData(
        mark("Your own text"),
        mark("You wrote or imported the chapter's text. Below is how the output would change it. `a` keeps the "
             "output as the newest version; your text stays among the versions. Esc keeps nothing."),
    )  # fmt: skip
    keys_of_the_moment = ("replaced.keep",)
    hint = mark("You wrote or imported this text. `a` keeps the output, your text stays as an older version; Esc: no.")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "dismiss(True)", mark("Keep it"), tooltip=mark("Make the output the newest version."),
                id="replaced.keep"),
    ]  # fmt: skip


class OutsideScreen(DiffScreen):
    """Compares the book's text of a chapter with its file, which another program changed; True takes the file's."""

    help = HelpData(
        mark("Changed outside"),
        mark("Another program changed the chapter's file. `a` makes it the newest version; `x` overwrites it with "
             "the book's text. Both texts stay among the versions. Esc decides later."),
    )  # fmt: skip
    keys_of_the_moment = ("outside.take", "outside.mine")
    hint = mark("`a` uses the file's text, `x` keeps the book's, Esc decides later.")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "dismiss(True)", mark("Use the "
                                           "file's text"), tooltip=mark("Make the file's text the newest version."),
                id="outside.take"),
        Binding("x", "dismiss(False)", mark("Use the book's text"),
                tooltip=mark("Keep the book's text; the file's text becomes an older version."), id="outside.mine"),
    ]  # fmt: skip
