"""A model with a small window gets less context than the settings allow, and still an answer's room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.windows import prompt_room
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.words import spend_lines
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, WriteChapter, WriteMeta
from flowcabal_tui.protocol.memory import BootstrapChanged, StartBootstrap
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, endpoint, make, make_one, opened, write_chapters

TALE = " ".join(f"In the year {n} the ferry of Saltreach went down with hand {n}." for n in range(900))
REFUSAL = {
    "openai": {"error": {"code": 400, "message": "exceeds the available context size", "n_ctx": 2048}},
    "anthropic": {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9000 tokens > 2048 max"}},
}


@pytest.mark.parametrize(
    ("window", "budget"), [(None, 25_000), (200_000, 25_000), (16_000, 10_000), (8_192, 5_120), (1_000, 625)]
)
async def test_the_context_fits_the_models_window(
    folder: Path, server: FaultServer, window: int | None, budget: int
) -> None:
    await make_one(folder, ModelsSettings(user=endpoint(server, context_window=window)))
    async with opened(folder) as case:
        receipt = await preview(case)
        assert receipt.used <= receipt.budget <= budget
        assert receipt.budget > budget - 800 or budget < 1_000  # what the prompt itself takes


async def preview(case: Case, chapter: int = 1) -> Any:
    request = RunRequest("quick-draft", await case.chapter(chapter))
    (node,) = (await case.project.workflows.get("quick-draft")).nodes
    return await case.project.runs.preview_context(request, NodeId(node.id))


async def book(case: Case, tmp_path: Path) -> None:
    """A long chapter and an empty one, and a style guide of about 6,000 tokens."""
    await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts", {"Chapter 1": TALE}))))
    await case.project.carry_out(AddChapter("The Glove"))
    await case.project.carry_out(WriteMeta("style-guide", "Write short sentences, and no adverbs at all. " * 600))
    await case.settled()


async def test_a_server_that_lists_the_window_is_asked_once_and_the_endpoint_keeps_it(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server)))
    server.listed = {"max_model_len": 8192}
    async with opened(folder) as case:
        budget = (await preview(case)).budget
        assert 4_000 < budget < 5_200
        assert (await preview(case)).budget == budget
        assert server.asked == ["/v1/models"]
    server.listed = {}
    async with opened(folder) as case:  # another session, and the server says nothing
        assert (await preview(case)).budget == budget


async def test_a_window_that_is_known_before_the_run_is_said_in_the_receipt_and_to_the_model(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    server.listed = {"max_model_len": 2_048}
    async with opened(folder) as case:
        await book(case, tmp_path)
        server.push({"content": "The bell rang over the water."})
        run = await case.run("quick-draft", 2)
        (node,) = (await case.project.workflows.get("quick-draft")).nodes
        receipt = (await case.view(run, node.id)).attempts[-1].receipt
        assert receipt is not None and any("2,048" in note for note in receipt.notes)
        assert "shortened to fit the window" in str(server.log[0]["body"])


async def test_a_reading_asks_for_the_window_before_its_first_question(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    server.listed = {"max_model_len": 4_096}
    async with opened(folder) as case:
        await book(case, tmp_path)
        assert server.asked == []  # what is made by rule asks nobody
        await case.project.carry_out(StartBootstrap())
        await case.until(BootstrapChanged, lambda event: event.status.state == "done")
        assert server.asked == ["/v1/models"]
        told = [str(entry["body"]["messages"]) for entry in server.log if entry["path"].endswith("completions")]
        assert len(told) > 5 and max(map(TokenEstimator().count, told)) < 4_096


async def test_a_book_that_is_open_for_reading_learns_a_window_for_the_session(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server)))
    server.listed = {"max_model_len": 8192}
    async with opened(folder, read_only=True) as case:  # as `run --quote` and `context` open it
        assert 4_000 < (await preview(case)).budget < 5_200
        quote = await case.project.runs.quote(RunRequest("quick-draft", await case.chapter(1)))
        assert quote.likely.calls
        assert server.asked == ["/v1/models"]


async def test_a_check_of_a_book_that_is_open_for_reading_reports_all_roles(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    server.listed = {"max_model_len": 8192}
    async with opened(folder, read_only=True) as case:
        server.push({"content": "ok"}, {"content": "ok"}, {"content": '{"answer": "ok"}', "times": -1})
        checks = {check.role: check for check in await case.project.models.check_models()}
        assert dict(checks["user"].details)["window"] == dict(checks["agent"].details)["window"] == "8,192 tokens"


async def test_a_check_asks_a_server_that_has_two_roles_once_for_its_window(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    server.listed = {"max_model_len": 8192}
    async with opened(folder) as case:
        server.push({"content": "ok", "times": -1})
        await case.project.models.check_models()
        assert server.asked == ["/v1/models"]


async def test_a_check_asks_a_model_that_has_two_roles_one_plain_question(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        server.push({"content": '{"ok": true}', "times": -1})
        checks = {check.role: check for check in await case.project.models.check_models()}
        assert checks["user"].ok and checks["agent"].ok and "structured" in checks["agent"].message
        plain = [entry for entry in server.log if entry["body"]["messages"][0]["content"] == "Say: ok"]
        assert len(plain) == 1
        server._faults.clear()
        server.push({"status": 401, "times": -1})
        server.log.clear()
        failed = {check.role: check for check in await case.project.models.check_models()}
        assert not failed["user"].ok and not failed["agent"].ok
        assert len(server.log) == 1


async def test_samples_of_the_writers_pages_count_as_part_of_the_prompt(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server, context_window=2_048)))
    async with opened(folder) as case:
        await book(case, tmp_path)
        lines = [f"In the year {n} the ferry of Saltreach went down with hand {n}." for n in range(90)]
        await case.project.carry_out(WriteChapter(await case.chapter(1), "\n\n".join(lines)))
        await case.settled()
        before = len(server.log)
        await case.run("quick-draft", 2)
    system, asked = (message["content"] for message in server.log[before]["body"]["messages"])
    assert "<style " in system
    assert TokenEstimator("").count(system + asked) <= prompt_room(2_048, None)


async def test_a_window_that_is_set_is_not_asked_for(folder: Path, server: FaultServer) -> None:
    await make_one(folder, ModelsSettings(user=endpoint(server, context_window=16_000)))
    server.listed = {"max_model_len": 8192}
    async with opened(folder) as case:
        assert (await preview(case)).budget > 9_000
    assert server.asked == []


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_prompt_past_the_window_is_shortened_and_says_so(
    folder: Path, tmp_path: Path, server: FaultServer, provider: str
) -> None:
    await make(folder, both(endpoint(server, provider)))
    async with opened(folder) as case:
        await book(case, tmp_path)
        assert (await preview(case, 2)).used > 2_048
        server.push({"status": 400, "body": REFUSAL[provider]}, {"content": "The bell rang over the water."})
        run = await case.run("quick-draft", 2)
        first, second = [entry["body"] for entry in server.log[:2]]
        (node,) = (await case.project.workflows.get("quick-draft")).nodes
        receipt = (await case.view(run, node.id)).attempts[-1].receipt
        assert receipt is not None and receipt.used <= receipt.budget < 1_536
        assert any("2,048" in note for note in receipt.notes)
        assert "shortened to fit the window" in str(second) and "shortened to fit" not in str(first)
        assert len(str(second)) < len(str(first)) * 0.8
    async with opened(folder) as case:  # another session knows it
        assert (await preview(case, 2)).budget < 1_536


async def test_an_overflow_without_a_number_is_shortened_step_by_step_and_ends(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await book(case, tmp_path)
        server.push({"status": 400, "body": {"error": {"message": "prompt is too long"}}, "times": -1})
        assert await case.follow(await case.start("quick-draft", 2)) == "failed"
        sizes = [len(str(entry["body"])) for entry in server.log]
        assert calls(server) == 4 and sizes == sorted(sizes, reverse=True)
        assert len(set(sizes)) == 4  # no request twice


@pytest.mark.parametrize(("window", "told"), [(2_048, True), (8_192, False), (None, False)])
async def test_a_context_of_next_to_nothing_is_said_before_the_run(
    folder: Path, server: FaultServer, window: int | None, told: bool
) -> None:
    await make_one(folder, both(endpoint(server)))
    server.listed = {"context_length": window} if window else {}
    async with opened(folder) as case:
        quote = await case.project.runs.quote(RunRequest("quick-draft", await case.chapter(1)))
        assert any("2,048" in line and "1,280" in line for line in spend_lines(quote)) is told
