"""Who is in the scene of a chapter, where, when, which kind: set by the writer, kept, and read by the next run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowcabal_tui.domain.context import Intent, Scene
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.ids import ChapterId, EntityId, NodeId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.protocol.book import AddChapter, SetScene, WriteChapter
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.project.case import CHAPTERS, Case, make, opened

OFFLINE = Endpoint(provider="offline", model="offline")
WISH = "Ines Marlow talks to Tobias Crane at Saltreach."


@pytest.fixture
async def case(tmp_path: Path) -> AsyncIterator[Case]:
    """Three chapters, a fourth to write, and a memory that has followed."""
    folder = await make(tmp_path / "book", ModelsSettings(user=OFFLINE, agent=OFFLINE))
    async with opened(folder) as case:
        for title, text in CHAPTERS.items():
            chapter = await case.project.carry_out(AddChapter(title))
            await case.project.carry_out(WriteChapter(chapter, text))
        for name in ("Ines Marlow", "Tobias Crane"):
            await case.project.carry_out(PutEntity(Entity(EntityId(name[:4].lower()), "character", name)))
        await case.project.carry_out(AddChapter("The Storm"))
        await case.settled()
        yield case


async def intent(case: Case, chapter: int = 4) -> Intent:
    request = RunRequest("chapter", await case.chapter(chapter), inputs=(("instruction", WISH),))
    return (await case.project.runs.preview_context(request, NodeId("plan"))).intent


async def test_what_is_set_wins_and_what_is_forgotten_is_read_from_the_texts_again(case: Case) -> None:
    before = await intent(case)
    assert set(before.entities) >= {"Ines Marlow", "Tobias Crane"}
    assert (before.scene, before.by) == ("dialogue", ())
    chapter = await case.chapter(4)
    await case.project.carry_out(SetScene(chapter, Scene(who=("Ines Marlow", " a stranger "), kind="turn")))
    await case.project.carry_out(SetScene(chapter, Scene(when="at dusk")))
    now = await intent(case)
    assert (now.entities, now.scene, now.when) == (("Ines Marlow", "a stranger"), "turn", "at dusk")
    assert dict(now.by) == {"who": "writer", "when": "writer", "kind": "writer"}
    assert (await intent(case, 3)).by == ()
    await case.project.carry_out(SetScene(chapter, Scene(), ("who", "when", "kind")))
    assert await intent(case) == before


async def test_a_run_that_began_before_reads_the_scene_as_it_was_and_the_next_run_as_it_is(case: Case) -> None:
    run = await case.run("chapter", 4, inputs=(("instruction", WISH),))
    await case.project.carry_out(SetScene(await case.chapter(4), Scene(kind="battle")))
    again = await case.run("chapter", 4, inputs=(("instruction", WISH),))
    receipts = [(await case.view(each, "plan")).attempts[-1].receipt for each in (run, again)]
    kinds = [each.intent.scene for each in receipts if each]
    assert kinds == ["dialogue", "battle"]


@pytest.mark.parametrize(
    "scene",
    [Scene(who=()), Scene(who=("a",) * 1 + tuple(f"{n}" for n in range(20))), Scene(where="x" * 121), Scene(kind="?")],
)
async def test_what_makes_no_sense_is_refused_and_changes_nothing(case: Case, scene: Scene) -> None:
    chapter = await case.chapter(4)
    await case.project.carry_out(SetScene(chapter, Scene(where="the quay")))
    with pytest.raises(RunError):
        await case.project.carry_out(SetScene(chapter, scene))
    assert (await intent(case)).where == "the quay"
    with pytest.raises(UnknownName):
        await case.project.carry_out(SetScene(ChapterId("none"), Scene(where="x")))


async def test_the_scene_of_a_purged_chapter_goes_with_it(case: Case) -> None:
    chapter = await case.chapter(3)
    await case.project.carry_out(SetScene(chapter, Scene(where="the hidden vault")))
    await case.project.carry_out(Purge(chapter=chapter))
    await case.settled()
    found = await case.project._engine.call(case.project._parts.store.memory.scene(chapter))
    assert found == Scene()
