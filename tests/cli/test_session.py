"""`session`: another program works with a project over pipes, as the screen does."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from flowcabal_tui.cli.session.command import COMMANDS_WAITING, _Session
from flowcabal_tui.cli.session.lines import DEPTH, MOST_BYTES, BadLine, LineSplitter, SessionLine, read_message
from flowcabal_tui.cli.session.questions import arguments_of
from flowcabal_tui.domain.ids import CommandId, Digest, RunId
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.base import CommandDone
from flowcabal_tui.protocol.memory import BackgroundChanged
from flowcabal_tui.protocol.messages import COMMANDS
from flowcabal_tui.protocol.runs import ResumeRun
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint, opened
from tests.waiting import PATIENCE

TEXTS = {"plan": "The ferry leaves at noon.", "draft": "draft " * 400, "polish": "Ines waited at the ferry."}


class Client:
    """Another program: sends messages, and keeps all that it was answered."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process, self.came = process, list[dict[str, Any]]()
        self.lines: list[str] = []
        self._numbers = 0

    async def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def until(self, fits: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The first message that fits, of those that came and come."""
        assert self.process.stdout is not None
        at = 0
        async with asyncio.timeout(PATIENCE):
            while True:
                for message in self.came[at:]:
                    if fits(message):
                        return message
                at = len(self.came)
                line = await self.process.stdout.readline()
                assert line, "the session has ended"
                self.lines.append(line.decode())
                self.came.append(json.loads(line))

    async def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        return await self.until(
            lambda it: it["type"] == kind and all(it[name] == value for name, value in fields.items())
        )

    async def asks(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The answer to one message, by its id."""
        self._numbers += 1
        number = self._numbers
        await self.send(json.dumps({"id": number, "type": kind, **fields}).encode())
        return await self.until(lambda message: message.get("id") == number)

    async def follow(self, run: str) -> None:
        """Approves what is asked until the run is done."""
        answered = {each["question"] for each in self.came if each["type"] == "human:decided"}
        while True:
            told = await self.until(
                lambda it: (
                    (it["type"], it.get("run"), it.get("state")) == ("run:state", run, "done")
                    or (it["type"] == "node:needs-human" and it["question"]["id"] not in answered)
                )
            )
            if told["type"] == "run:state":
                return
            answered.add(told["question"]["id"])
            await self.asks("human:decision", question=told["question"]["id"], decision={"kind": "approve"})

    async def ends(self) -> int:
        """Ends the input; the exit code."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            self.came += [json.loads(line) async for line in self.process.stdout]
            return await self.process.wait()


@asynccontextmanager
async def session(folder: Path, *flags: str) -> AsyncIterator[Client]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flowcabal_tui", "session", str(folder), *flags),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    try:
        yield Client(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def kinds(client: Client) -> list[str]:
    return [message["type"] for message in client.came]


async def test_a_background_task_that_cannot_be_read_does_not_end_the_session(demo: Path) -> None:
    with closing(sqlite3.connect(demo / ".flowcabal" / "project.db")) as database, database:
        database.execute("UPDATE task SET subject=x'ff', state='waiting' WHERE id=(SELECT min(id) FROM task)")
        assert database.total_changes == 1
    async with session(demo) as client:
        await client.asks("connect")
        assert (await client.asks("chapter:list"))["chapters"]
        assert await client.ends() == 0


@pytest.mark.parametrize("path", ["雪" * 100, "~nobody-of-that-name/x"], ids=("long", "home"))
async def test_an_import_of_a_name_that_no_file_can_have_is_refused(demo: Path, path: str) -> None:
    async with session(demo) as client:
        asked = await client.asks("ask", question="preview_import", arguments={"path": path})
        assert (asked["type"], asked["error"]) == ("error", "ManuscriptError")
        told = await client.asks("manuscript:import", path=path)
        assert told["type"] == "command:failed" and "cannot be read" in json.dumps(told)
        assert await client.ends() == 0


async def test_an_event_that_cannot_be_sent_is_an_error_that_answers_its_command() -> None:
    served = _Session(cast(Project, None), "book")
    bad = cast(str, b"\xff")
    task = BackgroundTask(1, "l1", bad, Digest("d"), "waiting")
    assert served._message(BackgroundChanged((), task)) is None  # nobody is connected
    served._connected = True
    told = served._message(BackgroundChanged((), task))
    assert told is not None and (told["type"], told["error"], told["id"]) == ("error", "ProjectDamaged", None)
    served._sent[CommandId("one")] = "mine"
    await served._commands.acquire()
    told = served._message(CommandDone(CommandId("one"), cast(Any, task)))
    assert told is not None and (told["type"], told["id"]) == ("error", "mine")
    assert not served._sent and served._commands._value == COMMANDS_WAITING


async def test_a_chapter_is_run_to_its_gate_decided_and_kept(demo: Path) -> None:
    async with session(demo) as client:
        connected = await client.asks("connect")
        assert (connected["type"], connected["status"]) == ("status", "connected")
        assert connected["project"]["models"]["user"] == {"provider": "offline", "model": "offline"}
        listed = (await client.asks("workflow:list"))["workflows"]
        assert "chapter@1" in [each["reference"] for each in listed]
        document = await client.asks("workflow:load", workflow="chapter")
        assert document["type"] == "workflow:data"
        assert [node["id"] for node in document["workflow"]["nodes"]] == ["plan", "draft", "polish"]
        chapter = (await client.asks("chapter:list"))["chapters"][-1]

        started = await client.asks("workflow:run", request={"workflow": "chapter", "chapter": chapter["id"]})
        run = started["result"]
        asked = await client.event("node:needs-human")
        assert (await client.asks("ask", question="questions"))["value"] == [asked["question"]]
        answered = await client.asks(
            "human:decision", question=asked["question"]["id"], decision={"kind": "approve", "attempt": 1}
        )
        assert answered["type"] == "command:done"
        await client.follow(run)
        kept = await client.asks("output:persist", run=run, node="polish")
        assert (await client.event("output:persisted"))["output"] == kept["result"]
        text = (await client.asks("ask", question="chapter_text", arguments={"chapter": chapter["id"]}))["value"]
        polished = await client.event("node:completed", node="polish")
        assert text == polished["output"].strip() or text.strip() == polished["output"].strip()
        assert (await client.asks("run:list"))["runs"][0]["state"] == "done"

        of_plan = [each["type"] for each in client.came if each.get("run") == run and each.get("node") == "plan"]
        assert of_plan.index("node:started") < of_plan.index("node:streaming") < of_plan.index("node:completed")
        streamed = "".join(
            each["chunk"] for each in client.came if each["type"] == "node:streaming" and each["node"] == "plan"
        )
        assert streamed == (await client.event("node:completed", node="plan"))["output"]
        assert await client.ends() == 0


async def test_events_come_only_between_connect_and_disconnect(demo: Path) -> None:
    async with session(demo) as client:
        await client.asks("chapter:add", title="Nine")
        assert kinds(client) == ["command:done"]
        assert (await client.asks("connect", project="none"))["error"] == "UnknownProject"
        await client.asks("connect")
        await client.asks("chapter:add", title="Ten")
        await client.event("book:changed")
        assert (await client.asks("disconnect"))["status"] == "disconnected"
        before = kinds(client).count("book:changed")
        await client.asks("chapter:add", title="Eleven")
        assert kinds(client).count("book:changed") == before
        assert await client.ends() == 0


HOSTILE = [
    (b"no json", None, "NotJson"),
    (b"[1, 2]", None, "UnknownMessage"),
    (b'{"id": 7}', 7, "UnknownMessage"),
    (b'{"id": 7, "type": "nothing"}', 7, "UnknownMessage"),
    (b'{"id": 7, "type": ["connect"]}', 7, "UnknownMessage"),
    (b'{"id": 7, "type": "run:state", "run": "r", "state": "done"}', 7, "UnknownMessage"),
    (b'{"id": 7, "type": "ask", "question": "close"}', 7, "UnknownQuestion"),
    (b'{"id": 7, "type": "ask", "question": "chapter_text"}', 7, "BadField"),
    (b'{"id": 7, "type": "ask", "question": "run_details", "arguments": {"run": "none"}}', 7, "Gone"),
    (b'{"id": 7, "type": "workflow:load", "workflow": "none"}', 7, "Gone"),
    (b'{"id": 7, "type": "ask", "question": "chapter_text", "arguments": {"chapter": "none"}}', 7, "Gone"),
    (b'{"id": 7, "type": "human:decision", "question": "q", "decision": {"kind": "destroy"}}', 7, "BadField"),
    (b'{"id": "seven", "type": "connect", "more": 1}', "seven", "BadField"),
    (b'{"id": 7, "type": "connect"', 7, "NotJson"),
    (b'{"id": 7.5, "type": "connect"}', None, "BadId"),
    (b'{"id": true, "type": "connect"}', None, "BadId"),
    (b'{"id": "\\ud800", "type": "connect"}', None, "BadId"),
    (b'{"id": 7, "type": "connect", "project": "\xff"}', 7, "NotText"),
    (b'{"id": 7, "type": "connect", "project": "\\udc00"}', 7, "BadValue"),
    (b'{"id": 7, "type": "connect", "project": "\\u0000"}', 7, "BadValue"),
    (b'{"id": 7, "type": "connect", "project": "\0"}', 7, "NotJson"),
    (b'{"id": 7, "type": "run:list", "limit": ' + b"9" * 5_000 + b"}", 7, "NotJson"),
    (b'{"id": 7, "type": "run:list", "limit": ' + b"9" * 400 + b"}", 7, "BadValue"),
    (b'{"id": 7, "type": "run:list", "limit": NaN}', 7, "NotJson"),
    (b'{"id": 7, "type": "run:list", "limit": 1e999}', 7, "BadValue"),
    (b'{"id": 7, "type": "ask", "arguments": ' + b"[" * DEPTH + b"]" * DEPTH + b"}", 7, "LineTooDeep"),
    (b"[" * 900_000, None, "LineTooDeep"),
    (b'{"id": 7, "type": "connect", "project": "' + b"x" * 2_000_000 + b'"}', 7, "LineTooLong"),
    (b"x" * 2_000_000, None, "LineTooLong"),
    (b'{"id": 7, "type": "chapter:edit", "chapter": "c", "titel": "Rain"}', 7, "BadField"),
]


async def test_each_hostile_line_gets_one_error_and_the_session_goes_on(demo: Path) -> None:
    async with session(demo) as client:
        for line, identity, error in HOSTILE:
            before = len(client.came)
            await client.send(line)
            await client.until(lambda _message, before=before: len(client.came) > before)
            told = client.came[before]
            assert (told["type"], told["id"], told["error"]) == ("error", identity, error), line[:80]
            assert told["title"] and "Traceback" not in json.dumps(told)
        assert (await client.asks("connect"))["status"] == "connected"
        assert len([each for each in client.came if each["type"] == "error"]) == len(HOSTILE)
        assert await client.ends() == 0


@pytest.mark.parametrize(("line", "identity", "error"), HOSTILE[:2] + HOSTILE[12:], ids=lambda it: str(it)[:40])
def test_a_line_that_cannot_be_a_message_is_refused_by_kind(line: bytes, identity: object, error: str) -> None:
    if error not in ("BadField", "UnknownMessage"):
        (cut,) = [*LineSplitter().feed(line + b"\n")]
        with pytest.raises(BadLine) as refused:
            read_message(cut)
        assert (refused.value.identity, refused.value.kind) == (identity, error)


def test_lines_are_cut_wherever_the_pieces_end_and_long_ones_are_not_held() -> None:
    splitter = LineSplitter()
    text = b'{"a": 1}\n\n' + b"y" * (MOST_BYTES + 5) + b"\n" + b"z" * MOST_BYTES + b"\nlast"
    found = [line for at in range(0, len(text), 70_001) for line in splitter.feed(text[at : at + 70_001])]
    found += splitter.end()
    assert found == [
        SessionLine(b'{"a": 1}'),
        SessionLine(b"y" * MOST_BYTES, whole=False),
        SessionLine(b"z" * MOST_BYTES),
        SessionLine(b"last"),
    ]


def test_strings_full_of_brackets_and_quotes_are_not_deep_and_are_read_in_one_pass() -> None:
    words = '[{\\"' * 200_000
    assert read_message(SessionLine(f'{{"type": "x", "text": "{words}"}}'.encode()))[0] is None
    with pytest.raises(BadLine, match="not JSON"):
        read_message(SessionLine(b'{"type": "' + b'\\"' * 400_000))


def test_no_command_has_a_field_that_the_session_uses_itself() -> None:
    for kind in COMMANDS.values():
        assert not {"id", "apiConfig"} & set(kind.__dataclass_fields__)


async def test_a_run_that_waits_when_the_input_ends_can_be_resumed(demo: Path) -> None:
    async with session(demo) as client:
        await client.asks("connect")
        chapter = (await client.asks("chapter:list"))["chapters"][-1]["id"]
        run = (await client.asks("workflow:run", request={"workflow": "chapter", "chapter": chapter}))["result"]
        assert await client.ends() == 0
        assert [each["node"] for each in client.came if each["type"] == "node:completed"] == []
        assert "node:needs-human" in kinds(client), "it runs on to its question"
    async with opened(demo) as case:
        await case.project.carry_out(ResumeRun(RunId(run)))
        assert await case.follow(RunId(run)) == "done"
        assert len((await case.view(RunId(run), "plan")).attempts) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_signals_end_it_and_text_stays(
    project: Make, server: FaultServer, number: signal.Signals, code: int
) -> None:
    folder = await asyncio.to_thread(project, both(endpoint(server, idle_timeout=10.0)))
    server.push({"content": TEXTS["draft"], "delay": 0.001})
    async with session(folder) as client:
        await client.asks("connect")
        chapter = (await client.asks("chapter:list"))["chapters"][0]["id"]
        run = (await client.asks("workflow:run", request={"workflow": "quick-draft", "chapter": chapter}))["result"]
        await client.event("node:streaming")
        client.process.send_signal(number)
        _out, err = await asyncio.wait_for(client.process.communicate(), PATIENCE)
        assert (client.process.returncode, err) == (code, b"")
    async with opened(folder, read_only=True) as case:
        view = await case.view(RunId(run), "draft")
        if number == signal.SIGHUP:
            assert view.attempts[-1].text.strip() == TEXTS["draft"].strip(), "the run goes on to its end"
        else:
            assert view.partial and TEXTS["draft"].startswith(view.partial)


async def test_a_client_that_does_not_read_holds_up_no_run(project: Make, server: FaultServer) -> None:
    folder = await asyncio.to_thread(project, both(endpoint(server, idle_timeout=10.0)))
    server.push({"content": "river " * 3_000})
    async with session(folder) as client:
        await client.asks("connect")
        chapter = (await client.asks("chapter:list"))["chapters"][0]["id"]
        assert client.process.stdin is not None and client.process.stdout is not None
        client.process.stdout._transport.pause_reading()  # type: ignore[attr-defined]  # there is no public way
        request = {"workflow": "quick-draft", "chapter": chapter}
        await client.send(json.dumps({"id": "run", "type": "workflow:run", "request": request}).encode())
        client.process.stdin.write((b'{"type": "workflow:load", "workflow": "chapter"}' + b" " * 4_000 + b"\n") * 300)
        async with opened(folder, read_only=True) as case:
            async with asyncio.timeout(PATIENCE):
                while not (runs := await case.project.runs.summaries()) or runs[0].state != "waiting":  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        used = int(Path(f"/proc/{client.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        assert used < 500_000_000
        assert client.process.stdin.transport.get_write_buffer_size() > 0, "it reads no further than it can answer"
        client.process.stdout._transport.resume_reading()  # type: ignore[attr-defined]
        assert (await client.until(lambda message: message.get("id") == "run"))["result"] == runs[0].id
        await client.follow(runs[0].id)
        assert (await client.event("node:completed", node="draft"))["output"].startswith("river river")
        assert await client.ends() == 0
        assert kinds(client).count("workflow:data") == 300


async def test_a_stranger_folder_sends_nothing_until_it_is_confirmed(
    project: Make, server: FaultServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = await asyncio.to_thread(project, both(endpoint(server)))
    moved = folder.rename(tmp_path / "moved")
    server.push({"content": "The ferry."})
    async with session(moved) as client:
        connected = await client.asks("connect")
        assert connected["project"]["trust"] == "restricted"
        chapter = (await client.asks("chapter:list"))["chapters"][0]["id"]
        request = {"workflow": "quick-draft", "chapter": chapter}
        refused = await client.asks("workflow:run", request=request)
        assert (refused["type"], calls(server)) == ("command:failed", 0)
        asked = (await client.asks("ask", question="trust"))["value"]["asked"]["items"]
        await client.asks("trust:confirm", items=[item["digest"] for item in asked])
        run = await client.asks("workflow:run", request=request)
        await client.event("run:state", run=run["result"], state="done")
        assert calls(server) == 1


async def test_a_run_may_name_a_configured_model_and_never_a_key_or_a_host(project: Make, server: FaultServer) -> None:
    models = both(endpoint(server)).model_copy(update={"agent": endpoint(server, model="other")})
    folder = await asyncio.to_thread(project, models)
    server.push({"content": "The ferry."})
    async with session(folder) as client:
        await client.asks("connect")
        chapter = (await client.asks("chapter:list"))["chapters"][0]["id"]
        request = {"workflow": "quick-draft", "chapter": chapter}
        key = {"model": "other", "apiKey": "sk-secret-1", "endpoint": "http://evil.example"}
        refused = await client.asks("workflow:run", request=request, apiConfig=key)
        assert (refused["error"], calls(server)) == ("BadField", 0)
        unknown = await client.asks("workflow:run", request=request, apiConfig={"model": "third"})
        assert (unknown["error"], unknown["detail"]) == ("UnknownModel", "Configured: mock, other")
        config = {"model": "other", "parameters": {"temperature": 0.25}}
        run = await client.asks("workflow:run", request=request, apiConfig=config)
        await client.event("run:state", run=run["result"], state="done")
        sent = [entry["body"] for entry in server.log if "messages" in entry.get("body", {})]
        assert [(body["model"], body["temperature"]) for body in sent] == [("other", 0.25)]
        assert await client.ends() == 0
        assert "sk-secret-1" not in json.dumps(client.came) and "evil" not in json.dumps(client.came)


async def test_a_run_without_what_it_reads_is_refused_as_on_the_command_line(
    project: Make, server: FaultServer
) -> None:
    folder = await asyncio.to_thread(project, both(endpoint(server)))
    async with session(folder) as client:
        refused = await client.asks("workflow:run", request={"workflow": "quick-draft"})
        assert (refused["type"], refused["error"]) == ("error", "BadArgument")
        assert refused["title"].endswith(": chapter") and refused["detail"] == "Nothing was run."
        assert (await client.asks("run:list"))["runs"] == []
        assert await client.ends() == 0
    assert calls(server) == 0


async def test_background_work_with_a_price_waits_for_the_answer_of_the_client(
    project: Make, server: FaultServer
) -> None:
    priced = endpoint(server, price_in=Decimal(2), price_out=Decimal(10), max_output=400)
    folder = await asyncio.to_thread(project, both(priced))
    async with session(folder) as client:
        await client.asks("connect")
        chapter = (await client.asks("chapter:list"))["chapters"][0]["id"]
        await client.asks("chapter:write", chapter=chapter, text="The ferry left Saltreach at noon. " * 9)
        await client.event("memory:waits")
        assert calls(server) == 0
        work = (await client.asks("ask", question="unpaid"))["value"]
        assert work["rule"] == "ask" and Decimal(work["quote"]["likely"]["cost"]) > 0
        await client.asks("memory:pay", limit={"cost": "2", "currency": "USD"})
        await client.event("memory:waits", tasks=0)
        assert calls(server) > 0
        assert await client.ends() == 0


async def test_control_sequences_of_a_text_are_escaped(project: Make, server: FaultServer) -> None:
    folder = await asyncio.to_thread(project, both(endpoint(server)))
    async with session(folder) as client:
        await client.asks("ask", question="search", arguments={"query": "red\u202e\x1b[31m\x9b"})
        await client.asks("ask", question="\x1b]0;title\x07")
        await client.send(b'{"id": "\\u202e\\u001b[31m", "type": "chapter:list"}')
        await client.until(lambda message: message["type"] == "chapter:list")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", "\n".join(client.lines))
        assert "\\u202e\\u001b[31m" in client.lines[-1]
        assert await client.ends() == 0


def test_the_description_lists_every_message_question_command_and_event(call: Call) -> None:
    told = json.loads(call("session", "--describe").out)
    assert told["limits"] == {"bytes": MOST_BYTES, "depth": DEPTH}
    assert set(told["commands"]) == set(COMMANDS)
    assert "node:iteration" in told["events"] and "node:evaluated" in told["events"]
    assert {"chapters", "quote", "search"} <= set(told["questions"])
    assert told["questions"]["chapter_text"]["arguments"]["required"] == ["chapter"]


def test_the_filter_of_a_question_is_accepted_under_its_old_name() -> None:
    new, old = (arguments_of("findings").model_validate({name: {"states": ["waiting"]}}) for name in ("where", "wish"))
    assert new == old and new.where.states == ("waiting",)
    with pytest.raises(ValidationError):
        arguments_of("findings").model_validate({"what": {}})
