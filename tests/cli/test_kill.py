"""kill -9 of a run in the middle of its streams: nothing doubled, nothing kept is lost, and it can be resumed."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.protocol.runs import ResumeRun
from tests.cli.conftest import Make
from tests.faultserver import FaultServer
from tests.project.case import Case, both, endpoint, opened
from tests.waiting import PATIENCE

DELAY = 0.01
TEXTS = {"plan": "plan " * 10, "draft": "draft " * 250, "polish": "polish " * 10}


async def killed_after(folder: Path, server: FaultServer, events: int) -> tuple[RunId, dict[str, str]]:
    """Runs the chapter template in a process of its own, approves its plan, and kills it after so many pieces of text.

    Returns what was kept of each node's text before the kill; of the last one there was something.
    """
    ran = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flowcabal_tui", "run", str(folder), "chapter", "--chapter", "1", "--json"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    while not server.log:  # noqa: ASYNC110  # the server is on another loop
        await asyncio.sleep(0.01)
    plan_done = False
    async with asyncio.timeout(PATIENCE):
        while sum(entry["events"] for entry in server.log) < events:
            await asyncio.sleep(0.02)
            if not plan_done and server.log[0]["outcome"] == "complete":
                plan_done = await answered(folder, ran)
        kept: dict[str, str] = {}
        while len(kept) < len(streams(server)):
            kept = await texts_in(folder)
    ran.kill()
    await ran.communicate()
    async with opened(folder, read_only=True) as case:
        (run,) = await case.project.runs.summaries()
        assert run.state in ("interrupted", "waiting")
        states = [(await case.project.runs.node(run.id, NodeId(node))).state for node in TEXTS]
        assert not {"running", "retrying"}.intersection(states)
    assert "running" not in await status_of(folder)
    return run.id, kept


async def status_of(folder: Path) -> str:
    """What `status` prints."""
    asked = (sys.executable, "-m", "flowcabal_tui", "status", str(folder))
    ran = await asyncio.create_subprocess_exec(*asked, stdout=asyncio.subprocess.PIPE)
    return (await ran.communicate())[0].decode()


def streams(server: FaultServer) -> list[dict[str, Any]]:
    """The answers that were asked for."""
    return [entry for entry in server.log if entry["path"].endswith("completions")]


async def texts_in(folder: Path) -> dict[str, str]:
    """What the project holds of each node's text, whole or in part."""
    async with opened(folder, read_only=True) as case:
        (run,) = await case.project.runs.summaries()
        return {node: text for node in TEXTS if (text := await known_of(case, run.id, node))}


async def draft_in(folder: Path) -> str:
    """What the project holds of the text of a run of one node, `draft`."""
    async with opened(folder, read_only=True) as case:
        (run,) = await case.project.runs.summaries()
        return await known_of(case, run.id, "draft")


async def known_of(case: Case, run: RunId, node: str) -> str:
    view = await case.project.runs.node(run, NodeId(node))
    return view.partial or (view.attempts[-1].text if view.attempts else "")


async def answered(folder: Path, ran: asyncio.subprocess.Process) -> bool:
    """Approves the plan on the process's standard input, as soon as it is asked about."""
    async with opened(folder, read_only=True) as looking:
        questions = await looking.project.runs.questions()
    for question in questions:
        assert ran.stdin is not None
        line = f'{{"type": "human:decision", "question": "{question.id}", "decision": {{"kind": "approve"}}}}\n'
        ran.stdin.write(line.encode())
        await ran.stdin.drain()
    return bool(questions)


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_run_loses_nothing_that_was_kept_and_repeats_nothing(
    project: Make, server: FaultServer, seed: int
) -> None:
    folder = project(both(endpoint(server, idle_timeout=10.0)))
    server.push(*({"content": text, "delay": DELAY} for text in TEXTS.values()))
    asyncio.run(killed_and_resumed(folder, server, random.Random(seed).randrange(10, 300)))


async def killed_and_resumed(folder: Path, server: FaultServer, events: int) -> None:
    run, kept = await killed_after(folder, server, events)
    sent = streams(server)
    async with opened(folder) as case:
        assert (await case.project.runs.totals()).calls == len(sent), (
            "each call is booked, also those that were under way"
        )
    finished = [entry for entry in sent if entry["outcome"] == "complete"]
    server._faults.clear()
    server.push(*({"content": text} for text in list(TEXTS.values())[len(finished) :]))
    async with opened(folder) as case:
        await case.project.check()
        for node, text in TEXTS.items():
            known = await known_of(case, run, node)
            assert text.startswith(known) and known.startswith(kept.get(node, ""))
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run) == "done"
        for node, text in TEXTS.items():
            view = await case.view(run, node)
            assert [attempt.text for attempt in view.attempts] == [text]
        prompts = [entry["body"]["messages"][-1]["content"] for entry in server.log if "messages" in entry["body"]]
        for node, done in zip(TEXTS, (len(finished) > 0, len(finished) > 1, len(finished) > 2), strict=True):
            asked = [prompt for prompt in prompts if f"<task>{node}</task>" in prompt]
            assert len(asked) <= (1 if done else 2)
        assert len(await case.project.runs.summaries()) == 1


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
    async with opened(folder, read_only=True) as case:
        (run,) = await case.project.runs.summaries()
        partial = (await case.view(run.id, "draft")).partial
        assert run.state == "interrupted"
        assert partial
        assert TEXTS["draft"].startswith(partial)
        shown, _line, told = (begun + rest).decode().removesuffix("\n").rpartition("\n")
        assert partial.startswith(shown)
        assert told == f"Interrupted. The text so far is kept; continue with `run PROJECT --resume {run.id}`."


@pytest.mark.parametrize("least", [1, 400])
def test_text_that_was_journalled_before_a_kill_is_continued_and_not_written_again(
    project: Make, server: FaultServer, least: int
) -> None:
    folder = project(both(endpoint(server, idle_timeout=10.0)))
    server.push({"content": TEXTS["draft"], "delay": DELAY})
    asyncio.run(killed_and_continued(folder, server, least))


async def killed_and_continued(folder: Path, server: FaultServer, least: int) -> None:
    """Kills a run when so many characters of its only text are in the project, and has it continued."""
    ran = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flowcabal_tui", "run", str(folder), "quick-draft", "--chapter", "1"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    while not streams(server):  # noqa: ASYNC110  # the server is on another loop
        await asyncio.sleep(0.01)
    async with asyncio.timeout(PATIENCE):
        while len(await draft_in(folder)) < least:
            pass
    ran.kill()
    await ran.wait()
    kept = await draft_in(folder)
    assert len(kept) >= least
    assert TEXTS["draft"].startswith(kept)
    rest = "and the ferry was gone."
    server._faults.clear()
    server.push({"content": rest})
    async with opened(folder) as case:
        (run,) = await case.project.runs.summaries()
        assert run.state == "interrupted"
        (cut,) = (await case.view(run.id, "draft")).attempts
        assert (cut.text, cut.complete) == (kept, False)
        await case.project.carry_out(ResumeRun(run.id, continues=True))
        assert await case.follow(run.id) == "done"
        (whole,) = (await case.view(run.id, "draft")).attempts
        assert (whole.text, whole.complete) == (kept + rest, True)
        asked = streams(server)[-1]["body"]["messages"]
        assert [message["role"] for message in asked[-2:]] == ["assistant", "user"]
        assert asked[-2]["content"] == kept
        assert len(streams(server)) == 2
