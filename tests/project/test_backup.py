"""A backup while the project is written to, what is made of it, and archives that mean harm."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sqlite3
import stat
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import DiskFull, ProjectDamaged, ProjectError, ProjectExists, UnknownName
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.project.book import backup
from flowcabal_tui.project.book.backup import KNOWLEDGE, MANIFEST, back_up, restore
from flowcabal_tui.settings.project_file import (
    ModelsSettings,
    ProjectSettings,
    ProjectTable,
    load_project,
    save_project,
)
from flowcabal_tui.store import Store
from flowcabal_tui.viking.pack import Pack, read, write

MADE = datetime(2026, 1, 1, tzinfo=UTC)


def now() -> datetime:
    return MADE


@pytest.fixture
async def archive(folder: Path, tmp_path: Path) -> Path:
    """The backup of a project with two chapters, one of them with a file."""
    folder.mkdir()
    model = Endpoint(model="m", base_url="https://me:hunter2@example.com/v1")
    table = ProjectTable.model_validate({"id": "0" * 32, "name": "渡口", "language": "zh", "author": ""})
    save_project(folder, ProjectSettings(project=table, models=ModelsSettings(user=model, agent=model)))
    (folder / "manuscript").mkdir()
    (folder / "manuscript" / "0001-一.md").write_text("# 一\n\n大雪。\n", encoding="utf-8")
    (folder / "prompts").mkdir()
    (folder / "prompts" / "curator.l1.md").write_text("mine", encoding="utf-8")
    (folder / "notes.txt").write_text("not of the project")
    (folder / "manuscript" / "link.md").symlink_to("/etc/passwd")
    store = await Store.open(folder, clock=now, language="zh")
    await store.book.import_chapters([ImportedChapter("一", "大雪。"), ImportedChapter("二", "")])
    try:
        await back_up(store, folder, tmp_path / "book.zip", MADE)
        with pytest.raises(ProjectExists):
            await back_up(store, folder, tmp_path / "book.zip", MADE)
    finally:
        await store.close()
    return tmp_path / "book.zip"


async def test_a_backup_holds_no_secret_and_becomes_the_same_project(archive: Path, tmp_path: Path) -> None:
    manifest = await restore(archive, tmp_path / "again")
    assert sorted(manifest.members) == [
        "flowcabal.toml", "manuscript/0001-一.md", "project.db", "prompts/curator.l1.md"
    ]  # fmt: skip
    assert (manifest.name, manifest.made) == ("渡口", MADE)
    assert (tmp_path / "again" / "manuscript" / "0001-一.md").read_text("utf-8") == "# 一\n\n大雪。\n"
    assert load_project(tmp_path / "again").models.user.base_url == "https://example.com/v1"
    assert b"hunter2" not in zipfile.ZipFile(archive).read("flowcabal.toml")
    store = await Store.open(tmp_path / "again", clock=now, language="zh")
    try:
        assert [await store.book.text(chapter.id) for chapter in await store.book.chapters()] == ["大雪。", ""]
    finally:
        await store.close()
    assert stat.S_IMODE((tmp_path / "again").stat().st_mode) == 0o700
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [], "nothing is left beside it"


async def test_a_pack_of_the_knowledge_server_goes_along(folder: Path, archive: Path, tmp_path: Path) -> None:
    async def pack(path: Path) -> bool:
        path.write_bytes(b"vectors")
        return True

    store = await Store.open(folder, clock=now, language="zh")
    try:
        await back_up(store, folder, tmp_path / "with.zip", MADE, pack)
    finally:
        await store.close()
    await restore(tmp_path / "with.zip", tmp_path / "again")
    assert (tmp_path / "again" / ".flowcabal" / KNOWLEDGE).read_bytes() == b"vectors"


async def packed(folder: Path, target: Path) -> Path:
    store = await Store.open(folder, clock=now, language="zh")
    try:
        await back_up(store, folder, target, MADE)
    finally:
        await store.close()
    return target


async def test_whatever_the_names_of_the_files_a_backup_that_is_made_is_restored(
    folder: Path, archive: Path, tmp_path: Path
) -> None:
    odd = [folder / "prompts" / name for name in ('why? "so": <a|b>*.md', "A.md", "a.md")]
    for path in odd:
        path.write_text(path.name, encoding="utf-8")
    await restore(await packed(folder, tmp_path / "odd.zip"), tmp_path / "again")
    assert [(tmp_path / "again" / "prompts" / path.name).read_text("utf-8") for path in odd] == [
        path.read_text("utf-8") for path in odd
    ]


@pytest.mark.parametrize("name", ["two\nlines.md", "back\\slash.md", "not\udcffutf8.md"])
async def test_a_file_that_could_not_be_restored_is_told_before_a_backup_is_made(
    folder: Path, archive: Path, tmp_path: Path, name: str
) -> None:
    (folder / "prompts" / name).write_text("x", encoding="utf-8")
    with pytest.raises(ProjectError, match="cannot be added to a backup"):
        await packed(folder, tmp_path / "odd.zip")
    assert not (tmp_path / "odd.zip").exists()


async def test_names_that_windows_cannot_write_are_refused_there(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = rewritten(archive, lambda members, _: members.update({"manuscript/C:outside.md": b"x"}))
    monkeypatch.setattr(backup, "WINDOWS", True)
    with pytest.raises(ProjectDamaged, match="elsewhere"):
        await restore(changed, tmp_path / "again")


async def test_a_key_in_an_address_is_not_in_a_backup_however_it_is_written(
    folder: Path, archive: Path, tmp_path: Path
) -> None:
    settings = (folder / "flowcabal.toml").read_text("utf-8")
    given = 'base_url = "https://me:hunter2@example.com/v1"'
    assert given in settings
    kept = "# mine\nbase_url = 'https://me:hunter2\\u0040example.com/v1?key=hunter3#hunter4'".replace("'", '"')
    (folder / "flowcabal.toml").write_text(
        settings.replace(given, kept, 1) + '\n# once base_url = "https://me:hunter5@example.com/v1"\n', encoding="utf-8"
    )
    target = await packed(folder, tmp_path / "keys.zip")
    text = zipfile.ZipFile(target).read("flowcabal.toml").decode()
    assert "hunter" not in text and "# mine" in text
    await restore(target, tmp_path / "again")
    assert load_project(tmp_path / "again").models.user.base_url == "https://example.com/v1"


async def test_a_file_that_cannot_be_read_is_not_told_as_a_lack_of_room(tmp_path: Path) -> None:
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(ProjectError, match=r"Cannot read .*folder\.zip") as caught:
        await restore(tmp_path / "folder.zip", tmp_path / "again")
    assert not isinstance(caught.value, DiskFull)


async def test_a_folder_that_holds_something_is_refused_unchanged(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("here")
    with pytest.raises(ProjectExists):
        await restore(archive, tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]
    (tmp_path / "empty").mkdir()
    await restore(archive, tmp_path / "empty")


Members = dict[str, bytes]
Change = Callable[[Members, dict[str, object]], object]


def rewritten(archive: Path, change: Change, *, true: bool = True) -> Path:
    """The archive with other members; its manifest tells the truth of them, unless it is not to."""
    with zipfile.ZipFile(archive) as source:
        members = {name: source.read(name) for name in source.namelist()}
    manifest = json.loads(members.pop(MANIFEST))
    change(members, manifest)
    if true:
        manifest["members"] = {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()
        }
    target = archive.with_name("changed.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as sink:
        for name, data in members.items():
            sink.writestr(name, data)
        sink.writestr(MANIFEST, json.dumps(manifest))
    return target


def spoil_database(members: Members, _manifest: object) -> None:
    members["project.db"] = members["project.db"][:4096] + os.urandom(8192)


def trigger(members: Members, _manifest: object) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(members["project.db"])
        connection.execute("CREATE TRIGGER bite AFTER INSERT ON version BEGIN DELETE FROM version; END")
        connection.commit()
        members["project.db"] = connection.serialize()


@pytest.mark.parametrize(
    ("change", "true"),
    [
        (lambda members, _: members.update({"../outside.md": b"x"}), True),
        (lambda members, _: members.update({"/tmp/outside.md": b"x"}), True),
        (lambda members, _: members.update({"manuscript/../../outside.md": b"x"}), True),
        (lambda members, _: members.update({"manuscript/..\\outside.md": b"x"}), True),
        (lambda members, _: members.update({"manuscript/two\nlines.md": b"x"}), True),
        (lambda members, _: members.update({"manuscript/a": b"x", "manuscript/a/b.md": b"x"}), True),
        (lambda members, _: members.update({".flowcabal/lock": b"x"}), True),
        (lambda members, _: members.update({"manuscript/.git/hooks": b"x"}), True),
        (lambda members, _: members.update({"setup.py": b"x"}), True),
        (lambda members, _: members.update({"manuscript/bomb.md": bytes(200 << 20)}), True),
        (lambda members, _: members.update({"manuscript/0001-一.md": b"changed"}), False),
        (lambda members, _: members.pop("project.db"), True),
        (lambda members, _: members.pop("prompts/curator.l1.md"), False),
        (lambda _members, manifest: manifest.update(form="other/1"), True),
        (lambda _members, manifest: manifest.pop("made"), True),
        (lambda members, _: members.update({"flowcabal.toml": b"\xff[["}), True),
        (lambda members, _: members.update({"project.db": b""}), True),
        (spoil_database, True),
        (trigger, True),
    ],
)
async def test_an_archive_that_means_harm_or_is_not_whole_makes_nothing(
    archive: Path, tmp_path: Path, change: Change, true: bool
) -> None:
    changed = rewritten(archive, change, true=true)
    with pytest.raises(ProjectDamaged) as refused:
        await restore(changed, tmp_path / "deep" / "again")
    assert "another backup" in refused.value.advice, "no project is left that could be rescued"
    assert not (tmp_path / "deep" / "again").exists()
    assert not (tmp_path / "outside.md").exists() and not (tmp_path / "deep" / "outside.md").exists()
    assert not (tmp_path / "deep").exists() or list((tmp_path / "deep").iterdir()) == []


async def test_links_and_members_that_come_twice_are_refused(archive: Path, tmp_path: Path) -> None:
    link = zipfile.ZipInfo("manuscript/link.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16

    def named(members: Members, manifest: dict[str, object]) -> None:
        members["manuscript/link.md"] = b"/etc/passwd"

    true = rewritten(archive, named)
    with zipfile.ZipFile(true) as source:
        members = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as sink:
        for name, data in members.items():
            sink.writestr(link if name == link.filename else name, data)
    with pytest.raises(ProjectDamaged, match="elsewhere"):
        await restore(tmp_path / "link.zip", tmp_path / "again")
    with zipfile.ZipFile(true, "a") as sink, pytest.warns(UserWarning, match="Duplicate"):
        sink.writestr("manuscript/link.md", b"other")
    with pytest.raises(ProjectDamaged, match="twice"):
        await restore(true, tmp_path / "again")


async def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path, archive: Path) -> None:
    with pytest.raises(UnknownName, match="no file"):
        await restore(tmp_path / "nothing.zip", tmp_path / "again")
    (tmp_path / "text.zip").write_text("not an archive")
    cut = archive.read_bytes()
    (tmp_path / "cut.zip").write_bytes(cut[: len(cut) // 2])
    for name in ("text.zip", "cut.zip"):
        with pytest.raises(ProjectDamaged):
            await restore(tmp_path / name, tmp_path / "again")
    data = bytearray(cut)
    with zipfile.ZipFile(io.BytesIO(cut)) as whole:
        at = whole.getinfo("project.db").header_offset + 200
    data[at : at + 40] = os.urandom(40)
    (tmp_path / "flipped.zip").write_bytes(data)
    with pytest.raises(ProjectDamaged):
        await restore(tmp_path / "flipped.zip", tmp_path / "again")


async def test_a_backup_whose_files_have_damaged_names_is_refused(archive: Path, tmp_path: Path) -> None:
    whole, name = archive.read_bytes(), "manuscript/0001-一.md".encode()
    first, last = whole.index(name), whole.rindex(name)
    for number, at in enumerate((first, last)):
        data = bytearray(whole)
        data[at + 16] = 0xFF
        (tmp_path / f"{number}.zip").write_bytes(data)
        with pytest.raises(ProjectDamaged):
            await restore(tmp_path / f"{number}.zip", tmp_path / "again")


async def test_a_damaged_backup_that_was_packed_again_by_another_method_is_refused(
    archive: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(tmp_path / "lzma.zip", "w", zipfile.ZIP_LZMA) as sink:
        for name in source.namelist():
            sink.writestr(name, source.read(name))
        at = sink.getinfo("project.db").header_offset + 200
    await restore(tmp_path / "lzma.zip", tmp_path / "whole")
    data = bytearray((tmp_path / "lzma.zip").read_bytes())
    data[at : at + 40] = bytes(40)
    (tmp_path / "lzma.zip").write_bytes(data)
    with pytest.raises(ProjectDamaged):
        await restore(tmp_path / "lzma.zip", tmp_path / "again")
    assert backup.backups_of(tmp_path, "x") == []


async def test_a_pipe_or_a_device_is_no_backup(tmp_path: Path) -> None:
    """A pipe would block for ever, and `/dev/zero` would fill the memory."""
    os.mkfifo(tmp_path / "pipe.zip")
    for file in (tmp_path / "pipe.zip", Path("/dev/null"), tmp_path):
        with pytest.raises(ProjectError, match="Cannot read") as refused:
            await restore(file, tmp_path / "again")
        assert "not a regular file" in refused.value.detail


async def test_a_backup_is_made_while_the_clock_is_before_1980(
    folder: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.localtime", lambda *_seconds: time.struct_time((1970, 1, 1, 0, 0, 0, 3, 1, 0)))
    await restore(await packed(folder, tmp_path / "early.zip"), tmp_path / "again")
    write(tmp_path / "knowledge.ovpack", Pack(b"tree", "known"))
    assert read(tmp_path / "knowledge.ovpack") == Pack(b"tree", "known")
