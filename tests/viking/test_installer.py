"""Installing the knowledge server: whole or not at all, whatever ends it."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.viking.install_tools import CONSTRAINTS, Pip, Uv, find_tool, network_environment
from flowcabal_tui.viking.installed import VERSION, Installed, installation_folder, installed
from flowcabal_tui.viking.installer import Installation, Progress, remove_installation
from flowcabal_tui.viking.server import COMMAND_VARIABLE, OpenVikingServer, find_server
from flowcabal_tui.viking.status import Ready
from tests.viking.fake_tool import FakeTool, Way
from tests.viking.fakes import Statuses, gone, processes_of
from tests.viking.test_supervision import ENDPOINT
from tests.waiting import soon, until

ROOT = Path(__file__).parent.parent.parent


async def put_in(way: Way = "whole", shown: list[Progress] | None = None) -> Installed:
    async with Installation(FakeTool(way), needed=1) as work:
        await work.prepare()
        return await work.install((shown if shown is not None else []).append)


def left() -> list[str]:
    """What lies in the data folder, without the installation itself."""
    folder = installation_folder()
    return sorted(path.name for path in folder.parent.iterdir() if path != folder)


@pytest.fixture
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server but the installed one can be found."""
    monkeypatch.delenv(COMMAND_VARIABLE, raising=False)
    monkeypatch.setattr("flowcabal_tui.viking.server._COMMAND", "openviking-server-of-nobody")


async def test_it_is_shown_before_it_is_fetched_and_found_afterwards(nothing_else: None) -> None:
    assert installed() is None and find_server() == ()
    shown: list[Progress] = []
    async with Installation(FakeTool(), needed=1) as work:
        plan = await work.prepare()
        assert plan.sources == ("index.example",) and not plan.continues
        assert not installation_folder().exists()
        done = await work.install(shown.append)
    assert (done.version, done.packages) == (VERSION, 1)
    assert shown[-1] == Progress("proving")
    assert installed() == done and done.can_start
    assert find_server() == done.command
    assert left() == []


async def test_the_server_of_the_user_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = await put_in()
    own = tmp_path / "openviking-server"
    own.touch(mode=0o755)
    monkeypatch.setenv(COMMAND_VARIABLE, str(own))
    assert find_server() == (str(own),)
    monkeypatch.setenv(COMMAND_VARIABLE, str(tmp_path / "nowhere"))
    assert find_server() == (), "what the user has named is not replaced by another"
    assert done.can_start


async def test_an_installation_whose_python_is_gone_is_not_used(nothing_else: None) -> None:
    folder = installation_folder()
    (folder / "bin").mkdir(parents=True)
    (folder / "flowcabal-installed.json").write_text('{"version": "0.5.2", "packages": 1, "megabytes": 1}')
    (folder / "bin" / "python").symlink_to("/nowhere/python")
    found = installed()
    assert found is not None and not found.can_start
    assert find_server() == ()
    (folder / "flowcabal-installed.json").write_text("{")
    assert installed() is None


async def test_a_full_disk_leaves_nothing_behind() -> None:
    with pytest.raises(KnowledgeError) as full:
        await put_in("full")
    assert "disk is full" in full.value.detail
    assert left() == [] and not installation_folder().exists()


async def test_a_disk_that_is_full_at_the_last_step_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("flowcabal_tui.viking.installer.record", full)
    with pytest.raises(KnowledgeError, match="could not be installed"):
        await put_in()
    assert left() == [] and not installation_folder().exists()


async def test_a_tool_that_does_not_say_that_the_disk_is_full_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Installation(FakeTool("broken"), needed=1) as work:
        await work.prepare()
        monkeypatch.setattr("flowcabal_tui.viking.installer.free_megabytes", lambda _folder: 3)
        with pytest.raises(KnowledgeError) as full:
            await work.install(lambda _: None)
    assert "disk is full" in full.value.detail and left() == []


async def test_too_little_space_is_told_before_anything_is_made() -> None:
    async with Installation(FakeTool(), needed=10**9) as work:
        with pytest.raises(KnowledgeError, match="not enough space"):
            await work.prepare()
    assert left() == []


async def test_without_a_connection_it_says_why_and_goes_on_from_there() -> None:
    with pytest.raises(KnowledgeError) as cut:
        await put_in("unreachable")
    assert "Could not find a version" in cut.value.detail
    assert "secret" not in str(cut.value)
    assert "Downloads are kept" in cut.value.advice
    assert left() == ["knowledge-server.part"]
    async with Installation(FakeTool(), needed=1) as work:
        assert (await work.prepare()).continues
        await work.install(lambda _: None)
    assert left() == []


async def test_what_does_not_start_is_not_put_in_place() -> None:
    with pytest.raises(KnowledgeError, match="does not start"):
        await put_in("broken")
    assert installed() is None and not installation_folder().exists()


async def test_a_failed_second_installation_keeps_the_first() -> None:
    done = await put_in()
    for way in ("unreachable", "broken", "full"):
        with pytest.raises(KnowledgeError):
            await put_in(way)
        assert installed() == done


async def test_a_stopped_installation_ends_its_children(tmp_path: Path) -> None:
    shown: list[Progress] = []
    work = asyncio.create_task(put_in("waits", shown))
    await until(lambda: shown and shown[-1].done)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not processes_of(installation_folder().parent)
    assert left() == ["knowledge-server.part"]


KILLED = """
import asyncio
from flowcabal_tui.viking.installer import Installation
from tests.viking.fake_tool import FakeTool

async def main():
    async with Installation(FakeTool("waits"), needed=1) as work:
        await work.prepare()
        await work.install(lambda progress: print(progress.done, flush=True))

asyncio.run(main())
"""


async def test_after_kill_9_the_next_try_completes() -> None:
    first = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, cwd=ROOT, stdout=subprocess.PIPE)
    assert first.stdout is not None
    while (await soon(first.stdout.readline())).strip() != b"1":
        assert first.returncode is None
    with pytest.raises(KnowledgeError, match="another process"):
        async with Installation(FakeTool(), tries=1):
            pass
    first.kill()
    await soon(first.wait())
    assert installed() is None
    async with Installation(FakeTool(), needed=1) as work:
        await gone(installation_folder().parent)
        assert (await work.prepare()).continues
        await work.install(lambda _: None)
    assert installed() is not None and left() == []


async def test_a_crash_between_the_renames_brings_the_old_one_back() -> None:
    done = await put_in()
    part = installation_folder().with_name("knowledge-server.part")
    part.mkdir()
    installation_folder().rename(part / "replaced")
    async with Installation(FakeTool()):
        pass
    assert installed() == done and left() == []


async def test_a_server_that_runs_is_neither_removed_nor_replaced(tmp_path: Path, nothing_else: None) -> None:
    await put_in()
    statuses = Statuses()
    server = OpenVikingServer(tmp_path / "knowledge", ENDPOINT, statuses)
    await server.start()
    await statuses.wait_for(lambda status: isinstance(status, Ready))
    for act in (remove_installation, put_in):
        with pytest.raises(KnowledgeError, match="open book"):
            await act()
    assert installed() is not None
    await server.stop(wait=True)
    assert await remove_installation()
    assert left() == [] and find_server() == ()
    assert not await remove_installation()


def test_where_python_makes_no_environments_uv_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(find_tool("pip"), Pip)
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    for wanted in (None, "pip"):
        with pytest.raises(KnowledgeError, match="cannot make an environment"):
            find_tool(wanted)
    with pytest.raises(KnowledgeError, match="uv is not installed"):
        find_tool("uv")
    (tmp_path / "uv").touch(mode=0o755)
    assert find_tool() == find_tool("uv") == Uv(str(tmp_path / "uv"))


def test_uv_is_used_where_no_settings_of_pip_would_be_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("PIP_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("flowcabal_tui.viking.install_tools.SYSTEM_FOLDER", tmp_path / "etc")
    assert isinstance(find_tool(), Pip)
    (tmp_path / "uv").touch(mode=0o755)
    assert isinstance(find_tool(), Uv) and isinstance(find_tool("pip"), Pip)
    with monkeypatch.context() as given:
        given.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
        assert isinstance(find_tool(), Pip) and isinstance(find_tool("uv"), Uv)
    for place in (".pip", ".config/pip", "etc"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "pip.conf").touch()
        assert isinstance(find_tool(), Pip)
        (tmp_path / place / "pip.conf").unlink()


def test_the_tools_get_the_users_index_and_nothing_that_leads_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"PIP_INDEX_URL": "a", "UV_INDEX_MINE_PASSWORD": "b", "https_proxy": "c"}
    for name, value in {**given, "PIP_TARGET": "x", "PIP_USER": "1", "PYTHONPATH": ".", "OPENAI_API_KEY": "k"}.items():
        monkeypatch.setenv(name, value)
    seen = network_environment(Path("/temporary"))
    assert given.items() <= seen.items()
    assert not {"PIP_TARGET", "PIP_USER", "PYTHONPATH", "OPENAI_API_KEY"} & seen.keys()
    assert seen["TMPDIR"] == "/temporary"


def test_hosts_are_shown_without_logins() -> None:
    said = '["https://me:word@Mirror.example/simple", "/wheels", "file:///more", "https://mirror.example/simple/"]'
    assert Pip().sources(f"a warning\n{said}") == ("mirror.example", "/wheels", "file:///more")
    assert Pip().sources("Traceback") == ()
    index = 'url: SafeUrl {\n host: Some(\n Domain(\n  "mirror.example",\n )),\n path: "/simple",\n'
    folder = 'url: SafeUrl {\n host: None,\n path: "/wheels",\n'
    settings = f"index_locations: IndexLocations {{\n{index}{folder}\n        }},"
    assert Uv("/uv").sources(f"{settings}\n[default: https://index.example/simple]") == ("mirror.example", "/wheels")
    assert Uv("/uv").sources("[default: https://index.example/simple]") == ("index.example",)


def test_the_shipped_versions_are_those_that_were_tested() -> None:
    def pins(path: Path) -> set[str]:
        return {line for line in path.read_text().splitlines() if "==" in line and not line.startswith("#")}

    assert f"openviking=={VERSION}" in pins(CONSTRAINTS)
    assert pins(CONSTRAINTS) <= pins(ROOT / "constraints.txt")
    assert f'"openviking=={VERSION}"' in (ROOT / "pyproject.toml").read_text()
    assert "//" not in CONSTRAINTS.read_text(), "no address: the index is the user's"
