"""Style sheets are parsed once, however many pages and previews of themes follow."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from textual.css import stylesheet

from flowcabal_tui.tui.app import kept_styles
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.fakes import FakeProject
from tests.tui.test_workspace import workspace
from tests.tui.waiting import settled, until

PAGES = ("f11", "dollar_sign", "question_mark", "8", "9", "0", "f2", "f4", "f6", "f9", "f12", "ctrl+p")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[Any, ...]]:
    """How often each source was parsed for each theme, with nothing kept at first."""
    counted: Counter[tuple[Any, ...]] = Counter()
    parse = stylesheet.parse

    def count(scope: str, css: str, read_from: Any, *, variable_tokens: Any, tie_breaker: int, **how: Any) -> Any:
        background = str(variable_tokens["background"])
        counted[background, read_from, scope, tie_breaker] += 1
        return parse(scope, css, read_from, variable_tokens=variable_tokens, tie_breaker=tie_breaker, **how)

    monkeypatch.setattr(stylesheet, "parse", count)
    kept_styles._parsed.cache_clear()
    return counted


async def test_no_page_and_no_theme_that_was_seen_parses_a_style_sheet_again(tmp_path, parsed):
    async with workspace(FakeProject(), tmp_path) as pilot:
        for key in PAGES:
            await pilot.press(key)
            await settled(pilot)
            await pilot.press("escape")
            await settled(pilot)
        sheets = len(parsed)
        assert sheets > 64, "Textual keeps so many, or this test could not fail"
        first, background = pilot.app.theme, pilot.app.screen.styles.background
        for theme in ("paper", first, "paper", first):
            pilot.app.theme = theme
            await settled(pilot)
            assert (pilot.app.screen.styles.background == background) is (theme == first)
        assert len(parsed) > sheets
        assert set(parsed.values()) == {1}


async def test_the_workspace_is_not_styled_again_when_a_page_over_it_closes(tmp_path, monkeypatch):
    async with workspace(FakeProject(), tmp_path) as pilot:
        styled: list[bool] = []
        monkeypatch.setattr(WorkspaceScreen, "update_node_styles", lambda _self, animate=True: styled.append(animate))
        for key in PAGES:
            await pilot.press(key, "escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen))
        await settled(pilot)
        assert styled == []
