"""A folder that may be a stranger's: what is read, written and removed is in it, and regular."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from flowcabal_tui.system.files import SHARED, Folder, UnsafePath, open_own, write_whole


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of the user that nothing may read or change."""
    path = tmp_path / "outside" / "thesis.txt"
    path.parent.mkdir()
    path.write_text("private words")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "novel" / "manuscript").mkdir(parents=True)
    return Folder(tmp_path / "novel")


def test_a_link_is_neither_read_nor_listed_nor_written_through(folder: Folder, outside: Path) -> None:
    (folder.path / "manuscript" / "a.md").symlink_to(outside)
    with pytest.raises(UnsafePath):
        folder.read("manuscript", "a.md")
    assert folder.status("manuscript", "a.md") is None and folder.is_there("manuscript", "a.md")
    assert folder.statuses("manuscript") == {} and list(folder.walk()) == []
    folder.write(b"new", "manuscript", "a.md")
    assert folder.read("manuscript", "a.md") == b"new" and outside.read_text() == "private words"


def test_a_link_in_place_of_a_folder_leads_nowhere(folder: Folder, outside: Path) -> None:
    (folder.path / "manuscript").rmdir()
    (folder.path / "manuscript").symlink_to(outside.parent)
    for refused in (
        lambda: folder.read("manuscript", "thesis.txt"),
        lambda: folder.write(b"x", "manuscript", "thesis.txt"),
        lambda: folder.remove("manuscript", "thesis.txt"),
        lambda: folder.make("manuscript", "inner"),
    ):
        with pytest.raises(UnsafePath):
            refused()
    assert folder.statuses("manuscript") == {} and list(folder.walk("manuscript")) == []
    assert folder.folders("manuscript") == () and folder.folders() == ()
    assert [path.name for path in outside.parent.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("name", ["..", ".", "", "../outside/thesis.txt", "/etc/passwd", "a/b", "a\0b"])
def test_a_name_that_leads_elsewhere_is_refused(folder: Folder, outside: Path, name: str) -> None:
    for refused in (
        lambda: folder.read("manuscript", name),
        lambda: folder.write(b"x", "manuscript", name),
        lambda: folder.remove("manuscript", name),
        lambda: folder.read(name, "thesis.txt"),
    ):
        with pytest.raises(UnsafePath, match="plain file name"):
            refused()
    assert outside.read_text() == "private words"


def test_a_pipe_in_place_of_a_file_does_not_hold_the_reader_up(folder: Folder) -> None:
    os.mkfifo(folder.path / "a.md")
    with pytest.raises(UnsafePath):
        folder.read("a.md")
    with pytest.raises(UnsafePath):
        open_own(folder.path / "a.md", os.O_RDWR | os.O_CREAT)
    assert folder.statuses() == {}


def test_a_second_name_of_a_file_elsewhere_is_refused(folder: Folder, outside: Path) -> None:
    os.link(outside, folder.path / "a.md")
    with pytest.raises(UnsafePath, match="hard link"):
        folder.read("a.md")
    with pytest.raises(UnsafePath):
        open_own(folder.path / "a.md", os.O_WRONLY | os.O_TRUNC)
    assert outside.read_text() == "private words"
    folder.write(b"new", "a.md")
    assert outside.read_text() == "private words"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(folder: Folder) -> None:
    (folder.path / "a.md").write_text("theirs")
    os.chown(folder.path / "a.md", 12345, 12345)
    with pytest.raises(UnsafePath, match="another user"):
        folder.read("a.md")
    os.chown(folder.path, 12345, 12345)  # root in a container works in the folder of somebody
    assert folder.read("a.md") == b"theirs"


def test_a_folder_reached_by_a_link_of_the_user_works(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder.path)
    Folder(tmp_path / "link").write(b"x", "manuscript", "a.md")
    assert folder.read("manuscript", "a.md") == b"x"


def test_what_is_made_is_private_and_a_file_keeps_its_permissions(folder: Folder) -> None:
    folder.write(b"x", "new", "a.md")
    assert stat.S_IMODE((folder.path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder.path / "new" / "a.md").stat().st_mode) == 0o600
    (folder.path / "new" / "a.md").chmod(0o640)
    folder.write(b"y", "new", "a.md")
    assert stat.S_IMODE((folder.path / "new" / "a.md").stat().st_mode) == 0o640


def test_shared_files_get_what_the_umask_leaves(folder: Folder) -> None:
    before = os.umask(0o027)
    try:
        Folder(folder.path, SHARED).write(b"x", "new", "a.md")
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder.path / "new").stat().st_mode) == 0o750
    assert stat.S_IMODE((folder.path / "new" / "a.md").stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_no_half_file(folder: Folder) -> None:
    (folder.path / "a.md").mkdir()
    with pytest.raises(OSError):  # noqa: PT011  # which one is the system's affair
        folder.write(b"x", "a.md")
    assert [path.name for path in folder.path.iterdir() if path.name.endswith(".tmp")] == []


def test_a_file_above_the_limit_is_refused(folder: Folder) -> None:
    (folder.path / "a.md").write_bytes(b"x" * 11)
    assert len(folder.read("a.md", limit=11)) == 11
    with pytest.raises(OSError, match="larger than"):
        folder.read("a.md", limit=10)


def test_a_file_of_the_user_is_replaced_as_a_whole_and_gets_the_permissions_that_were_asked_for(tmp_path: Path) -> None:
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "new" / "secrets.toml"
    write_whole(place, b"one")
    place.chmod(0o644)
    elsewhere.hardlink_to(place)
    write_whole(place, b"two", keep_mode=True)
    assert (elsewhere.read_bytes(), place.read_bytes()) == (b"one", b"two")
    place.chmod(0o640)
    write_whole(place, b"three", keep_mode=True)
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    write_whole(place, b"four")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600 and stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_link_in_place_of_a_file_of_the_user_is_replaced_and_not_followed(tmp_path: Path) -> None:
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "config.toml"
    elsewhere.write_bytes(b"old")
    place.symlink_to(elsewhere)
    write_whole(place, b"new", keep_mode=True)
    assert (elsewhere.read_bytes(), place.read_bytes(), place.is_symlink()) == (b"old", b"new", False)
