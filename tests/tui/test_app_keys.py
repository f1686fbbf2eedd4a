"""Keys: one table, the user's overrides, clashes, the generated page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.tui.app.home import HomeScreen
from flowcabal_tui.tui.app.keymap import Clash, checked_keymap, clashes, current_ids
from flowcabal_tui.tui.app.keys_page import all_keys, keys_page
from flowcabal_tui.tui.app.new_project import NewProjectScreen
from flowcabal_tui.tui.shared.actions import ACTIONS, KeyRow
from tests.tui.test_app import app_at_home, words_of

ROWS = (
    KeyRow("Everywhere", "app.help", ("f1",), "Help"),
    KeyRow("Workspace", "run.start", ("f5",), "Run"),
    KeyRow("Workspace", "run.stop", ("f9",), "Stop"),
    KeyRow("Chapters", "chapters.run", ("r",), "Run"),
)


def test_an_unknown_id_is_refused_with_the_nearest_known_one():
    with pytest.raises(SettingsError) as refused:
        checked_keymap({"run.strat": "f7"}, ROWS)
    assert "run.start" in refused.value.advice


def test_an_old_id_is_accepted_and_yields_to_the_new_one():
    assert current_ids({"shelf.split": "x", "book.shelf": "y", "run.start": "z"}) == {
        "browser.split": "x", "book.browser": "y", "run.start": "z",
    }  # fmt: skip
    assert current_ids({"browser.split": "new", "shelf.split": "old"}) == {"browser.split": "new"}


def test_a_key_that_two_actions_of_one_place_share_is_a_clash():
    assert clashes({"run.stop": "f5"}, ROWS) == (Clash("f5", "Workspace", ("run.start", "run.stop")),)


def test_a_key_that_works_everywhere_clashes_in_every_place():
    assert [clash.ids for clash in clashes({"chapters.run": "f1"}, ROWS)] == [("chapters.run", "app.help")]


def test_the_same_key_in_two_panes_is_no_clash():
    assert clashes({"chapters.run": "f5"}, ROWS) == ()


def test_ids_of_all_actions_are_unique():
    ids = [row.id for row in all_keys()]
    assert len(ids) == len(set(ids))


def test_our_own_keys_clash_nowhere_in_the_table():
    owners: dict[tuple[str, str], str] = {}
    for action in ACTIONS:
        for key in action.keys.split(","):
            assert owners.setdefault((action.where, key), action.id) == action.id
            assert ("app", key) not in owners or owners["app", key] == action.id


def test_the_keys_page_is_the_one_in_the_docs():
    page = Path(__file__).parents[2] / "docs" / "keys.md"
    assert page.read_text(encoding="utf-8") == keys_page()


def test_the_keys_page_has_every_action_of_the_table():
    page = keys_page()
    assert [action.id for action in ACTIONS if f"`{action.id}`" not in page] == []


async def test_an_unknown_key_setting_names_the_nearest_action(tmp_path):
    async with app_at_home(tmp_path, keys={"run.strat": "ctrl+r"}).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "run.start" in words_of(pilot)


async def test_the_users_key_works_instead_of_ours(tmp_path):
    async with app_at_home(tmp_path, keys={"home.new": "f7"}).run_test(size=(80, 24)) as pilot:
        await pilot.press("n")
        assert isinstance(pilot.app.screen, HomeScreen)
        await pilot.press("f7")
        assert isinstance(pilot.app.screen, NewProjectScreen)


def test_no_two_actions_of_one_place_have_the_same_key_by_default():
    owners = Counter((row.place, key) for row in all_keys() for key in row.keys)
    assert [place_and_key for place_and_key, count in owners.items() if count > 1] == []
