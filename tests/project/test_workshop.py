"""Work in a process of its own: in the writer's language, after the screen, within limits, isolated from the folder."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import resource
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import BindingError, HelperFailed, ManuscriptError
from flowcabal_tui.domain.garbage import YOUNG
from flowcabal_tui.locale import use_language
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.project.helper import WorkLimits
from flowcabal_tui.project.workshop import Workshop, looking_for_names
from tests.waiting import until

CODE = "from pathlib import Path\nPath({mark!r}).touch()\n"
"""A module of a stranger: it leaves a mark where it is run."""


@pytest.fixture
async def workshop() -> AsyncIterator[Workshop]:
    one = Workshop()
    yield one
    await one.close()


async def test_errors_of_the_helper_process_follow_the_language_of_the_screen(
    workshop: Workshop, tmp_path: Path
) -> None:
    empty = tmp_path / "小说.txt"
    empty.write_bytes(b"")
    try:
        for language, words in (("zh", "文件是空的"), ("en", "The file is empty")):
            use_language(language)
            with pytest.raises(ManuscriptError, match=words):
                await workshop.do(read_manuscript, empty)
    finally:
        use_language("en")


async def test_the_helper_process_lets_the_screen_go_first(workshop: Workshop) -> None:
    assert await workshop.do(os.nice, 0) == min(os.nice(0) + 10, 19)


@pytest.mark.parametrize("name", ["struct", "pickle", "sitecustomize", "usercustomize", "flowcabal_tui"])
async def test_no_module_of_the_current_folder_runs_in_the_helper(
    workshop: Workshop, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, folder = tmp_path / "it ran", tmp_path / "stranger"
    folder.mkdir()
    (folder / f"{name}.py").write_text(CODE.format(mark=str(mark)))
    if name == "flowcabal_tui":
        (folder / f"{name}.py").rename(folder / "__init__.py")
        (folder / name).mkdir()
        (folder / "__init__.py").rename(folder / name / "__init__.py")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", ".")
    monkeypatch.syspath_prepend("")
    assert await workshop.do(os.path.basename, "/novel") == "novel"
    assert not mark.exists()


async def test_the_helper_sees_no_key_and_starts_in_a_neutral_folder(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANYTHING", "else")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")
    monkeypatch.chdir(tmp_path)
    assert await workshop.do(os.getcwd) == "/"
    assert await workshop.do(os.getenv, "OPENAI_API_KEY") is None
    assert await workshop.do(os.getenv, "ANYTHING") is None
    assert not {".", ""} & set((await workshop.do(os.getenv, "PATH") or "").split(":"))


async def test_the_helper_begins_without_a_loop_and_without_models(workshop: Workshop) -> None:
    """Each takes as long as all that it needs; a run waits for its start."""
    await workshop.do(
        exec,
        "import flowcabal_tui.project.book.indexing, flowcabal_tui.agents.names.planned\n"
        "import flowcabal_tui.agents.checking.rules.kept, flowcabal_tui.agents.checking.evidence.search",
    )
    heavy = "{'asyncio', 'pydantic', 'sqlite3', 'httpx', 'importlib.resources'}"
    assert await workshop.do(eval, f"sorted({heavy} & set(__import__('sys').modules))") == []


async def test_the_helper_writes_no_core_file(workshop: Workshop) -> None:
    assert await workshop.do(resource.getrlimit, resource.RLIMIT_CORE) == (0, 0)


async def test_work_that_computes_for_ever_ends_with_a_typed_error(workshop: Workshop) -> None:
    with pytest.raises(HelperFailed) as caught:
        await workshop.do(eval, "sum(iter(int, 1))", limits=WorkLimits(cpu_seconds=1))
    assert caught.value.cause == "time" and caught.value.detail and caught.value.advice


async def test_work_that_waits_for_ever_ends_with_a_typed_error(workshop: Workshop) -> None:
    with pytest.raises(HelperFailed) as caught:
        await workshop.do(time.sleep, 3600, limits=WorkLimits(seconds=0.1))
    assert caught.value.cause == "time"


async def test_work_that_needs_too_much_memory_ends_with_a_typed_error(workshop: Workshop) -> None:
    with pytest.raises(HelperFailed) as caught:
        await workshop.do(bytes, 400 * 1024 * 1024, limits=WorkLimits(memory=300))
    assert caught.value.cause == "memory"


async def test_a_result_that_is_too_large_to_be_sent_ends_with_a_typed_error(workshop: Workshop) -> None:
    with pytest.raises(HelperFailed) as caught:  # the value fits, its copy for the pipe does not
        await workshop.do(bytes, 40 * 1024 * 1024, limits=WorkLimits(memory=60))
    assert caught.value.cause == "memory"


async def test_a_helper_that_is_killed_at_work_is_not_given_the_work_again(workshop: Workshop, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    code = (
        f"import os\nwith open({str(tries)!r}, 'a') as file: file.write('x')\nos.kill(os.getpid(), {signal.SIGSEGV:d})"
    )
    with pytest.raises(HelperFailed) as caught:
        await workshop.do(exec, code)
    assert caught.value.cause == "died" and str(int(signal.SIGSEGV)) in caught.value.detail
    assert tries.read_text() == "x"


@pytest.mark.parametrize(
    ("code", "limits"),
    [
        ("__import__('os')._exit(3)", WorkLimits()),
        ("bytes(400 << 20)", WorkLimits(memory=300)),
        ("__import__('time').sleep(3600)", WorkLimits(seconds=0.1)),
    ],
)
async def test_the_next_piece_of_work_gets_a_new_process(workshop: Workshop, code: str, limits: WorkLimits) -> None:
    first = await workshop.do(os.getpid)
    with pytest.raises(HelperFailed):
        await workshop.do(eval, code, limits=limits)
    assert await workshop.do(os.getpid) != first


async def test_a_helper_that_died_while_idle_is_replaced(workshop: Workshop) -> None:
    first = await workshop.do(os.getpid)
    os.kill(first, signal.SIGKILL)
    assert await workshop.do(os.getpid) != first


async def test_a_helper_that_cannot_start_is_an_error_and_no_endless_try(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(HelperFailed, match="before its work was finished"):
        await workshop.do(os.getpid)


async def test_the_limits_of_one_piece_of_work_are_not_those_of_the_next(workshop: Workshop) -> None:
    assert await workshop.do(len, b"x", limits=WorkLimits(cpu_seconds=1, memory=64)) == 1
    assert len(await workshop.do(bytes, 100 * 1024 * 1024)) == 100 * 1024 * 1024


async def test_the_helper_collects_garbage_as_seldom_as_the_screen(workshop: Workshop) -> None:
    assert await workshop.do(gc.get_threshold) == (YOUNG, 20, 50)
    assert await workshop.do(gc.isenabled)


async def test_a_helper_that_has_grown_gives_its_memory_back(workshop: Workshop) -> None:
    first = await workshop.do(os.getpid)
    await workshop.do(exec, "import builtins; builtins.kept = bytes(300 << 20)")
    assert await workshop.do(os.getpid) != first


def test_the_time_for_looking_for_names_grows_with_the_book() -> None:
    usual, long = looking_for_names(0), looking_for_names(7_000_000)
    assert usual == WorkLimits()
    assert long.cpu_seconds >= 500 and long.seconds >= 5_000 and long.memory == usual.memory


async def test_an_error_that_cannot_be_sent_goes_by_its_words(workshop: Workshop) -> None:
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(BindingError("a.b", "gone")))
    code = (
        "(_ for _ in ()).throw(__import__('flowcabal_tui.domain.errors', fromlist=['x']).BindingError('a.b', 'gone'))"
    )
    with pytest.raises(RuntimeError, match=r"a\.b"):
        await workshop.do(eval, code)
    assert await workshop.do(len, b"x") == 1


async def test_work_that_waits_when_the_workshop_is_closed_is_not_done(workshop: Workshop, tmp_path: Path) -> None:
    begun, done = tmp_path / "begun", tmp_path / "done"
    at_work = asyncio.create_task(workshop.do(exec, f"open({str(begun)!r}, 'w'); import time; time.sleep(3600)"))
    await until(begun.exists)
    waiting = asyncio.create_task(workshop.do(exec, f"open({str(done)!r}, 'w')"))
    await asyncio.sleep(0)
    await workshop.close()
    for each in (at_work, waiting):
        with pytest.raises(HelperFailed):
            await each
    assert not done.exists() and await workshop.do(len, b"x") == 1


async def test_cancelled_work_ends_its_process(workshop: Workshop) -> None:
    first = await workshop.do(os.getpid)
    waiting = asyncio.create_task(workshop.do(time.sleep, 3600))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await workshop.do(os.getpid) != first


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="a dead process cannot be seen here without reaping it")
async def test_the_exit_code_of_a_helper_that_died_is_left_to_asyncio(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reap, may_reap = os.waitpid, threading.Event()

    def late(pid: int, options: int) -> tuple[int, int]:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        if threading.current_thread() is not threading.main_thread():  # where a thread waits for the child
            may_reap.wait()
        return reap(pid, options)

    monkeypatch.setattr(os, "waitpid", late)
    workshop = Workshop()
    helper = await workshop.do(os.getpid)
    os.kill(helper, signal.SIGKILL)
    await asyncio.to_thread(os.waitid, os.P_PID, helper, os.WEXITED | os.WNOWAIT)
    closing = asyncio.create_task(workshop.close())
    await asyncio.sleep(0)
    may_reap.set()
    await closing
    assert "Unknown child" not in caplog.text
