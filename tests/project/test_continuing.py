"""Text that was cut off can be kept as it is, and continued from where it stopped; nothing is paid for twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.protocol.book import PersistOutput
from flowcabal_tui.protocol.runs import CancelRun, NodeStreaming, ResumeRun
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.runner.continuing import ContinuationSeam
from flowcabal_tui.settings.project_file import OFFLINE
from tests.faultserver import FaultServer
from tests.project.case import Case, both, endpoint, make_one, opened
from tests.runner.fakes import flow, prompt

FLOW = flow(prompt("a", "Say it.", context=False))
BEGUN = "The river rose all night, and nobody slept in the house by the water. "
REST = "In the morning the ferry was gone."


async def cut_off(case: Case, server: FaultServer) -> tuple[RunId, str]:
    """A run whose stream ended early, and the text that had come."""
    await case.project.carry_out(SaveWorkflow(FLOW))
    server.push({"content": BEGUN * 3, "eof_after": 9})
    run = await case.start("flow", 1)
    assert await case.follow(run) == "failed"
    (attempt,) = (await case.view(run, "a")).attempts
    assert attempt.text and not attempt.complete
    case.events.clear()
    return run, attempt.text


def said(content: Any) -> str:
    """The text of a message in either wire format."""
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_text_that_broke_off_is_continued_and_joined(folder: Path, server: FaultServer, provider: str) -> None:
    await make_one(folder, both(endpoint(server, provider)))
    async with opened(folder) as case:
        run, partial = await cut_off(case, server)
        spent = await case.project.runs.totals()
        server.push({"content": REST})
        await case.project.carry_out(ResumeRun(run, continues=True))
        assert await case.follow(run) == "done"
        (attempt,) = (await case.view(run, "a")).attempts
        assert attempt.text == partial + REST
        assert attempt.complete
        asked = [(each["role"], said(each["content"])) for each in server.log[-1]["body"]["messages"]]
        assert asked[:2] == [("user", "Say it."), ("assistant", partial)]
        assert asked[2][0] == "user"
        assert asked[2][1].endswith(partial[-40:])
        assert len(server.log) == 2
        assert (await case.project.runs.totals()).calls == spent.calls + 1


async def test_the_text_so_far_is_shown_at_once_when_it_is_continued(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        run, partial = await cut_off(case, server)
        case.events.clear()
        server.push({"content": REST})
        await case.project.carry_out(ResumeRun(run, continues=True))
        await case.follow(run)
        first = case.told(NodeStreaming)[0]
        assert (first.offset, first.chunk[: len(partial)]) == (0, partial)


async def test_what_the_model_repeats_of_the_end_is_written_once(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        run, partial = await cut_off(case, server)
        server.push({"content": partial[-30:] + REST})
        await case.project.carry_out(ResumeRun(run, continues=True))
        await case.follow(run)
        assert (await case.view(run, "a")).attempts[-1].text == partial + REST


async def test_a_continued_text_has_a_key_of_its_own_and_is_not_paid_for_again(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        run, partial = await cut_off(case, server)
        server.push({"content": REST})
        await case.project.carry_out(ResumeRun(run, continues=True))
        await case.follow(run)
        again = await case.run("flow", 1)
        assert len(server.log) == 2
        assert (await case.view(again, "a")).attempts[-1].text == partial + REST
        parts = case.project._parts
        key = (await case.view(run, "a")).attempts[-1].key
        assert (await case.project._engine.call(parts.store.journal.result(key))).text == partial + REST


async def test_without_the_wish_it_is_written_from_the_start(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        run, _partial = await cut_off(case, server)
        server.push({"content": REST})
        await case.project.carry_out(ResumeRun(run))
        await case.follow(run)
        assert (await case.view(run, "a")).attempts[-1].text == REST
        assert len(server.log[-1]["body"]["messages"]) == 1


async def test_a_cut_off_text_is_kept_as_it_is_only_when_that_is_meant(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        run, partial = await cut_off(case, server)
        chapter = await case.chapter(1)
        with pytest.raises(RunError, match="cut off"):
            await case.project.carry_out(PersistOutput(run, NodeId("a"), kind="chapter", chapter=chapter))
        await case.project.carry_out(PersistOutput(run, NodeId("a"), kind="chapter", chapter=chapter, partial=True))
        assert await case.project.book.chapter_text(chapter) == partial
        (kept,) = await case.project.book.kept(chapter)
        assert (kept.tags, kept.run, kept.attempt) == (("partial",), run, 1)
        (version,) = await case.project.book.chapter_versions(chapter)
        assert version.note.startswith("partial")
        found = await case.project.book.provenance(chapter, 1)
        assert found.written is not None
        assert (found.written.run, found.written.model) == (run, "mock")


async def test_a_stopped_stream_of_the_offline_model_is_continued_to_the_same_text(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder, pace=0.02) as case:
        await case.project.carry_out(SaveWorkflow(FLOW))
        run = await case.start("flow", 1)
        await case.until(NodeStreaming)
        await case.project.carry_out(CancelRun(run))
        assert await case.follow(run) == "cancelled"
        (cut,) = (await case.view(run, "a")).attempts
        assert cut.text and not cut.complete
        case.events.clear()
        await case.project.carry_out(ResumeRun(run, continues=True))
        assert await case.follow(run) == "done"
        (whole,) = (await case.view(run, "a")).attempts
        case.events.clear()
        other = await case.run("flow", 1, again=(NodeId("a"),))
        assert whole.text.startswith(cut.text)
        assert whole.text == (await case.view(other, "a")).attempts[-1].text


async def test_a_text_that_the_end_of_the_program_cut_off_can_be_kept_and_continued_later(folder: Path) -> None:
    await make_one(folder, both(OFFLINE))
    async with opened(folder, pace=0.02) as case:
        await case.project.carry_out(SaveWorkflow(FLOW))
        run = await case.start("flow", 1)
        await case.until(NodeStreaming)
    async with opened(folder) as case:
        (summary,) = await case.project.runs.summaries()
        assert (summary.state, summary.nodes) == ("interrupted", ((NodeId("a"), "cancelled"),))
        view = await case.view(run, "a")
        assert view.state == "cancelled"
        details = await case.project.runs.run_details(run)
        assert [node.state for node in details.nodes] == ["cancelled"], "nothing runs after the program has ended"
        (cut,) = view.attempts
        assert cut.text and not cut.complete
        chapter = await case.chapter(1)
        await case.project.carry_out(PersistOutput(run, NodeId("a"), kind="chapter", chapter=chapter, partial=True))
        assert await case.project.book.chapter_text(chapter) == cut.text
        await case.project.carry_out(ResumeRun(run, continues=True))
        assert await case.follow(run) == "done"
        (whole,) = (await case.view(run, "a")).attempts
        assert whole.text.startswith(cut.text)
        assert whole.complete


@pytest.mark.parametrize(
    ("pieces", "joined"),
    [
        (("by the water. ", "Then"), "Then"),
        (("by ", "the wa", "ter. Then"), "Then"),
        (("by chance", " it stopped"), "by chance it stopped"),
        (("Then", " by the water."), "Then by the water."),
        (("",), ""),
    ],
)
def test_a_seam_drops_only_what_repeats_the_end(pieces: tuple[str, ...], joined: str) -> None:
    seam = ContinuationSeam(BEGUN)
    assert "".join((*map(seam.take, pieces), seam.end())) == joined
