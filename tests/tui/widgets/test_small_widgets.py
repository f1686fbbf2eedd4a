from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen
from textual.style import Style
from textual.visual import RenderOptions
from textual.widget import Widget
from textual.widgets import Input, Static

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.budget_bars import BudgetBar, BudgetClass, bar_widths, budget_rows
from flowcabal_tui.tui.widgets.clipboard import LARGEST, CopyText, copy
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.facts_text import FactsText
from flowcabal_tui.tui.widgets.help import HelpData, HelpScreen, HelpSection, help_sections
from flowcabal_tui.tui.widgets.jump import JumpOverlay
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.list_rows import HangingRow
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.rail_graph import RailGraph, RailNode, state_sign
from flowcabal_tui.tui.widgets.role_words import fold_facts, head_words
from flowcabal_tui.tui.widgets.stream_view import StreamView
from tests.tui.hosts import Host, shown
from tests.tui.waiting import leave, until

GUIDE = Path(__file__).parents[3] / "docs" / "guide"


class Stage(App[None]):
    """An app that shows some widgets and remembers messages."""

    def __init__(self, *shown: Widget) -> None:
        super().__init__()
        self._shown = shown
        self.heard: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        yield from self._shown

    def on_rail_graph_node_highlighted(self, message: RailGraph.NodeHighlighted) -> None:
        self.heard.append(("highlighted", message.node))

    def on_rail_graph_node_selected(self, message: RailGraph.NodeSelected) -> None:
        self.heard.append(("selected", message.node))

    def on_copy_text(self, message: CopyText) -> None:
        self.heard.append(("copy", message.content))


def rows(widget: Widget) -> list[str]:
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


# The graph


def nodes() -> list[RailNode]:
    return [
        RailNode("plan", "写计划", "done"),
        RailNode("draft", "起草", "running", ("plan",)),
        RailNode("check", "check", "waiting", ("plan",)),
        RailNode("keep", "keep", "pending", ("draft", "check")),
    ]


def rails(shown: Iterable[RailNode], *, plain: bool = False) -> RailGraph:
    graph = RailGraph(plain=plain)
    graph.set_graph(shown)
    return graph


async def test_the_graph_is_walked_by_key_and_says_where_the_cursor_is() -> None:
    graph = rails(nodes())
    app = Stage(graph)
    async with app.run_test(size=(40, 10)) as pilot:
        graph.focus()
        assert rows(graph)[:4] == ["● 写计划", "├─◐ 起草", "? │ check", "○─┘ keep"]
        await pilot.press("j", "down", "k", "enter", "G", "g")
        await pilot.pause()
        assert app.heard == [
            ("highlighted", "draft"), ("highlighted", "check"), ("highlighted", "draft"), ("selected", "draft"),
            ("highlighted", "keep"), ("highlighted", "plan"),
        ]  # fmt: skip


async def test_a_change_of_state_repaints_one_row() -> None:
    graph = rails(nodes(), plain=True)
    app = Stage(graph)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        painted: list[int] = []
        render = graph.render_line

        def record(y: int) -> Any:
            painted.append(y)
            return render(y)

        graph.render_line = record  # type: ignore[method-assign]  # a spy on this one graph
        graph.set_state("draft", "failed")
        graph.set_state("nobody", "failed")
        await pilot.pause()
        assert painted == [1]
        assert render(1).text.rstrip() == "+-! 起草"
        assert all(render(y).text.translate({ord(sign): "" for sign in "写计划起草"}).isascii() for y in range(4))


async def test_the_cursor_stays_on_its_node_when_the_graph_changes() -> None:
    graph = rails(nodes())
    app = Stage(graph)
    async with app.run_test(size=(40, 10)):
        graph.go_to("check")
        graph.set_graph([RailNode("first", "first"), *nodes()])
        assert graph.cursor_node == "check"
        graph.set_graph([])
        assert graph.cursor_node is None
        graph.action_move(1)


async def test_five_thousand_nodes_are_walked_to_the_end() -> None:
    graph = rails(RailNode(f"n{at}", f"节点 {at}", parents=(f"n{at - 1}",)) for at in range(5000))
    app = Stage(graph)
    async with app.run_test(size=(40, 10)) as pilot:
        graph.focus()
        await pilot.press("G")
        await pilot.pause()
        assert rows(graph)[-1] == "○ 节点 4999"


def test_every_state_has_a_sign_of_one_cell_and_one_of_ascii() -> None:
    assert state_sign("failed", plain=True) == "!"
    assert state_sign("running", plain=False) == "◐"
    assert state_sign("unheard", plain=False) != ""


# Changes between texts


async def test_changes_are_marked_without_colour_folded_and_walked() -> None:
    same = "不变的一段话，写了很长很长。\n" * 60
    view = DiffView(f"雨正落。\n{same}她走了。\n", f"雨还落。\n{same}她来了。\n")
    app = Stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        view.focus()
        assert view.hunk_count == 2
        shown = view.text
        assert "雨[-正-]{+还+}落。" in shown
        assert "她[-走-]{+来+}了。" in shown
        assert "characters unchanged" in shown
        await pilot.press("n", "n")
        await pilot.pause()
        row = next(y for y, words in enumerate(rows(view)) if "[-走-]" in words)
        styles = {piece.text: piece.style for piece in view.render_line(row) if piece.style}
        assert styles["{+来+}"].underline
        assert any(style.strike for style in styles.values())
        await pilot.press("f", "y")
        await pilot.pause()
        assert "characters unchanged" not in view.text
        assert app.heard == [("copy", f"雨还落。\n{same}她来了。\n")]


def test_a_fold_cuts_no_word() -> None:
    same = " ".join(f"unchanged{n}" for n in range(200))
    view = DiffView(f"one {same} two", f"1 {same} 2")
    before, after = (part.split() for part in re.split(r"…[^…]*…", view.text))
    words = {*same.split(), "[-one-]{+1+}", "[-two-]{+2+}"}
    assert {*before, *after} <= words


# Budget


def test_the_bar_shows_each_class_and_what_is_left_without_colour() -> None:
    classes = [BudgetClass("人物", 12_000, 0.5), BudgetClass("near past", 6_000, 0.25), BudgetClass("空", 0, 0.0)]
    assert [row.plain for row in budget_rows(classes, 40, plain=True)] == [
        "####################==========..........",
        "# 人物  = near past  ",
    ]


def test_a_class_that_was_used_has_a_cell_however_small_it_is() -> None:
    assert bar_widths([0.001, 0.999, 0.0], 20) == [1, 19, 0]


@given(st.lists(st.tuples(st.text(max_size=30), st.integers(1, 10**9), st.floats(0.001, 1)), max_size=12),
       st.integers(24, 100))  # fmt: skip
def test_neither_bar_nor_legend_is_wider_than_the_room(entries: list[tuple[str, int, float]], width: int) -> None:
    for row in budget_rows([BudgetClass(*entry) for entry in entries], width):
        assert cell_len(row.plain.rstrip()) <= width


async def test_the_bar_is_as_high_as_its_legend_asks_for() -> None:
    bar = BudgetBar()
    bar.set_budget([BudgetClass("[b]a", 1, 0.1)])
    app = Stage(bar)
    async with app.run_test(size=(40, 10)) as pilot:
        bar.set_budget([BudgetClass("[/]", 1, 0.1), BudgetClass("b", 1, 0.9)])
        await pilot.pause()
        assert bar.size.height == 2
        assert "[/]" in rows(bar)[1]


# Questions


async def answer(pilot: Pilot[None], screen: Screen[Any], *keys: str) -> Any:
    answers: list[Any] = []
    pilot.app.push_screen(screen, answers.append)
    await pilot.pause()
    await pilot.press(*keys)
    await until(pilot, lambda: bool(answers))
    return answers[0]


@pytest.mark.parametrize(
    ("key", "expected"), [("y", True), ("n", False), ("escape", False), ("enter", False)]
)  # fmt: skip
async def test_a_question_is_answered_by_one_key_and_no_is_the_default(key: str, expected: bool) -> None:
    async with Stage().run_test() as pilot:
        assert await answer(pilot, ConfirmScreen("Delete [/b]?", "It [cannot] be undone."), key) is expected


async def test_yes_can_be_reached_without_its_letter() -> None:
    async with Stage().run_test() as pilot:
        assert await answer(pilot, ConfirmScreen("Run?"), "right", "enter") is True


async def test_one_line_is_asked_and_can_be_left() -> None:
    async with Stage().run_test() as pilot:
        assert await answer(pilot, PromptLine("Search [for]", value="雨"), "end", "a", "enter") == "雨a"
        left: list[str | None] = []
        pilot.app.push_screen(PromptLine("Search"), left.append)
        await pilot.pause()
        await leave(pilot, "a")
        await until(pilot, lambda: left == [None])
        pilot.app.push_screen(PromptLine("Search [for]", value="雨落"))
        await pilot.pause()
        lines = [strip.text for strip in pilot.app.screen._compositor.render_strips()]
        assert any("Search [for]" in line for line in lines)
        assert any("雨落" in line for line in lines)


# Jumping and help


class Pane(Static, can_focus=True):
    """A pane with a key of its own."""

    BINDINGS = [Binding("x", "nothing", "Cross out", tooltip="Cross out the line.")]  # noqa: RUF012 - as in Textual
    help = HelpData("Pane [/b]", "What it is for.")

    def __init__(self, jump_key: str) -> None:
        super().__init__("words")
        self.jump_key = jump_key


async def test_a_letter_jumps_to_its_pane_and_other_keys_do_not() -> None:
    panes = Pane("a"), Pane("b")
    app = Stage(*panes, Input())
    async with app.run_test() as pilot:
        panes[0].focus()
        assert await answer(pilot, JumpOverlay(app.screen), "z", "b") is panes[1]
        assert app.focused is panes[1]
        assert await answer(pilot, JumpOverlay(app.screen), "escape") is None
        assert app.focused is panes[1]


async def test_a_pane_that_cannot_be_focused_hands_the_focus_to_what_is_in_it() -> None:
    inner = Input()
    outer = Vertical(inner)
    outer.jump_key = "o"  # type: ignore[attr-defined]  # what a pane's class would declare
    app = Stage(Pane("a"), outer)
    async with app.run_test() as pilot:
        assert await answer(pilot, JumpOverlay(app.screen), "o") is outer
        assert app.focused is inner


async def test_keys_of_help_are_in_a_column_whatever_their_script() -> None:
    section = HelpSection("A", "Press `a`.", (("回车", "does one"), ("j", "does two")))
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(HelpScreen([section]))
        await pilot.pause()
        rows = [row for row in shown(app) if "does " in row]
        assert len({cell_len(row.partition("does ")[0]) for row in rows}) == 1, rows
        assert any("Press a." in row for row in shown(app))


def test_a_row_of_a_list_ends_between_two_facts() -> None:
    row = HangingRow("", "人物   从正文发现   提到 52 次")
    rows = row.render_strips(28, None, Style(), RenderOptions(lambda _name: Style(), {}))
    assert [each.text.rstrip() for each in rows] == ["人物   从正文发现", "提到 52 次"]
    assert row.get_height({}, 28) == 2


async def test_chinese_help_fills_its_rows() -> None:
    description = "l 展开一章的场景，h 收起，回车打开。光标在章或场景上时，m 把它与后一个合并，n 给它起标题。" * 3
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(HelpScreen([HelpSection("A", description, (("Ctrl+k", "谁" * 40),))]))
        await pilot.pause()
        first, second = (row for row in shown(app) if "谁" in row)
        assert first.index("谁") == second.index("谁") + cell_len("Ctrl+k") - len("Ctrl+k")
        text = app.screen.query_one(FactsText)
        rows = str(text.render()).split("\n")
        assert all(cell_len(row) > text.content_size.width - 6 for row in rows[:-1]), rows


async def test_no_row_of_a_detail_begins_with_a_closing_mark() -> None:
    app = Host(ListDetail(PickList(), DetailText()))
    async with app.run_test(size=(120, 24)) as pilot:
        app.query_one(DetailText).show(["字" * 21 + "，" + "字" * 23 + "。", Content.styled("b", "bold")])
        await pilot.pause()
        rows = str(app.query_one("DetailText > Static", Static).render()).split("\n")
        assert len(rows) > 2 and not any(row[0] in "，。" for row in rows), rows


async def test_help_is_built_from_the_focused_pane_and_its_keys() -> None:
    pane = Pane("a")
    app = Stage(pane)
    async with app.run_test() as pilot:
        pane.focus()
        await pilot.pause()
        chain: list[DOMNode] = list(pane.ancestors_with_self)
        display: Iterable[tuple[DOMNode, Binding, str]] = [
            (active.node, active.binding, app.get_key_display(active.binding))
            for active in app.screen.active_bindings.values()
        ]
        app.push_screen(HelpScreen(help_sections(chain, display)))
        await pilot.pause()
        shown = "\n".join(str(part.render()) for part in app.screen.query(Static))
        assert "Pane [/b]\nWhat it is for.\nx" in shown
        assert "Cross out the line." in shown
        await pilot.press("escape")
        assert app.focused is pane


async def test_help_lists_what_a_text_is_read_with_after_the_keys_of_its_screen() -> None:
    text, outer = StreamView(), Pane("a")

    def key(action: str, words: str) -> Binding:
        return Binding("k", action, words)

    display = [
        (text, key("move(1)", "Down"), "j"),
        (text, key("search", "Search"), "/"),
        (outer, key("cut", "Cut"), "x"),
    ]
    sections = help_sections([text, outer], display)
    assert [each.keys for each in sections] == [(("x", "Cut"),), (("/", "Search"), ("j", "Down"))]


# Copying


async def test_a_short_text_goes_to_the_terminal_and_a_long_one_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    app = Stage()
    async with app.run_test():
        copied = copy(app, "雨", tmp_path)
        assert (copied.path, app.clipboard) == (None, "雨")
        assert "tmux" not in copied.words
        monkeypatch.setenv("TMUX", "/tmp/tmux")
        hint = copy(app, "雨", tmp_path).words
        assert "tmux" in hint
        setting = hint.split("`")[1]
        for language in ("en", "zh"):
            assert f"  {setting}\n" in (GUIDE / f"{language}.md").read_text("utf-8"), "the guide says the same"
        long = "雨" * (LARGEST // 3 + 1)
        copied = copy(app, long, tmp_path / "new")
        assert copied.path is not None
        assert copied.path.read_text(encoding="utf-8") == long
        assert str(copied.path) in copied.words
        assert app.clipboard == "雨"


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    app = Stage()
    async with app.run_test():
        with pytest.raises(DiskFull):
            copy(app, "a" * (LARGEST + 1), blocked)


def test_a_line_of_facts_ends_between_two_facts_where_they_fit():
    line = head_words("The Thursday Boat", "summary", "as of chapter 1", "2026-11-28 14:43")
    assert [each.plain for each in fold_facts(line, 32)] == [
        "The Thursday Boat   summary", "as of chapter 1", "2026-11-28 14:43",
    ]  # fmt: skip
    assert [each.plain for each in fold_facts(line, 80)] == [line.plain]
    assert [each.plain for each in fold_facts(line, 5)] == line.plain.split("   "), "a fact too long stays whole"
