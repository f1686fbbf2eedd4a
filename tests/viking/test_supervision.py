"""The life of the server process, with a stand-in for OpenViking: quick to start and to die."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.viking import guard
from flowcabal_tui.viking.server import (
    COMMAND_VARIABLE,
    EmbeddingEndpoint,
    OpenVikingServer,
    find_server,
    free_port,
)
from flowcabal_tui.viking.status import Absent, Failed, Ready, Restarting, Starting, Stopped
from tests.viking.fakes import FAKE_SERVER, KEY, Statuses, gone, processes_of, server_process
from tests.waiting import PATIENCE, until

ENDPOINT = EmbeddingEndpoint("http://127.0.0.1:9/v1", KEY, 8)


@asynccontextmanager
async def supervised(folder: Path, *options: str, **settings: Any) -> AsyncIterator[tuple[OpenVikingServer, Statuses]]:
    statuses = Statuses()
    server = OpenVikingServer(folder, ENDPOINT, statuses, command=[*FAKE_SERVER, *options], first_wait=0.01, **settings)
    await server.start()
    try:
        yield server, statuses
    finally:
        await server.stop(wait=True)


async def test_a_slow_start_is_visible(tmp_path: Path) -> None:
    async with supervised(tmp_path, "--delay", "1.2") as (server, statuses):
        with pytest.raises(KnowledgeError):
            server.address()
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        starting = [status.seconds for status in statuses.seen if isinstance(status, Starting)]
        assert starting[0] == 0 < starting[-1] and starting == sorted(set(starting))
        assert server.address().url == statuses.seen[-1].url
    assert statuses.seen[-1] == Stopped()
    assert not processes_of(tmp_path)


async def test_a_server_that_dies_at_once_is_given_up_with_a_reason_and_no_secret(tmp_path: Path) -> None:
    async with supervised(tmp_path, "--die", tries=3) as (_server, statuses):
        failed = await statuses.wait_for(lambda status: isinstance(status, Failed))
        assert "no luck with ***" in failed.reason
        waits = [status.seconds for status in statuses.seen if isinstance(status, Restarting)]
        assert waits == [0.01, 0.02]
        assert KEY not in (tmp_path / "server.log").read_text()


async def test_a_port_that_was_taken_meanwhile_is_changed(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        status = b"200 OK" if head.startswith(b"GET /health") else b"401 No"
        writer.write(b"HTTP/1.1 " + status + b'\r\ncontent-length: 15\r\n\r\n{"status":"ok"}')
        writer.close()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    taken = other.sockets[0].getsockname()[1]
    ports = iter([taken, free_port(), free_port()])
    async with supervised(tmp_path, port=lambda: next(ports)) as (server, statuses):
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        assert str(taken) not in server.address().url
        restarting = next(status for status in statuses.seen if isinstance(status, Restarting))
        assert "port" in restarting.reason
        os.kill(server_process(tmp_path), signal.SIGKILL)
        again = await statuses.wait_for(lambda status: isinstance(status, Restarting) and status != restarting)
        assert "port" not in again.reason
    other.close()


async def test_a_server_that_never_answers_is_stopped_and_tried_again(tmp_path: Path) -> None:
    async with supervised(tmp_path, "--delay", "600", start_seconds=0.5) as (_server, statuses):
        restarting = await statuses.wait_for(lambda status: isinstance(status, Restarting))
        assert "seconds" in restarting.reason


async def test_a_server_whose_files_were_removed_starts_again_in_an_empty_place(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "vectordb").mkdir(parents=True)
    async with supervised(tmp_path, look_seconds=0.05) as (server, statuses):
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        seen = len(statuses.seen)
        shutil.rmtree(server.workspace)
        server.workspace.mkdir()
        (server.workspace / "half").touch()
        restarting = await statuses.wait_for(lambda status: isinstance(status, Restarting), after=seen)
        assert isinstance(restarting, Restarting) and "was removed" in restarting.reason
        await statuses.wait_for(lambda status: isinstance(status, Ready), after=seen)
        assert not list(server.workspace.iterdir())


async def test_without_an_installed_server_it_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMMAND_VARIABLE, str(tmp_path / "nowhere"))
    statuses = Statuses()
    server = OpenVikingServer(tmp_path / "knowledge", ENDPOINT, statuses)
    await server.start()
    assert statuses.seen == [Absent()]
    await server.stop(wait=True)


def test_the_server_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [tmp_path / name / "openviking-server" for name in ("named", "python", "path")]
    for place in places:
        place.parent.mkdir()
        place.touch(mode=0o755)
    monkeypatch.setenv(COMMAND_VARIABLE, str(places[0]))
    monkeypatch.setattr(sys, "executable", str(places[1].with_name("python")))
    monkeypatch.setenv("PATH", str(places[2].parent))
    assert find_server() == (str(places[0]),)
    monkeypatch.delenv(COMMAND_VARIABLE)
    assert find_server() == (str(places[1]),)
    places[1].unlink()
    assert find_server() == (str(places[2]),)
    places[2].unlink()
    assert find_server() == ()


@pytest.mark.parametrize("entry", [".", "", "bin", "{here}"])
def test_a_server_in_the_current_folder_is_not_found(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(COMMAND_VARIABLE, raising=False)
    for fake in (tmp_path / "openviking-server", tmp_path / "bin" / "openviking-server"):
        fake.parent.mkdir(exist_ok=True)
        fake.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "elsewhere" / "python"))
    monkeypatch.setenv("PATH", f"/nowhere:{entry.format(here=tmp_path)}")
    assert find_server() == ()
    monkeypatch.setenv(COMMAND_VARIABLE, "./openviking-server")
    assert find_server() == ()


async def test_the_server_starts_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "novel").mkdir()
    monkeypatch.chdir(tmp_path / "novel")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:.:")
    async with supervised(tmp_path) as (server, statuses):
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        pid = server_process(tmp_path)
        assert Path(f"/proc/{pid}/cwd").resolve() == server.workspace.parent.resolve()
        environment = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    path = next(value for name, _sign, value in (entry.partition("=") for entry in environment) if name == "PATH")
    assert all(Path(entry).is_absolute() for entry in path.split(":"))


async def test_a_killed_server_comes_back_and_asks_for_repair(tmp_path: Path) -> None:
    async with supervised(tmp_path) as (_server, statuses):
        first = await statuses.wait_for(lambda status: isinstance(status, Ready))
        assert not first.repair
        os.kill(server_process(tmp_path), signal.SIGKILL)
        restarting = await statuses.wait_for(lambda status: isinstance(status, Restarting))
        assert "signal 9" in restarting.reason
        second = await statuses.wait_for(lambda status: isinstance(status, Ready), after=len(statuses.seen))
        assert second.repair
    async with supervised(tmp_path) as (_server, statuses):
        third = await statuses.wait_for(lambda status: isinstance(status, Ready))
        assert not third.repair


async def test_a_killed_guard_leaves_no_server_behind(tmp_path: Path) -> None:
    async with supervised(tmp_path) as (_server, statuses):
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        orphan = server_process(tmp_path)
        watching = next(pid for pid in processes_of(tmp_path) if pid != orphan)
        os.kill(watching, signal.SIGKILL)
        await statuses.wait_for(lambda status: isinstance(status, Ready), after=len(statuses.seen))
        assert orphan not in processes_of(tmp_path)


async def test_stopping_does_not_wait(tmp_path: Path) -> None:
    async with supervised(tmp_path, "--child") as (server, statuses):
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        await server.stop(wait=False)
        await gone(tmp_path)


async def test_a_stubborn_server_is_killed_when_its_grace_is_over(tmp_path: Path) -> None:
    async with supervised(tmp_path, "--stubborn", grace=0.2) as (server, statuses):
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        await server.stop(wait=False)
        await gone(tmp_path)


async def test_a_stop_that_need_not_wait_never_asks_for_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float | None] = []

    async def ended(_guard: object, seconds: float | None) -> None:
        asked.append(seconds)

    async with supervised(tmp_path) as (server, statuses):
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        with monkeypatch.context() as patched:
            patched.setattr("flowcabal_tui.viking.server.GuardedChild.ended", ended)
            await server.stop(wait=False)
        assert asked == []
        await gone(tmp_path)


async def test_it_can_be_started_again_after_a_stop(tmp_path: Path) -> None:
    async with supervised(tmp_path) as (server, statuses):
        await statuses.wait_for(lambda status: isinstance(status, Ready))
        await server.stop(wait=True)
        await server.start()
        await statuses.wait_for(lambda status: isinstance(status, Ready), after=len(statuses.seen))


FORKING = """
import os, subprocess, sys, time
guard = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
guard.stdout.readline()
worker = os.fork()
if worker:
    print(worker, flush=True)
else:
    os.close(1)
time.sleep(600)
"""


async def test_a_forked_worker_of_ours_that_outlives_us_does_not_keep_the_server(tmp_path: Path) -> None:
    command = guard_command(tmp_path, sys.executable, "-c", "import time; time.sleep(600)", str(tmp_path))
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FORKING, str(tmp_path), *command, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    worker = int(await parent.stdout.readline())
    try:
        parent.kill()
        await parent.wait()
        await until(lambda: not set(processes_of(tmp_path)) - {worker})
    finally:
        os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_guard_hands_on_the_exit_code(tmp_path: Path, script: str, code: int) -> None:
    assert run_guard(tmp_path, "sh", "-c", script) == code


def test_the_guard_says_why_a_command_cannot_start(tmp_path: Path) -> None:
    assert run_guard(tmp_path, "/nowhere/openviking-server") == guard.CANNOT_START
    assert "/nowhere/openviking-server" in (tmp_path / "log").read_text()


def test_a_log_that_cannot_be_written_does_not_stop_the_server(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    assert run_guard(tmp_path, "sh", "-c", "yes | head -c 300000; exit 7") == 7


def test_the_log_does_not_grow_without_end(tmp_path: Path) -> None:
    run_guard(tmp_path, "sh", "-c", f"yes {'x' * 99} | head -c {3 * guard.LOG_LIMIT}")
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert max(sizes) <= guard.LOG_LIMIT + 100
    assert sum(sizes) <= 2 * guard.LOG_LIMIT + 200


def test_the_guard_loads_few_modules(tmp_path: Path) -> None:
    arguments = [sys.executable, "-X", "importtime", *guard_command(tmp_path, "true")[1:]]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as ran:
        assert ran.stderr is not None
        said = ran.stderr.read().decode()  # its input stays open until then: the end of it would stop the command
    assert ran.returncode == 0
    loaded = [line for line in said.splitlines() if line.startswith("import time:")]
    assert 0 < len(loaded) < 100


def test_a_terminal_that_hangs_up_does_not_stop_the_guard(tmp_path: Path) -> None:
    code = run_guard(tmp_path, "sh", "-c", "kill -HUP $PPID; kill -INT $PPID; sleep 0.2; exit 7")
    assert code == 7


def guard_command(folder: Path, *command: str) -> list[str]:
    files = [str(folder / "log"), str(folder / "mark")]
    return [sys.executable, "-I", "-S", guard.__file__, *files, str(guard.GRACE), "--", *command]


def run_guard(folder: Path, *command: str) -> int:
    arguments = guard_command(folder, *command)
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as running:
        return running.wait(PATIENCE)
