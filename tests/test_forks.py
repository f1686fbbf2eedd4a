"""Forked processes are processes like any other; tests about the start of a helper start it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flowcabal_tui.project.workshop import Workshop
from tests.forks import python

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
PROGRAM = """
import asyncio, json, os, sys
from flowcabal_tui.project.workshop import Workshop

async def helped():
    workshop = Workshop()
    parent = await workshop.do(os.getppid)
    await workshop.close()
    return parent == os.getpid()

seen = [os.getpid(), os.getppid(), os.getcwd(), os.getenv("SEEN"), os.getenv("HOME"), sys.argv, sys.stdin.readline()]
print(json.dumps([*seen, asyncio.run(helped())]), flush=True)
sys.stdin.readline()
sys.exit(3)
"""


@linux
@pytest.mark.parametrize("end", [3, -signal.SIGKILL])
def test_a_forked_program_is_a_child_with_its_own_folder_environment_and_streams(tmp_path: Path, end: int) -> None:
    command = [python(), "-c", PROGRAM, "one", "two"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, env={"SEEN": "yes"}, text=True, bufsize=1, **streams) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write("a line\n")
        arguments = ["-c", "one", "two"]
        expected = [child.pid, os.getpid(), str(tmp_path), "yes", None, arguments, "a line\n", True]
        assert json.loads(child.stdout.readline()) == expected
        if end == 3:
            child.stdin.write("\n")
        else:
            child.kill()
        assert child.wait() == end


async def parents(workshop: Workshop) -> tuple[int, bool]:
    found = await workshop.do(os.getppid), await workshop.do(eval, "'tests.forks' in __import__('sys').modules")
    await workshop.close()
    return found


@linux
async def test_a_helper_is_forked() -> None:
    assert await parents(Workshop()) == (os.getpid(), True)


async def test_a_helper_starts_where_a_test_is_about_its_start(started_helpers: None) -> None:
    assert await parents(Workshop()) == (os.getpid(), False)
