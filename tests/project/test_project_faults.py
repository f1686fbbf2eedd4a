"""What can be wrong with a folder, a file, a workflow or the disk: a clear error, and nothing lost."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import (
    DiskFull,
    ProjectDamaged,
    ProjectExists,
    ProjectLocked,
    ProjectNotFound,
    ProjectReadOnly,
    ProjectTooNew,
    RunError,
    SettingsError,
    WorkflowError,
)
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import OFFLINE
from flowcabal_tui.store.file.lock import ProjectLock
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint, make, make_one, opened
from tests.waiting import PATIENCE

HOLDER = """
import asyncio, sys
from pathlib import Path
from flowcabal_tui.project import Project

async def hold():
    await Project.open(Path(sys.argv[1]), knowledge=False)
    print("held", flush=True)
    await asyncio.Event().wait()

asyncio.run(hold())
"""
RUNNER = """
import asyncio, sys
from pathlib import Path
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.runs import RunWorkflow

async def run():
    project = await Project.open(Path(sys.argv[1]), knowledge=False)
    chapter = (await project.book.chapters())[0].id
    await project.carry_out(RunWorkflow(RunRequest("chapter", chapter)))
    print("running", flush=True)
    await asyncio.Event().wait()

asyncio.run(run())
"""
LITTLE_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from flowcabal_tui.cli import main
sys.exit(main(sys.argv[2:]))
"""


async def test_a_folder_without_a_project_says_how_to_make_one(folder: Path) -> None:
    with pytest.raises(ProjectNotFound, match="flowcabal-tui new"):
        await Project.open(folder)


async def test_a_project_is_never_made_over_another(folder: Path) -> None:
    await make(folder)
    before = (folder / "flowcabal.toml").read_bytes()
    with pytest.raises(ProjectExists):
        await create_project(folder, name="Another", language="en")
    assert (folder / "flowcabal.toml").read_bytes() == before


async def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("in the way")
    with pytest.raises(DiskFull):
        await create_project(tmp_path / "a file" / "novel", name="Novel", language="en")
    assert (tmp_path / "a file").read_text() == "in the way"


@pytest.mark.parametrize("limit", [20, 8192, 300_000])
async def test_a_project_that_cannot_be_finished_leaves_nothing_behind(tmp_path: Path, limit: int) -> None:
    words = (sys.executable, "-c", LITTLE_DISK, str(limit), "new", str(tmp_path / "far" / "novel"))
    made = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
    _out, err = await asyncio.wait_for(made.communicate(), PATIENCE)
    assert made.returncode == 1, err
    assert not (tmp_path / "far").exists()


async def test_a_project_that_cannot_be_made_leaves_what_was_there(folder: Path) -> None:
    (folder / ".flowcabal").mkdir(parents=True)
    (folder / ".flowcabal" / "project.db").write_text("no database")
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ProjectDamaged):
        await create_project(folder, name="Novel", language="en")
    assert sorted(path.name for path in folder.rglob("*")) == [".flowcabal", "notes.txt", "project.db"]


async def test_a_project_open_elsewhere_names_its_holder_and_can_be_read(folder: Path) -> None:
    await make_one(folder)
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(folder), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert await asyncio.wait_for(holder.stdout.readline(), PATIENCE) == b"held\n"
        with pytest.raises(ProjectLocked, match=f"process {holder.pid}"):
            await Project.open(folder)
        async with opened(folder, read_only=True) as case:
            assert str(holder.pid) in case.project.info.holder
            assert len(await case.project.book.chapters()) == 1
            with pytest.raises(ProjectReadOnly):
                await case.project.carry_out(AddChapter("Another"))
    finally:
        holder.kill()
        await holder.communicate()
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("Another"))


async def test_who_only_reads_sees_a_run_as_running_while_its_writer_lives_and_then_as_interrupted(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server, first_token_timeout=60.0)))
    server.push({"ttft": 60})
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RUNNER, str(folder), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert writer.stdout is not None
        assert await asyncio.wait_for(writer.stdout.readline(), PATIENCE) == b"running\n"
        async with opened(folder, read_only=True) as case:
            assert [run.state for run in await case.project.runs.summaries()] == ["running"]
            writer.kill()
            await writer.communicate()
            assert [run.state for run in await case.project.runs.summaries()] == ["interrupted"]
            lock = ProjectLock(folder / ".flowcabal" / "lock", datetime.now(UTC) + timedelta(seconds=1))
            try:  # another writer, which did not take the run up
                assert [run.state for run in await case.project.runs.summaries()] == ["interrupted"]
            finally:
                lock.release()
    finally:
        if writer.returncode is None:
            writer.kill()
            await writer.communicate()


async def test_a_newer_database_is_left_alone(folder: Path) -> None:
    await make(folder)
    database = folder / ".flowcabal" / "project.db"
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    before = database.read_bytes()
    for read_only in (False, True):
        with pytest.raises(ProjectTooNew):
            await Project.open(folder, read_only=read_only)
    assert database.read_bytes() == before


async def test_a_failed_opening_lets_go_of_the_folder(folder: Path) -> None:
    await make(folder)
    file = folder / "flowcabal.toml"
    good = file.read_text("utf-8")
    file.write_text(good + "\n[agents]\nmonitr = false\n", encoding="utf-8")
    line = file.read_text("utf-8").splitlines().index("monitr = false") + 1
    with pytest.raises(SettingsError, match=rf"line {line}: .*monitr is not a setting.*monitor"):
        await Project.open(folder)
    file.write_text(good + "\n[agents\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="line"):
        await Project.open(folder)
    file.write_text(good, encoding="utf-8")
    async with opened(folder):
        pass


def workflow(**fields: object) -> Workflow:
    return Workflow.model_validate({"id": "mine"} | fields)


def node(name: str, *sources: str, text: str = "Write.") -> dict[str, object]:
    blocks = [{"kind": "text", "text": text}, *({"kind": "virtual", "node": source} for source in sources)]
    return {"id": name, "params": {"prompt": blocks}}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (workflow(), "no nodes"),
        (workflow(nodes=[node("a", "b"), node("b", "a")]), "CYCLE"),
        (workflow(nodes=[node("a", "a")]), "own output"),
        (workflow(nodes=[node("a", "nowhere")]), "nowhere"),
        (workflow(nodes=[node("a"), node("a")]), "2 nodes"),
        (workflow(nodes=[{"id": "a", "kind": "magic"}]), "magic"),
        (workflow(nodes=[node("a")], edges=[{"source": "a", "target": "z"}]), "unknown node z"),
        (
            workflow(nodes=[{"id": "a", "params": {"prompt": [{"kind": "text", "text": "{{chapter.colour}}"}]}}]),
            "colour",
        ),
    ],
)
async def test_a_workflow_that_cannot_run_is_not_saved(folder: Path, document: Workflow, said: str) -> None:
    await make(folder)
    async with opened(folder) as case:
        with pytest.raises(WorkflowError, match=said):
            await case.project.carry_out(SaveWorkflow(document))
        assert "mine" not in [known.id for known in await case.project.workflows.newest()]


async def test_names_that_are_not_there_are_errors_and_begin_no_run(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        chapter = await case.chapter(1)
        for request in (
            RunRequest("nothing", chapter),
            RunRequest("chapter@99", chapter),
            RunRequest("chapter", "nowhere"),  # type: ignore[arg-type]
            RunRequest("chapter", chapter, targets=("nobody",)),  # type: ignore[arg-type]
        ):
            with pytest.raises(RunError):
                await case.project.carry_out(RunWorkflow(request))
        assert await case.project.runs.summaries() == ()
        with pytest.raises(RunError):
            await case.project.carry_out(WriteChapter("nowhere", "text"))  # type: ignore[arg-type]


@pytest.mark.parametrize("room", [20_000, 70_000], ids=["at the opening", "in the middle of a run"])
async def test_a_full_disk_loses_nothing_and_ends(folder: Path, room: int) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), "What was kept."))
        await case.settled()
    words = ("run", str(folder), "quick-draft", "--chapter", "1", "--plain")
    ran = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", LITTLE_DISK, str(room), *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(ran.communicate(), PATIENCE)
    except TimeoutError:
        ran.kill()
        raise
    assert ran.returncode == 1, out + err
    assert b"Free space" in out + err
    assert b"Traceback" not in out + err
    async with opened(folder) as case:
        await case.project.check()
        assert await case.project.book.chapter_text(await case.chapter(1)) == "What was kept."
        await case.run("quick-draft", 1)


async def test_a_mirror_that_cannot_be_written_harms_no_chapter(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    (folder / "manuscript").rmdir()
    (folder / "manuscript").write_text("in the way")
    async with opened(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), "Safe."))
        with pytest.raises(DiskFull):
            await case.settled()
        assert await case.project.book.chapter_text(await case.chapter(1)) == "Safe."
        (task,) = [task for task in await case.project.memory.background() if task.kind == "mirror"]
        assert task.state == "failed"
        assert task.error
