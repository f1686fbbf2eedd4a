"""What lies beside the database of a killed process: its log, the log or the database of another one, shared memory."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ForeignLog
from flowcabal_tui.project.rescue import Rescue
from flowcabal_tui.project.rescue_out import described
from flowcabal_tui.store.file.foreign_log import has_foreign_log, next_stamp
from flowcabal_tui.store.store import Store

LONG = "The river rose. " * 50
KILLED = """
import asyncio, json, os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from flowcabal_tui.store.store import Store

async def write() -> None:
    store = await Store.open(Path(sys.argv[1]), clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), language="zh")
    for words in json.load(sys.stdin):
        if words == "compact":
            await store.maintenance.compact()
        else:
            await store.journal.put_text(words)
            await store.values.put(words[:20], words)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(write())
"""


def killed(folder: Path, *steps: str) -> Path:
    """The database of a project whose program was killed after these writes."""
    done = subprocess.run([sys.executable, "-c", KILLED, folder], input=json.dumps(steps), text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    file = folder / ".flowcabal" / "project.db"
    assert log_of(file).stat().st_size > 0
    return file


def log_of(file: Path) -> Path:
    return file.with_name("project.db-wal")


def keys(file: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [key for (key,) in database.execute("SELECT key FROM value WHERE json LIKE '%river%' ORDER BY key")]


@pytest.fixture
async def other(tmp_path: Path, clock) -> bytes:
    """The closed database of another project."""
    store = await Store.open(tmp_path / "other", clock=clock, language="zh")
    await store.values.put("of the other", LONG)
    await store.close()
    return (tmp_path / "other" / ".flowcabal" / "project.db").read_bytes()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "steps",
    [(LONG,), (LONG, "compact", f"2 {LONG}"), (LONG, *(f"{n} {LONG * 300}" for n in range(40)))],
    ids=["one write", "after a checkpoint", "many checkpoints"],
)
async def test_its_own_log_is_replayed(folder, reopen, read_only, steps):
    file = killed(folder, *steps)
    assert not has_foreign_log(file)
    store = await reopen(read_only=read_only)
    for words in steps:
        assert words == "compact" or await store.values.get(words[:20], str) == words
    await store.close()
    assert not [*file.parent.glob("project-before-*")]


async def test_a_log_that_was_written_by_two_processes_is_replayed(folder, reopen):
    killed(folder, LONG, "compact", f"2 {LONG}")
    file = killed(folder, f"3 {LONG}")
    assert not has_foreign_log(file)
    store = await reopen()
    assert await store.values.get(f"3 {LONG}"[:20], str) == f"3 {LONG}"


async def test_a_database_that_was_copied_over_it_is_refused_once_and_stays_as_it_is(folder, reopen, other):
    file = killed(folder, LONG, "compact", f"In the log. {LONG}")
    written = log_of(file).read_bytes()
    file.write_bytes(other)
    with Rescue(folder) as found:
        assert any("belongs to another database" in line for line in described(found))
    with pytest.raises(ForeignLog, match="another program replaced") as error:
        await reopen(read_only=True)
    assert log_of(file).read_bytes() == written
    with pytest.raises(ForeignLog) as error:
        await reopen()
    (kept,) = file.parent.glob("project-before-*.db-wal")
    assert kept.name.removesuffix("-wal") in error.value.detail
    assert (file.read_bytes(), kept.read_bytes(), log_of(file).exists()) == (other, written, False)
    with Rescue(folder, kept.name.removesuffix("-wal")) as found:
        assert f"In the log. {LONG}" in [found.text(name) for name in found.found.texts]
    store = await reopen()
    await store.close()
    assert keys(file) == ["of the other"]


@pytest.mark.parametrize("then", [(), ("compact",)])
async def test_an_older_copy_of_itself_is_refused(folder, reopen, then):
    store = await reopen()
    await store.values.put("first", LONG)
    await store.close()
    file = folder / ".flowcabal" / "project.db"
    older = file.read_bytes()
    killed(folder, LONG, "compact", f"2 {LONG}", *then, f"3 {LONG}")
    file.write_bytes(older)
    with pytest.raises(ForeignLog):
        await reopen()
    assert file.read_bytes() == older
    await (await reopen()).close()
    assert keys(file) == ["first"]


async def test_the_log_of_another_project_is_refused(folder, reopen, tmp_path):
    store = await reopen()
    await store.values.put("ours", LONG)
    await store.close()
    foreign = killed(tmp_path / "killed", LONG, "compact", f"2 {LONG}")
    file = folder / ".flowcabal" / "project.db"
    ours = file.read_bytes()
    log_of(file).write_bytes(log_of(foreign).read_bytes())
    with pytest.raises(ForeignLog):
        await reopen()
    assert file.read_bytes() == ours
    await (await reopen()).close()
    assert keys(file) == ["ours"]


@pytest.mark.parametrize("empty", [False, True])
async def test_the_log_beside_no_database_is_kept(folder, reopen, empty):
    file = killed(folder, LONG, "compact", f"2 {LONG}")
    written = log_of(file).read_bytes()
    file.unlink()
    if empty:
        file.touch()
    with pytest.raises(ForeignLog):
        await reopen()
    (kept,) = file.parent.glob("project-before-*.db-wal")
    assert kept.read_bytes() == written


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "shared", [b"", b"\xff" * 32_768, b"no index at all", None], ids=["empty", "ones", "words", "other"]
)
async def test_shared_memory_of_others_is_made_again(folder, reopen, tmp_path, shared, read_only):
    if shared is None:
        shared = killed(tmp_path / "other", *(f"{n} {LONG}" for n in range(9))).with_name("project.db-shm").read_bytes()
    file = killed(folder, LONG, "compact", f"2 {LONG}")
    file.with_name("project.db-shm").write_bytes(shared)
    store = await reopen(read_only=read_only)
    await store.check()
    assert await store.values.get(f"2 {LONG}"[:20], str) == f"2 {LONG}"
    await store.close()
    assert keys(file) == [f"2 {LONG}"[:20], LONG[:20]]


async def test_a_log_of_an_earlier_release_is_replayed(folder, reopen, monkeypatch):
    """Its stamps are positive, and none follows another."""
    code = KILLED.replace(
        "async def write",
        "from flowcabal_tui.store.file import replaced\n"
        "numbers = iter(range(7, 99))\n"
        "replaced.next_stamp = lambda before: next(numbers)\nasync def write",
    )
    monkeypatch.setattr(sys.modules[__name__], "KILLED", code)
    file = killed(folder, LONG, "compact", f"2 {LONG}")
    assert not has_foreign_log(file)
    store = await reopen()
    assert await store.values.get(f"2 {LONG}"[:20], str) == f"2 {LONG}"


@pytest.mark.parametrize("before", [0, 7, -(2**31), 2**31 - 1, -1])
def test_a_stamp_is_a_negative_number_of_32_bits(before: int):
    for _turn in range(100):
        assert -(2**31) <= next_stamp(before) < 0


@pytest.mark.parametrize("page_size", [4096, 0, 512])
async def test_a_log_of_holes_takes_no_time(folder, reopen, page_size):
    store = await reopen()
    await store.values.put("ours", LONG)
    await store.close()
    file = folder / ".flowcabal" / "project.db"
    with log_of(file).open("wb") as log:
        log.write(struct.pack(">III", 0x377F0682, 3007000, page_size))
        log.truncate(1 << 40)
    assert not has_foreign_log(file)
    await (await reopen()).close()
    assert keys(file) == ["ours"]
