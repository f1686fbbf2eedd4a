from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flowcabal_tui.domain.os_errors import os_reason


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda folder: (folder / "none.txt").read_bytes(), "There is no such file or folder"),
        (lambda folder: folder.read_bytes(), "This is a folder"),
        (lambda folder: (folder / "file" / "below").write_text(""), "A part of the path is a file, not a folder"),
        (lambda folder: (folder / "file").mkdir(), "A file with this name exists"),
        (lambda folder: (folder / ("长" * 300)).write_text(""), "The name is too long"),
    ],
)
def test_what_the_system_refuses_is_told_in_our_words(
    refused: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"\[Errno") as caught:
        refused(tmp_path)
    assert os_reason(caught.value) == words


def test_what_is_not_known_keeps_the_systems_words() -> None:
    assert os_reason(OSError(9999, "Something new")) == "Something new"
    assert os_reason(OSError("no number")) == "no number"
