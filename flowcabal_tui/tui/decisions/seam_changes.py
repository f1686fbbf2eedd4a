"""The changes at the seams of a composed text, accepted or refused one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.agents.comparing.seams import SeamHunk
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import head_words

_SHOWN = 60


class SeamChangesScreen(ModalScreen[tuple[SeamHunk, ...] | None]):
    """Returns the accepted changes; None when it was left. Initially none is accepted."""

    help = HelpData(
        mark("Changes at the seams"),
        mark(
            "Space accepts a change or rejects it again, `A` accepts all. F2 applies the accepted changes to your text."
        ),
    )
    DEFAULT_CSS = """
    SeamChangesScreen { background: $background; }
    SeamChangesScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    SeamChangesScreen > PickList { height: auto; max-height: 50%; padding: 0 1; }
    SeamChangesScreen > DiffView { height: 1fr; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "accept", mark("Accept"), key_display="Space", id="seams.accept",
                tooltip=mark("Accept this change, or refuse it again.")),
        Binding("A", "all", mark("Accept all"), id="seams.all"),
        Binding("f2,ctrl+s", "apply", mark("Apply"), priority=True, id="seams.apply",
                tooltip=mark("Apply the accepted changes to your text.")),
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="seams.back"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, changes: Sequence[SeamHunk]) -> None:
        super().__init__()
        self._changes = tuple(changes)
        self._accepted: set[int] = set()

    def compose(self) -> ComposeResult:
        """Yields the changes, and the one under the cursor."""
        yield Static(markup=False, classes="head")
        yield PickList()
        yield DiffView()
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the first change."""
        self._refill()
        self.query_one(PickList).focus()
        self._show_change()

    def _refill(self) -> None:
        rows = [
            Option(f"{'[x]' if n in self._accepted else '[ ]'} {one_line(each.after, _SHOWN)}", id=str(n))
            for n, each in enumerate(self._changes)
        ]
        self.query_one(PickList).refill(rows)
        count, accepted = len(self._changes), len(self._accepted)
        words = ngettext("{n} change at the seams", "{n} changes at the seams", count).format(n=count)
        counted = _("{n} accepted").format(n=accepted)
        self.query_one(".head", Static).update(head_words(words, counted))

    @on(OptionList.OptionHighlighted)
    def _show_change(self) -> None:
        if (picked := self.query_one(PickList).picked) is not None:
            change = self._changes[int(picked)]
            self.query_one(DiffView).set_texts(change.before, change.after)

    @on(OptionList.OptionSelected)
    def action_accept(self) -> None:
        """Accepts the change, or refuses it."""
        if (picked := self.query_one(PickList).picked) is not None:
            self._accepted ^= {int(picked)}
            self._refill()

    def action_all(self) -> None:
        """Accepts or refuses all changes."""
        self._accepted = set(range(len(self._changes)))
        self._refill()

    def action_apply(self) -> None:
        """Returns the accepted changes."""
        self.dismiss(tuple(self._changes[n] for n in sorted(self._accepted)))
