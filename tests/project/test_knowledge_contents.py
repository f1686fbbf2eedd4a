"""What the knowledge server holds, as the page shows it; with the real server where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import BackgroundTask, Freshness
from flowcabal_tui.project.memory.knowledge_contents import KnowledgeEntry, entries
from flowcabal_tui.protocol.memory import KnowledgeStatus, Rebuild
from flowcabal_tui.viking.manifest import Record
from flowcabal_tui.viking.server import COMMAND_VARIABLE
from tests.project.case import Case, change, make, opened
from tests.project.served import counts, knowledge, whole
from tests.project.test_knowledge import book, vectors
from tests.viking.test_installer import put_in
from tests.waiting import until


def step(subject: str, state: Freshness, error: str = "") -> BackgroundTask:
    return BackgroundTask(1, "knowledge", subject, Digest("d"), state, 4, error=error)


def test_what_is_held_and_what_is_owed_are_one_list() -> None:
    files = {".abstract.md": Digest("a"), "overview.md": Digest("b"), "scene-001.md": Digest("c")}
    held = [("manuscript/main/rain-1", Record("manuscript/one", 1, files)), ("meta/notes", Record("meta/notes", 0, {}))]
    steps = [
        step("manuscript/one", "failed", "refused"),
        step("manuscript/two", "waiting"),
        step("manuscript/deleted", "fresh"),
    ]
    assert entries(held, steps) == (
        KnowledgeEntry("manuscript/one", True, "failed", ("L0", "L1", "L2"), 1, 1, "refused"),
        KnowledgeEntry("manuscript/two", False, "waiting", position=4),
        KnowledgeEntry("meta/notes", True, "fresh"),
    )


@pytest.mark.viking
@pytest.mark.usefixtures("quick_knowledge")
async def test_the_real_server_shows_finds_and_rewrites_a_part(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vectors(monkeypatch) as (model, settings):
        await book(folder, tmp_path, settings("lamps"), 3)
        async with opened(folder, knowledge=True) as case:
            await whole(case)
            page = case.project.knowledge
            third = f"manuscript/{await case.chapter(3)}"
            contents = await page.contents()
            assert contents.is_up and contents.place and contents.embedder
            entry = next(each for each in contents.entries if each.subject == third)
            assert (entry.is_stored, entry.step, entry.levels) == (True, "fresh", ("L0", "L1", "L2"))
            texts = dict(await page.text(third))
            source = await case.project.memory.source(third)
            assert texts["L2"] == source.text
            assert "generated_by" not in texts["L0"], "the head that OpenViking writes is not the text"
            found = await page.find("lantern", paid=True)
            assert found[0].subject == third and found[0].text
            before, model.embedded = await counts(case), []
            await case.project.carry_out(Rebuild("knowledge", (third,)))
            await whole(case)
            assert await counts(case) == before
            assert model.embedded and not any("400 figures" in text for text in model.embedded), "others stay"


async def test_a_server_that_was_installed_meanwhile_is_used_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(COMMAND_VARIABLE, raising=False)
    monkeypatch.setattr("flowcabal_tui.viking.server._COMMAND", "openviking-server-of-nobody")
    await make(folder)
    change(folder, "knowledge", enabled=True)
    async with opened(folder, knowledge=True) as case:
        await until(lambda: knowledge(case).last.state == "absent")
        assert not (await case.project.knowledge.contents()).is_up
        await case.project.knowledge.look_again()
        assert knowledge(case).last.state == "absent"
        await put_in()
        await case.project.knowledge.look_again()
        await until(lambda: knowledge(case).last.state == "ready")
        await case.project.knowledge.stop()
        assert _states(case)[-1] == "stopped"


def _states(case: Case) -> list[str]:
    return [event.state for event in case.told(KnowledgeStatus)]
