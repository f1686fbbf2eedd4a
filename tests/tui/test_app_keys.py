"""Keys: one table, the user's overrides, clashes, the generated page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from textual.binding import Binding

from flowcabal_tui.locale import use_language
from flowcabal_tui.tui.app.effects import KEY_MEANINGS, effect_of
from flowcabal_tui.tui.app.home import HomeScreen
from flowcabal_tui.tui.app.keymap import KeyClash, clashes, current_ids, key_name, key_problems, usable_keymap
from flowcabal_tui.tui.app.keys_page import all_keys, declared_keys, keys_page
from flowcabal_tui.tui.app.new_project import NewProjectScreen
from flowcabal_tui.tui.shared.actions import ACTIONS, KeyRow, binding_key, bindings, shown_key, with_twins
from tests.tui.test_app import app_at_home
from tests.tui.waiting import until

ROWS = (
    KeyRow("Everywhere", "app.help", ("f1",), "Help"),
    KeyRow("Workspace", "run.start", ("f5",), "Run"),
    KeyRow("Workspace", "run.stop", ("f9",), "Stop"),
    KeyRow("Chapters", "chapters.run", ("r",), "Run"),
)


@pytest.mark.parametrize(
    ("written", "name"),
    [("f5", "f5"), ("Ctrl+R", "ctrl+r"), ("?", "?"), ("+", "+"), ("plus", "plus"), ("ctrl+\\", "ctrl+backslash"),
     ("A", "A"), ("Shift+F8", "shift+f8"), ("pagedown", "pagedown"), ("strg+r", ""), ("f55", ""), ("", "")],
)  # fmt: skip
def test_a_key_is_known_by_the_name_that_a_user_writes(written: str, name: str):
    assert key_name(written) == name


def test_unknown_ids_and_keys_are_named_with_the_nearest_known_ones_and_known_keys_still_work():
    own = {"run.strat": "f7", "run.stop": "contrl+e", "findings.check": "C, hoem", "shelf.split": "S"}
    assert key_problems(own) == (
        "The action shelf.split is now called browser.split; the next release no longer accepts the old name.",
        "No action has the id run.strat. Did you mean run.start?",
        "run.stop is set to contrl+e, which is not a key. Did you mean ctrl+e?",
        "findings.check is set to hoem, which is not a key. Did you mean home?",
    )
    assert usable_keymap(own) == {"run.strat": "f7", "findings.check": "C", "shelf.split": "S"}


def test_an_old_id_is_accepted_and_yields_to_the_new_one():
    assert current_ids({"shelf.split": "x", "book.shelf": "y", "run.start": "z"}) == {
        "browser.split": "x", "book.browser": "y", "run.start": "z",
    }  # fmt: skip
    assert current_ids({"browser.split": "new", "shelf.split": "old"}) == {"browser.split": "new"}


def test_a_key_that_two_actions_of_one_place_share_is_a_clash():
    assert clashes({"run.stop": "f5"}, ROWS) == (KeyClash("f5", "Workspace", ("run.start", "run.stop")),)


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


async def test_an_unknown_key_setting_is_named_in_a_notice(tmp_path):
    async with app_at_home(tmp_path, keys={"run.strat": "ctrl+r", "home.new": "f77"}).run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(pilot.app.announcer.notices.listed) == 2)
        words = " ".join(notice.words for notice in pilot.app.announcer.notices.listed)
        assert "run.start" in words and "f77" in words
        await pilot.press("n")
        assert isinstance(pilot.app.screen, NewProjectScreen), "what is no key takes none away"


async def test_the_users_key_works_instead_of_ours(tmp_path):
    async with app_at_home(tmp_path, keys={"home.new": "f7"}).run_test(size=(80, 24)) as pilot:
        await pilot.press("n")
        assert isinstance(pilot.app.screen, HomeScreen)
        await pilot.press("f7")
        assert isinstance(pilot.app.screen, NewProjectScreen)


def test_no_two_actions_of_one_place_have_the_same_key_by_default():
    owners = Counter((row.place, key) for row in all_keys() for key in row.keys)
    assert [place_and_key for place_and_key, count in owners.items() if count > 1] == []


def bound() -> list[tuple[str, str]]:
    """The id and the key of each binding of the program."""
    table = [(action.id, key) for action in ACTIONS for key in action.keys.split(",")]
    declared = [(binding.id or "", key) for _place, _kind, binding in declared_keys() for key in binding.key.split(",")]
    return table + declared


def test_a_key_has_one_effect_in_the_table():
    owners = Counter(key for keys in KEY_MEANINGS.values() for key in keys.only | keys.too)
    assert [key for key, count in owners.items() if count > 1] == []


def test_what_accepts_refuses_adds_deletes_or_pays_has_a_key_of_its_effect():
    wrong = [
        (name, key)
        for name, key in bound()
        if (effect := effect_of(name)) in KEY_MEANINGS
        and key not in KEY_MEANINGS[effect].only | KEY_MEANINGS[effect].too
    ]
    assert wrong == []


def test_a_key_that_is_kept_for_one_effect_does_nothing_else():
    wrong = [
        (name, key)
        for name, key in bound()
        for effect, keys in KEY_MEANINGS.items()
        if key in keys.only and effect_of(name) != effect
    ]
    assert wrong == []


def test_each_class_gives_an_id_to_one_action():
    actions: dict[tuple[type, str], set[str]] = {}
    for _place, kind, binding in declared_keys():
        if binding.id:
            actions.setdefault((kind, binding.id), set()).add(binding.description)
    assert {name: found for name, found in actions.items() if len(found) > 1} == {}


def test_shift_and_a_function_key_is_bound_by_both_names_that_terminals_send():
    keys: dict[str, set[str]] = {}
    for binding in [*bindings("app"), *bindings("workspace"), *(each for _place, _kind, each in declared_keys())]:
        assert isinstance(binding, Binding)
        keys.setdefault(binding.id or "", set()).update(binding.key.split(","))
    shifted = [(name, key) for name, found in keys.items() for key in found if key.startswith("shift+f")]
    assert ("pane.previous", "shift+f6") in shifted
    assert [key for name, key in shifted if f"f{int(key.removeprefix('shift+f')) + 12}" not in keys[name]] == []


def test_the_users_own_shift_key_has_both_names_and_is_shown_as_one():
    assert with_twins("shift+f4, x") == "shift+f4,x,f16"
    assert shown_key("f16") == shown_key("shift+f4") == "Shift+F4"


def test_keys_have_the_names_that_the_language_of_the_screen_gives_them() -> None:
    keys = ("enter", "space", "shift+tab", "ctrl+up", "escape", "less_than_sign", "pagedown", "vertical_line", "delete")
    assert [*map(shown_key, keys)] == ["Enter", "Space", "Shift+Tab", "Ctrl+Up", "Esc", "<", "PageDown", "|", "Delete"]
    use_language("zh")
    try:
        assert [*map(shown_key, keys)][:5] == ["回车", "空格", "Shift+Tab", "Ctrl+上", "Esc"]
        assert binding_key(Binding("space,enter", "take", key_display="Space")) == "空格"
    finally:
        use_language("en")
