"""A short version of `python -m tests.bench kills`: nothing is lost, doubled or half done, whichever commit is last."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.agents.paid import PaidOnce
from tests.bench import kills
from tests.bench.kill_operations import OPERATIONS, TWO_STEPS

pytestmark = pytest.mark.slow
SHORT = (
    *("replace", "rename", "undo rename", "split", "check", "undo", "word on a note"),
    *("purge deleted", "move comments", "edit comments", "unlock"),
)


@pytest.fixture(autouse=True)
def _no_ledger_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger of paid calls writes into the folder of this bench: tests that follow in this process have none."""
    monkeypatch.setattr(PaidOnce, "_pay", PaidOnce._pay)


def test_what_is_killed_is_as_before_or_as_after_and_can_be_done_again() -> None:
    operations = tuple(one for one in OPERATIONS if one.name in SHORT)
    found = kills.measure(len(SHORT), operations, by_time=False)
    assert len(operations) == len(SHORT)
    assert [figure for figure in found if figure.met is False] == []


def test_the_harness_sees_what_is_half_done(tmp_path: Path) -> None:
    judged = kills.Judged()
    kills.begin(tmp_path / "base")
    stage = kills.Stage(TWO_STEPS, tmp_path / "base", tmp_path / "two-steps")
    for point in range(1, 10):  # one of them is behind the first save; commits of the background come between
        stage.kill(judged, kills.Moment(point=point))
        if judged.wrong["half done"]:
            break
    assert judged.wrong["half done"] == 1 and judged.wrong["lost"] >= 1
    assert [figure.what for figure in kills.figures({"two steps": judged}) if figure.met is False]
