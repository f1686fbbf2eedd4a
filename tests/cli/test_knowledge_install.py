"""`knowledge install` with the real pip and a folder of small wheels, from a folder that means harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowcabal_tui.viking.installed import installation_folder, installed
from flowcabal_tui.viking.server import find_server
from tests.cli.conftest import Call
from tests.viking.fake_tool import FakeTool, Way
from tests.viking.fake_wheels import make_wheels

HARM = "open({mark!r}, 'a').write(__name__)"
MODULES = ("venv", "pip", "ensurepip", "json", "sitecustomize", "usercustomize", "openviking_cli")


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with everything that could take part; what of it does writes the file that is returned."""
    novel, mark = tmp_path / "novel", tmp_path / "harm"
    make_wheels(novel / "wheels", code=9)
    for module in MODULES:
        (novel / module).mkdir()
        (novel / f"{module}.py").write_text(HARM.format(mark=str(mark)))
        for name in ("__init__", "__main__", "server_bootstrap"):
            (novel / module / f"{name}.py").write_text(HARM.format(mark=str(mark)))
    for name in ("bin", ".venv/bin"):
        (novel / name).mkdir(parents=True)
        for program in ("python", "pip", "uv", "openviking-server"):
            (novel / name / program).write_text(f"#!/bin/sh\necho >> '{mark}'\n")
            (novel / name / program).chmod(0o755)
    elsewhere = f"[global]\nno-index = true\nfind-links = {novel / 'wheels'}\ntarget = {novel / 'target'}\n"
    for name in ("pip.conf", ".pip/pip.conf", ".config/pip/pip.conf", "venv/pip.conf"):
        (novel / name).parent.mkdir(parents=True, exist_ok=True)
        (novel / name).write_text(elsewhere)
    for name in ("uv.toml", "pyproject.toml", "setup.cfg", "constraints.txt"):
        (novel / name).write_text("[tool.uv]\nno-index = true\n")
    monkeypatch.chdir(novel)
    monkeypatch.setenv("PYTHONPATH", ".")
    monkeypatch.setenv("PATH", f"bin:.venv/bin::{os.environ['PATH']}")
    return mark


@pytest.mark.slow
def test_it_is_installed_from_the_users_index_whatever_lies_in_the_folder(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hostile: Path
) -> None:
    monkeypatch.delenv("FLOWCABAL_OPENVIKING_SERVER", raising=False)
    monkeypatch.setattr("flowcabal_tui.viking.server._COMMAND", "openviking-server-of-nobody")
    (tmp_path / "user" / ".config" / "pip").mkdir(parents=True)
    wheels = make_wheels(tmp_path / "wheels")
    for name in [name for name in os.environ if name.startswith(("PIP_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "user" / ".config" / "pip" / "pip.conf").write_text(
        f"[global]\nno-index = true\nfind-links = {wheels}\n"
    )
    done = call("knowledge", "install", "--yes")
    assert done.code == 0, done.err
    assert f"from: {wheels}, by pip" in done.out
    assert "AGPL-3.0" in done.out and "MB" in done.out
    assert "Installed openviking 0.5.2: 2 packages" in done.out
    own = installed()
    assert own is not None and find_server() == own.command
    assert not (own.folder / "lib").joinpath("openviking_sdk-0.1.99.dist-info").exists()
    assert [path.name for path in own.folder.glob("lib/python*/site-packages/openviking_sdk-*")] == [
        "openviking_sdk-0.1.17.dist-info"
    ]
    assert "already installed" in call("knowledge", "install").out
    assert "0.5.2" in call("knowledge", "status").out
    assert not hostile.exists() and not (tmp_path / "novel" / "target").exists()
    assert call("knowledge", "remove").code == 1, "nobody is there to be asked"
    assert "was removed" in call("knowledge", "remove", "--yes").out
    assert call("knowledge", "status").code == 1
    assert "nothing to remove" in call("knowledge", "remove").out


@pytest.mark.parametrize(("way", "said"), [("full", "disk is full"), ("unreachable", "Could not find a version")])
def test_a_failure_is_told_and_nothing_is_installed(
    call: Call, monkeypatch: pytest.MonkeyPatch, way: Way, said: str
) -> None:
    monkeypatch.setattr("flowcabal_tui.cli.knowledge_install.find_tool", lambda _: FakeTool(way))
    ended = call("knowledge", "install", "--yes")
    assert ended.code == 1 and said in ended.err
    assert installed() is None and not installation_folder().exists()


def test_without_anybody_to_ask_nothing_is_fetched(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowcabal_tui.cli.knowledge_install.find_tool", lambda _: FakeTool())
    ended = call("knowledge", "install")
    assert ended.code == 1 and "Nothing was fetched" in ended.err
    assert "index.example" in ended.out, "what would be fetched is shown all the same"
    assert not list(installation_folder().parent.iterdir())
