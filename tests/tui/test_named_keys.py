"""A message that names a key names the one that is bound, also when the user has chosen another."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import flowcabal_tui.tui
from flowcabal_tui.locale import _, ngettext, use_keys, use_language
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.app.keys_page import all_keys
from flowcabal_tui.tui.app.settings.preferences import named_actions, named_keys
from flowcabal_tui.tui.shared.actions import shown_key
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled

_KEY_IN_WORDS = re.compile(
    r"`([^`\s]{1,14})`|(?<![A-Za-z])((?:Shift\+|Ctrl\+)?F\d{1,2}|Ctrl\+[^\s,.;:，。；：、]|Shift\+Delete)(?![A-Za-z0-9])"
)
"""A key as messages write it: a letter or sign in backticks, or a function key, or one with Ctrl."""
NO_KEYS = {
    "Each notice of this session with its time; `!` is a warning or an error.": "!",
    "Everyone and everything with a name.": "?",
    "Proposals about the book from agents and rules.": "?",
    "Ask about the book; Enter sends.": "@",
    "Type here.": "Ctrl+z Ctrl+y F7",
}
"""Signs that are no keys, letters of a line, or keys of a text field, by the beginning of the message."""


@pytest.fixture(autouse=True)
def usual_keys() -> Iterator[None]:
    yield
    use_keys({})


def messages() -> Iterator[str]:
    """The messages of the screen."""
    for path in Path(next(iter(flowcabal_tui.tui.__path__))).rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("_", "mark", "ngettext"):
                yield from (each.value for each in call.args[:2] if isinstance(each, ast.Constant))


@cache
def known_keys() -> frozenset[str]:
    """The usual ones."""
    return frozenset(shown_key(key) for row in all_keys() for key in row.keys)


def keys_in(words: str) -> set[str]:
    signs = {sign for start, each in NO_KEYS.items() if words.startswith(start) for sign in each.split()}
    return {one or other for one, other in _KEY_IN_WORDS.findall(words)} & known_keys() - signs


def test_every_key_that_a_message_names_has_its_action() -> None:
    wanted = {words: keys for words in messages() if isinstance(words, str) and (keys := keys_in(words))}
    known = {words: set(keys) for words, keys in named_actions().items()}
    assert {words: keys for words, keys in wanted.items() if known.get(words) != keys} == {}


def test_the_actions_exist_and_the_usual_key_is_theirs() -> None:
    usual = {row.id: {shown_key(key) for key in row.keys} for row in all_keys()}
    wrong = [
        (words, key, name)
        for words, keys in named_actions().items()
        for key, names in keys.items()
        for name in names
        if key not in usual.get(name, ())
    ]
    assert wrong == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_name_the_keys_of_the_user(language: str) -> None:
    use_language(language)
    use_keys(named_keys({"run.start": "ctrl+r,f5", "manuscript.edit-here": "f7", "impact.undo": "z"}))
    words = _("F5 runs the workflow for it, `e` writes it by hand.")
    assert "Ctrl+r" in words and "`F7`" in words and "F5" not in words and "`e`" not in words
    assert "`z`" in ngettext("Applied at {n} place. `u` undoes it.", "Applied at {n} places. `u` undoes them all.", 2)


def test_keys_that_change_places_change_them_in_the_words() -> None:
    use_keys(named_keys({"manuscript.accept": "x", "manuscript.reject": "a"}))
    assert _("Proposal: `a` accepts it, `x` leaves the text unchanged.") == (
        "Proposal: `x` accepts it, `a` leaves the text unchanged."
    )


async def test_the_screen_names_the_key_that_works(tmp_path: Path) -> None:
    async def opener(_folder: Path, read_only: bool) -> FakeProject:
        return FakeProject("en", read_only=read_only)

    settings = ScreenSettings(language="en", keys={"run.start": "ctrl+r", "decisions.open": "ctrl+g"})
    access = replace(invented_access("en"), opener=opener)
    app = FlowCabalApp(access, settings, path=Path("lamp"), state_folder=tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        page = "\n".join(shown(app))
        assert "1 waiting for you: Ctrl+g" in page and "F8" not in page
        assert "Ctrl+r runs the workflow for it" in page and "F5" not in page
