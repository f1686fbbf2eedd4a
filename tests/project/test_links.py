"""Links, pipes and hostile rows in a project's folder: nothing outside of it is read, changed or removed."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flowcabal_tui.actions.errors import ActionFileError
from flowcabal_tui.actions.registry import project_files
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.domain.errors import FlowCabalError, ManuscriptError, ProjectExists, SettingsError, UnsafeFile
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.project.book.backup import back_up
from flowcabal_tui.project.book.mirror import Mirror
from flowcabal_tui.project.create import create_project
from flowcabal_tui.project.logs import close_log, open_log
from flowcabal_tui.settings.project_file import load_project, save_project
from flowcabal_tui.store import Store
from flowcabal_tui.store.file.lock import ProjectLock, holder_of
from flowcabal_tui.system.files import Folder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = "the words of a thesis"


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    """A file of the user outside of the project."""
    path = tmp_path / "documents" / "0001-thesis.md"
    path.parent.mkdir()
    path.write_text(WORDS)
    return path


@pytest.fixture
async def book(folder: Path) -> Path:
    await create_project(folder, name="Novel", language="en")
    return folder


async def opened(folder: Path, *, read_only: bool = False) -> Store:
    return await Store.open(folder, read_only=read_only, clock=lambda: NOW, language="en")


def by_link(place: Path, target: Path) -> None:
    place.symlink_to(target)


def by_second_name(place: Path, target: Path) -> None:
    os.link(target, place)


def by_pipe(place: Path, target: Path) -> None:
    os.mkfifo(place)


PUT = pytest.mark.parametrize("put", [by_link, by_second_name, by_pipe])
Put = Callable[[Path, Path], None]


@PUT
async def test_a_lock_that_is_no_file_of_the_project_is_not_written_to(book: Path, thesis: Path, put: Put) -> None:
    lock = book / ".flowcabal" / "lock"
    lock.unlink(missing_ok=True)
    put(lock, thesis)
    with pytest.raises(UnsafeFile):
        await opened(book)
    with pytest.raises(UnsafeFile):
        ProjectLock(lock, NOW)
    assert holder_of(lock) is None
    assert thesis.read_text() == WORDS


@PUT
@pytest.mark.parametrize("name", ["project.db", "project.db-wal", "project.db-shm", "project.db-journal"])
@pytest.mark.parametrize("read_only", [False, True])
async def test_a_database_that_is_no_file_of_the_project_is_not_opened(
    book: Path, thesis: Path, put: Put, name: str, read_only: bool
) -> None:
    (book / ".flowcabal" / name).unlink(missing_ok=True)
    put(book / ".flowcabal" / name, thesis)
    with pytest.raises(UnsafeFile, match="not opened") as caught:
        await opened(book, read_only=read_only)
    assert name in caught.value.detail and thesis.read_text() == WORDS


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_state_folder_that_is_a_link_is_not_used(book: Path, tmp_path: Path, read_only: bool) -> None:
    (book / ".flowcabal").rename(tmp_path / "elsewhere")
    (book / ".flowcabal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        await opened(book, read_only=read_only)


async def test_a_journal_that_names_a_file_elsewhere_removes_nothing(book: Path, thesis: Path) -> None:
    """SQLite deletes the file that a hot journal names as its super-journal."""
    database = book / ".flowcabal" / "project.db"
    name, magic = str(thesis).encode(), bytes.fromhex("d9d505f920a163d7")
    pages = database.stat().st_size // 4096
    head = (magic + struct.pack(">IIIII", 0, 1, pages, 512, 4096)).ljust(512, b"\0")
    tail = struct.pack(">I", (1 << 30) // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    database.with_name("project.db-journal").write_bytes(head + tail)
    for read_only in (True, False):
        with pytest.raises(UnsafeFile, match="not opened"):
            await opened(book, read_only=read_only)
    assert thesis.read_text() == WORDS


async def test_a_project_named_by_a_link_of_the_user_opens(book: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(book)
    store = await opened(tmp_path / "link")
    assert await store.book.chapters() == ()
    await store.close()


@pytest.mark.parametrize("name", ["{thesis}", "../../documents/0001-thesis.md", "0001-thesis.md/../../x", 7, None])
async def test_a_row_of_the_mirror_leads_to_no_file_elsewhere(book: Path, thesis: Path, name: object) -> None:
    store = await opened(book)
    try:
        chapter = await store.book.add_chapter("One")
        given = name.format(thesis=thesis) if isinstance(name, str) else name
        await store.values.put(f"mirror/{chapter.id}", {"name": given, "digest": "0"})
        mirror = Mirror(Folder(book), store)
        assert await mirror.edited_outside() == ()
        await mirror.write(await store.book.chapter(chapter.id))
        await store.values.put(f"mirror/{chapter.id}", {"name": given, "digest": "0"})
        await mirror.remove(chapter.id)
        await mirror.left_behind()
    finally:
        await store.close()
    assert thesis.read_text() == WORDS


async def test_a_manuscript_that_is_a_link_is_neither_read_nor_swept_nor_written(book: Path, thesis: Path) -> None:
    (book / "manuscript").rmdir()
    (book / "manuscript").symlink_to(thesis.parent)
    half = thesis.with_name(".abcdefgh.tmp")
    half.write_text("of another program")
    store = await opened(book)
    try:
        chapter = await store.book.add_chapter("Thesis")
        await store.values.put(f"mirror/{chapter.id}", {"name": thesis.name, "digest": "0"})
        mirror = Mirror(Folder(book), store)
        assert await mirror.edited_outside() == () and await mirror.stamps() == {}
        await mirror.sweep()
        with pytest.raises(FlowCabalError, match="Cannot write"):
            await mirror.write(await store.book.chapter(chapter.id))
    finally:
        await store.close()
    assert thesis.read_text() == WORDS and half.exists()
    assert len(list(thesis.parent.iterdir())) == 2


@PUT
async def test_a_chapters_file_that_is_none_is_not_taken_for_an_edit(book: Path, thesis: Path, put: Put) -> None:
    store = await opened(book)
    try:
        chapter = await store.book.add_chapter("Thesis")
        mirror = Mirror(Folder(book), store)
        await mirror.write(await store.book.chapter(chapter.id))
        (file,) = (book / "manuscript").iterdir()
        file.unlink()
        put(file, thesis)
        assert await mirror.edited_outside() == ()
        await mirror.write(await store.book.chapter(chapter.id))
        assert file.is_file() and not file.is_symlink()
    finally:
        await store.close()
    assert thesis.read_text() == WORDS


@pytest.mark.parametrize("name", ["manuscript", "prompts", "profiles", "actions"])
async def test_a_folder_that_is_a_link_is_not_backed_up(book: Path, thesis: Path, tmp_path: Path, name: str) -> None:
    if (book / name).exists():
        (book / name).rmdir()
    (book / name).symlink_to(thesis.parent)
    store = await opened(book)
    try:
        await back_up(store, book, tmp_path / "book.zip", NOW)
    finally:
        await store.close()
    with zipfile.ZipFile(tmp_path / "book.zip") as archive:
        assert not any("thesis" in name for name in archive.namelist())


async def test_a_pipe_or_second_name_is_not_backed_up(book: Path, thesis: Path, tmp_path: Path) -> None:
    (book / "prompts").mkdir()
    os.mkfifo(book / "prompts" / "pipe.md")
    os.link(thesis, book / "prompts" / "second.md")
    store = await opened(book)
    try:
        await back_up(store, book, tmp_path / "book.zip", NOW)
    finally:
        await store.close()
    with zipfile.ZipFile(tmp_path / "book.zip") as archive:
        assert not any(name.startswith("prompts") for name in archive.namelist())


@PUT
async def test_settings_that_are_no_file_of_the_project_are_not_read(book: Path, thesis: Path, put: Put) -> None:
    settings = load_project(book)
    (book / "flowcabal.toml").unlink()
    put(book / "flowcabal.toml", thesis)
    with pytest.raises(SettingsError, match="Cannot read"):
        load_project(book)
    with pytest.raises(OSError):  # noqa: PT011  # UnsafePath is one
        save_project(book, settings)
    assert thesis.read_text() == WORDS


async def test_a_new_project_is_not_made_through_links(folder: Path, thesis: Path) -> None:
    folder.mkdir()
    (folder / ".flowcabal").symlink_to(thesis.parent)
    with pytest.raises(FlowCabalError):
        await create_project(folder, name="Novel", language="en")
    (folder / ".flowcabal").unlink()
    (folder / ".flowcabal").mkdir()
    (folder / ".flowcabal" / ".gitignore").symlink_to(thesis)
    await create_project(folder, name="Novel", language="en")
    assert thesis.read_text() == WORDS and list(thesis.parent.iterdir()) == [thesis]
    (folder / "flowcabal.toml").unlink()
    (folder / "flowcabal.toml").symlink_to(folder / "nowhere")
    with pytest.raises(ProjectExists):
        await create_project(folder, name="Novel", language="en")


def test_the_log_is_not_written_through_a_link(tmp_path: Path, thesis: Path) -> None:
    import logging

    (tmp_path / ".flowcabal").mkdir()
    (tmp_path / ".flowcabal" / "flowcabal.log").symlink_to(thesis)
    handler = open_log(tmp_path, read_only=False)
    logging.getLogger("flowcabal_tui.tests").warning("x")
    close_log(handler)
    assert thesis.read_text() == WORDS


def test_prompts_behind_links_are_not_used(tmp_path: Path, thesis: Path) -> None:
    secret = thesis.with_name("context.inquiry.md")
    secret.write_text("secret")
    (tmp_path / "prompts").symlink_to(thesis.parent)
    assert PromptLibrary(tmp_path / "prompts").source("context.inquiry") is None
    (tmp_path / "prompts").unlink()
    (tmp_path / "prompts").mkdir()
    os.mkfifo(tmp_path / "prompts" / "context.inquiry.md")
    with pytest.raises(SettingsError):
        PromptLibrary(tmp_path / "prompts").get("context.inquiry")
    (tmp_path / "prompts" / "context.inquiry.md").unlink()
    (tmp_path / "prompts" / "context.inquiry.md").symlink_to(secret)
    with pytest.raises(SettingsError):
        PromptLibrary(tmp_path / "prompts").get("context.inquiry")


def test_kinds_of_profile_behind_links_are_not_used(tmp_path: Path, thesis: Path) -> None:
    kind = thesis.parent / "weather"
    kind.mkdir()
    (kind / "kind.toml").write_text('subject = "book"\n[title]\nen = "Weather"\n')
    (kind / "prompt.md").write_text("secret")
    ours = len(ProfileKinds().all())
    (tmp_path / "profiles").symlink_to(thesis.parent)
    assert len(ProfileKinds(tmp_path / "profiles").all()) == ours
    (tmp_path / "profiles").unlink()
    (tmp_path / "profiles" / "weather").mkdir(parents=True)
    (tmp_path / "profiles" / "rain").symlink_to(kind)
    for name in ("kind.toml", "prompt.md"):
        (tmp_path / "profiles" / "weather" / name).symlink_to(kind / name)
    kinds = ProfileKinds(tmp_path / "profiles")
    assert len(kinds.all()) == ours and len(kinds.problems()) == 1


@pytest.mark.parametrize("named", ["/etc/hosts", "../documents/a.json", "actions/../../documents/a.json", "link.json"])
def test_actions_come_from_the_project_only(folder: Path, thesis: Path, named: str) -> None:
    (thesis.parent / "a.json").write_text("[]")
    (folder / "actions").mkdir(parents=True)
    (folder / "link.json").symlink_to(thesis.parent / "a.json")
    (folder / "actions" / "b.json").write_text("[]")
    (folder / "actions" / "link.json").symlink_to(thesis.parent / "a.json")
    os.mkfifo(folder / "actions" / "pipe.json")
    assert project_files(folder, ["actions/b.json"]) == (folder / "actions" / "b.json",) * 2
    with pytest.raises(ActionFileError, match="cannot be used"):
        project_files(folder, [named])


def test_an_import_follows_no_link_of_the_folder_and_says_so(tmp_path: Path, thesis: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "1.md").write_text("# One\n\nA ferry.\n")
    (texts / "2.md").symlink_to(thesis)
    (texts / "3").symlink_to(thesis.parent)
    os.mkfifo(texts / "4.md")
    preview = read_manuscript(texts)
    assert [chapter.title for chapter in preview.chapters] == ["One"]
    assert any("2.md" in warning and "3" in warning for warning in preview.warnings)
    with pytest.raises(ManuscriptError, match="cannot be read"):
        read_manuscript(texts / "4.md")
