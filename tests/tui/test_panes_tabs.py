"""The names of the panes in one row."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from flowcabal_tui.locale import use_language
from flowcabal_tui.tui.shared.pane_tabs import PaneChosen, PaneTabs
from flowcabal_tui.tui.workspace.columns import PANES as ALL_PANES

PANES = (("3", "manuscript", "Manuscript"), ("4", "output", "输出"), ("5", "prompt", "Prompt"))


class Names(App[None]):
    """The row alone."""

    def __init__(self, panes: tuple[tuple[str, str, str], ...] = PANES) -> None:
        super().__init__()
        self._panes = panes
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield PaneTabs(self._panes)

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
        assert row(app) == "3 Manuscript [4 输出] 5 Prompt"


@pytest.mark.parametrize(
    ("at", "panes"),
    [(0, ["manuscript"]), (12, ["manuscript"]), (13, ["output"]), (20, ["output"]), (21, ["prompt"]), (40, [])],
)
async def test_a_click_chooses_the_name_under_it(at: int, panes: list[str]) -> None:
    app = Names()
    async with app.run_test() as pilot:
        await pilot.click(PaneTabs, offset=(at, 0))
        assert app.chosen == panes


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_names_of_all_panes_fit_80_columns(language: str) -> None:
    use_language(language)
    app = Names(ALL_PANES)
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one(PaneTabs).show("profiles")
        await pilot.pause()
        assert row(app).endswith("]")
