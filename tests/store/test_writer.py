"""One thread writes, in groups, and what it has confirmed is on disk."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from itertools import pairwise

import pytest

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.store.file.connection import Writer, open_writable
from flowcabal_tui.store.file.replaced import LOOK_SECONDS, UnwatchedFile
from tests.waiting import PATIENCE

LOOP = """
import asyncio, sys
from datetime import datetime, UTC
from pathlib import Path
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.store.store import Store
async def main():
    store = await Store.open(Path(sys.argv[1]), clock=lambda: datetime.now(UTC), language="zh")
    async def lane(lane):
        number = 0
        while True:
            store.journal.journal_text(RunId("r"), "n", lane, number, "x")
            await store.journal.record(RunEvent(RunId("r"), "evaluated", attempt=lane, payload={"n": number}))
            print(lane, number, flush=True)
            number += 1
    await asyncio.gather(*(lane(number) for number in range(4)))
asyncio.run(main())
"""


@pytest.fixture
async def writer(tmp_path):
    writer = Writer(open_writable(tmp_path / "x.db", network=False), "FULL", UnwatchedFile())
    yield writer
    await writer.close()


def put(key):
    def work(connection):
        connection.execute("INSERT INTO value VALUES (?, '1')", (key,))
        return key

    return work


def keys(connection):
    return [row[0] for row in connection.execute("SELECT key FROM value ORDER BY key")]


async def test_what_waits_is_written_in_one_transaction(writer):
    commits, entered, go = [], threading.Event(), threading.Event()

    def hold(connection):
        connection.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
        entered.set()
        go.wait(PATIENCE)

    holding = asyncio.create_task(writer.do(hold))
    await asyncio.to_thread(entered.wait, PATIENCE)
    waiting = asyncio.gather(*(writer.do(put(f"k{number}")) for number in range(100)))
    await asyncio.sleep(0)
    go.set()
    assert await waiting == [f"k{number}" for number in range(100)]
    await holding
    assert len(commits) == 2


async def test_a_job_that_fails_undoes_itself_and_no_other(writer):
    def fail(connection):
        put("half")(connection)
        raise KeyError("no")

    done = await asyncio.gather(writer.do(put("a")), writer.do(fail), writer.do(put("b")), return_exceptions=True)
    assert [type(one) for one in done] == [str, KeyError, str]
    assert await writer.do(keys) == ["a", "b"]


async def test_a_cancelled_caller_does_not_stop_the_work(writer):
    task = asyncio.create_task(writer.do(put("a")))
    await asyncio.sleep(0)
    task.cancel()
    assert await writer.do(keys) == ["a"]


class FailingFile(UnwatchedFile):
    """On a disk that answers no question about its files."""

    def look(self) -> None:
        raise OSError(errno.EIO, "the disk failed")


async def test_a_disk_that_fails_between_two_transactions_ends_no_writer(tmp_path):
    writer = Writer(open_writable(tmp_path / "x.db", network=False), "FULL", FailingFile())
    await writer.do(put("a"))
    await asyncio.sleep(5 * LOOK_SECONDS)
    assert writer._thread.is_alive()
    await writer.do(put("b"))
    assert await writer.do(keys) == ["a", "b"]
    await writer.close()


async def test_closing_does_all_that_waits(tmp_path):
    writer = Writer(open_writable(tmp_path / "x.db", network=False), "FULL", UnwatchedFile())
    for number in range(500):
        writer.post(put(f"{number:03}"))
    await writer.close()
    await writer.close()
    with sqlite3.connect(tmp_path / "x.db") as connection:
        assert len(keys(connection)) == 500
    connection.close()


async def test_on_a_full_disk_small_writes_beside_a_large_one_are_kept(writer):
    await writer.do(lambda connection: connection.execute("PRAGMA max_page_count=150").fetchall())
    large = "x" * 2_000_000
    done = await asyncio.gather(writer.do(put("a")), writer.do(put(large)), writer.do(put("b")), return_exceptions=True)
    assert done[0] == "a"
    assert done[2] == "b"
    assert isinstance(done[1], DiskFull)
    assert "kept" in done[1].detail
    assert await writer.do(keys) == ["a", "b"]


def lines_before_kill(folder, count):
    """What a writing process has confirmed before it was killed, after `count` lines at the earliest."""
    child = subprocess.Popen([sys.executable, "-c", LOOP, str(folder)], stdout=subprocess.PIPE, text=True)
    lines = [child.stdout.readline() for _line in range(count)]
    os.kill(child.pid, signal.SIGKILL)
    lines += child.communicate()[0].splitlines(keepends=True)
    return [line for line in lines if line.endswith("\n")]


async def test_kill_9_loses_nothing_that_was_confirmed(folder, reopen):
    chance = random.Random(7)
    confirmed: dict[str, int] = {}
    for _number in range(10):
        for line in lines_before_kill(folder, chance.randrange(1, 120)):
            lane = line.split()[0]
            confirmed[lane] = confirmed.get(lane, 0) + 1
    store = await reopen()
    await store.check()
    written = await store.journal.history(RunId("r"))
    for lane, count in confirmed.items():
        assert len([event for event in written if event.attempt == int(lane)]) >= count
    for lane in range(4):
        numbers = [event.payload["n"] for event in written if event.attempt == lane]
        assert all(after in (before + 1, 0) for before, after in pairwise(numbers))
        last = next((event.payload["n"] for event in reversed(written) if event.attempt == lane), 0)
        assert len(await store.journal.partial_text(RunId("r"), NodeId("n"), lane)) > last
    assert await store.journal.record(RunEvent(RunId("r"), "run-resumed")) is None
