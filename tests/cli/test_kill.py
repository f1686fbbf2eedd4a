"""kill -9 of a run in the middle of its streams: nothing doubled, at most a second lost, and it can be resumed."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.protocol import ResumeRun
from tests.cli.conftest import Make
from tests.faultserver import FaultServer
from tests.project.desk import PATIENCE, both, endpoint, opened

DELAY = 0.01
TEXTS = {"plan": "plan " * 10, "draft": "draft " * 250, "polish": "polish " * 10}
LOST = round(2 / DELAY)
"""Characters that a second of streaming has: two each event."""


async def killed_after(folder: Path, server: FaultServer, seconds: float) -> RunId:
    """Runs the chapter template in a process of its own, approves its plan, and kills it."""
    ran = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flowcabal_tui", "run", str(folder), "chapter", "--chapter", "1", "--json"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    while not server.log:  # noqa: ASYNC110  # the server is on another loop
        await asyncio.sleep(0.01)
    begun = time.monotonic()
    plan_done = False
    while time.monotonic() < begun + seconds:
        await asyncio.sleep(0.02)
        if not plan_done and server.log[0]["outcome"] == "complete":
            plan_done = await answered(folder, ran)
    ran.kill()
    await ran.communicate()
    async with opened(folder, read_only=True) as desk:
        (run,) = await desk.project.runs()
        assert run.state in ("interrupted", "waiting")
        return run.id


async def answered(folder: Path, ran: asyncio.subprocess.Process) -> bool:
    """Approves the plan on the process's standard input, as soon as it is asked about."""
    async with opened(folder, read_only=True) as looking:
        questions = await looking.project.questions()
    for question in questions:
        assert ran.stdin is not None
        line = f'{{"type": "human:decision", "question": "{question.id}", "decision": {{"kind": "approve"}}}}\n'
        ran.stdin.write(line.encode())
        await ran.stdin.drain()
    return bool(questions)


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_run_loses_a_second_at_most_and_repeats_nothing(project: Make, server: FaultServer, seed: int) -> None:
    folder = project(both(endpoint(server, idle_timeout=10.0)))
    server.push(*({"content": text, "delay": DELAY} for text in TEXTS.values()))
    seconds = random.Random(seed).uniform(0.2, 4.0)
    asyncio.run(killed_and_resumed(folder, server, seconds))


async def killed_and_resumed(folder: Path, server: FaultServer, seconds: float) -> None:
    run = await killed_after(folder, server, seconds)
    sent = [entry for entry in server.log if entry["path"].endswith("completions")]
    finished = [entry for entry in sent if entry["outcome"] == "complete"]
    server._faults.clear()
    server.push(*({"content": text} for text in list(TEXTS.values())[len(finished) :]))
    async with opened(folder) as desk:
        await desk.project.check()
        for number, (node, text) in enumerate(TEXTS.items()):
            view = await desk.project.node(run, NodeId(node))
            known = view.partial or (view.attempts[-1].text if view.attempts else "")
            assert text.startswith(known)
            if number < len(sent):
                streamed = min(len(text), 2 * max(0, sent[number]["events"] - 1))
                assert len(known) >= streamed - LOST
        await desk.project.carry_out(ResumeRun(run))
        assert await desk.follow(run) == "done"
        for node, text in TEXTS.items():
            view = await desk.view(run, node)
            assert [attempt.text for attempt in view.attempts] == [text]
        prompts = [entry["body"]["messages"][-1]["content"] for entry in server.log if "messages" in entry["body"]]
        for node, done in zip(TEXTS, (len(finished) > 0, len(finished) > 1, len(finished) > 2), strict=True):
            asked = [prompt for prompt in prompts if f"<task>{node}</task>" in prompt]
            assert len(asked) <= (1 if done else 2)
        assert len(await desk.project.runs()) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_at_once_and_keeps_all_text(
    project: Make, server: FaultServer, number: signal.Signals, code: int
) -> None:
    folder = project(both(endpoint(server, idle_timeout=10.0)))
    server.push({"content": TEXTS["draft"], "delay": DELAY})
    asyncio.run(interrupted(folder, number, code))


async def interrupted(folder: Path, number: signal.Signals, code: int) -> None:
    ran = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flowcabal_tui", "run", str(folder), "quick-draft", "--chapter", "1"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job inherits it ignored
    )
    assert ran.stdout is not None
    heading, begun = await ran.stdout.readline(), await ran.stdout.readexactly(20)
    assert heading.decode().startswith("— ")
    ran.send_signal(number)
    rest, err = await asyncio.wait_for(ran.communicate(), PATIENCE)
    assert (ran.returncode, err) == (code, b"")
    async with opened(folder, read_only=True) as desk:
        (run,) = await desk.project.runs()
        partial = (await desk.view(run.id, "draft")).partial
        assert run.state == "interrupted"
        assert partial
        assert TEXTS["draft"].startswith(partial)
        shown, _line, told = (begun + rest).decode().removesuffix("\n").rpartition("\n")
        assert partial.startswith(shown)
        assert told == f"Interrupted. What was written is kept; `run PROJECT --resume {run.id}` goes on."
