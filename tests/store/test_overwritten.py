"""Another program writes over the database, or over its log, while it is open."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.project.rescue import Rescue
from flowcabal_tui.store.file.replaced import LOOK_SECONDS, OpenFile, is_removed
from flowcabal_tui.store.store import Store

OVERWRITTEN = "overwritten by another program"
LONG = "The river rose. " * 50
HONEST = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    database.execute(statement).fetchall()
database.close()
"""


def in_place(source: Path, target: Path) -> None:
    """Keeps the inode. Another process copies: this one would release SQLite's locks by closing the file."""
    subprocess.run(["dd", f"if={source}", f"of={target}", "bs=64k", "status=none"], check=True)
    time.sleep(2 * LOOK_SECONDS)


def by_blocks(source: Path, target: Path) -> None:
    """As `rsync --inplace`: nothing is truncated before."""
    subprocess.run(["dd", f"if={source}", f"of={target}", "conv=notrunc", "bs=4k", "status=none"], check=True)
    time.sleep(2 * LOOK_SECONDS)


def elsewhere(file: Path, statements: list[str]) -> None:
    """Another process carries out statements of SQL."""
    subprocess.run([sys.executable, "-c", HONEST, str(file), *statements], check=True)


def texts(file: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [key for (key,) in database.execute("SELECT key FROM value ORDER BY key")]


@pytest.fixture
def file(folder):
    return folder / ".flowcabal" / "project.db"


@pytest.fixture
async def other(tmp_path, clock):
    """The closed database of another project."""
    store = await Store.open(tmp_path / "other", clock=clock, language="zh")
    await store.values.put("of the other", LONG)
    await store.close()
    return tmp_path / "other" / ".flowcabal" / "project.db"


@pytest.fixture
def restored(folder, other):
    """Whether nothing but the other file is left where the project's was."""

    def restored(content: bytes) -> bool:
        names = {path.name for path in (folder / ".flowcabal").iterdir()} - {"lock"}
        kept = {name for name in names if name.startswith("project-before-")}
        return names - kept == {"project.db"} and (folder / ".flowcabal" / "project.db").read_bytes() == content

    return restored


@pytest.mark.parametrize("how", [in_place, by_blocks])
@pytest.mark.parametrize("checkpoint", [False, True])
async def test_a_database_that_is_overwritten_takes_no_more_and_stays_as_it_was_written(
    store, folder, file, other, restored, how, checkpoint
):
    await store.values.put("before", LONG)
    if checkpoint:
        await store.maintenance.compact()
        await store.values.put("later", LONG)
    how(other, file)
    written = file.read_bytes() if how is in_place else other.read_bytes()
    for _try in range(2):
        with pytest.raises(DiskFull, match=OVERWRITTEN) as error:
            await store.values.put("after", LONG)
    await store.close()
    assert restored(written) or how is by_blocks
    assert file.read_bytes()[: len(written)] == written
    (kept,) = folder.glob(".flowcabal/project-before-*.db-wal")
    assert kept.name in error.value.detail
    assert kept.stat().st_mode & 0o777 == 0o600
    if how is in_place:
        assert texts(file) == ["of the other"]


async def test_one_that_is_overwritten_since_the_last_write_is_not_changed_by_closing(store, file, other, restored):
    await store.values.put("before", LONG)
    in_place(other, file)
    await store.close()
    assert restored(other.read_bytes())


@pytest.mark.parametrize("program_writes", [1, 40])
async def test_an_older_copy_of_itself_is_another_file(store, file, tmp_path, restored, program_writes):
    await store.values.put("first", LONG)
    await store.maintenance.compact()
    in_place(file, tmp_path / "copy.db")
    for number in range(program_writes):
        await store.values.put(f"later {number}", "x" * 100_000)
    await store.maintenance.compact()
    in_place(tmp_path / "copy.db", file)
    with pytest.raises(DiskFull, match=OVERWRITTEN):
        await store.values.put("after", LONG)
    await store.close()
    assert texts(file) == ["first"]
    assert restored((tmp_path / "copy.db").read_bytes())


async def test_what_only_the_log_held_can_be_rescued(store, folder, file, other):
    await store.maintenance.compact()
    name = await store.journal.put_text(LONG)
    in_place(other, file)
    await store.close()
    (kept,) = folder.glob(".flowcabal/project-before-*.db-wal")
    with Rescue(folder, kept.name) as found:
        assert found.text(name) == LONG


async def test_an_overwrite_during_a_transaction_fails_it(store, file, other, restored):
    await store.values.put("before", LONG)

    def work(connection):
        in_place(other, file)
        connection.execute("INSERT INTO value VALUES ('during', '1')")

    with pytest.raises(DiskFull, match=OVERWRITTEN):
        await store._database.do(work)
    await store.close()
    assert restored(other.read_bytes())


@pytest.mark.parametrize(
    "statements",
    [
        ["INSERT OR REPLACE INTO value VALUES ('theirs', '1')"],
        ["INSERT OR REPLACE INTO value VALUES ('theirs', '1')", "PRAGMA wal_checkpoint(TRUNCATE)"],
        ["INSERT OR REPLACE INTO value VALUES ('theirs', '1')", "PRAGMA wal_checkpoint(RESTART)", "VACUUM"],
    ],
)
@pytest.mark.parametrize("is_new", [True, False])
async def test_another_connection_of_sqlite_may_write(store, reopen, folder, file, statements, is_new):
    if not is_new:
        await store.close()
        store = await reopen()
    for turn in range(3):
        await store.values.put(f"ours {turn}", LONG)
        elsewhere(file, statements)
        await store.values.put(f"ours again {turn}", LONG)
    await store.close()
    assert len(texts(file)) == 7
    assert not [*folder.glob(".flowcabal/project-before-*")]


async def test_new_times_and_modes_of_the_file_are_no_overwrite(store, folder, file):
    await store.values.put("before", LONG)
    os.utime(file, (0, 0))
    await store.values.put("then", LONG)
    file.chmod(0o400)
    await store.values.put("at last", LONG)
    await store.close()
    assert texts(file) == ["at last", "before", "then"]
    assert not [*folder.glob(".flowcabal/project-before-*")]


async def test_many_checkpoints_of_its_own_are_no_overwrite(store, folder, file):
    for number in range(60):
        await store.values.put(f"{number:02}", "x" * 100_000)
    assert file.stat().st_size > 2_000_000  # it was checkpointed while open
    await store.close()
    assert len(texts(file)) == 60
    assert not [*folder.glob(".flowcabal/project-before-*")]


async def test_a_log_that_is_removed_is_written_to_the_database_and_takes_no_more(store, file):
    await store.values.put("before", LONG)
    file.with_name("project.db-wal").unlink()
    await asyncio.sleep(2 * LOOK_SECONDS)
    with pytest.raises(DiskFull, match="log of the project's database was removed"):
        await store.values.put("after", LONG)
    await store.close()
    assert texts(file) == ["before"]


def test_a_look_counts_for_two_milliseconds(tmp_path, monkeypatch):
    looks, now = [], [10**12]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    monkeypatch.setattr(
        OpenFile, "_displaced_log", lambda self, look=OpenFile._displaced_log: looks.append(1) or look(self)
    )
    with contextlib.closing(sqlite3.connect(tmp_path / "project.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE value (key)")
        opened = OpenFile(tmp_path / "project.db", connection)
        opened.require_own()
        (tmp_path / "project.db-wal").unlink()
        opened.require_own()
        assert len(looks) == 1
        now[0] += 2_000_001
        for _try in range(2):
            with pytest.raises(DiskFull, match="log of the project's database was removed"):
                opened.require_own()
        assert len(looks) == 2


def test_a_file_without_a_name_is_removed_on_every_system(tmp_path):
    path = tmp_path / "log"
    with path.open("wb") as file:
        shown = (file.fileno(), "/proc/self/fd"), (file.fileno(), str(tmp_path / "no such folder"))
        assert [is_removed(*each) for each in shown] == [False, False]
        path.unlink()
        assert [is_removed(*each) for each in shown] == [True, True]


async def test_a_log_that_is_overwritten_is_not_applied_to_the_database(store, file, tmp_path, clock):
    await store.values.put("before", LONG)
    await store.maintenance.compact()
    await store.values.put("in the log", LONG)
    other = await Store.open(tmp_path / "other", clock=clock, language="zh")
    await other.values.put("of the other", LONG)
    in_place(tmp_path / "other" / ".flowcabal" / "project.db-wal", file.with_name("project.db-wal"))
    with pytest.raises(DiskFull, match=OVERWRITTEN):
        await store.values.put("after", LONG)
    await store.close()
    await other.close()
    assert texts(file) == ["before"]


async def test_a_checkpoint_that_leaves_out_the_last_page_for_a_reader_is_not_taken_for_another_program(store, file):
    database = store.maintenance._database
    await store.maintenance.compact()
    await store.values.put("grows", "a" * 100_000)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM value").fetchall()
        await database.do(lambda writer: writer.execute("UPDATE value SET json=replace(json, 'a', 'b')").close())
        await database.writer.alone(lambda writer: writer.execute("PRAGMA wal_checkpoint").fetchall())
        ((pages,),) = reader.execute("PRAGMA page_count").fetchall()
        assert pages * 4096 > file.stat().st_size
        await store.values.put("after", LONG)
    await store.close()
    assert texts(file) == ["after", "grows"]


async def test_opening_empties_the_log_and_leaves_the_patience_of_the_writer(store, reopen, file):
    await store.close()
    with contextlib.closing(sqlite3.connect(file)) as writer, contextlib.closing(sqlite3.connect(file)) as reader:
        reader.execute("SELECT * FROM value").fetchall()
        writer.execute("INSERT OR REPLACE INTO value VALUES ('theirs', '1')")
        writer.commit()
        assert file.with_name(f"{file.name}-wal").stat().st_size
        again = await reopen()
        with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as alone:
            assert alone.execute("SELECT count(*) FROM value WHERE key = 'theirs'").fetchone() == (1,)
    patience = await again._database.do(lambda connection: connection.execute("PRAGMA busy_timeout").fetchone())
    assert patience == (5_000,)
