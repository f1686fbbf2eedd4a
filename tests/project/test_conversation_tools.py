"""Every tool of the conversation, used by a scripted model: what it reads, what it proposes, what it asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.agents.conversation.tools import tools_at
from flowcabal_tui.domain.conversation import Scope, UsedTool
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.memory import Evidence, Level
from flowcabal_tui.domain.story import Fact, Moment, Promise, RecordId
from flowcabal_tui.protocol.book import WriteChapter
from flowcabal_tui.protocol.builds import RejectBuild
from flowcabal_tui.protocol.conversations import AnswerPermission
from flowcabal_tui.protocol.memory import WriteProfile
from flowcabal_tui.protocol.story import DecideProposals, PutRecord, UndoDecision
from tests.faultserver import FaultServer
from tests.models.test_builder_faults import CHECK, FINISH, RIGHT
from tests.project.case import NO_FINDINGS, change
from tests.project.talking import FERRY, Json, Talking, call, calls, made, says, talking

LEFTOVER = f"{FERRY}\n\nAs an AI language model, I cannot describe the storm."


@pytest_asyncio.fixture(params=["openai", "anthropic"])
async def talk(request: pytest.FixtureRequest, folder: Path, server: FaultServer) -> AsyncIterator[Talking]:
    await made(folder, server, request.param, price_in=Decimal(1), price_out=Decimal(2))
    change(folder, "agents", curator=False, monitor=True)
    async with talking(folder, server) as talk:
        yield talk


async def story(talk: Talking) -> None:
    """A record of each kind, and a run."""
    project, first = talk.case.project, await talk.case.chapter(1)
    for record in (
        Fact(RecordId(""), "Tobias keeps the glove.", since=first),
        Promise(RecordId(""), "It will come back.", first, 2, 4, evidence=(Evidence("one blue glove", first, 0, 5),)),
        Moment(RecordId(""), "Ines crosses the river.", first, "at dawn"),
    ):
        await project.carry_out(PutRecord(record))
    styles: tuple[tuple[Level, str], ...] = (("L0", "Plain."), ("L1", "Short sentences."))
    for level, text in styles:
        await project.carry_out(WriteProfile("profiles/style/book", level, text))
    talk.server.push(says("A draft."), says(NO_FINDINGS, times=-1))
    await talk.case.run("quick-draft", 2)
    talk.server.clear()
    await talk.case.settled()


async def asked(talk: Talking, tool: str, **arguments: object) -> UsedTool:
    """A call that asks for a permission, at the level that proposes."""
    await talk.level("suggest")
    (used,) = (await talk.ask("Do it.", calls(call(tool, **arguments)), says("You are asked."))).used
    assert used.permission is not None and used.status == "pending", used.said
    return used


async def test_every_tool_that_reads_gives_what_the_book_holds(talk: Talking):
    await story(talk)
    reads = {
        "chapter": (call("read_chapter", chapter=1), FERRY),
        "text": (call("search", words="ledger"), '<found chapter="2"'),
        "names": (call("search", words="Marlow", where="names"), "Ines Marlow"),
        "records": (call("search", words="glove", where="records"), "Tobias keeps the glove."),
        "meaning": (call("search", words="a boat on the river", where="meaning"), ""),
        "profile": (call("read_profile", name="Ines Marlow"), "Ines Marlow"),
        "style": (call("read_profile", name="style"), "Short sentences."),
        "promises": (
            call("read_promises"),
            "chapter 1, open, due in chapter 2 to 4: It will come back. “one blue glove”",
        ),
        "timeline": (call("read_timeline"), "chapter 1 (at dawn): Ines crosses the river."),
        "check": (call("check_chapter", chapter=2), ""),
        "quote": (call("quote_run", workflow="chapter", chapter=1), "At most"),
        "receipt": (call("read_receipt", node="draft"), "The Ferry"),
    }
    turn = await talk.ask("Read.", calls(*(each for each, _wanted in reads.values())), says("Read."))
    assert [each.status for each in turn.used] == ["completed"] * len(reads), [each.said for each in turn.used]
    for used, (_call, wanted) in zip(turn.used, reads.values(), strict=True):
        assert wanted in used.said, used
    assert {each.name for each in turn.used} == {tool.name for tool in tools_at("ask")}
    assert turn.answer == "Read."
    assert all("tool_choice" not in body for body in talk.sent())  # no tool is forced on the model


async def test_a_long_paragraph_is_shown_where_the_words_are(talk: Talking):
    long = "Ines rowed. " + "The river went by. " * 80 + "Then Ines dropped the glove. " + "It rained. " * 40
    await talk.case.project.carry_out(WriteChapter(await talk.case.chapter(1), long))
    (used,) = (await talk.ask("?", calls(call("search", words="Ines glove")), says("Read."))).used
    assert "Then Ines dropped the glove." in used.said and len(used.said) < 800


async def test_a_paid_check_asks_with_its_price_and_shows_what_was_found(talk: Talking):
    project, chapter = talk.case.project, await talk.case.chapter(1)
    await project.carry_out(WriteChapter(chapter, LEFTOVER))
    await talk.case.settled()
    used = await asked(talk, "start_check", chapter=1)
    assert used.permission is not None and used.permission.limit is not None
    assert "At most" in used.permission.price and "The run asks" not in used.permission.price
    before = len(talk.sent())
    talk.server.push(says(NO_FINDINGS, times=-1))
    found = await project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))
    assert len(talk.sent()) > before
    (kept,) = (await talk.turn(1)).used
    rows = (await project.findings.findings(FindingFilter(chapters=(chapter,), folded=True))).rows
    assert rows and kept.proposals == tuple(row.proposal.id for row in rows)
    assert kept.permission is not None and (kept.permission.answer, kept.permission.made) == ("allow_once", found)
    assert int(found) == len(rows)
    assert (await project.findings.finding_report()).by_model == 1
    with pytest.raises(RunError, match="Nothing waits"):
        await project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))


async def test_a_check_that_fails_says_so_and_can_be_allowed_again(talk: Talking):
    used = await asked(talk, "start_check", chapter=1)
    talk.server.push({"status": 401, "times": -1})
    with pytest.raises(RunError, match="not checked to its end"):
        await talk.case.project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))
    talk.server.clear()
    talk.server.push(says(NO_FINDINGS, times=-1))
    assert await talk.case.project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once")) == "0"


async def test_a_refused_check_calls_no_model_and_where_checks_are_off_none_is_offered(
    folder: Path, server: FaultServer
):
    await made(folder, server)
    async with talking(folder, server) as talk:
        await talk.level("suggest")
        turn = await talk.ask("Check.", calls(call("start_check", chapter=1)), says("It is off."))
        assert turn.used[0].status == "failed" and "switched off" in turn.used[0].said
    change(folder, "agents", curator=False, monitor=True)
    async with talking(folder, server) as talk:
        used = await asked(talk, "start_check", chapter=1)
        before = len(talk.sent())
        await talk.case.project.carry_out(AnswerPermission(talk.id, 1, used.id, "reject_once"))
        assert len(talk.sent()) == before


async def test_a_change_of_a_workflow_is_built_accepted_and_taken_back(talk: Talking):
    project = talk.case.project
    used = await asked(talk, "propose_workflow", workflow="chapter", wish="Check the names before the polish.")
    before = await project.workflows.get("chapter")
    talk.server.push(RIGHT)
    await project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))
    (card,) = await talk.cards("waiting")
    assert (card.kind, (await talk.turn(1)).used[0].proposals) == ("workflow", (card.id,))
    assert await project.workflows.get("chapter") == before
    await project.carry_out(DecideProposals((card.id,), "confirm"))
    changed = await project.workflows.get("chapter")
    assert "names" in {node.id for node in changed.nodes}
    await project.carry_out(UndoDecision(card.id))
    assert (await project.workflows.get("chapter")).nodes == before.nodes


async def built_at_do(talk: Talking, words: str, *script: Json) -> UsedTool:
    """The call that had a workflow built, within the scope, after the writer allowed its price."""
    await talk.level("do", Scope("workflow", "chapter"))
    wish = call("propose_workflow", workflow="chapter", wish=words)
    (used,) = (await talk.ask("Do it.", calls(wish), says("You are asked."))).used
    assert used.permission is not None and not used.applied
    talk.server.push(*script)
    await talk.case.project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))
    return (await talk.turn(1)).used[0]


async def test_do_applies_a_build_to_its_workflow_once_its_price_is_allowed(talk: Talking):
    project = talk.case.project
    before = await project.workflows.get("chapter")
    used = await built_at_do(talk, "Check the names before the polish.", RIGHT)
    assert used.applied and "names" in {node.id for node in (await project.workflows.get("chapter")).nodes}
    await project.carry_out(UndoDecision(used.proposals[0]))
    assert (await project.workflows.get("chapter")).nodes == before.nodes


async def test_do_takes_no_node_out_of_its_workflow(talk: Talking):
    project = talk.case.project
    before = await project.workflows.get("chapter")
    used = await built_at_do(talk, "Remove the node polish.", calls(call("remove_node", node="polish"), CHECK, FINISH))
    assert not used.applied and await project.workflows.get("chapter") == before
    await project.carry_out(DecideProposals(used.proposals, "confirm"))
    assert "polish" not in {node.id for node in (await project.workflows.get("chapter")).nodes}


async def test_a_build_that_was_decided_on_its_own_screen_is_not_decided_otherwise_by_its_card(talk: Talking):
    project = talk.case.project
    used = await asked(talk, "propose_workflow", workflow="chapter", wish="Check the names before the polish.")
    talk.server.push(RIGHT)
    build = await project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))
    (card,) = await talk.cards("waiting")
    await project.carry_out(RejectBuild(build))
    with pytest.raises(RunError, match="rejected this build"):
        await project.carry_out(DecideProposals((card.id,), "confirm"))
    assert [each.id for each in await talk.cards("waiting")] == [card.id]


async def test_a_run_is_quoted_then_asked_for_and_begins_with_its_wish(talk: Talking):
    used = await asked(talk, "start_run", workflow="quick-draft", chapter=1, instruction="Short.")
    talk.server.push(says("A draft."), says(NO_FINDINGS, times=-1))
    run = await talk.case.project.carry_out(AnswerPermission(talk.id, 1, used.id, "allow_once"))
    assert [each.id for each in await talk.case.project.runs.summaries()] == [run]
