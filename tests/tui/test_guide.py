"""The guide's first ten minutes beside the screen: its steps wait for what comes about, and it can be left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from flowcabal_tui.tui.app.guide import GuidePanel, guide_text, steps_of
from flowcabal_tui.tui.app.tour import TOUR, BookState
from tests.pictures import studio
from tests.project.case import demo_at
from tests.tui.waiting import settled, until


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_step_of_the_guide_names_keys_and_is_plain_text(language: str):
    steps = steps_of(guide_text(language))
    assert len(steps) == 7 and all(step.keys for step in steps)
    assert steps[0].keys == ("f5",) and steps[1].keys == ("f8", "a")
    assert not any(sign in step.words for step in steps for sign in ("`", "](", "!["))


def test_the_steps_are_the_same_in_both_languages():
    assert [each.keys for each in steps_of(guide_text("en"))] == [each.keys for each in steps_of(guide_text("zh"))]


def test_every_step_waits_for_an_outcome_of_its_own():
    assert len(TOUR) == len(steps_of(guide_text("en")))
    begun = BookState(questions=0, answered=0, deciding=False, runs=1, done=0, version=0, workflows=4, pane="chapters")
    for step, then, now in (
        (0, begun, replace(begun, runs=2)),
        (1, begun, replace(begun, questions=1)),
        (3, replace(begun, questions=1), replace(begun, done=1)),
        (4, begun, replace(begun, version=1)),
        (5, begun, replace(begun, workflows=5)),
        (6, begun, replace(begun, pane="profiles")),
    ):
        assert TOUR[step][0].holds(now, then) and not TOUR[step][0].holds(then, then), step
    assert TOUR[2][1].holds(replace(begun, deciding=True), begun) and not TOUR[2][1].holds(begun, begun)
    asked = replace(begun, questions=1)
    assert TOUR[1][1].holds(begun, begun) and not TOUR[1][1].holds(asked, begun)
    assert TOUR[1][1].holds(replace(asked, answered=1), asked), "the next question may be there at once"


def words(pilot) -> str:
    return " ".join(str(each.render()) for each in pilot.app.screen.query(GuidePanel).results(Static))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_key_alone_does_not_go_on_and_the_guide_can_be_left(tmp_path: Path, demos: dict[str, Path], size):
    async with studio(tmp_path, "en", size, demo_at(tmp_path / "book", demos)) as at:
        await at.open()
        pilot = at.pilot
        await pilot.press("tilde")
        await settled(pilot)
        assert "1/7" in words(pilot) and "F5" in words(pilot)
        (panel,) = pilot.app.screen.query(GuidePanel)
        assert panel.region.right == size[0] and (panel.region.x > 0) is (size[0] > 100), (
            "at the side where there is room"
        )
        centre = pilot.app.screen.query_one("#centre").size.width
        assert size[0] == 80 or centre >= 38, "the text beside the guide keeps its room"
        await pilot.press("4")
        await settled(pilot)
        pilot.app.guide.look()
        assert pilot.app.screen.view.pane == "output", "a key does what it does"
        assert "1/7" in words(pilot), "and the step waits"
        await pilot.press("tilde")
        await settled(pilot)
        assert not words(pilot)
        assert pilot.app.screen.query_one("#centre").size.width >= centre


@pytest.mark.parametrize(("language", "size"), [("en", (80, 24)), ("zh", (140, 40))])
async def test_the_guide_follows_a_chapter_from_its_run_to_the_book(
    tmp_path: Path, demos: dict[str, Path], language: str, size
):
    book = demo_at(tmp_path / "book", demos, language)
    async with studio(tmp_path, language, size, book) as at:
        await at.open()
        await at.press("tilde")
        await until(at.pilot, lambda: "1/7" in words(at.pilot))
        await at.run()
        await until(at.pilot, lambda: "2/7" in words(at.pilot))
        await at.decide()
        assert "2/7" in words(at.pilot), "also over the page of the decision"
        await at.press("a")
        await at.asked("polish")
        await until(at.pilot, lambda: "3/7" in words(at.pilot))
        await at.decide()
        await until(at.pilot, lambda: "4/7" in words(at.pilot))
        await at.finish()
        await until(at.pilot, lambda: "6/7" in words(at.pilot))
        await at.press("tilde")
        await until(at.pilot, lambda: not words(at.pilot))
