"""A proposed rewrite, paragraph by paragraph: the writer accepts some and refuses others."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import head_words


class RewriteScreen(ModalScreen[tuple[int, ...] | None]):
    """Returns the numbers of the accepted changes; () refuses all, None decides later."""

    help = HelpData(
        mark("Rewrite"),
        mark("Each row is a paragraph that the model changed; the change is shown below. Space accepts or "
             "rejects a change, `*` all of them. `a` applies the accepted changes, `x` rejects the rewrite. Esc "
             "decides later: what you paid for is kept."),
    )  # fmt: skip
    DEFAULT_CSS = """
    RewriteScreen { background: $background; }
    RewriteScreen > .head { height: auto; max-height: 3; padding: 0 1; text-style: bold; }
    RewriteScreen > PickList { height: 40%; min-height: 4; }
    RewriteScreen > DiffView { height: 1fr; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", mark("Later"), priority=True, id="rewrite.later"),
        Binding("space", "turn", mark("Accept or refuse"), id="rewrite.turn"),
        Binding("a", "take", mark("Apply"), id="rewrite.take", tooltip=mark("Apply the accepted changes.")),
        Binding("x", "dismiss(())", mark("Refuse all"), id="rewrite.refuse"),
        Binding("asterisk", "turn_all", mark("All or none"), show=False, id="rewrite.all"),
        HELP_KEYS,
    ]

    def __init__(self, title: str, rewrite: ProposedRewrite) -> None:
        super().__init__()
        self._heading, self._rewrite, self._parts = title, rewrite, rewrite.changes
        self._taken = set(range(len(self._parts)))

    def compose(self) -> ComposeResult:
        """Yields the instruction, the changes, and the one under the cursor."""
        yield Static(markup=False, classes="head")
        yield PickList()
        yield DiffView()
        yield HintLine()

    def on_mount(self) -> None:
        """Accepts all changes initially."""
        self.query_one(PickList).focus()
        self._fill()

    def _fill(self) -> None:
        parts = [one_line(self._heading), one_line(self._rewrite.model), one_line(self._rewrite.instruction, 200)]
        count = _("{n} of {total} changes accepted").format(n=len(self._taken), total=len(self._parts))
        self.query_one(".head", Static).update(Content("\n").join([head_words(*parts), Content(count)]))
        columns = Columns(Column(), Column(fill=True), Column(rank=1, role="secondary"))
        self.query_one(PickList).refill(Option(self._row(columns, n), id=str(n)) for n in range(len(self._parts)))
        self._show_change()

    def _row(self, columns: Columns, number: int) -> ColumnRow:
        part = self._parts[number]
        before = self._rewrite.before[part.start : part.end]
        end = "" if before and part.after else _("added") if part.after else _("removed")
        return columns.row("[x]" if number in self._taken else "[ ]", one_line(part.after or before, 200), end)

    @property
    def _current(self) -> int | None:
        picked = self.query_one(PickList).picked
        return None if picked is None else int(picked)

    @on(OptionList.OptionHighlighted)
    def _show_change(self) -> None:
        if (number := self._current) is not None:
            part = self._parts[number]
            self.query_one(DiffView).set_texts(self._rewrite.before[part.start : part.end], part.after)

    @on(OptionList.OptionSelected)
    def action_turn(self) -> None:
        """Accepts the change under the cursor, or refuses it, and goes to the next one."""
        if (number := self._current) is not None:
            self._taken ^= {number}
            self._fill()
            self.query_one(PickList).action_cursor_down()

    def action_turn_all(self) -> None:
        """Accepts all, or refuses all if all are accepted."""
        every = set(range(len(self._parts)))
        self._taken = set() if self._taken == every else every
        self._fill()

    def action_take(self) -> None:
        """Returns the accepted changes."""
        if self._taken:
            self.dismiss(tuple(sorted(self._taken)))
        else:
            self.notify(_("Nothing is accepted: `x` refuses the rewrite."), markup=False)
