"""The palette: every command is in it, is found by other words, and runs where it works, or says why it cannot."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import Input

import flowcabal_tui.tui
from flowcabal_tui.locale import _, use_language
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app import command_search
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.app.command_search import ranked, searched
from flowcabal_tui.tui.app.commands import all_commands, is_basic_key, is_of_page, synonyms
from flowcabal_tui.tui.app.effects import acts_on_row
from flowcabal_tui.tui.app.keyed import keyed
from flowcabal_tui.tui.app.palette import PaletteScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.story.entities import EntitiesScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_app import app_at_home, words_of
from tests.tui.test_workspace import workspace
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled, until

SOUGHT = {
    "word count": "book.browser", "字数": "book.browser", "character": "story.names", "人物": "story.names",
    "split": "browser.split", "拆分": "browser.split", "keys": "app.help", "快捷键": "app.help",
    "theme": "app.theme", "导出": "book.export", "undo": "book.changes", "校对": "book.proof",
    "screenshot": "app.picture", "截图": "app.picture",
    "setup": "home.wizard", "exprt": "book.export", "rename chapter": "chapters.rename",
    "rename": "story.rename", "改名": "story.rename", "save": "manuscript.save", "保存": "manuscript.save",
    "find a scene": "book.search", "why is this name in the prompt": "pane.context", "today": "book.words",
    "今天": "book.words", "新建工作流": "workflows.build", "章节标题": "chapters.rename", "起点": "book.export",
    "ask the book": "app.conversation", "对比版本": "manuscript.versions",
    "how do I split my chapter": "manuscript.split", "写下一章": "run.start", "请你帮我把全书导出来": "book.export",
}  # fmt: skip


def below(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def test_every_class_with_keys_is_in_the_list_of_places():
    for module in pkgutil.walk_packages(flowcabal_tui.tui.__path__, "flowcabal_tui.tui."):
        importlib.import_module(module.name)
    known = {*keyed()}
    ids = {command.id for command in all_commands()}
    missing = [
        (kind.__name__, binding.id)
        for kind in set(below(DOMNode)) - known
        if kind.__module__.startswith("flowcabal_tui.")
        for binding in kind.__dict__.get("BINDINGS", ())
        if isinstance(binding, Binding) and binding.id not in ids
        and not is_basic_key(binding.id or "", tuple(binding.key.split(",")))
    ]  # fmt: skip
    assert missing == []


def test_every_command_has_a_title_in_both_languages():
    use_language("zh_CN")
    untranslated = [each.id for each in all_commands() if _(each.title) == each.title and each.title.isascii()]
    assert untranslated == ["node-versions.editor", "decision.editor"]  # $EDITOR


def test_synonyms_belong_to_commands_that_exist():
    assert set(synonyms()) - {each.id for each in all_commands()} == set()


@pytest.mark.parametrize(("typed", "wanted"), SOUGHT.items())
def test_a_command_is_found_by_other_words(typed, wanted):
    rows = [searched(each) for each in all_commands()]
    assert wanted in [each.id for each in ranked(typed, rows)[:3]]


def test_few_commands_are_looked_at_closely(monkeypatch):
    looked: list[str] = []
    fit = command_search._fit
    monkeypatch.setattr(command_search, "_fit", lambda words, text: looked.append(text) or fit(words, text))
    rows = [searched(each) for each in all_commands()]
    names = sum(len(row.titles) + len(row.others) for row in rows)
    for typed in ("split", "词数", "backup"):
        looked.clear()
        assert ranked(typed, rows)
        assert 0 < len(looked) < names / 10


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_command_has_other_words_in_both_languages_and_each_finds_it(language):
    """A word is sought in its own language: what is found by English words does not depend on the screen's."""
    use_language(language)
    rows = [searched(each) for each in all_commands()]
    unnamed = []
    for command in all_commands():
        words = [each.strip() for each in synonyms().get(command.id, "").split("|")]
        if all(each.isascii() for each in words) or not any(each.isascii() and each for each in words):
            unnamed.append(command.id)
        own = [each for each in words if each and each.isascii() is (language == "en")]
        lost = [each for each in own if command.id not in [found.id for found in ranked(each, rows)[:5]]]
        assert lost == [], command.id
    assert len(unnamed) < 5, f"synonyms.toml needs words for {unnamed}"


def test_the_nearest_of_equal_commands_comes_first():
    everything = [searched(each) for each in all_commands()]
    on_findings = [searched(each, is_near=each.id.startswith("findings.")) for each in all_commands()]
    assert ranked("undo", everything)[0].id == "book.changes"
    assert ranked("undo", on_findings)[0].id == "findings.undo"


def test_commands_for_a_page_as_a_whole_decide_about_no_row():
    whole = [each for each in all_commands() if is_of_page(each)]
    assert "names.add" in [each.id for each in whole]
    assert [each.id for each in whole if acts_on_row(each.id)] == []


def app(bench: FakeProject, tmp_path: Path) -> FlowCabalApp:
    async def opener(_folder: Path, _read_only: bool) -> FakeProject:
        return bench

    return FlowCabalApp(
        replace(invented_access("en"), opener=opener), ScreenSettings(language="en", wizard_done=True),
        path=Path("lamp"), state_folder=tmp_path,
    )  # fmt: skip


async def choose(pilot, typed: str) -> None:
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(pilot.app.screen, PaletteScreen))
    pilot.app.screen.query_one(Input).value = typed
    await settled(pilot)
    await pilot.press("enter")
    await settled(pilot)


def said(pilot) -> list[str]:
    return [each.words for each in pilot.app.announcer.notices.listed]


async def opened(pilot) -> None:
    await until(pilot, lambda: not getattr(pilot.app.screen, "is_opening", True))


async def test_a_command_of_another_pane_runs_there(tmp_path):
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("3")
        await choose(pilot, "chapters.rename")
        assert isinstance(pilot.app.screen, PromptLine)


async def test_a_row_that_further_letters_took_away_explains_nothing(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(pilot.app.screen, PaletteScreen))
        rows = pilot.app.screen.query_one(PickList)
        late = PickList.OptionHighlighted(rows, rows.get_option("book.backup"), 0)
        pilot.app.screen.query_one(Input).value = "word count"
        await settled(pilot)
        pilot.app.screen.explain(late)
        assert "Volumes" in words_of(pilot)


async def test_what_decides_about_a_row_goes_there_and_names_its_key(tmp_path):
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        for name, key in (("names.merge", "M"), ("names.remove", "D")):
            await choose(pilot, name)
            assert isinstance(pilot.app.screen, EntitiesScreen)
            assert said(pilot)[-1].startswith(f"Check what is shown, then press {key}:")
            await pilot.press("escape")
            await settled(pilot)


async def test_what_needs_no_row_runs_on_the_page_that_was_opened_for_it(tmp_path):
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await choose(pilot, "add a character")
        assert isinstance(pilot.app.screen, FormScreen), "its form is open over the names"
        assert not any(each.startswith("Check what is shown") for each in said(pilot))


async def test_what_concerns_a_row_waits_for_the_choice_of_the_row(tmp_path):
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await choose(pilot, "names.edit")
        assert isinstance(pilot.app.screen, EntitiesScreen)
        assert said(pilot)[-1].startswith("Check what is shown, then press e:")


async def test_a_command_of_the_list_of_workflows_runs_there(tmp_path):
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await choose(pilot, "new workflow")
        assert isinstance(pilot.app.screen, PromptLine)


async def test_the_palette_of_a_page_goes_back_to_the_workspace(tmp_path):
    async with app(FakeProject("en"), tmp_path).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("8")
        await until(pilot, lambda: isinstance(pilot.app.screen, EntitiesScreen))
        await choose(pilot, "pane.output")
        assert pilot.app.screen.view.pane == "output"


async def test_every_command_runs_from_the_start_page_or_says_why_not(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        for command in all_commands():
            if command.where in ("app", "home"):
                continue
            await pilot.app.commands.carry_out(command)
            assert said(pilot)[-1] == f"{command.title} needs an open book."


async def test_every_command_of_a_pane_reaches_it_from_any_other(tmp_path):
    async with app(FakeProject("en"), tmp_path).run_test(size=(140, 40)) as pilot:
        await opened(pilot)
        workspace = pilot.app.screen
        for command in all_commands():
            if command.owner is not None and (pane := keyed()[command.owner].pane):
                workspace.action_pane("profiles" if pane == "chapters" else "chapters")
                await settled(pilot)
                node = await pilot.app.commands._show(workspace, command.owner)
                assert workspace.view.pane == pane, command.id
                assert isinstance(node, command.owner)


async def test_a_command_for_the_text_that_is_read_names_the_key_that_leaves_the_editor(tmp_path: Path) -> None:
    async with workspace(FakeProject("en"), tmp_path) as pilot:
        await pilot.press("3", "e")
        await settled(pilot)
        versions = next(each for each in all_commands() if each.id == "manuscript.versions")
        await pilot.app.commands.carry_out(versions)
        await until(pilot, lambda: "press Esc first" in " ".join(shown(pilot.app)))
