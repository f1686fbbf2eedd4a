"""The guide's first ten minutes beside the screen: its steps wait for their keys, and it can be left."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from flowcabal_tui.tui.app.guide import GuidePanel, guide_text, steps_of
from tests.tui.fakes import FakeWorkbench
from tests.tui.test_workspace import workspace
from tests.tui.waiting import settled


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_step_of_the_guide_waits_for_keys_and_is_plain_text(language: str):
    steps = steps_of(guide_text(language))
    assert len(steps) == 7 and all(step.keys for step in steps)
    assert steps[0].keys == ("f5",) and steps[1].keys == ("f8", "a")
    assert not any(sign in step.words for step in steps for sign in ("`", "](", "!["))


def test_the_steps_are_the_same_in_both_languages():
    assert [each.keys for each in steps_of(guide_text("en"))] == [each.keys for each in steps_of(guide_text("zh"))]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_step_waits_for_its_keys_in_their_order_and_the_guide_can_be_left(tmp_path: Path, size):
    async with workspace(FakeWorkbench(), tmp_path, size=size) as pilot:

        def words() -> str:
            return " ".join(str(each.render()) for each in pilot.app.screen.query(GuidePanel).results(Static))

        await pilot.press("tilde")
        await settled(pilot)
        assert "1/7" in words() and "F5" in words()
        (panel,) = pilot.app.screen.query(GuidePanel)
        assert panel.region.right == size[0] and (panel.region.x > 0) is (size[0] > 100), (
            "at the side where there is room"
        )
        await pilot.press("1")
        await settled(pilot)
        assert "1/7" in words(), "another key does what it does, and the step waits"
        await pilot.press("f5")
        await settled(pilot)
        assert "2/7" in words(), "also over the screen that the key opens"
        await pilot.press("escape")
        await settled(pilot)
        assert "2/7" in words()
        await pilot.press("tilde")
        await settled(pilot)
        assert not words()
