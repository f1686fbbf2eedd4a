"""Opening, locking, closing and all that can be wrong with the file or the folder."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import (
    DiskFull,
    ProjectDamaged,
    ProjectError,
    ProjectLocked,
    ProjectNotFound,
    ProjectReadOnly,
    ProjectTooNew,
    UnsafeFileSystem,
)
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.locale import use_language
from flowcabal_tui.store.file.connection import open_writable
from flowcabal_tui.store.file.faults import fault
from flowcabal_tui.store.file.filesystem import file_system_of, is_network
from flowcabal_tui.store.file.lock import holder_of
from flowcabal_tui.store.file.replaced import LOOK_SECONDS
from flowcabal_tui.store.maintenance.maintenance import require_whole
from flowcabal_tui.store.migrations import MIGRATIONS
from flowcabal_tui.store.migrations.m001_initial import STATEMENTS as FIRST
from flowcabal_tui.store.migrations.m002_items_and_state import STATEMENTS as SECOND
from flowcabal_tui.store.migrations.m003_story import STATEMENTS as THIRD
from flowcabal_tui.store.migrations.m004_money import STATEMENTS as FOURTH
from flowcabal_tui.store.migrations.m005_drafts_and_rewrites import STATEMENTS as FIFTH
from flowcabal_tui.store.migrations.m006_proposals import STATEMENTS as SIXTH
from flowcabal_tui.store.migrations.m007_sent_requests import STATEMENTS as SEVENTH
from flowcabal_tui.store.migrations.m008_conversations import STATEMENTS as EIGHTH
from flowcabal_tui.store.migrations.m009_findings import STATEMENTS as NINTH
from flowcabal_tui.store.migrations.m010_comparisons import STATEMENTS as TENTH
from flowcabal_tui.store.migrations.m011_comments import STATEMENTS as ELEVENTH
from flowcabal_tui.store.migrations.m012_locks_and_passes import STATEMENTS as TWELFTH
from flowcabal_tui.store.migrations.m013_proposed_rewrites import STATEMENTS as THIRTEENTH
from flowcabal_tui.store.migrations.m014_changes import STATEMENTS as FOURTEENTH
from flowcabal_tui.store.migrations.m015_place_words import STATEMENTS as FIFTEENTH
from flowcabal_tui.store.migrations.m016_own_kinds import STATEMENTS as SIXTEENTH
from flowcabal_tui.store.migrations.m017_note_words import STATEMENTS as SEVENTEENTH
from flowcabal_tui.store.store import Store

HOLDER = """
import asyncio, sys
from datetime import datetime, UTC
from pathlib import Path
from flowcabal_tui.store.store import Store
async def main():
    await Store.open(Path(sys.argv[1]), clock=lambda: datetime.now(UTC), language="zh")
    print("open", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""


@pytest.fixture
def other_process(folder):
    """Another process that has the project open for writing."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "open\n"
    yield child
    child.kill()
    child.communicate()


def database(folder):
    return folder / ".flowcabal" / "project.db"


async def test_released_migrations_are_never_changed():
    migrations = (
        FIRST,
        SECOND,
        THIRD,
        FOURTH,
        FIFTH,
        SIXTH,
        SEVENTH,
        EIGHTH,
        NINTH,
        TENTH,
        ELEVENTH,
        TWELFTH,
        THIRTEENTH,
        FOURTEENTH,
        FIFTEENTH,
        SIXTEENTH,
        SEVENTEENTH,
    )
    assert [digest_of(list(statements)) for statements in migrations] == RELEASED
    assert len(MIGRATIONS) == len(RELEASED)


async def test_a_second_writer_is_told_who_has_it_and_may_read(folder, reopen, other_process):
    with pytest.raises(ProjectLocked, match=f"process {other_process.pid} "):
        await reopen()
    reader = await reopen(read_only=True)
    assert reader.holder.pid == other_process.pid
    assert await reader.runs.summaries() == ()


async def test_a_killed_writer_blocks_nobody(folder, reopen, other_process):
    os.kill(other_process.pid, signal.SIGKILL)
    other_process.wait()
    assert holder_of(folder / ".flowcabal" / "lock") is None
    store = await reopen()
    assert await store.journal.put_text("here")


async def test_the_same_process_cannot_open_it_twice_until_it_is_closed(store, reopen):
    with pytest.raises(ProjectLocked, match=str(os.getpid())):
        await reopen()
    await store.close()
    assert await (await reopen()).journal.put_text("again")


async def test_a_reader_sees_what_the_writer_commits_and_cannot_write(store, reopen):
    reader = await reopen(read_only=True)
    name = await store.journal.put_text("大雪")
    assert await reader.journal.text(name) == "大雪"
    assert reader.read_only
    with pytest.raises(ProjectReadOnly):
        await reader.journal.put_text("mine")


async def test_reading_makes_no_project(folder, reopen):
    with pytest.raises(ProjectNotFound):
        await reopen(read_only=True)
    assert not folder.exists()


async def test_a_closed_store_takes_nothing_more(store):
    await store.close()
    with pytest.raises(ProjectError, match="closed"):
        await store.journal.put_text("late")


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_newer_project_is_refused_unchanged(store, reopen, folder, read_only):
    await store.close()
    with sqlite3.connect(database(folder)) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(ProjectTooNew, match="99"):
        await reopen(read_only=read_only)
    with sqlite3.connect(database(folder)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (99,)
    connection.close()


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_file_that_is_no_database_is_damaged_and_the_lock_is_let_go(store, reopen, folder, read_only):
    await store.close()
    database(folder).write_bytes(b"not a database, surely" * 500)
    with pytest.raises(ProjectDamaged):
        await reopen(read_only=read_only)
    assert holder_of(folder / ".flowcabal" / "lock") is None


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_schema_with_damaged_bytes_is_damaged(store, reopen, folder, read_only):
    """SQLite names the bytes in its message, which Python cannot decode."""
    await store.close()
    data = database(folder).read_bytes()
    database(folder).write_bytes(data.replace(b"CREATE TABLE draft", b"CREATE TABL\xff draft"))
    with pytest.raises(ProjectDamaged, match="damaged"):
        await reopen(read_only=read_only)
    with pytest.raises(ProjectDamaged):
        require_whole(database(folder))
    assert holder_of(folder / ".flowcabal" / "lock") is None


async def test_a_damaged_table_that_is_met_at_the_end_of_the_opening_lets_go_of_the_lock(store, reopen, folder):
    await store.close()
    with contextlib.closing(sqlite3.connect(database(folder))) as connection:
        pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name='task'").fetchall()
        ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    data = bytearray(database(folder).read_bytes())
    for (page,) in pages:
        data[(page - 1) * size : page * size] = bytes(size)
    database(folder).write_bytes(data)
    with pytest.raises(ProjectDamaged):
        await reopen()
    assert holder_of(folder / ".flowcabal" / "lock") is None, "it can be rescued while the program is open"


async def test_a_page_of_garbage_is_found_by_the_check(store, reopen, folder):
    for number in range(200):
        await store.journal.put_text(f"{number} " * 500)
    await store.check()
    await store.close()
    data = bytearray(database(folder).read_bytes())
    data[-8_192:-4_096] = os.urandom(4_096)
    database(folder).write_bytes(data)
    with pytest.raises(ProjectDamaged):
        await (await reopen()).check()


@pytest.mark.parametrize("damage", ["value SET json='{'", "value SET json=cast(x'ff' AS TEXT)", "value SET json=x'00'"])
async def test_a_row_that_cannot_be_read_is_a_damaged_project(store, reopen, folder, damage):
    await store.values.put("tokens", {})
    await store.close()
    with sqlite3.connect(folder / ".flowcabal" / "project.db") as database:
        database.execute(f"UPDATE {damage}")
    database.close()
    opened = await reopen()
    with pytest.raises(ProjectDamaged):
        await opened.values.get("tokens", object)


def texts(file: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [key for (key,) in database.execute("SELECT key FROM value ORDER BY key")]


@pytest.mark.parametrize("how", ["replace", "remove", "replace with its log"])
async def test_a_database_that_is_replaced_while_open_takes_no_more_and_is_kept_beside_the_other(
    store, reopen, folder, tmp_path, clock, how
):
    file = folder / ".flowcabal" / "project.db"
    other = await Store.open(tmp_path / "other", clock=clock, language="zh")
    await other.values.put("of the other", 1)
    await other.close()
    await store.values.put("before", 1)
    if how == "remove":
        file.unlink()
    else:
        os.replace(tmp_path / "other" / ".flowcabal" / "project.db", file)
    if "log" in how:
        file.with_name("project.db-wal").unlink()
    await asyncio.sleep(2 * LOOK_SECONDS)
    with pytest.raises(DiskFull, match="replaced by another program"):
        await store.values.put("after", 1)
    assert await store.values.get("before", int) == 1
    await store.close()
    (kept,) = folder.glob(".flowcabal/project-before-*.db")
    assert texts(kept) == ["before"]
    if how != "remove":
        assert texts(file) == ["of the other"]


async def test_a_project_whose_folder_is_moved_while_open_goes_on(store, folder, tmp_path):
    await store.values.put("before", 1)
    folder.rename(tmp_path / "moved")
    await store.values.put("after", 1)
    await store.close()
    assert texts(tmp_path / "moved" / ".flowcabal" / "project.db") == ["after", "before"]
    assert not [*tmp_path.rglob("project-before-*")]


async def test_a_folder_that_cannot_be_made_is_a_plain_error(folder, reopen):
    folder.write_text("a file is in the way")
    with pytest.raises(DiskFull, match="kept"):
        await reopen()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_a_folder_without_write_permission_can_be_read(store, reopen, folder):
    name = await store.journal.put_text("大雪")
    await store.close()
    (folder / ".flowcabal").chmod(0o555)
    database(folder).chmod(0o444)
    try:
        with pytest.raises(DiskFull):
            await reopen()
        assert await (await reopen(read_only=True)).journal.text(name) == "大雪"
    finally:
        (folder / ".flowcabal").chmod(0o755)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_a_folder_without_write_permission_can_be_backed_up(store, folder, tmp_path, clock):
    await store.close()
    (folder / ".flowcabal").chmod(0o555)
    try:
        reader = await Store.open(folder, read_only=True, clock=clock, language="zh")
        await reader.maintenance.copy_to(tmp_path / "copy.db")
        await reader.close()
    finally:
        (folder / ".flowcabal").chmod(0o755)
    assert (tmp_path / "copy.db").stat().st_size > 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_what_was_not_closed_says_so_where_it_cannot_be_read(store, folder, tmp_path, clock):
    await store.journal.put_text("大雪")
    left = shutil.copytree(folder, tmp_path / "left", ignore=shutil.ignore_patterns("*-shm"))
    (left / ".flowcabal").chmod(0o555)
    try:
        with pytest.raises(ProjectError, match="It was not closed properly last time"):
            await Store.open(left, read_only=True, clock=clock, language="zh")
    finally:
        (left / ".flowcabal").chmod(0o755)


async def test_a_copy_of_an_open_project_without_its_log_files_can_be_read(store, folder, tmp_path, clock):
    name = await store.journal.put_text("大雪")
    await store.close()
    shutil.copytree(folder, tmp_path / "copy")
    copy = await Store.open(tmp_path / "copy", read_only=True, clock=clock, language="zh")
    assert await copy.journal.text(name) == "大雪"
    await copy.close()


@pytest.mark.parametrize(
    ("place", "statements", "reason"),
    [
        ("db", ["PRAGMA max_page_count=2", "CREATE TABLE t (x)", "INSERT INTO t VALUES (zeroblob(9999))"], "磁盘已满"),
        ("db", ["PRAGMA query_only=1", "CREATE TABLE t (x)"], "这里不能写入"),
        ("none/db", ["CREATE TABLE t (x)"], "无法打开数据库文件"),
    ],
)
def test_the_reason_of_a_refused_write_is_in_the_language_of_the_user(tmp_path, place, statements, reason):
    use_language("zh")
    try:
        found = fault(refused(tmp_path / place, statements))
        assert isinstance(found, DiskFull)
        assert reason in found.detail
    finally:
        use_language("en")


def refused(file: Path, statements: list[str]) -> sqlite3.Error:
    try:
        with contextlib.closing(sqlite3.connect(file)) as connection:
            for statement in statements:
                connection.execute(statement)
    except sqlite3.Error as error:
        return error
    raise AssertionError(statements)


MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:35 / /home/me/net\040drive rw - nfs4 server:/x rw
41 22 0:36 / /mnt/c rw - 9p drvfs rw
42 22 0:37 / /home/me/net\040drive/local rw shared:3 master:1 - btrfs /dev/sdb rw
43 22 0:38 / /phone rw - fuse.sshfs me@host: rw
44 22 0:39 / /vault rw - fuse.gocryptfs /x rw
"""


@pytest.mark.parametrize(
    ("place", "file_system", "network"),
    [
        ("/home/me/novel", "ext4", False),
        ("/home/me/net drive/novel", "nfs4", True),
        ("/home/me/net drive/local/novel", "btrfs", False),
        ("/mnt/c/novel", "9p", True),
        ("/phone/novel", "fuse.sshfs", True),
        ("/vault/novel", "fuse.gocryptfs", False),
    ],
)
def test_network_file_systems_are_known_by_the_mounts(tmp_path, place, file_system, network):
    found = file_system_of(type(tmp_path)(place), MOUNTS)
    assert (found, is_network(found)) == (file_system, network)


def test_without_a_list_of_mounts_the_file_system_is_taken_as_local(tmp_path):
    assert not is_network(file_system_of(tmp_path, ""))


async def test_a_file_system_without_locks_is_refused_but_can_be_read(store, reopen, folder, monkeypatch):
    name = await store.journal.put_text("大雪")
    await store.close()

    def no_locks(_file, _how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.lockf", no_locks)
    with pytest.raises(UnsafeFileSystem, match="No locks"):
        await reopen()
    assert await (await reopen(read_only=True)).journal.text(name) == "大雪"


async def test_on_a_network_file_system_a_rollback_journal_is_used(folder, reopen, monkeypatch):
    monkeypatch.setattr("flowcabal_tui.store.file.filesystem.mounts", lambda: "1 0 0:1 / / rw - nfs server:/ rw")
    store = await reopen()
    name = await store.journal.put_text("大雪")
    assert not database(folder).with_name("project.db-wal").exists()
    assert await (await reopen(read_only=True)).journal.text(name) == "大雪"
    assert store.network == "nfs"


async def test_a_log_from_a_local_disk_is_read_without_shared_memory(store, folder, tmp_path):
    await store.values.put("before", "大雪")
    moved = tmp_path / "moved"
    await asyncio.to_thread(subprocess.run, ["cp", "-r", folder, moved], check=True)  # as a killed process leaves it
    shared = database(moved).with_name("project.db-shm")
    shared.unlink()
    shared.mkdir()  # nothing can be mapped there
    with contextlib.closing(open_writable(database(moved), network=True)) as connection:
        assert connection.execute("SELECT count(*) FROM value WHERE key='before'").fetchall() == [(1,)]
        assert connection.execute("PRAGMA journal_mode").fetchall() == [("delete",)]
        with contextlib.closing(sqlite3.connect(database(moved), timeout=0)) as other:
            assert other.execute("SELECT count(*) FROM value").fetchone()[0] > 0, "the lock is not exclusive any more"


async def test_a_local_folder_is_not_called_a_network_file_system(store):
    assert store.network == ""


RELEASED = [
    "3f0302bf7560bdc3468330793509b5c5",
    "5a14644e5be3979edb9384047c02447e",
    "76457a26c948c7812eea2e1a5f1c3751",
    "870bfd7bf78af518aed4a0fdd8e8d81a",
    "7a7ca14f96039df7d8feb389320e03bd",
    "5f44e45bf5ff8a2525bba30a165d0936",
    "b921a3d265392b8aa98a2e5db4168519",
    "2f9229358772d4eb0e663561102fb400",
    "03689f86059fe7935d97a3679df16ca5",
    "b365dfba65690a7ee2efa80a73a5b051",
    "e428642d7a2e662150fe47bdd96f7ff2",
    "3dba7bc8838285249509175c535f1acb",
    "64bbd23b37433777a160de47666e22d7",
    "256bc626422613fa8ed3152549d4877e",
    "a7c586bfa4de8f7812dd99aac27654cd",
    "804b96b38813e945c259b08d345dfe94",
    "2b67343c8d1462be60a9718238361a56",
]
