"""kill -9 while a chapter is being saved: in the transaction, the mirror, the outbox, and what follows within a second.

FLOWCABAL_BENCH_SAVE_KILLS kills (30 without it), FLOWCABAL_BENCH_SEED seeds the moments. One book, saved into again and
again: every kill leaves to the next what it left.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.text import digest
from flowcabal_tui.manuscript.mirror import mirror_digest
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol import AddChapter, OutsideEdit, WriteChapter
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, load_project, save_project
from tests.bench.projects import own_folders
from tests.bench.report import Figure, none_of, percentile

KILLS: Final = int(os.environ.get("FLOWCABAL_BENCH_SAVE_KILLS", "30"))
SEED: Final = int(os.environ.get("FLOWCABAL_BENCH_SEED", "81"))
WINDOW: Final = (0.0, 0.02)
"""Seconds after the command was sent in which the kill comes; every third comes within AFTER instead."""
AFTER: Final = 0.5
PATIENCE: Final = 30.0
SAVER: Final = """
import asyncio, sys
from pathlib import Path
from flowcabal_tui.project import Project
from flowcabal_tui.protocol import WriteChapter

async def save():
    project = await Project.open(Path(sys.argv[1]), knowledge=False)
    chapter = (await project.chapters())[0].id
    print("ready", flush=True)
    text = sys.stdin.read()
    print("saving", flush=True)
    await project.carry_out(WriteChapter(chapter, text))
    print("saved", flush=True)
    await asyncio.Event().wait()

asyncio.run(save())
"""


def measure() -> list[Figure]:
    """The sums over all kills."""
    chance, wrong, stages, windows = random.Random(SEED), Counter[str](), Counter[str](), []
    with own_folders() as folder:
        book = folder / "book"
        asyncio.run(_begin(book))
        for number in range(KILLS):
            moment = chance.uniform(0, AFTER) if number % 3 == 2 else chance.uniform(*WINDOW)
            text = _text(number)
            told, took = _kill(book, text, moment)
            if took is not None:
                windows.append(took)
            stage = asyncio.run(_judge(book, text, told=told, wrong=wrong))
            stages[stage] += 1
            print(f"  {number + 1:>2} at {moment * 1000:5.1f} ms: {stage}", file=sys.stderr, flush=True)
    return [
        Figure("kills, by what the next process found", ", ".join(f"{n} {stage}" for stage, n in stages.items())),
        Figure(
            "from command to confirmation, median, ms", f"{percentile(windows, 0.5) * 1000:.1f}" if windows else "-"
        ),
        none_of("texts told as saved that were lost", wrong["lost"]),
        none_of("texts that were half there", wrong["half"]),
        none_of("versions or tasks doubled", wrong["doubled"]),
        none_of("index unlike the text after healing", wrong["index"]),
        none_of("export unlike the text", wrong["export"]),
        none_of("files unlike the text after healing, or too many", wrong["mirror"]),
        none_of("own files taken for an edit made outside", wrong["outside"]),
        none_of("files of the database not whole", wrong["broken"]),
    ]


def _text(number: int) -> str:
    """A chapter of 3,000 words or so that only this save writes."""
    return "\n\n".join(f"Ines Marlow counted save{number}part{part}. {'The river rose. ' * 20}" for part in range(40))


async def _begin(book: Path) -> None:
    await create_project(book, name="Saved", language="en", models=ModelsSettings(user=OFFLINE, agent=OFFLINE))
    settings = load_project(book)
    save_project(
        book, settings.model_copy(update={"knowledge": settings.knowledge.model_copy(update={"enabled": False})})
    )
    project = await Project.open(book, knowledge=False)
    try:
        await project.carry_out(WriteChapter(await _chapter(project), "The first words. Ines Marlow waits."))
        await project.settled()
    finally:
        await project.close()


async def _chapter(project: Project) -> str:
    chapters = await project.chapters()
    return chapters[0].id if chapters else await project.carry_out(AddChapter("The Ferry"))


def _kill(book: Path, text: str, moment: float) -> tuple[bool, float | None]:
    """Saves in another process and kills it: was it told as saved, and after how many seconds?"""
    child = subprocess.Popen(
        [sys.executable, "-c", SAVER, str(book)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    assert child.stdin is not None and child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.stdin.write(text.encode())
    child.stdin.close()
    assert child.stdout.readline() == b"saving\n"
    began, took = time.monotonic(), None
    if select.select([child.stdout], [], [], moment)[0] and child.stdout.readline() == b"saved\n":
        took = time.monotonic() - began
        time.sleep(max(0.0, moment - took))
    child.kill()
    rest = child.stdout.read()
    child.wait()
    return took is not None or b"saved" in rest, took


async def _judge(book: Path, text: str, *, told: bool, wrong: Counter[str]) -> str:
    """Looks at what is there, lets the next process heal it, and looks again; returns how far the save had come."""
    database = book / ".flowcabal" / "project.db"
    with closing(sqlite3.connect(database)) as connection:
        wrong["broken"] += connection.execute("PRAGMA quick_check").fetchone() != ("ok",)
        (versions,) = connection.execute("SELECT count(*) FROM version WHERE digest=?", (digest(text),)).fetchone()
        waiting = dict(connection.execute("SELECT kind, count(*) FROM task WHERE state<>'fresh' GROUP BY kind"))
    saved = versions == 1
    wrong["doubled"] += versions > 1
    wrong["lost"] += told and not saved
    file_before = [mirror_digest(path.read_text("utf-8")) for path in (book / "manuscript").glob("*.md")]
    project = await Project.open(book, knowledge=False)
    try:
        await asyncio.wait_for(project.settled(), PATIENCE)
        (chapter,) = await project.chapters()
        now = await project.chapter_text(chapter.id)
        wrong["half"] += saved != (now == text) or not now
        await _compare(project, book, now, wrong)
        wrong["outside"] += any(isinstance(event, OutsideEdit) for event in project.take())
    finally:
        await project.close()
    if not saved:
        return "not saved"
    if digest(text) not in file_before:
        return "saved, no file yet"
    return "saved, file there, work left" if waiting else "saved, all done"


async def _compare(project: Project, book: Path, text: str, wrong: Counter[str]) -> None:
    """The index, an export, the file and the tasks beside the text that stands."""
    (chapter,) = await project.chapters()
    view = await project._parts.store.memory.view(None)
    passages = await view.passages(chapter.id)
    wrong["index"] += "".join("".join(each.text.split()) for each in passages) != "".join(text.split())
    target = book.parent / "export.txt"
    target.unlink(missing_ok=True)
    await project.export(target, "txt")
    wrong["export"] += target.read_text("utf-8").count(text) != 1
    files = [path.read_text("utf-8") for path in (book / "manuscript").iterdir()]
    wrong["mirror"] += [mirror_digest(content) for content in files] != [digest(text)]
    with closing(sqlite3.connect(book / ".flowcabal" / "project.db")) as connection:
        rows = connection.execute(
            "SELECT kind, subject, count(*) FROM task WHERE kind<>'profile' GROUP BY kind, subject"
        )
        wrong["doubled"] += sum(count > 1 for _kind, _subject, count in rows)
