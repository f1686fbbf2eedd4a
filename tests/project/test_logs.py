"""The log of a project, also where it cannot be written."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from flowcabal_tui.project.logs import close_log, open_log
from flowcabal_tui.settings.paths import PROJECT_STATE

log = logging.getLogger("flowcabal_tui.tests")


def test_what_is_logged_stands_in_the_file(tmp_path: Path) -> None:
    (tmp_path / PROJECT_STATE).mkdir()
    handler = open_log(tmp_path, read_only=False)
    log.warning("the bell rang")
    close_log(handler)
    assert "the bell rang" in (tmp_path / PROJECT_STATE / "flowcabal.log").read_text("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_log_without_room_neither_prints_nor_stops_the_closing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / PROJECT_STATE).mkdir()
    (tmp_path / PROJECT_STATE / "flowcabal.log").symlink_to("/dev/full")
    handler = open_log(tmp_path, read_only=False)
    log.warning("the disk is full")
    close_log(handler)
    assert capsys.readouterr() == ("", "")
