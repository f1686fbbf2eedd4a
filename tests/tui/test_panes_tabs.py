"""The names of the panes in one row."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from flowcabal_tui.tui.shared.pane_tabs import PaneChosen, PaneTabs

PANES = (("3", "manuscript", "Manuscript"), ("4", "output", "输出"), ("5", "prompt", "Prompt"))


class Names(App[None]):
    """The row alone."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield PaneTabs(PANES)

    def on_pane_chosen(self, event: PaneChosen) -> None:
        self.chosen.append(event.pane)


def row(app: Names) -> str:
    return app.query_one(PaneTabs).render_line(0).text.rstrip()


async def test_the_pane_that_is_shown_stands_in_brackets() -> None:
    app = Names()
    async with app.run_test() as pilot:
        tabs = app.query_one(PaneTabs)
        tabs.show("manuscript")
        await pilot.pause()
        assert row(app) == "[3 Manuscript] 4 输出  5 Prompt"
        tabs.show("output")
        await pilot.pause()
        assert row(app) == " 3 Manuscript [4 输出] 5 Prompt"


@pytest.mark.parametrize(
    ("at", "panes"),
    [(0, ["manuscript"]), (13, ["manuscript"]), (14, ["output"]), (21, ["output"]), (22, ["prompt"]), (40, [])],
)
async def test_a_click_chooses_the_name_under_it(at: int, panes: list[str]) -> None:
    app = Names()
    async with app.run_test() as pilot:
        await pilot.click(PaneTabs, offset=(at, 0))
        assert app.chosen == panes
