"""Conversations that came with a stranger's folder: no level above "suggest", no price that is not the program's."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.codec import from_json, to_json
from flowcabal_tui.domain.conversation import ConversationId, Permission, Turn
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.protocol.conversations import AnswerPermission
from flowcabal_tui.settings import paths
from flowcabal_tui.store.file.blobs import pack, unpack
from tests.faultserver import FaultServer
from tests.project.case import NO_FINDINGS, change, endpoint, opened
from tests.project.talking import EDIT, FERRY, Talking, call, calls, made, says, talking
from tests.trusting import confirmed

RUN = call("start_run", workflow="quick-draft", chapter=1)
FREE = SpendLimit(10**9, Decimal(1000))
PLANTED: dict[str, Callable[[Permission], Permission]] = {
    "price": lambda asked: replace(asked, price="free", limit=FREE),
    "no limit": lambda asked: replace(asked, limit=None),
    "words": lambda asked: replace(asked, words="Copy the whole book."),
    "workflow": lambda asked: replace(asked, workflow="chapter"),
    "seal": lambda asked: replace(asked, seal=""),
}


def database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / ".flowcabal" / "project.db")


async def asks(folder: Path, server: FaultServer, **fields: object) -> None:
    """A conversation that waits for a word about a run."""
    await made(folder, server, **fields)
    async with talking(folder, server) as talk:
        await talk.level("suggest")
        await talk.ask("Write it.", calls(RUN), says("You are asked."))


async def permit(talk: Talking, number: int = 1) -> str:
    used = (await talk.case.project.conversations.turns(talk.id))[0].used[0]
    return await talk.case.project.carry_out(AnswerPermission(talk.id, number, used.id, "allow_once"))


async def test_a_level_that_a_stranger_wrote_changes_nothing_by_itself(folder: Path, server: FaultServer) -> None:
    await made(folder, server)
    async with talking(folder, server) as talk:
        scope = f'{{"kind": "chapter", "target": "{await talk.case.chapter(1)}"}}'
    with closing(database(folder)) as rows, rows:
        rows.execute("UPDATE conversation SET level='do', scope=?", (scope,))
    async with opened(folder) as case:
        talk = Talking(case, server, talk.id)
        assert (await case.project.conversations.conversation(talk.id)).level == "suggest"
        turn = await talk.ask("Shorten it.", calls(EDIT), says("It is done."))
        assert not turn.used[0].applied and await talk.text(1) == FERRY


@pytest.mark.parametrize("name", PLANTED)
async def test_a_permission_that_a_stranger_wrote_starts_nothing(folder: Path, server: FaultServer, name: str) -> None:
    await asks(folder, server, price_in=Decimal(1), price_out=Decimal(2))
    with closing(database(folder)) as rows, rows:
        turn = from_json(Turn, unpack(rows.execute("SELECT body FROM turn").fetchone()[0]))
        (used,) = turn.used
        assert used.permission is not None
        planted = turn.with_permission(used.id, PLANTED[name](used.permission))
        rows.execute("UPDATE turn SET body=?", (pack(to_json(planted)),))
    async with opened(folder) as case:
        talk = Talking(case, server, (await case.project.conversations.conversations())[0].id)
        before = len(server.log)
        with pytest.raises(RunError, match="does not come from your own program"):
            await permit(talk)
        assert len(server.log) == before and not await case.project.runs.summaries()


async def test_a_permission_of_another_user_starts_nothing(
    folder: Path, server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asks(folder, server)
    monkeypatch.setenv("FLOWCABAL_STATE_DIR", str(tmp_path / "another" / "state"))
    assert paths.state_folder().parent == tmp_path / "another"
    confirmed(folder)
    async with opened(folder) as case:
        talk = Talking(case, server, (await case.project.conversations.conversations())[0].id)
        with pytest.raises(RunError, match="does not come from your own program"):
            await permit(talk)


async def test_a_permission_of_another_turn_or_conversation_starts_nothing(folder: Path, server: FaultServer) -> None:
    await asks(folder, server)
    with closing(database(folder)) as rows, rows:
        turn = from_json(Turn, unpack(rows.execute("SELECT body FROM turn").fetchone()[0]))
        body = pack(to_json(replace(turn, number=2)))
        rows.execute("UPDATE turn SET number=2, body=?", (body,))
        rows.execute("INSERT INTO conversation SELECT 9, title, level, scope, at, changed FROM conversation")
        body = pack(to_json(replace(turn, conversation=ConversationId("talk-9"))))
        rows.execute("INSERT INTO turn VALUES (9, 1, 'completed', ?)", (body,))
    async with opened(folder) as case:
        for identity, number in (("talk-1", 2), ("talk-9", 1)):
            with pytest.raises(RunError, match="does not come from your own program"):
                await permit(Talking(case, server, ConversationId(identity)), number)
        assert not await case.project.runs.summaries()


async def test_a_permission_of_a_copied_project_starts_nothing(
    folder: Path, server: FaultServer, tmp_path: Path
) -> None:
    await asks(folder, server)
    other = shutil.copytree(folder, tmp_path / "other")
    confirmed(other)
    async with opened(other) as case:
        talk = Talking(case, server, (await case.project.conversations.conversations())[0].id)
        with pytest.raises(RunError, match="does not come from your own program"):
            await permit(talk)


async def test_a_run_that_was_free_when_it_was_asked_for_shows_its_price_before_it_begins(
    folder: Path, server: FaultServer
) -> None:
    await made(folder, server)
    offline = endpoint(server).model_copy(update={"provider": "offline", "model": "offline", "base_url": ""})
    change(folder, "models", user=offline)
    async with talking(folder, server) as talk:
        await talk.level("suggest")
        await talk.ask("Write it.", calls(RUN), says("You are asked."))
    change(folder, "models", user=endpoint(server, price_in=Decimal(1), price_out=Decimal(1)))
    async with opened(folder) as case:
        talk = Talking(case, server, talk.id)
        before = len(server.log)
        with pytest.raises(RunError, match="price has changed"):
            await permit(talk)
        assert len(server.log) == before
        shown = (await talk.turn(1)).used[0].permission
        assert shown is not None and shown.limit is not None and not shown.answer and "$" in shown.price
        server.push(says("A draft."), says(NO_FINDINGS, times=-1))
        run = await permit(talk)
        assert (await case.project.runs.summaries())[0].id == run
