"""A conversation whose program is killed: nothing of the book has changed, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from flowcabal_tui.domain.conversation import ConversationId, Turn
from flowcabal_tui.domain.proposals import ProposalFilter
from flowcabal_tui.protocol.conversations import AnswerPermission, SendWaiting
from tests.faultserver import FaultServer
from tests.project.case import Case, opened
from tests.project.talking import EDIT, FERRY, LEDGER, Json, call, calls, made, says
from tests.waiting import PATIENCE

CHILD = """
import asyncio, sys
from pathlib import Path
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.conversations import AskBook, SetLevel, StartConversation
async def main():
    project = await Project.open(Path(sys.argv[1]), knowledge=False, trust=True)
    talk = await project.carry_out(StartConversation())
    await project.carry_out(SetLevel(talk, "suggest"))
    await project.carry_out(AskBook(talk, "Make it shorter."))
    print("answered", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""
READ, ANSWER = call("read_chapter", chapter=1), "I propose one edit, and it is short. " * 20


class Moment(NamedTuple):
    """When the program is killed: behind so many events of this request. `paid` are the requests that were answered."""

    script: tuple[Json, ...]
    request: int
    events: int
    paid: int


MOMENTS = {
    "while a call arrives": Moment((calls(READ, stall_after=2),), 1, 2, 0),
    "while the second answer is waited for": Moment((calls(READ), says(ANSWER, stall_after=1)), 2, 1, 1),
    "after a proposal, while the answer streams": Moment(
        (calls(READ), calls(EDIT), says(ANSWER, stall_after=20)), 3, 20, 2
    ),
    "while text streams before a call": Moment((says(ANSWER, stall_after=30),), 1, 30, 0),
}


async def killed(folder: Path, server: FaultServer, moment: Moment) -> None:
    """Runs the child up to the moment, then kills it."""
    server.push(*moment.script)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(folder), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        while not _reached(server, moment):  # noqa: ASYNC110  # the log of the server is polled
            await asyncio.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    await child.wait()
    server.clear()


def _reached(server: FaultServer, moment: Moment) -> bool:
    return len(server.log) >= moment.request and server.log[moment.request - 1]["events"] >= moment.events


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
async def test_a_kill_changes_nothing_and_nothing_is_paid_twice(
    folder: Path, server: FaultServer, moment: Moment, provider: str
):
    await made(folder, server, provider, idle_timeout=30.0)
    await killed(folder, server, moment)
    async with opened(folder, trust=True) as case:
        texts = [await case.project.book.chapter_text(await case.chapter(number)) for number in (1, 2)]
        assert texts == [FERRY, LEDGER]
        identity = ConversationId("talk-1")
        (turn,) = await case.project.conversations.turns(identity)
        assert (turn.state, turn.stop) == ("completed", "cancelled")
        assert ANSWER.startswith(turn.answer.strip())
        totals = await case.project.runs.totals()
        assert totals.calls == moment.paid + 1  # the call under way is booked as an estimate
        before = len(server.log)
        server.push(*[step | {"stall_after": None} for step in moment.script[moment.paid :]], says("Done."))
        await case.project.carry_out(SendWaiting(identity, 1))
        (again,) = await case.project.conversations.turns(identity)
        assert again.stop == "end_turn"
        assert len(server.log) - before <= len(moment.script) - moment.paid + 1
        asked = [each["body"]["messages"] for each in server.log]
        assert asked[:before].count(asked[before]) == 1  # what was under way is asked again, and nothing before it
        cards = (await case.project.story.proposals(ProposalFilter(("waiting",)))).rows
        assert len(cards) == sum(EDIT in step.get("tool_calls", ()) for step in moment.script)
        assert texts == [await case.project.book.chapter_text(await case.chapter(number)) for number in (1, 2)]


WHOLE = """
import asyncio, sys
from pathlib import Path
from flowcabal_tui.domain.proposals import ProposalFilter
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.conversations import AnswerPermission, AskBook, SetLevel, StartConversation
from flowcabal_tui.protocol.story import DecideProposals
from flowcabal_tui.store.file.connection import Writer
from tests.bench.kill_victim import Points
async def main():
    points = Points(int(sys.argv[2]))
    Writer._commit = points.around(Writer._commit)
    project = await Project.open(Path(sys.argv[1]), knowledge=False, trust=True)
    talk = await project.carry_out(StartConversation())
    await project.carry_out(SetLevel(talk, "suggest"))
    points.counting = True
    await project.carry_out(AskBook(talk, "Make it shorter, then write the second chapter."))
    await project.carry_out(AnswerPermission(talk, 1, "2.3", "allow_once"))
    card = (await project.story.proposals(ProposalFilter(("waiting",)))).rows[0]
    await project.carry_out(DecideProposals((card.id,), "confirm"))
    await project.close()
    print(points.count)
asyncio.run(main())
"""
"""A question, an edit, a run that is asked for and allowed, and the edit accepted; killed at a commit."""
RUN = call("start_run", workflow="quick-draft", chapter=2, instruction="Short.")
SCRIPT = (calls(READ), calls(EDIT, RUN), says(ANSWER), says("A draft of the chapter."))
COMMITS = range(20) if os.environ.get("FLOWCABAL_KILLS") else range(0, 20, 5)
"""All twenty with FLOWCABAL_KILLS set."""
EDITED = FERRY.replace("watched her go", "said nothing")


async def ended(folder: Path, point: int) -> tuple[int, str]:
    """The exit code and the words of the child; killed at a point before or behind a commit (0: never)."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WHOLE, str(folder), str(point)), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        said, _errors = await child.communicate()
    return child.returncode or 0, said.decode()


async def finished(case: Case, turn: Turn) -> Turn:
    """The question answered to its end, by whatever the script still holds."""
    if turn.stop != "end_turn":
        await case.project.carry_out(SendWaiting(turn.conversation, 1))
    (turn,) = await case.project.conversations.turns(turn.conversation)
    for used in turn.used:
        if used.permission is not None and not used.permission.answer:
            await case.project.carry_out(AnswerPermission(turn.conversation, 1, used.id, "reject_once"))
    return turn


@pytest.mark.parametrize("moment", COMMITS)
async def test_killed_at_a_commit_everything_was_done_once_or_not_at_all(
    folder: Path, tmp_path: Path, server: FaultServer, moment: int
):
    await made(tmp_path / "counted", server, idle_timeout=30.0)
    server.push(*SCRIPT)
    code, said = await ended(tmp_path / "counted", 0)
    assert code == 0
    server.log.clear()
    server.clear()
    await made(folder, server, idle_timeout=30.0)
    server.push(*SCRIPT)
    code, _said = await ended(folder, 1 + moment * int(said) // 20)
    assert code in (-signal.SIGKILL, 0)  # pieces share commits, so there can be fewer of them
    answered = [json.dumps(each["body"]) for each in server.log if each["outcome"] == "complete"]
    server.clear()
    server.push(*SCRIPT[len(answered) :], says("Done.", times=-1))
    async with opened(folder, trust=True) as case:
        project = case.project
        totals = await project.runs.totals()
        assert abs(totals.calls - len(server.log)) <= 1  # one was opened and not sent
        turns = await project.conversations.turns(ConversationId("talk-1"))
        edits = (await project.story.proposals(ProposalFilter(("waiting", "confirmed")))).rows
        assert len(edits) <= 1
        is_accepted = any(each.state == "confirmed" for each in edits)
        assert await project.book.chapter_text(await case.chapter(1)) == (EDITED if is_accepted else FERRY)
        runs = await project.runs.summaries()
        for turn in turns:
            assert ANSWER.strip().startswith(turn.answer.strip())
            turn = await finished(case, turn)
            assert turn.stop == "end_turn"
            if is_accepted:  # what was accepted is not lost
                assert await project.book.chapter_text(await case.chapter(1)) == EDITED
        assert len(await project.runs.summaries()) == len(runs) <= 1  # no run begins by itself, or again
    sent = [json.dumps(each["body"]) for each in server.log]
    assert sum(sent.count(each) > 1 for each in answered) <= 1  # at most the one whose answer was not on disk yet
