"""kill -9 of every operation that changes a book: what is lost, what doubled, what is half done.

FLOWCABAL_BENCH_KILLS kills (60 without it) over the operations of `kill_operations.py`, FLOWCABAL_BENCH_SEED seeds the
moments: one round at any time from the command to the end of what follows it, one within the command itself, one at a
commit or file of the command, one at any commit or file. The next process opens what was left; then the book must be as
it was before the operation, or as it is after it, and the operation can be done again. The index, the files, an export
and the outbox must be those of the texts.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.text import digest
from flowcabal_tui.manuscript.mirror import mirror_digest
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import OutsideEdit
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, load_project, save_project
from tests.bench.kill_candidates import state_of_candidates
from tests.bench.kill_operations import OPERATIONS, OUTSIDE, SECRET, Act, Operation, book
from tests.bench.kill_revision import state_of_revision
from tests.bench.paid_ledger import keep_ledger, paid_twice
from tests.bench.projects import own_folders
from tests.bench.report import Figure, none_of

KILLS: Final = int(os.environ.get("FLOWCABAL_BENCH_KILLS", "60"))
SEED: Final = int(os.environ.get("FLOWCABAL_BENCH_SEED", "81"))
PATIENCE: Final = 60.0
POLL: Final = 0.05
MANY: Final = 1_000
WRONGS: Final = (
    "lost",
    "doubled",
    "half done",
    "file",
    "index",
    "export",
    "outside",
    "broken",
    "words left",
    "paid twice",
    "failed step",
)


@dataclass
class Told:
    """What a process said before it ended."""

    done: bool = False
    points: int = 0


@dataclass
class Judged:
    """What the kills of one operation left."""

    kills: int = 0
    nothing: int = 0
    """Kills after which the book was as before."""
    wrong: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a process is killed: seconds after its command, or at a point from 1 on (see `kill_victim.py`)."""

    seconds: float = 0.0
    point: int = 0

    def __str__(self) -> str:
        return f"at point {self.point}" if self.point else f"after {self.seconds:.3f} s"


class Stage:
    """One operation: the book before it, the book after it, and how long it takes undisturbed."""

    def __init__(self, operation: Operation, base: Path, folder: Path) -> None:
        self.operation, self._at, self._before = operation, folder / "at" / "book", folder / "before"
        shutil.copytree(base, self._at)
        if operation.prepare is not None:
            asyncio.run(_with(self._at, operation.prepare))
        shutil.copytree(self._at, self._before)
        self.before = asyncio.run(_state(self._at))
        began = time.monotonic()
        child = self._child()
        self.act_points = self._until(child, b"done").points
        self.act_seconds = time.monotonic() - began
        self.points = self._until(child, b"settled").points
        self.seconds = time.monotonic() - began
        _end(child)
        self.after = asyncio.run(_state(self._at))
        if self.before == self.after:
            raise RuntimeError(f"{operation.name} changes nothing that a kill could spoil")

    def moment(self, turn: int, chance: random.Random) -> Moment:
        """The moment of one of four turns: anywhere, within the command, at a point of the command, at any point."""
        match turn % 4:
            case 0:
                return Moment(seconds=chance.uniform(0, self.seconds))
            case 1:
                return Moment(seconds=chance.uniform(0, self.act_seconds))
            case 2:
                return Moment(point=chance.randint(1, max(1, self.act_points)))
            case _:
                return Moment(point=chance.randint(1, self.points))

    def kill(self, judged: Judged, moment: Moment) -> str:
        """Kills it at that moment; judges what is left, and returns that in words."""
        shutil.rmtree(self._at.parent)
        shutil.copytree(self._before, self._at)
        child = self._child(moment.point)
        told = _heard(child, PATIENCE if moment.point else moment.seconds)
        _end(child)
        judged.kills += 1
        before = Counter(judged.wrong)
        found = asyncio.run(self._judge(judged, told))
        wrong = judged.wrong - before
        return found + (f": {dict(wrong)}" if wrong else "")

    def _child(self, point: int = 0) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.bench.kill_victim", str(self._at), self.operation.name]
        child = subprocess.Popen(
            [*command, *([str(point)] if point else [])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert child.stdin is not None and child.stdout is not None
        if child.stdout.readline() != b"ready\n":
            raise RuntimeError(f"{self.operation.name} did not begin")
        child.stdin.write(b"go\n")
        if child.stdout.readline() != b"acting\n":
            raise RuntimeError(f"{self.operation.name} did not begin")
        return child

    def _until(self, child: subprocess.Popen[bytes], word: bytes) -> Told:
        told = Told()
        assert child.stdout is not None
        while line := child.stdout.readline():
            _note(told, line)
            if line.startswith(word):
                return told
        raise RuntimeError(f"{self.operation.name} ended with {child.wait()}")

    async def _judge(self, judged: Judged, told: Told) -> str:
        wrong = judged.wrong
        with closing(sqlite3.connect(self._at / ".flowcabal" / "project.db")) as database:
            wrong["broken"] += database.execute("PRAGMA quick_check").fetchone() != ("ok",)
        now = await _state(self._at, wrong)
        found = "as before" if now == self.before else "as after" if now == self.after else "between"
        judged.nothing += found == "as before"
        wrong["lost"] += told.done and found != "as after"
        if found == "between" and self.operation.again is None:
            self._compare(now, wrong)
        elif found != "as after":
            await _with(self._at, self.operation.again or self.operation.act)
            self._compare(await _state(self._at, wrong), wrong)
        wrong["paid twice"] += paid_twice(self._at.parent)
        if "purge" in self.operation.name:
            wrong["words left"] += bool(_files_with(SECRET, self._at))
        return found

    def _compare(self, now: dict[str, Any], wrong: Counter[str]) -> None:
        """What is not there that should be, what is there too often, and what is otherwise unlike an unkilled end."""
        if now == self.after:
            return
        have, wanted = [Counter(_all_texts(state)) for state in (now, self.after)]
        wrong["lost"] += bool(wanted - have)
        wrong["doubled"] += bool(have - wanted)
        wrong["half done"] += 1


def measure(
    kills: int = KILLS, operations: tuple[Operation, ...] = OPERATIONS, *, by_time: bool = True
) -> list[Figure]:
    """One line an operation, and the sums. Without `by_time` all kills are at a commit or file."""
    chance, judged = random.Random(SEED), defaultdict[str, Judged](Judged)
    with own_folders() as folder:
        base = folder / "base"
        begin(base)
        stages: dict[str, Stage] = {}
        for number in range(kills):
            turn, at = divmod(number, len(operations))
            operation = operations[at]
            if operation.name not in stages:
                stages[operation.name] = Stage(operation, base, folder / operation.name.replace(" ", "-"))
            moment = stages[operation.name].moment(turn if by_time else 2 + turn % 2, chance)
            found = stages[operation.name].kill(judged[operation.name], moment)
            print(f"  {number + 1:>2} {operation.name:<14} {moment}: {found}", file=sys.stderr, flush=True)
    return figures(judged)


def figures(judged: Mapping[str, Judged]) -> list[Figure]:
    """One line an operation, and the sums."""
    total = sum((one.wrong for one in judged.values()), Counter[str]())
    rows = [
        Figure(
            f"{name}, {one.kills} kills: lost, doubled, half done",
            ", ".join(str(one.wrong[what]) for what in WRONGS[:3]),
            "0, 0, 0",
            not any(one.wrong[what] for what in WRONGS[:3]),
        )
        for name, one in judged.items()
    ]
    return [
        Figure("kills", str(sum(one.kills for one in judged.values()))),
        *rows,
        none_of("files of chapters unlike their texts, or too many", total["file"]),
        none_of("index unlike the texts", total["index"]),
        none_of("export unlike the texts", total["export"]),
        none_of("own files taken for an edit made outside", total["outside"]),
        none_of("databases not whole", total["broken"]),
        none_of("purged words left in a file", total["words left"]),
        none_of("answers paid for again that were kept", total["paid twice"]),
        none_of("steps of background work that failed", total["failed step"]),
    ]


def begin(folder: Path) -> None:
    """Makes the book that every operation begins with."""
    models = ModelsSettings(user=OFFLINE, agent=OFFLINE)
    asyncio.run(create_project(folder, name="Killed", language="en", models=models))
    settings = load_project(folder)
    knowledge = settings.knowledge.model_copy(update={"enabled": False})
    save_project(folder, settings.model_copy(update={"knowledge": knowledge}))
    asyncio.run(_with(folder, book))


async def _with(folder: Path, act: Act) -> None:
    """Does something with an open project, and what follows it."""
    keep_ledger(folder.parent)
    project = await Project.open(folder, knowledge=False, pace=0.0, trust=True)
    try:
        await act(project)
        async with asyncio.timeout(PATIENCE):
            await project.memory.settled()
    finally:
        await project.close()


async def _state(folder: Path, wrong: Counter[str] | None = None) -> dict[str, Any]:
    """What a reader can see, once everything that was left to do is done; what is derived is compared with it."""
    project = await Project.open(folder, knowledge=False, pace=0.0, trust=True)
    try:
        async with asyncio.timeout(PATIENCE):
            await project.memory.settled()
            while (await project._parts.store.maintenance.purge_left()).steps:  # noqa: ASYNC110  # the store is polled
                await asyncio.sleep(POLL)
            await project.memory.settled()
        failed = [f"{task.kind} of {task.subject}: {task.error}" for task in await project.memory.background("failed")]
        if wrong is None and failed:
            raise RuntimeError(f"what no kill cut off has failed: {failed}")
        for words in failed:
            print(f"  a step failed: {words}", file=sys.stderr, flush=True)
        state: dict[str, Any] = {
            "chapters": [await _chapter(project, one.id, one.title) for one in await project.book.chapters()],
            "deleted": [await _chapter(project, one.id, one.title) for one in await project.book.deleted_chapters()],
            "outline": await project.book.meta("outline"),
            "names": [each.names for each in await project.story.entities() if each.by == "hand"],
            "kept": [(one.digest, one.deleted) for one in await project.book.kept()],
            "runs": [(one.workflow, one.state, one.nodes) for one in await project.runs.summaries()],
            "findings": await _findings(project),
            "facts": [(one.text, bool(one.since), bool(one.until)) for one in (await project.story.all()).facts],
            **await state_of_revision(project),
            **await state_of_candidates(project),
        }
        if wrong is not None:
            wrong["failed step"] += len(failed)
            await _look(project, folder, wrong)
    finally:
        await project.close()
    return state


async def _findings(project: Project) -> list[tuple[str, str, str]]:
    """Both passages of each finding and note of a reader, and what became of it with the writer's reason."""
    page = await project.findings.findings(FindingFilter(states=(), folded=True, notes=True), 0, MANY)
    rows = [(row.proposal, row.word) for row in page.rows]
    return [(row.quotation, row.difference.after.source.text, f"{row.state} {word}") for row, word in rows]


async def _chapter(project: Project, chapter: Any, title: str) -> tuple[str, tuple[str, ...]]:
    """Title and texts, the newest first."""
    versions = await project.book.chapter_versions(chapter)
    return title, tuple([await project.book.chapter_text(chapter, version.version) for version in versions])


def _all_texts(state: dict[str, Any]) -> list[Any]:
    chapters = [(title, text) for part in ("chapters", "deleted") for title, texts in state[part] for text in texts]
    return [*chapters, *state["kept"], *state["findings"], *state["comments"], *state["locks"], *state["facts"]]


async def _look(project: Project, folder: Path, wrong: Counter[str]) -> None:
    """Index, files, export and outbox beside the texts that stand."""
    view = await project._parts.store.memory.view(None)
    texts = {}
    for chapter in await project.book.chapters():
        if chapter.digest:
            texts[chapter.id] = await project.book.chapter_text(chapter.id)
            passages = await view.passages(chapter.id)
            indexed = "".join("".join(each.text.split()) for each in passages)
            wrong["index"] += indexed != "".join(texts[chapter.id].split())
    outside = {one.chapter for one in project.take() if isinstance(one, OutsideEdit)}
    edited = [path.read_text("utf-8") for path in sorted((folder / "manuscript").iterdir())]
    wanted = Counter(digest(text) for text in texts.values())
    files = Counter(mirror_digest(content) for content in edited)
    if digest(OUTSIDE) not in files:
        wrong["file"] += files != wanted
        wrong["outside"] += bool(outside)
    target = folder.parent / "export.txt"
    target.unlink(missing_ok=True)
    await project.book.export(target, "txt")
    exported = target.read_text("utf-8")
    wrong["export"] += any(exported.count(text) != 1 for text in texts.values())
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        rows = database.execute("SELECT kind, subject, count(*) FROM task WHERE kind<>'profile' GROUP BY kind, subject")
        wrong["doubled"] += sum(count > 1 for _kind, _subject, count in rows)


def _files_with(words: str, folder: Path) -> list[Path]:
    rare = [word for word in words.split() if len(word) > 7 and word.isalpha()]
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and any(word.encode() in path.read_bytes() for word in rare)
    ]


def _note(told: Told, line: bytes) -> None:
    word, _space, points = line.partition(b" ")
    if word in (b"done", b"settled"):
        told.done, told.points = True, int(points)


def _heard(child: subprocess.Popen[bytes], seconds: float) -> Told:
    """What a process says within so many seconds, or until it ends."""
    assert child.stdout is not None
    told, until = Told(), time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and select.select([child.stdout], [], [], left)[0]:
        line = child.stdout.readline()
        if not line:
            break
        _note(told, line)
    child.kill()
    for line in child.stdout:
        _note(told, line)
    return told


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.communicate()
