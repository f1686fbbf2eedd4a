"""Pictures of the comparison of candidates: blind, put together, and after the choice."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from flowcabal_tui.tui.decisions.comparison import ComparisonScreen
from tests.snapshots.test_graph import BOTH, EVERY_SIZE, app, on_top
from tests.tui.fake_comparison import BEATS, TEXTS, FakeComparisons, comparison
from tests.tui.waiting import settled

ENGLISH_BEATS = ("Nora waits for the ferry.", "Tobias hands over the letter.", "They part in the rain.")
ENGLISH = (
    "Nora stood at the landing in the fog and waited for the ferry.\n\nTobias gave her the letter. He had carried it "
    "for nine days.\n\nThen the rain came, and they parted under it.",
    "There was nobody at the landing but Nora, who still waited for the ferry.\n\nTobias did not want to hand over the "
    "letter, and did.\n\nThey parted in the rain, and neither looked back.",
    "Nora had waited a whole night for the ferry.\n\nThey parted in the rain.",
)


def project(language: str) -> FakeComparisons:
    zh = language == "zh"
    return FakeComparisons(
        comparison(TEXTS if zh else ENGLISH, BEATS if zh else ENGLISH_BEATS, "开头" if zh else "Opening")
    )


@pytest.mark.parametrize("keys", [("2", "j", "b", "1", "k", "space"), ("2", "a")], ids=["taken", "chosen"])
@EVERY_SIZE
@BOTH
def test_candidates(snap_compare, size, language, keys):
    async def before(pilot: Pilot[int]) -> None:
        shown = project(language)
        await on_top(ComparisonScreen(shown, shown.target))(pilot)  # type: ignore[arg-type]
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    assert snap_compare(app(language), terminal_size=size, run_before=before)
