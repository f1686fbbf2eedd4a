"""What a model can do wrong, through the whole project: a clear error, the text kept, and a way on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.protocol.book import RewriteSelection
from flowcabal_tui.protocol.runs import (
    CancelRun,
    NodeNeedsHuman,
    NodeRetrying,
    NodeStreaming,
    ResumeRun,
    WorkflowFailed,
)
from tests.faultserver import PROSE, FaultServer
from tests.project.case import Case, both, calls, endpoint, leave, make, make_one, opened
from tests.project.test_purge import everything

SECRET = "sk-a-secret-of-the-writer-0123456789"


@asynccontextmanager
async def case_at(folder: Path, server: FaultServer, provider: str = "openai", **fields: Any) -> AsyncIterator[Case]:
    """A project with one empty chapter and the fault server as its model."""
    await make_one(folder, both(endpoint(server, provider, **fields)))
    async with opened(folder) as case:
        yield case


async def failed(case: Case) -> tuple[RunId, WorkflowFailed]:
    """A quick draft that must fail, and what was told."""
    run = await case.start("quick-draft", 1)
    assert await case.follow(run) == "failed"
    told = case.told(WorkflowFailed)[-1]
    assert told.by_model
    assert told.error
    assert told.advice
    return run, told


async def test_a_project_without_a_model_says_how_to_get_one(folder: Path) -> None:
    await make_one(folder)
    async with opened(folder) as case:
        _run, told = await failed(case)
        assert "flowcabal-tui models" in told.advice


async def test_a_missing_key_is_named_and_nothing_is_sent(folder: Path, server: FaultServer) -> None:
    async with case_at(folder, server, api_key_env="WRITERS_KEY") as case:
        _run, told = await failed(case)
        assert "WRITERS_KEY" in f"{told.error} {told.detail} {told.advice}"
        assert calls(server) == 0


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "fault",
    [
        {"status": 401},
        {"status": 404, "body": {"error": {"message": "The model `mock` does not exist"}}},
        {"status": 400, "body": {"error": {"message": "maximum context length is 8192 tokens"}}},
        {"status": 500},
        {"status": 200, "body": "<html>Please log in</html>"},
        {"reset_after": -1},
        {"finish": "content_filter", "content": ""},
        {"raw": "data: this is not JSON\n\n"},
        {"eof_after": 0},
    ],
    ids=lambda fault: ",".join(f"{name}={str(value)[:12]}" for name, value in fault.items()),
)
async def test_a_fault_before_text_fails_the_node_and_the_next_try_heals_it(
    folder: Path, server: FaultServer, provider: str, fault: dict[str, Any]
) -> None:
    async with case_at(folder, server, provider) as case:
        server.push(fault)
        run, _told = await failed(case)
        await case.project.check()
        case.events.clear()
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run) == "done"
        assert (await case.view(run, "draft")).attempts[0].text == PROSE


@pytest.mark.parametrize(
    "fault", [{"reset_after": 12}, {"eof_after": 12}, {"stall_after": 12}, {"bad_json_at": 12}, {"error_event_at": 12}]
)
async def test_a_stream_that_breaks_off_keeps_its_text_and_is_no_result(
    folder: Path, server: FaultServer, fault: dict[str, Any]
) -> None:
    async with case_at(folder, server, idle_timeout=2) as case:
        server.push(fault)
        run, _told = await failed(case)
        view = await case.view(run, "draft")
        assert view.partial or (view.attempts and not view.attempts[0].complete)
        partial = view.partial or view.attempts[0].text
        assert partial
        assert PROSE.startswith(partial)
        assert f"{len(partial)} characters had arrived. This text is kept." in view.error
        with pytest.raises(Exception, match="no finished output"):
            await case.keep(run, "draft")
        case.events.clear()
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run) == "done"
        assert (await case.view(run, "draft")).attempts[0].text == PROSE


async def test_the_error_names_an_unreachable_host(folder: Path, server: FaultServer) -> None:
    model = endpoint(server).model_copy(update={"base_url": "http://127.0.0.1:9/v1"})
    await make_one(folder, both(model))
    async with opened(folder) as case:
        _run, told = await failed(case)
        assert "127.0.0.1:9" in f"{told.error} {told.detail}"


async def test_a_model_that_says_nothing_is_given_up(folder: Path, server: FaultServer) -> None:
    async with case_at(folder, server, first_token_timeout=2) as case:
        server.push({"stall_after": 0})
        await failed(case)


async def test_a_fault_that_passes_is_tried_again_visibly(folder: Path, server: FaultServer) -> None:
    async with case_at(folder, server, retries=2) as case:
        server.push({"status": 429, "headers": {"retry-after": "0"}})
        run = await case.run("quick-draft", 1)
        assert [event.run for event in case.told(NodeRetrying)] == [run]
        assert calls(server) == 2


async def test_a_long_wait_is_shown_and_a_cancel_ends_it_at_once(folder: Path, server: FaultServer) -> None:
    async with case_at(folder, server, retries=3, max_wait=600.0) as case:
        server.push({"status": 429, "headers": {"retry-after": "500"}, "times": -1})
        run = await case.start("quick-draft", 1)
        waits = await case.until(NodeRetrying)
        assert waits.seconds >= 500
        await case.project.carry_out(CancelRun(run))
        assert await case.follow(run) == "cancelled"
        assert calls(server) == 1


async def test_a_cancel_closes_the_stream_at_once_and_keeps_the_text(folder: Path, server: FaultServer) -> None:
    async with case_at(folder, server, idle_timeout=30.0) as case:
        server.push({"stall_after": 12})
        run = await case.start("quick-draft", 1)
        await case.until(NodeStreaming, lambda event: event.offset + len(event.chunk) >= 10)
        await case.project.carry_out(CancelRun(run))
        assert await case.follow(run) == "cancelled"
        await server.wait_for("client_closed")
        view = await case.view(run, "draft")
        assert PROSE.startswith(view.partial or view.attempts[0].text)
        assert view.partial or view.attempts[0].text


async def test_text_that_was_cut_at_the_length_limit_is_asked_about(folder: Path, server: FaultServer) -> None:
    async with case_at(folder, server) as case:
        server.push({"finish": "length"})
        run = await case.start("quick-draft", 1)
        assert await case.follow(run, leave) == "waiting"
        assert "length" in case.told(NodeNeedsHuman)[0].question.reason


async def test_hostile_text_is_harmless(folder: Path, server: FaultServer) -> None:
    async with case_at(folder, server) as case:
        server.push({"content": "[red]../../x\x1b]0;owned\x07\x1b[2J[/red]\u202e{{input.secret}}<plan>"})
        run = await case.run("quick-draft", 1)
        await case.keep(run, "draft")
        await case.settled()
        text = await case.project.book.chapter_text(await case.chapter(1))
        assert text == "[red]../../x[/red]{{input.secret}}<plan>"
        (mirror,) = (folder / "manuscript").iterdir()
        assert "\x1b" not in mirror.read_text("utf-8")


async def test_a_paragraph_of_a_million_characters_is_kept_whole(folder: Path, server: FaultServer) -> None:
    paragraph = "雨落在河上。" * 170_000
    chunk = f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{paragraph}"}}}}]}}\n\n'
    end = 'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    async with case_at(folder, server, max_output=2_000_000) as case:
        server.push({"raw": chunk + end})
        run = await case.run("quick-draft", 1)
        await case.keep(run, "draft")
        assert await case.project.book.chapter_text(await case.chapter(1)) == paragraph


PLAIN_KEY = "quietly-the-ferrymans-words-1234"
"""A key without the form of one, so that only its value gives it away."""
ECHOES: dict[str, dict[str, Any]] = {
    "401": {"status": 401, "body": {"error": {"message": f"Incorrect API key provided: {PLAIN_KEY}"}}},
    "429": {"status": 429, "body": f"{PLAIN_KEY} has no quota", "headers": {"retry-after": "0"}},
    "page": {"status": 500, "body": f"<html><pre>Authorization: Bearer {PLAIN_KEY}</pre></html>"},
    "redirect": {"status": 307, "body": PLAIN_KEY, "headers": {"location": f"/v1/again?key={PLAIN_KEY}"}},
    "no JSON": {"status": 200, "body": f"{{no JSON {PLAIN_KEY}"},
}


@pytest.mark.parametrize("name", ECHOES)
async def test_a_key_is_written_nowhere(
    folder: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch, own_folders: Path, name: str
) -> None:
    monkeypatch.setenv("WRITERS_KEY", PLAIN_KEY)
    async with case_at(folder, server, api_key_env="WRITERS_KEY") as case:
        server.push(ECHOES[name], {"content": "It rained."}, {**ECHOES["401"], "times": -1})
        run, told = await failed(case)
        assert PLAIN_KEY not in repr(told)
        case.events.clear()
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run) == "done"
        await case.keep(run, "draft")
        await case.settled()
        assert server.log[0]["headers"]["authorization"] == f"Bearer {PLAIN_KEY}"
        assert [task for task in await case.project.memory.background() if task.state == "failed"]
        shown = [await case.project.memory.background(), case.told(WorkflowFailed), case.events]
        assert PLAIN_KEY not in repr(shown) + everything(folder)
    files = [path for root in (folder, own_folders) for path in root.rglob("*") if path.is_file()]
    assert any(path.name == "project.db" for path in files)
    assert not [path for path in files if PLAIN_KEY.encode() in path.read_bytes()]


async def test_a_key_in_the_projects_file_is_refused(folder: Path) -> None:
    await make(folder)
    file = folder / "flowcabal.toml"
    file.write_text(file.read_text("utf-8") + f'\n[models.user]\nmodel = "m"\napi_key = "{SECRET}"\n', encoding="utf-8")
    with pytest.raises(Exception, match="does not belong") as caught:
        async with opened(folder):
            pass
    assert SECRET not in str(caught.value)


async def test_a_rewrite_that_fails_changes_nothing(folder: Path, server: FaultServer) -> None:
    async with case_at(folder, server) as case:
        server.push({"status": 500})
        with pytest.raises(ModelError):
            await case.project.carry_out(RewriteSelection(await case.chapter(1), 0, 3, "Old", "newer"))
        assert await case.project.book.chapter_text(await case.chapter(1)) == ""
