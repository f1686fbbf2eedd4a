"""Nobody else can read a book, unless the user's own settings say so."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.manuscript.writer import export_manuscript
from flowcabal_tui.project.book.backup import back_up, restore
from flowcabal_tui.project.book.mirror import Mirror
from flowcabal_tui.project.create import create_project
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.file_modes import file_modes
from flowcabal_tui.settings.project_file import load_project, save_project
from flowcabal_tui.settings.user_file import UserSettings, change_user
from flowcabal_tui.store import Store
from flowcabal_tui.system.files import PRIVATE, SHARED, Folder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STATE = ".flowcabal"


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """The permissions of a folder and of all that is in it."""
    return {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}


def open_to_others(folder: Path) -> list[str]:
    return [name for name, mode in modes(folder).items() if mode & 0o077]


async def written(folder: Path) -> Store:
    """A store that is open, with a chapter that has its file."""
    store = await Store.open(folder, clock=lambda: NOW, language="en", modes=file_modes())
    (chapter,) = await store.book.import_chapters([ImportedChapter("One", "Snow.")])
    await Mirror(Folder(folder, file_modes()), store).write(chapter)
    return store


async def test_a_new_project_is_open_to_nobody_else(folder: Path, tmp_path: Path) -> None:
    await create_project(folder, name="Novel", language="en")
    store = await written(folder)
    try:
        assert {f"{STATE}/project.db", f"{STATE}/project.db-wal", f"{STATE}/lock"} <= modes(folder).keys()
        assert open_to_others(folder) == []
        save_project(folder, load_project(folder))
        await back_up(store, folder, tmp_path / "book.zip", NOW)
    finally:
        await store.close()
    assert stat.S_IMODE((tmp_path / "book.zip").stat().st_mode) == 0o600
    await restore(tmp_path / "book.zip", tmp_path / "again")
    assert open_to_others(folder) == [] and open_to_others(tmp_path / "again") == []


async def test_the_users_own_file_may_share_projects(folder: Path, tmp_path: Path) -> None:
    change_user(lambda _before: UserSettings(project_files="shared"))
    assert file_modes() == SHARED
    await create_project(folder, name="Novel", language="en")
    store = await written(folder)
    try:
        assert set(modes(folder).values()) == {0o755, 0o644}
        await back_up(store, folder, tmp_path / "book.zip", NOW)
    finally:
        await store.close()
    await restore(tmp_path / "book.zip", tmp_path / "again")
    assert set(modes(tmp_path / "again").values()) == {0o755, 0o644}


def test_a_users_file_that_cannot_be_read_shares_nothing() -> None:
    paths.user_file().parent.mkdir(parents=True)
    paths.user_file().write_text("project_files = 'everybody'\n")
    assert file_modes() == PRIVATE


async def test_a_project_that_was_open_to_others_is_closed_where_all_prompts_are(folder: Path) -> None:
    await create_project(folder, name="Novel", language="en")
    store = await written(folder)
    await store.close()
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    store = await Store.open(folder, read_only=True, clock=lambda: NOW, language="en")
    await store.close()
    assert stat.S_IMODE((folder / STATE).stat().st_mode) == 0o755, "reading changes nothing"
    store = await Store.open(folder, clock=lambda: NOW, language="en")
    try:
        assert open_to_others(folder / STATE) == []
        with pytest.raises(Exception, match="open elsewhere"):  # to look at the files has not dropped the lock
            await Store.open(folder, clock=lambda: NOW, language="en")
    finally:
        await store.close()
    (file,) = (folder / "manuscript").iterdir()
    assert (stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (0o755, 0o644)


def test_an_export_is_made_for_others(tmp_path: Path) -> None:
    chapters = [ImportedChapter("One", "Snow.")]
    for umask, mode in ((0o022, 0o644), (0o077, 0o600)):
        os.umask(umask)
        path = tmp_path / f"{mode:o}.txt"
        export_manuscript(path, BookDetails("Book", "en", identifier="1"), chapters)
        assert stat.S_IMODE(path.stat().st_mode) == mode
