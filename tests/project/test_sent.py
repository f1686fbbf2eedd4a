"""What was sent: made again and compared with what went out, or kept whole; in layers, with the turns of a retry."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.model_calls import Message
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.models.registry import sent_messages
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.sent import KEPT
from tests.faultserver import FaultServer
from tests.project.case import Case, both, demo_at, endpoint, make_one, opened
from tests.runner.fakes import prompt

LINE = NodeId("line")
KEY = "sk-never-in-the-file"
PLAIN = {"context": False, "review": "never"}


@pytest_asyncio.fixture
async def case(folder: Path, server: FaultServer, monkeypatch) -> AsyncIterator[Case]:
    monkeypatch.setenv("SENT_KEY", KEY)
    async with opened(await make_one(folder, both(endpoint(server, api_key_env="SENT_KEY")))) as case:
        yield case


def rows(folder: Path) -> list[tuple[str, str, int, dict]]:
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as connection:
        found = connection.execute("SELECT purpose, run, attempt, body FROM sent ORDER BY number").fetchall()
    return [(purpose, run, attempt, json.loads(unpack(body))) for purpose, run, attempt, body in found]


async def test_the_last_requests_are_kept_whole_compressed_private_and_without_the_key(case: Case, folder, server):
    workflow = Workflow(id="many", nodes=tuple(prompt(f"n{n}", f"Say {n}.", **PLAIN) for n in range(KEPT + 3)))
    await case.project.carry_out(SaveWorkflow(workflow))
    run = await case.run("many")
    await case.project.close()
    kept = rows(folder)
    assert len(kept) == KEPT
    sent = [call["body"] for call in server.log]  # nodes side by side arrive in an order of their own
    bodies = [body for *_place, body in kept]
    assert all(body in sent for body in bodies) and all(bodies.count(body) == 1 for body in bodies)
    assert {(each_run, attempt) for _purpose, each_run, attempt, _body in kept} == {(run, 1)}
    assert {purpose for purpose, *_rest in kept} <= {f"node:{node.id}" for node in workflow.nodes}
    file = folder / ".flowcabal" / "project.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KEY in server.log[0]["headers"]["authorization"]
    assert KEY not in json.dumps(kept, ensure_ascii=False)
    assert KEY.encode() not in file.read_bytes()


async def test_a_purge_takes_all_kept_requests(case: Case, folder):
    await case.project.carry_out(AddChapter("The Flag"))
    chapter = (await case.project.book.chapters())[-1].id
    await case.project.carry_out(WriteChapter(chapter, "Zyxwold hid the flag."))
    await case.project.carry_out(SaveWorkflow(Workflow(id="one", nodes=(prompt("line", "Zyxwold?", **PLAIN),))))
    await case.run("one")
    await case.project.carry_out(Purge(chapter))
    await case.project.close()
    assert rows(folder) == []


async def test_a_request_has_the_layers_of_its_template_and_the_turns_of_a_retry(case: Case):
    rules = [{"kind": "text", "text": "Be brief."}]
    node = prompt("line", "Write a line.", system=rules, context=False, review="always")
    await case.project.carry_out(SaveWorkflow(Workflow(id="one", nodes=(node,))))
    run = await case.start("one")
    await case.follow(run, lambda question: MORE if question.attempts == (1,) else Decision("approve"))
    trace = await case.project.runs.version_trace(run, LINE, 2)
    assert trace.exact and not trace.kept
    system = trace.layers[0]
    assert (system.role, system.kind, system.template, system.sent) == ("system", "blocks", "Be brief.", "Be brief.")
    user = next(layer for layer in trace.layers if layer.role == "user")
    assert user.kind == "blocks" and user.sent in user.template
    assert any(layer.kind == "retry" and "More rain" in layer.sent for layer in trace.layers)
    by_turn = ["".join(layer.sent for layer in trace.layers if layer.turn == turn) for turn in range(1, 5)]
    assert by_turn == [message.content for message in trace.messages]
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "user"]
    first = await case.project.runs.version_trace(run, LINE, 1)
    assert all(layer.kind != "retry" for layer in first.layers)


async def test_what_cannot_be_made_again_as_it_was_is_shown_as_it_went_out_while_it_is_kept(case: Case, folder):
    await case.project.carry_out(SaveWorkflow(Workflow(id="one", nodes=(prompt("line", "Write a line.", **PLAIN),))))
    run = await case.run("one")
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as connection, connection:
        connection.execute("UPDATE event SET payload=replace(payload, '\"key\":\"', '\"key\":\"x') WHERE node='line'")
    trace = await case.project.runs.version_trace(run, LINE, 1)
    assert (trace.exact, trace.kept) == (False, True)
    assert trace.messages == (Message("user", "Write a line."),)
    assert [(layer.template, layer.sent) for layer in trace.layers] == [("Write a line.", "Write a line.")]
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as connection, connection:
        connection.execute("DELETE FROM sent")
    trace = await case.project.runs.version_trace(run, LINE, 1)
    assert (trace.exact, trace.kept) == (False, False)


def test_the_body_of_either_wire_format_is_read():
    anthropic = {"system": [{"type": "text", "text": "规则"}], "messages": [{"role": "user", "content": "写"}]}
    openai = {"messages": [{"role": "system", "content": "规则"}, {"role": "user", "content": "写"}]}
    expected = (Message("system", "规则"), Message("user", "写"))
    assert sent_messages(json.dumps(anthropic)) == sent_messages(json.dumps(openai)) == expected


@pytest.mark.parametrize(
    "body", ['{"contents": [{"parts": [{"text": "写"}]}]}', "[" * 5_000, "null", '{"messages": 3}']
)
def test_a_body_of_no_known_dialect_is_one_typed_error(body):
    with pytest.raises(RunError, match="cannot be read"):
        sent_messages(body)


MORE = Decision("retry", note="More rain")


async def test_a_text_that_was_served_shows_the_receipt_that_it_was_made_with(folder, demos):
    async with opened(demo_at(folder, demos)) as case:
        first, again = [await case.run("quick-draft", 7) for _time in range(2)]
        made, served = (await case.view(first, "draft")).attempts[0], (await case.view(again, "draft")).attempts[0]
        assert served.cached and made.receipt is not None
        assert served.receipt == made.receipt


async def test_tokens_that_a_provider_does_not_count_are_counted_here(case: Case, server: FaultServer):
    await case.project.carry_out(SaveWorkflow(Workflow(id="one", nodes=(prompt("line", "Write a line.", **PLAIN),))))
    server.push({"usage": False, "content": "The lamp went out over the water and nobody rowed."})
    await case.run("one")
    totals = await case.project.runs.totals()
    assert totals.output_tokens > 5 and totals.input_tokens > 0
