"""A stranger's folder is opened: nothing leaves this machine, nothing runs, nothing outside the folder changes."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.protocol.book import RewriteSelection, WriteChapter
from flowcabal_tui.protocol.memory import KnowledgeStatus, Rebuild, RegenerateProfile, RetryBackground, StartBootstrap
from tests.faultserver import FaultServer
from tests.project.case import Case, opened
from tests.project.hostile import KEY, SECRET, Prey, hostile


@pytest_asyncio.fixture
async def prey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> Prey:
    return await hostile(tmp_path, monkeypatch, server)


async def tried(*attempts: Awaitable[object]) -> None:
    """Whatever the user may do on the screen; an error is one way to be safe."""
    for attempt in attempts:
        try:
            await attempt
        except FlowCabalError:
            continue


async def used(case: Case) -> None:
    """All that the screen asks for by itself, and all that a user may press."""
    project, chapter = case.project, await case.chapter(1)
    request, node = RunRequest("prompt", chapter), NodeId("n")
    send = project.carry_out
    await tried(
        project.memory.profiles(),
        project.workflows.actions("own"),
        project.book.search("ferry"),
        project.runs.quote(request),
        project.runs.preview_context(request, node),
        project.memory.quote_bootstrap(),
        project.models.check_models(),
        *(case.run(name, 1) for name in ("command", "action", "prompt", "call", "prompt@1", "quick-draft")),
        send(WriteChapter(chapter, "Ines Marlow left Saltreach for good, and the river rose.")),
        send(RewriteSelection(chapter, 0, 4, "Ines", "longer")),
        send(RegenerateProfile("profiles/spy/book")),
        send(StartBootstrap()),
        send(RetryBackground()),
        send(Rebuild("all")),
        case.settled(),
    )


async def test_a_folder_that_is_opened_on_the_screen_and_used_in_every_way_gains_nothing(prey: Prey) -> None:
    async with opened(prey.folder, knowledge=True) as case:
        await case.until(KnowledgeStatus)
        await used(case)
        assert "left Saltreach for good" in await case.project.book.chapter_text(await case.chapter(1))
    assert prey.gained() == []


async def test_what_the_user_confirms_is_sent_so_the_listener_would_have_heard(prey: Prey) -> None:
    async with opened(prey.folder, trust=True, knowledge=True) as case:
        await case.run("command")
        await tried(case.run("prompt", 1))
    sent = " ".join(str(entry["headers"]) for entry in prey.server.log)
    assert KEY in sent and SECRET not in sent
    assert prey.ran.exists()
