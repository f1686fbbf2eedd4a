"""Paths are completed by what is on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.tui.shared.typed_path import PathSuggester, completed, typed_path


@pytest.fixture
def books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "红楼梦").mkdir()
    (tmp_path / "river.txt").write_text("", "utf-8")
    (tmp_path / "river two.txt").write_text("", "utf-8")
    (tmp_path / "\x1b[31mred").write_text("", "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


async def test_the_last_name_is_completed_and_a_folder_ends_with_a_slash(books: Path):
    suggester = PathSuggester()
    assert await suggester.get_suggestion(f"{books}/红") == f"{books}/红楼梦/"
    assert await suggester.get_suggestion(f"{books}/riv") == f"{books}/river two.txt"
    assert await suggester.get_suggestion("~/river.") == "~/river.txt"


def test_what_is_not_there_or_cannot_be_shown_is_not_offered(books: Path):
    for typed in (f"{books}/sea", f"{books}/none/x", f"{books}/", "", "~", "..", f"{books}/\x1b"):
        assert completed(typed) is None


def test_quotes_of_a_file_that_was_dragged_in_are_taken_off(books: Path):
    assert typed_path("'~/river.txt' ") == books / "river.txt"
