"""One folder of a stranger with every trick with files: nothing runs, nothing outside is touched, nothing is obeyed."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

import flowcabal_tui
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.project import Project
from flowcabal_tui.project.create import create_project
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from flowcabal_tui.store import Store
from tests.cli.test_terminal import HOSTILE, harmful
from tests.project.test_links import NOW

SECRET = "the recovery words of my wallet"
MODULES = ("struct", "re", "json", "sqlite3", "pathlib", "sitecustomize", "usercustomize", "textual", "evil_node")
COMMANDS = (
    *(["status"], ["chapters"], ["models"], ["doctor"], ["search", ".", "snow"], ["status", ".", "--json"]),
    *(["context", ".", "1"], ["import", ".", "texts"], ["export", ".", "{out}/book.md"]),
    *(["backup", ".", "{out}/book.zip"], ["rebuild", "."]),
)


@dataclass(frozen=True)
class Trap:
    """The stranger's folder, the user's documents beside it, and what was found there before."""

    folder: Path
    documents: Path
    root: Path

    def ran(self) -> str:
        """Which code of the stranger was run."""
        return "".join(path.read_text() for path in self.root.glob("ran*"))

    def is_untouched(self) -> bool:
        return {path.name: path.read_text() for path in self.documents.iterdir()} == DOCUMENTS


DOCUMENTS = {
    "0002-thesis.md": f"# Thesis\n\n{SECRET}\n",
    "context.inquiry.md": SECRET,
    "wallet.txt": SECRET,
    ".abcdefgh.tmp": SECRET,
    "lock": SECRET,
    "actions.json": json.dumps([{"action_id": SECRET}]),
}


@pytest.fixture
async def trap(tmp_path: Path) -> Trap:
    folder, documents = tmp_path / "stranger", tmp_path / "documents"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text)
    await create_project(folder, name="Novel", language="en", models=ModelsSettings(user=OFFLINE, agent=OFFLINE))
    store = await Store.open(folder, clock=lambda: NOW, language="en")
    made = await store.book.import_chapters([ImportedChapter(f"Chapter {n}", "Snow fell.") for n in (1, 2, 3)])
    rows = (str(documents / "wallet.txt"), "../../documents/wallet.txt", "0003-pipe.md")
    for chapter, name in zip(made, rows, strict=True):
        await store.values.put(f"mirror/{chapter.id}", {"name": name, "digest": "0"})
    await store.close()
    _poison(folder)
    _link(folder, documents)
    _plant(folder, tmp_path)
    return Trap(folder, documents, tmp_path)


def _poison(folder: Path) -> None:
    """Control sequences in everything that is shown."""
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database, database:
        database.execute("UPDATE place SET title = title || ?, volume = ?", (HOSTILE, HOSTILE))
    escaped = json.dumps(HOSTILE).replace("\\b", "\\u0008")
    settings = (folder / "flowcabal.toml").read_text()
    settings = settings.replace('name = "Novel"', f"name = {escaped}")
    settings = settings.replace('model = "offline"', f"model = {escaped}")
    (folder / "flowcabal.toml").write_text(settings)


def _link(folder: Path, documents: Path) -> None:
    os.mkfifo(folder / "manuscript" / "0003-pipe.md")
    (folder / "manuscript" / "0002-thesis.md").symlink_to(documents / "0002-thesis.md")
    os.link(documents / "wallet.txt", folder / "manuscript" / "0001-wallet.md")
    (folder / "texts").mkdir()
    (folder / "texts" / "1.md").write_text(f"# New {HOSTILE}\n\nRain.\n")
    (folder / "texts" / "2.md").symlink_to(documents / "wallet.txt")
    (folder / "texts" / "3").symlink_to(documents)
    (folder / "prompts").symlink_to(documents)
    (folder / "actions").symlink_to(documents)
    (folder / "profiles").symlink_to(documents)
    (folder / ".flowcabal" / "flowcabal.log").symlink_to(documents / "wallet.txt")
    (folder / ".flowcabal" / "knowledge.ovpack").symlink_to(documents / "wallet.txt")


def _plant(folder: Path, root: Path) -> None:
    """Modules, plug-ins and programs that leave a mark when they run."""
    code = f"open({str(root / 'ran')!r} + str(__import__('os').getpid()), 'a').write(__file__)\n"
    for name in MODULES:
        (folder / f"{name}.py").write_text(code)
    (folder / "flowcabal_tui").mkdir()
    (folder / "flowcabal_tui" / "__init__.py").write_text(code)
    (folder / "evil.pth").write_text(f"import os; {code}")
    (folder / "evil-1.dist-info").mkdir()
    (folder / "evil-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n")
    (folder / "evil-1.dist-info" / "entry_points.txt").write_text("[flowcabal_tui.nodes]\nevil = evil_node\n")
    for name in ("openviking-server", "vi", "nano", "python", "python3"):
        program = folder / name
        program.write_text(f"#!/bin/sh\necho {name} > {root}/ran-$$\n")
        program.chmod(0o755)


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """As an installed `flowcabal-tui` begins."""
    script = tmp_path / "bin" / "flowcabal-tui"
    script.parent.mkdir()
    script.write_text("import sys\nfrom flowcabal_tui.cli import main\nsys.exit(main())\n")
    return [sys.executable, str(script)]


@pytest.mark.slow
def test_commands_in_the_folder_run_nothing_and_obey_nothing(trap: Trap, command: list[str]) -> None:
    out = trap.root / "out"
    out.mkdir()
    package = str(Path(flowcabal_tui.__file__).parent.parent)
    environment = {**os.environ, "PATH": f".:{os.environ['PATH']}:", "PYTHONPATH": package, "OPENAI_API_KEY": "sk-1"}
    codes = {}
    for words in COMMANDS:
        filled = [word.format(out=out) for word in words]
        done = subprocess.run(
            [*command, *(filled if len(filled) > 1 else [*filled, "."])],
            cwd=trap.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        shown = (done.stdout + done.stderr).decode("utf-8")
        assert not harmful(shown), words
        assert "Traceback" not in shown and SECRET not in shown, (words, shown)
        codes[" ".join(words)] = done.returncode
    assert trap.ran() == ""
    assert trap.is_untouched()
    assert codes["chapters"] == codes["search . snow"] == codes["export . {out}/book.md"] == 0, codes
    assert codes["backup . {out}/book.zip"] == codes["status"] == 0, codes
    assert not harmful((out / "book.md").read_text()) and SECRET not in (out / "book.md").read_text()
    with zipfile.ZipFile(out / "book.zip") as archive:
        assert not [name for name in archive.namelist() if SECRET.encode() in archive.read(name)]


async def test_the_engine_takes_nothing_from_outside_into_the_book(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trap.folder)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    monkeypatch.syspath_prepend(str(trap.root))
    project = await Project.open(trap.folder)
    try:
        await project.memory.settled()
        for chapter in await project.book.chapters():
            assert SECRET not in await project.book.chapter_text(chapter.id)
        events = [repr(event) for event in project.take()]
    finally:
        await project.close()
    assert not [event for event in events if SECRET in event]
    assert trap.ran() == "" and trap.is_untouched()


@pytest.mark.parametrize("name", ["lock", "project.db-wal"])
def test_a_link_beside_the_database_keeps_every_command_out(trap: Trap, command: list[str], name: str) -> None:
    place = trap.folder / ".flowcabal" / name
    place.unlink(missing_ok=True)
    place.symlink_to(trap.documents / "lock")
    environment = {**os.environ, "PYTHONPATH": str(Path(flowcabal_tui.__file__).parent.parent)}
    done = subprocess.run(
        [*command, "rebuild", "."], cwd=trap.folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 1 and b"Traceback" not in done.stderr, done.stderr
    assert trap.is_untouched() and trap.ran() == ""
