from __future__ import annotations

from typing import Any

import pytest
from textual.app import App
from textual.widgets import Input, Static

from flowcabal_tui.tui.runs.asking import InputsForm, values_of


class Host(App[None]):
    given: dict[str, str] | None = None
    answered = False

    def on_mount(self) -> None:
        def take(found: dict[str, str] | None) -> None:
            self.given, self.answered = found, True

        self.push_screen(InputsForm("w asks for:", ("place", "items"), {"place": "Kiel"}), take)


async def test_every_input_is_typed_in_its_row_and_taken_together() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert [each.value for each in host.screen.query(Input)] == ["Kiel", ""]
        await pilot.press("enter", *"x", "enter")
        await pilot.pause()
    assert host.given == {"place": "Kiel", "items": "x"}


async def test_json_that_cannot_be_read_is_told_and_nothing_is_taken() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        host.screen.query_one("#input-1", Input).value = ":=[1,"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(host.screen, InputsForm)
        assert "items:" in str(host.screen.query_one(".wrong", Static).render())


async def test_a_form_that_is_left_gives_nothing() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
    assert host.answered and host.given is None


@pytest.mark.parametrize(("text", "value"), [("3", "3"), (":=3", 3), (':=[{"a": 1}]', [{"a": 1}]), ("", "")])
def test_text_stays_text_and_json_stands_behind_a_sign(text: str, value: Any) -> None:
    assert values_of({"x": text}) == {"x": value}


@pytest.mark.parametrize("text", [":=", ":={", ":=1e999", ":=" + "[" * 100_000])
def test_what_is_no_json_names_its_input(text: str) -> None:
    with pytest.raises(ValueError, match="x:"):
        values_of({"x": text})
