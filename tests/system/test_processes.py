"""Child processes: nothing of the current folder is run, no key is passed on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import flowcabal_tui
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.system.processes import (
    environment_without_secrets,
    find_program,
    forget_current_folder,
    minimal_environment,
    own_python,
)
from flowcabal_tui.tui.shared.editor import _wait_for, editor_command

PACKAGE_FOLDER = Path(flowcabal_tui.__file__).parent.parent
SHADOWED = ("struct", "re", "json", "pathlib", "argparse", "sqlite3", "asyncio", "pydantic", "platformdirs", "textual")


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder full of modules and programs; what runs leaves the file `it ran` beside it."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    mark = f"open({str(tmp_path / 'it ran')!r}, 'a').write(__file__ + '\\n')\n"
    for name in (*SHADOWED, "sitecustomize", "usercustomize"):
        (folder / f"{name}.py").write_text(mark)
    (folder / "evil.pth").write_text(f"import builtins; {mark}")
    plugin = folder / "evil-1.dist-info"
    plugin.mkdir()
    (folder / "evil_node.py").write_text(mark)
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n")
    (plugin / "entry_points.txt").write_text(
        "[flowcabal_tui.nodes]\nevil = evil_node\n[flowcabal_tui.actions]\nevil = evil_node:run\n"
    )
    monkeypatch.chdir(folder)
    return folder


def ran(tmp_path: Path) -> str:
    found = tmp_path / "it ran"
    return found.read_text() if found.exists() else ""


def test_python_m_runs_no_module_of_the_current_folder(stranger: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)}
    for words in (["validate", "--help"], ["schema", "node"], ["status", "."], ["doctor"]):
        command = [sys.executable, "-m", "flowcabal_tui", *words]
        subprocess.run(command, cwd=stranger, env=environment, capture_output=True, check=False)
    assert ran(tmp_path) == ""


def test_the_command_runs_no_package_of_the_current_folder(stranger: Path, tmp_path: Path) -> None:
    (stranger / "flowcabal_tui").mkdir()
    (stranger / "flowcabal_tui" / "__init__.py").write_text((stranger / "struct.py").read_text())
    command = tmp_path / "bin" / "flowcabal-tui"
    command.parent.mkdir()
    command.write_text("import sys\nfrom flowcabal_tui.cli import main\nsys.exit(main())\n")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)}
    done = subprocess.run(
        [sys.executable, str(command), "status", "."], cwd=stranger, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 2 and ran(tmp_path) == ""


def test_the_module_path_loses_the_current_folder_and_keeps_our_own(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", ".", str(stranger), "lib", str(PACKAGE_FOLDER), "/usr/lib/python3"])
    forget_current_folder()
    assert sys.path == [str(PACKAGE_FOLDER), "/usr/lib/python3"]


def test_our_own_folder_stays_on_the_module_path_when_it_is_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PACKAGE_FOLDER)
    monkeypatch.setattr(sys, "path", [str(PACKAGE_FOLDER), ""])
    forget_current_folder()
    assert sys.path == [str(PACKAGE_FOLDER)]


def test_a_child_finds_this_program_where_only_the_module_path_leads_to_it(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `pip install --user`: the isolated mode leaves that folder out."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "only_there.py").write_text("def serve():\n    import json, sys\n    print(json.dumps(sys.path))\n")
    monkeypatch.syspath_prepend(str(library))
    monkeypatch.syspath_prepend("")
    done = subprocess.run(own_python("only_there"), cwd=stranger, capture_output=True, check=True)
    path = json.loads(done.stdout)
    assert str(library) in path and not {"", ".", str(stranger)} & set(path) and ran(tmp_path) == ""


def test_only_places_locale_and_terminal_are_passed_on() -> None:
    given = {
        "PATH": ".:/usr/bin::bin:/bin",
        "LD_LIBRARY_PATH": ":",
        "HOME": "/home/a",
        "LC_ALL": "C.UTF-8",
        "XDG_CACHE_HOME": "/home/a/.cache",
        "OPENAI_API_KEY": "sk",
        "PYTHONPATH": ".",
        "PYTHONSTARTUP": "x.py",
        "LD_PRELOAD": "./x.so",
    }
    assert minimal_environment(given) == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/a",
        "LC_ALL": "C.UTF-8",
        "XDG_CACHE_HOME": "/home/a/.cache",
    }


def test_the_users_own_programs_get_everything_but_keys() -> None:
    given = {
        "OPENAI_API_KEY": "sk",
        "GH_TOKEN": "t",
        "AWS_SECRET_ACCESS_KEY": "s",
        "DB_PASSWORD": "p",
        "DISPLAY": ":0",
        "PATH": ".:/bin",
        "VIMINIT": "set nu",
    }
    assert environment_without_secrets(given) == {"DISPLAY": ":0", "PATH": "/bin", "VIMINIT": "set nu"}


@pytest.mark.parametrize("path", [".", "", "bin", "{here}", "./bin:."])
def test_no_program_of_the_current_folder_is_found(
    path: str, stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (stranger, stranger / "bin"):
        place.mkdir(exist_ok=True)
        (place / "vi").touch(mode=0o755)
    environment = {"PATH": path.format(here=stranger)}
    assert find_program("vi", environment) is None or not path
    assert find_program("./vi", environment) is None and find_program("bin/vi", environment) is None
    real = tmp_path / "real"
    real.mkdir()
    (real / "vi").touch(mode=0o755)
    environment["PATH"] += f":{real}"
    assert find_program("vi", environment) == str(real / "vi")
    assert find_program(str(real / "vi"), {}) == str(real / "vi")


def test_the_editor_is_not_one_of_the_current_folder(stranger: Path) -> None:
    for name in ("ed it", "vi", "nano"):
        (stranger / name.split()[0]).touch(mode=0o755)
    with pytest.raises(FlowCabalError, match="No editor"):
        editor_command("./vi", {"PATH": ".", "EDITOR": "nano", "VISUAL": "vi"})


async def test_the_editor_runs_beside_its_file_and_sees_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    there = tmp_path / "there"
    there.mkdir()
    code = "import os, json; json.dump([os.getcwd(), dict(os.environ)], open('seen', 'w'))"
    assert await _wait_for([sys.executable, "-c", code], str(there)) == 0
    folder, environment = json.loads((there / "seen").read_text())
    assert Path(folder).samefile(there) and "OPENAI_API_KEY" not in environment and "PATH" in environment
