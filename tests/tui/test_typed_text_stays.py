"""Esc in an editor throws nothing away unasked."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.screen import ModalScreen
from textual.widgets import Button, Input

from flowcabal_tui.domain.ids import EntityId, NodeId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.story import Promise, Story
from flowcabal_tui.domain.workflow import Node, PromptParams
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.tui.app.new_project import NewProjectScreen
from flowcabal_tui.tui.runs.node_versions import NodeVersionsScreen
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.record_forms import NEW, entity_form, promise_form
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import FindLine, PromptLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.workflows.data_editor import DataEditor
from flowcabal_tui.tui.workflows.node_form import NodeForm, TickBox
from flowcabal_tui.tui.workflows.params_form import ParamsForm
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host
from tests.tui.test_workspace import workspace
from tests.tui.test_workspace_graph import at_workflow, calm, pressed
from tests.tui.waiting import leave, until


@pytest.mark.parametrize("make", [lambda: ProseScreen("A note", "Rain."), lambda: DataEditor("A node", "Rain.", list)])
async def test_a_full_screen_editor_asks_before_it_forgets(make) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        editor: ModalScreen[object] = make()
        await app.push_screen(editor)
        await pilot.press("X", "escape")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is editor)
        assert "X" in editor.query_one(ProseArea).text
        await leave(pilot)
        await until(pilot, lambda: app.screen is not editor)


FORMS = {
    "node": lambda: NodeForm("Rain", PromptParams()),
    "parameters": lambda: ParamsForm(Node(id=NodeId("ask"), kind="human"), kinds()["human"]),
    "name": lambda: entity_form(Entity(EntityId(""), "character", "")),
    "promise": lambda: promise_form(Promise(NEW, "", books.chapter_id(1)), Cast((), (), Story(), ())),
    "project": lambda: NewProjectScreen(Path("books"), "en"),
    "line": lambda: PromptLine("What should be different?", value="Colder."),
}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
async def test_a_form_that_was_filled_in_asks_before_it_forgets(make) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        form: ModalScreen[object] = make()
        await app.push_screen(form)
        field = form.query(Input).first()
        before = field.value
        field.focus()
        await pilot.press("end", "X", "escape")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is form)
        assert field.value == f"{before}X"
        await pilot.press("backspace", "escape")
        await until(pilot, lambda: app.screen is not form)
        assert not isinstance(app.screen, ConfirmScreen)


async def test_a_form_is_left_for_good_with_one_yes() -> None:
    app = Host()
    given: list[object] = []
    async with app.run_test(size=(80, 24)) as pilot:
        form = NodeForm("Rain", PromptParams())
        await app.push_screen(form, given.append)
        form.query_one("#context", TickBox).focus()
        await leave(pilot, "space")
        await until(pilot, lambda: app.screen is not form)
        assert given == [None]


async def test_a_parameter_that_was_edited_as_text_is_asked_about_too() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        form = ParamsForm(Node(id=NodeId("many"), kind="parallel"), kinds()["parallel"])
        await app.push_screen(form)
        form.query(Button).first().press()
        await until(pilot, lambda: isinstance(app.screen, DataEditor))
        app.screen.query_one(ProseArea).load_text("{nodes: []}")
        await pilot.press("ctrl+s", "escape")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))


async def test_words_that_are_only_looked_for_are_left_at_once() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        line = FindLine()
        await app.push_screen(line)
        await pilot.press("X", "escape")
        await until(pilot, lambda: app.screen is not line)
        assert not isinstance(app.screen, ConfirmScreen)


async def test_an_untouched_editor_is_left_at_once() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        editor = ProseScreen("A note", "Rain.")
        await app.push_screen(editor)
        await pilot.press("X", "backspace", "escape")
        await until(pilot, lambda: app.screen is not editor)


async def test_a_version_that_is_written_by_hand_is_not_lost_by_esc(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path, (80, 24)) as pilot:
        pane = await at_workflow(pilot)
        pane.follow(books.DRAFT)
        await pressed(pilot, "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, NodeVersionsScreen))
        await calm(pilot)
        versions = pilot.app.screen
        await pressed(pilot, "e", "X", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pressed(pilot, "n")
        assert versions.query_one(ProseArea).text.startswith("X")
        await leave(pilot)
        await calm(pilot)
        await until(pilot, lambda: pilot.app.screen is versions)
        assert versions.face == "text"
