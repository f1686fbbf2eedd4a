"""The receipt of a node's context: the budget, each source with its reason, and the omitted ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import var
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.context import BUDGET_CLASSES, ContextSource, DroppedSource, Intent, Receipt
from flowcabal_tui.domain.context import BudgetClass as BudgetClassName
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.words import (
    CLASSES,
    LEVELS,
    SCENE_FIELDS,
    SCENE_ORIGINS,
    counting_words,
    level_words,
    scene_words,
)
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.budget_bars import BudgetBar, BudgetClass, fill_of
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.facts_text import FactsText
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prompt_line import FindLine
from flowcabal_tui.tui.widgets.role_words import facts_words, key_words
from flowcabal_tui.tui.widgets.roles import Role, role_style

_FOLD = "dropped"
_NONE: Final = mark("No receipt yet: F5 runs the workflow; `c` at a node shows its context.")
_WHOLE: Final = LEVELS["L2"]
_COLUMNS: Final = (
    Column(most=1, least=1),
    Column(fill=True, least=16, most=32),
    Column(rank=2, least=6, most=20, is_phrase=True, role="secondary"),
    Column(is_number=True),
    Column(rank=1, is_phrase=True, least=20, most=36, role="secondary"),
)
"""Sign, source, level, tokens, reason: the level is left out first, then the reason, which the detail shows."""
_SIGNS: Final[dict[str, Role]] = {"+": "added", "-": "removed", "~": "stale"}
_Place = tuple[str, int]


class ReceiptPane(Vertical):
    """Shows one receipt, alone or compared with an earlier one: `+` is new, `-` is gone, `~` is at another level."""

    help = HelpData(
        mark("Context"),
        mark(
            "What the model was given, and why. Enter opens a source. `c` compares with the previous receipt, "
            "`o` with that of another run, node or chapter, `e` sets the scene. `[` and `]` go from class to "
            "class, `b` hides the bar."
        ),
    )
    jump_key = "r"
    DEFAULT_CSS = """
    ReceiptPane > .head { height: auto; max-height: 7; padding: 0 1; }
    ReceiptPane > BudgetBar { padding: 0 1; max-height: 7; }
    ReceiptPane > PickList { scrollbar-size-vertical: 1; }
    ReceiptPane > .details { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
    ReceiptPane.-bare > BudgetBar { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "compare", mark("Compare"), tooltip=mark("Compare with the previous receipt."),
                id="receipt.compare"),
        Binding("o", "compare_other", mark("Compare with ..."), id="receipt.compare-other",
                tooltip=mark("Compare with the receipt of another run, node or chapter.")),
        Binding("e", "scene", mark("The scene"), id="receipt.scene",
                tooltip=mark("Who is in the scene, where, when, and what kind it is: set it for the chapter.")),
        Binding("right_square_bracket", "next_class(1)", mark("Next class"), show=False, id="receipt.next-class"),
        Binding("left_square_bracket", "next_class(-1)", mark("Previous class"), show=False, id="receipt.class-before"),
        Binding("b", "bars", mark("Bar"), show=False, id="receipt.bars",
                tooltip=mark("Show or hide the bar of the budget.")),
        Binding("u", "fold", mark("Left out"), id="receipt.dropped",
                tooltip=mark("Show or hide sources that were left out.")),
        Binding("slash", "find", mark("Find"), id="receipt.find"),
        Binding("n", "find_next", mark("Find next"), show=False, id="receipt.find-next"),
    ]  # fmt: skip

    is_bare = var(False, toggle_class="-bare")

    class SourceOpened(Request):
        """Requests a source in a level, at the characters that were included (-1: all of it), as the receipt has it."""

        uri: str
        start: int
        end: int
        level: Level = "L2"
        receipt: Receipt | None = field(default=None, compare=False)

    class OtherRequested(Request):
        """Requests the choice of a receipt to compare with; pass it to `compare_with`."""

        receipt: Receipt

    class SceneRequested(Request):
        """Requests a form for the scene of the receipt's chapter."""

        receipt: Receipt

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._receipt: Receipt | None = None
        self._before: Receipt | None = None
        self._heading = self._heading_before = ""
        self._shown: dict[NodeId, tuple[Receipt, str]] = {}
        self._befores: dict[NodeId, tuple[Receipt, str]] = {}
        self._is_comparing = False
        self._is_unfolded = False
        self._sought = ""
        self._opens: dict[str, tuple[str, int, int, Level]] = {}
        self._reasons: dict[str, str] = {}
        self._class_rows: list[int] = []

    def compose(self) -> ComposeResult:
        """Yields the total, the bars, the sources."""
        yield FactsText(key_words(_(_NONE)), classes="head")
        yield BudgetBar(plain=is_plain(self.app))
        yield PickList()
        yield Static(markup=False, classes="details")

    def show(self, receipt: Receipt, title: str, before: Receipt | None = None) -> None:
        """Shows a receipt, comparable with `before`, or else with the last other one displayed for this node.

        A title names the chapter, too: a node's receipts for two chapters are compared like those of two attempts.
        """
        shown = self._shown.get(receipt.node)
        if (receipt, title, before or self._before) == (self._receipt, self._heading, self._before):
            return
        if self._receipt is None or self._receipt.node != receipt.node:
            self._is_comparing = False
        if before is not None:
            self._befores[receipt.node] = (before, title)
        elif shown is not None and shown[0] != receipt:
            self._befores[receipt.node] = shown
        self._shown[receipt.node] = (receipt, title)
        self._before, self._heading_before = self._befores.get(receipt.node, (None, ""))
        self._receipt, self._heading = receipt, title
        self._refresh_all()

    def clear(self, reason: str = "") -> None:
        """Shows no receipt, because the current node has none; `reason` says why."""
        self.query_one(FactsText).show(key_words(reason or _(_NONE)))
        if self._receipt is not None:
            self._receipt, self._opens, self._class_rows = None, {}, []
            self.query_one(BudgetBar).set_budget([])
            self.query_one(PickList).refill([])
            self.query_one(".details", Static).update("")

    def compare_with(self, before: Receipt, title: str) -> None:
        """Shows the differences from any other receipt."""
        if self._receipt is not None:
            self._befores[self._receipt.node] = (before, title)
            self._before, self._heading_before, self._is_comparing = before, title, True
            self._refresh_all()

    def focus_list(self) -> None:
        """Focuses the list of sources."""
        self.query_one(PickList).focus()

    def _refresh_all(self) -> None:
        receipt = self._receipt
        if receipt is None:
            return
        self.query_one(FactsText).show(self._head(receipt))
        uses = [
            BudgetClass(_(CLASSES[use.budget_class]), use.used, use.used / receipt.budget if receipt.budget else 0.0)
            for use in receipt.classes
            if use.used
        ]
        self.query_one(BudgetBar).set_budget(uses)
        self._opens, self._reasons = {}, {}
        rows = [*self._source_rows(receipt), *self._dropped_rows(receipt)]
        self._class_rows = [at + 1 for at, row in enumerate(rows) if row.disabled]
        self.query_one(PickList).refill(rows)

    def _head(self, receipt: Receipt) -> Content:
        """The heading, then what explains it."""
        total = _("{used} of {budget} tokens").format(used=f"{receipt.used:,}", budget=f"{receipt.budget:,}")
        if receipt.pending:
            total = _("at most {total}").format(total=total)
        total = facts_words(total, counting_words(receipt.counted_by) if receipt.counted_by else "")
        lines = []
        if self._is_comparing and self._before is not None:
            used = _("{used} tokens").format(used=f"{self._before.used:,}")
            other = f"{one_line(self._heading_before)}, " if self._heading_before != self._heading else ""
            words = _("compared with the previous receipt ({used}): + new, - gone, ~ other level")
            lines.append(words.format(used=other + used))
        lines += _scene_lines(receipt.intent)
        if receipt.pending:
            lines.append(_("not written yet: {names}").format(names=_(", ").join(map(one_line, receipt.pending))))
        lines += map(one_line, receipt.notes)
        words = "\n".join((f"   {total}", *lines))
        return Content.assemble((one_line(self._heading), "bold"), (words, role_style("secondary")))

    def _source_rows(self, receipt: Receipt) -> Iterator[Option]:
        """The sources under the name of their class, in the order of the classes."""
        columns, before = Columns(*_COLUMNS), self._earlier()
        gone = {place: source for place, source in before.items() if place not in set(map(_place, receipt.sources))}
        for budget_class in BUDGET_CLASSES:
            rows = [
                *(self._source_row(columns, source, *self._sign(source)) for source in receipt.sources
                  if source.budget_class == budget_class),
                *(self._source_row(columns, source, "-") for source in gone.values()
                  if source.budget_class == budget_class),
            ]  # fmt: skip
            if rows:
                yield Option(self._class_row(columns, receipt, budget_class), disabled=True)
                yield from rows

    def _class_row(self, columns: Columns, receipt: Receipt, budget_class: BudgetClassName) -> ColumnRow:
        """The fill and the name of a class with its tokens, those before too when they are compared."""
        names = [use.budget_class for use in receipt.classes if use.used]
        used, was = f"{_tokens(receipt, budget_class):,}", ""
        if self._is_comparing and self._before is not None:
            was = f"{_tokens(self._before, budget_class):,} >"
        fill, role = (
            fill_of(names.index(budget_class), plain=is_plain(self.app)) if budget_class in names else (" ", "text")
        )
        return columns.row(
            Cell(fill, role), Cell(_(CLASSES[budget_class]), is_bold=True), was, Cell(used, is_bold=True)
        )

    def _earlier(self) -> dict[_Place, ContextSource]:
        sources = self._before.sources if self._is_comparing and self._before else ()
        return {_place(source): source for source in sources}

    def _sign(self, source: ContextSource) -> tuple[str, str]:
        """The difference of a source from the earlier receipt, and its level there if different."""
        if not self._is_comparing or self._before is None:
            return " ", ""
        earlier = self._earlier().get(_place(source))
        if earlier is None:
            return "+", ""
        was = level_words(earlier)
        return (" ", "") if was == level_words(source) else ("~", f"{was} > ")

    def _source_row(self, columns: Columns, source: ContextSource, sign: str, was: str = "") -> Option:
        level = was + level_words(source)
        row = columns.row(
            Cell(sign, _SIGNS.get(sign)),
            one_line(source.title or source.uri),
            "" if level == level_words(source) == _(_WHOLE) else level,
            f"{source.tokens:,}",
            one_line(source.reason),
        )
        where = (source.uri, source.start, source.end, source.level)
        title, reason = one_line(source.title or source.uri), one_line(source.reason)
        message = _("{title} ({level}): {reason}").format(title=title, level=level, reason=reason)
        return self._opening(row, *where, reason=message)

    def _dropped_rows(self, receipt: Receipt) -> Iterator[Option]:
        """One row for all that was left out; unfolded, each with its rule."""
        if not receipt.dropped:
            return
        columns = Columns(*_COLUMNS)
        words = _("left out: {n}").format(n=len(receipt.dropped))
        sign = "-" if self._is_unfolded else "+"
        yield Option(Content.assemble((f"[{sign}] {words}", "bold"), ("  u", role_style("key"))), id=_FOLD)
        if self._is_unfolded:
            yield from (self._dropped_row(columns, source) for source in receipt.dropped)

    def _dropped_row(self, columns: Columns, source: DroppedSource) -> Option:
        title, rule = one_line(source.title or source.uri), one_line(source.rule)
        row = columns.row("", title, _(CLASSES[source.budget_class]), f"{source.tokens:,}", rule)
        return self._opening(row, source.uri, -1, -1, "L2", reason=rule)

    def _opening(self, row: ColumnRow, uri: str, start: int, end: int, level: Level, reason: str) -> Option:
        """A row that opens a source; `reason` is the text that the row may have cut."""
        known = f"source-{len(self._opens)}"
        self._opens[known] = (uri, start, end, level)
        self._reasons[known] = reason
        return Option(row, id=known)

    @on(OptionList.OptionHighlighted)
    def _show_details(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        self.query_one(".details", Static).update(self._reasons.get(message.option_id or "", ""))

    @on(OptionList.OptionSelected)
    def _open_row(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        if message.option.id == _FOLD:
            self.action_fold()
        elif message.option.id in self._opens:
            self.post_message(self.SourceOpened(*self._opens[message.option.id], receipt=self._receipt))

    def action_compare(self) -> None:
        """Compares with the previous receipt, or stops comparing."""
        if self._before is None:
            self.notify(_("There is no earlier receipt of this node to compare with."), markup=False)
            return
        if self._before == self._receipt and not self._is_comparing:
            self.notify(_("It is the same as the previous receipt."), markup=False)
            return
        self._is_comparing = not self._is_comparing
        self._refresh_all()

    def action_compare_other(self) -> None:
        """Asks for another receipt to compare with."""
        if self._receipt is None:
            self.notify(_(_NONE), markup=False)
        else:
            self.post_message(self.OtherRequested(self._receipt))

    def action_scene(self) -> None:
        """Asks for the people, place, time and kind of the scene."""
        if self._receipt is None:
            self.notify(_(_NONE), markup=False)
        elif self._receipt.chapter is None:
            self.notify(_("This receipt belongs to no chapter, so it has no scene."), markup=False)
        else:
            self.post_message(self.SceneRequested(self._receipt))

    def action_next_class(self, step: int) -> None:
        """Goes to the first source of the next or previous class, wrapping around."""
        names = self.query_one(PickList)
        at = names.highlighted or 0
        if self._class_rows:
            ahead = [row for row in self._class_rows if (row > at if step > 0 else row < at)]
            rows = ahead or self._class_rows
            names.highlighted = rows[0] if step > 0 else rows[-1]

    def action_bars(self) -> None:
        """Toggles between more space for the sources and the bars."""
        self.is_bare = not self.is_bare

    def action_fold(self) -> None:
        """Shows or hides the omitted sources."""
        if self._receipt is None or not self._receipt.dropped:
            self.notify(_("Nothing was left out."), markup=False)
            return
        self._is_unfolded = not self._is_unfolded
        self._refresh_all()
        names = self.query_one(PickList)
        names.pick(_FOLD)
        if self._is_unfolded:
            names.scroll_to_highlight(top=True)

    def action_find(self) -> None:
        """Asks for the row to go to."""

        def find(words: str | None) -> None:
            if words:
                self._sought = words
                self.action_find_next()

        self.app.push_screen(FindLine(), find)

    def action_find_next(self) -> None:
        """Goes to the next row that matches."""
        if self._sought and not self.query_one(PickList).find_row(self._sought):
            self.notify(_("Not found."), markup=False)


def _scene_lines(intent: Intent) -> Iterator[str]:
    """People, place, time and kind of the scene, as far as known, with the origin of each value that no rule found."""
    for field_name, value in scene_words(intent).items():
        if value != "-" and (field_name != "kind" or intent.scene != "unknown"):
            origin = intent.origin(field_name)
            words = _("{field}: {value}") if origin == "rule" else _("{field}: {value} ({origin})")
            named = {"field": _(SCENE_FIELDS[field_name]), "origin": _(SCENE_ORIGINS[origin])}
            yield words.format(value=one_line(value), **named)


def _tokens(receipt: Receipt, budget_class: BudgetClassName) -> int:
    return sum(source.tokens for source in receipt.sources if source.budget_class == budget_class)


def _place(source: ContextSource) -> _Place:
    """The key by which sources of two receipts are matched."""
    return source.uri, source.start
