"""Export from the screen: which chapters, in which form, to a file or to the clipboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.tui.shared.form import Field, FormScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host, shown
from tests.tui.test_maintenance import said
from tests.tui.test_workspace import screen_of, until, workspace


async def fill(pilot: Pilot, **typed: str) -> None:
    await pilot.press("ctrl+e")
    await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
    for name, value in typed.items():
        row = pilot.app.screen.query_one(f"#field-{name}")
        assert isinstance(row, Input | Select)
        row.value = value
    await pilot.press("ctrl+s")


async def test_a_range_goes_to_the_clipboard_as_a_platform_wants_it(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await fill(pilot, form="site", which="range", range="1..2", to="clipboard")
        await until(pilot, lambda: pilot.app.clipboard)
        assert pilot.app.clipboard == f"site: {books.chapter_id(1)}, {books.chapter_id(2)}\n"
        assert project.exported == []
        notices = said(pilot)
        assert "shorter than 500: One" in notices and "A Site: 1 chapter" in notices


async def test_the_open_chapter_goes_to_a_file_of_the_platform(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).book.open(books.chapter_id(1))
        await fill(pilot, form="site", which="this", file=str(tmp_path / "today"))
        await until(pilot, lambda: project.exported)
        assert project.exported == [tmp_path / "today.txt"]


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"to": "clipboard"}, "Only the layout of a platform"),
        ({"which": "range", "range": "two"}, "two is not a range of chapters"),
        ({"which": "range", "range": ""}, "is not a range of chapters"),
        ({"which": "this"}, "There is no text in these chapters yet."),
        ({"which": "range", "range": "900.."}, "The book has"),
    ],
)
async def test_what_cannot_be_exported_keeps_the_form_open_and_says_why(
    tmp_path: Path, typed: dict[str, str], wrong: str
) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await fill(pilot, **typed)
        await until(pilot, lambda: wrong in " ".join("\n".join(shown(pilot.app)).split()))
        assert isinstance(pilot.app.screen, FormScreen)
        await pilot.press("escape")
        assert project.exported == []


async def test_a_profile_that_cannot_be_read_leaves_the_other_forms(tmp_path: Path) -> None:
    class Broken(FakeProject):
        async def platforms(self) -> tuple[()]:
            raise SettingsError("The profile of a platform cannot be read: mine.toml")

    project = Broken()
    async with workspace(project, tmp_path) as pilot:
        await fill(pilot, form="txt", file=str(tmp_path / "book"))
        await until(pilot, lambda: project.exported)
        assert project.exported == [tmp_path / "book.txt"]


async def test_the_title_of_the_open_chapter_is_no_markup(tmp_path: Path) -> None:
    class Hostile(Host):
        async def on_mount(self) -> None:
            choices = (("all", "all"), ("this", "1 [/red] [b]Rain"))
            self.push_screen(
                FormScreen("Export", [Field("which", "Chapters", "this", choices=choices)], lambda typed: typed)
            )

    async with Hostile().run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "1 [/red] [b]Rain" in "\n".join(shown(pilot.app)))
