"""The real OpenViking: it starts, keeps secrets, comes back when killed, and goes when we are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.viking.client import Address, KnowledgeBusy, KnowledgeClient
from flowcabal_tui.viking.external import ExternalKnowledge
from flowcabal_tui.viking.layout import project_uri
from flowcabal_tui.viking.manifest import Head
from flowcabal_tui.viking.server import COMMAND_VARIABLE, free_port
from flowcabal_tui.viking.status import External, Ready, Starting, Stopped
from flowcabal_tui.viking.sync import KnowledgeSync
from tests.viking.fakes import (
    KEY,
    USERS_KEY,
    Running,
    Statuses,
    gone,
    processes_of,
    quick_server,
    server_command,
    server_process,
)
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.viking, pytest.mark.asyncio(loop_scope="session")]

SUPERVISOR = """
import asyncio, sys
from pathlib import Path
from flowcabal_tui.viking.server import EmbeddingEndpoint, OpenVikingServer
from flowcabal_tui.viking.status import Ready
async def main():
    tell = lambda status: isinstance(status, Ready) and print("ready", flush=True)
    endpoint = EmbeddingEndpoint("http://127.0.0.1:9/v1", "key-of-the-model", 8)
    await OpenVikingServer(Path(sys.argv[1]), endpoint, tell, start_seconds=90).start()
    await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def program() -> str:
    """The installed server as it is."""
    return server_command()[-1]


async def test_it_starts_and_answers(running: Running) -> None:
    assert await running.client.is_healthy()
    assert running.statuses.seen[0] == Starting(0)
    assert any(isinstance(status, Ready) for status in running.statuses.seen)


async def test_no_secret_is_in_any_file(running: Running) -> None:
    secrets = [running.server.address().key.encode(), KEY.encode(), USERS_KEY.encode()]
    files = [path for path in running.folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files for secret in secrets if secret in path.read_bytes()]
    assert (running.folder / "ov.conf").stat().st_mode & 0o777 == 0o600


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


async def test_the_child_sees_no_key_of_the_user(running: Running) -> None:
    environment = environment_of(server_process(running.folder))
    assert b"FLOWCABAL_VIKING_KEY" in environment
    assert USERS_KEY.encode() not in environment


async def test_a_wrong_key_is_told_and_the_right_one_works(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    address = running.server.address()
    for key, told in (("wrong-key-of-mine", "refused the key"), (address.key, "")):
        monkeypatch.setenv("MY_VIKING_KEY", key)
        status = await external_status(ExternalKnowledge, address.url, "MY_VIKING_KEY")
        assert status.url == address.url
        assert told in status.reason
        assert bool(status.reason) == bool(told)
        assert key not in status.reason


@pytest.mark.parametrize(
    ("url", "variable", "told"),
    [
        pytest.param(f"http://127.0.0.1:{free_port()}", "", "does not answer", id="nobody there"),
        ("127.0.0.1:1933", "", "not a web address"),
        ("http://127.0.0.1:1933", "NO_SUCH_VARIABLE", "NO_SUCH_VARIABLE"),
    ],
)
async def test_an_external_server_that_cannot_be_used_is_told(url: str, variable: str, told: str) -> None:
    assert told in (await external_status(ExternalKnowledge, url, variable)).reason


async def external_status(kind: type[ExternalKnowledge], url: str, variable: str) -> External:
    statuses = Statuses()
    external = kind(url, statuses, key_variable=variable)
    await external.start()
    status = await statuses.wait_for(lambda status: isinstance(status, External))
    await external.stop(wait=True)
    assert statuses.seen[-1] == Stopped()
    assert isinstance(status, External)
    return status


async def test_killed_in_the_middle_of_its_work_it_comes_back_with_everything(
    running: Running,
) -> None:
    workspace = running.server.workspace
    sync = KnowledgeSync(running.client, Head(project_uri("killed", "n"), "zh", "fake"), workspace, workspace)
    kept, half = Chapter(ChapterId("c1"), 1, "灯火"), Chapter(ChapterId("c2"), 2, "熄灯")
    await sync.put_chapter(kept, "对岸灯火渐渐熄了。\n" * 40, "灯火", "灯火熄了")
    running.model.answering.clear()
    running.model.asked.clear()
    writing = asyncio.create_task(sync.put_chapter(half, "灯又亮了。\n", "灯亮", "灯又亮了"))
    await running.model.asked.wait()
    seen = len(running.statuses.seen)
    os.kill(server_process(running.folder), signal.SIGKILL)
    with pytest.raises(KnowledgeError, match="does not answer"):
        await writing
    running.model.answering.set()
    ready = await running.statuses.wait_for(lambda status: isinstance(status, Ready), after=seen)
    assert isinstance(ready, Ready)
    assert ready.repair
    assert await _repaired(sync) == ()
    assert (await sync.find("对岸灯火渐渐熄了"))[0].chapter == kept.id
    assert await sync.put_chapter(half, "灯又亮了。\n", "灯亮", "灯又亮了")
    assert (await sync.find("灯又亮了"))[0].chapter == half.id


async def _repaired(sync: KnowledgeSync) -> tuple[str, ...]:
    """What must be put again, as soon as the server has ended what it was doing when it was killed."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await sync.repair(thorough=True)
            except KnowledgeBusy:
                await asyncio.sleep(0.05)


async def test_when_we_are_killed_no_process_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMMAND_VARIABLE, quick_server(tmp_path))
    supervisor = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SUPERVISOR, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert supervisor.stdout is not None
    assert await supervisor.stdout.readline() == b"ready\n"
    assert len(processes_of(tmp_path)) >= 3
    supervisor.kill()
    await supervisor.wait()
    await gone(tmp_path)


async def test_a_foreign_client_is_refused(running: Running) -> None:
    stranger = KnowledgeClient(lambda: Address(running.server.address().url))
    with pytest.raises(KnowledgeError, match="refused the key"):
        await stranger.ls("viking://resources/")
    await stranger.aclose()
