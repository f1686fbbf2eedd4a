"""Pictures of the writing view and of proofing."""

from __future__ import annotations

import pytest

from tests.snapshots.test_shell import SIZES, app, pressed
from tests.tui.fakes import FakeProject


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_writing_view_with_the_current_paragraph_in_focus(snap_compare, size, language):
    keys = ("1", "g", "enter", "ctrl+n", "ctrl+n", "down", "shift+right", "shift+right")
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=pressed(*keys))


SLIPS = {"en": "She saw the the door, and definately knew,, he said.", "zh": "她迫不急待,慢慢的走了。。"}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_proof_of_a_chapter(snap_compare, size, language, monkeypatch):
    monkeypatch.setattr(FakeProject, "_text", lambda self, _chapter: SLIPS[self.words.language])
    keys = pressed("1", "g", "enter", "exclamation_mark")
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=keys)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_by_day(snap_compare, size, language):
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=pressed("number_sign"))
