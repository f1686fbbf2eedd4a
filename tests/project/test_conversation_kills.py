"""A conversation whose program is killed: nothing of the book has changed, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from flowcabal_tui.domain.conversation import ConversationId
from flowcabal_tui.domain.proposals import ProposalWish
from flowcabal_tui.protocol.conversations import SendWaiting
from tests.faultserver import FaultServer
from tests.project.desk import opened
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
    async with opened(folder, trust=True) as desk:
        texts = [await desk.project.book.chapter_text(await desk.chapter(number)) for number in (1, 2)]
        assert texts == [FERRY, LEDGER]
        identity = ConversationId("talk-1")
        (turn,) = await desk.project.conversations.turns(identity)
        assert (turn.state, turn.stop) == ("completed", "cancelled")
        assert ANSWER.startswith(turn.answer.strip())
        totals = await desk.project.runs.totals()
        assert totals.calls == moment.paid + 1  # the call under way is booked as an estimate
        before = len(server.log)
        server.push(*[step | {"stall_after": None} for step in moment.script[moment.paid :]], says("Done."))
        await desk.project.carry_out(SendWaiting(identity, 1))
        (again,) = await desk.project.conversations.turns(identity)
        assert again.stop == "end_turn"
        assert len(server.log) - before <= len(moment.script) - moment.paid + 1
        asked = [each["body"]["messages"] for each in server.log]
        assert asked[:before].count(asked[before]) == 1  # what was under way is asked again, and nothing before it
        cards = (await desk.project.story.proposals(ProposalWish(("waiting",)))).rows
        assert len(cards) == sum(EDIT in step.get("tool_calls", ()) for step in moment.script)
        assert texts == [await desk.project.book.chapter_text(await desk.chapter(number)) for number in (1, 2)]
