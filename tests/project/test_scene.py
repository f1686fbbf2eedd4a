"""Who is in the scene of a chapter, where, when, which kind: set by the writer, kept, and read by the next run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowcabal_tui.domain.context import Intent, Scene
from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.ids import ChapterId, EntityId, NodeId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.model_calls import Endpoint
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.protocol.book import AddChapter, SetScene, WriteChapter
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.project.desk import CHAPTERS, Desk, make, opened

OFFLINE = Endpoint(provider="offline", model="offline")
WISH = "Ines Marlow talks to Tobias Crane at Saltreach."


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """Three chapters, a fourth to write, and a memory that has followed."""
    folder = await make(tmp_path / "book", ModelsSettings(user=OFFLINE, agent=OFFLINE))
    async with opened(folder) as desk:
        for title, text in CHAPTERS.items():
            chapter = await desk.project.carry_out(AddChapter(title))
            await desk.project.carry_out(WriteChapter(chapter, text))
        for name in ("Ines Marlow", "Tobias Crane"):
            await desk.project.carry_out(PutEntity(Entity(EntityId(name[:4].lower()), "character", name)))
        await desk.project.carry_out(AddChapter("The Storm"))
        await desk.settled()
        yield desk


async def intent(desk: Desk, chapter: int = 4) -> Intent:
    request = RunRequest("chapter", await desk.chapter(chapter), inputs=(("instruction", WISH),))
    return (await desk.project.runs.preview_context(request, NodeId("plan"))).intent


async def test_what_is_set_wins_and_what_is_forgotten_is_read_from_the_texts_again(desk: Desk) -> None:
    before = await intent(desk)
    assert set(before.entities) >= {"Ines Marlow", "Tobias Crane"}
    assert (before.scene, before.by) == ("dialogue", ())
    chapter = await desk.chapter(4)
    await desk.project.carry_out(SetScene(chapter, Scene(who=("Ines Marlow", " a stranger "), kind="turn")))
    await desk.project.carry_out(SetScene(chapter, Scene(when="at dusk")))
    now = await intent(desk)
    assert (now.entities, now.scene, now.when) == (("Ines Marlow", "a stranger"), "turn", "at dusk")
    assert dict(now.by) == {"who": "writer", "when": "writer", "kind": "writer"}
    assert (await intent(desk, 3)).by == ()
    await desk.project.carry_out(SetScene(chapter, Scene(), ("who", "when", "kind")))
    assert await intent(desk) == before


async def test_a_run_that_began_before_reads_the_scene_as_it_was_and_the_next_run_as_it_is(desk: Desk) -> None:
    run = await desk.run("chapter", 4, inputs=(("instruction", WISH),))
    await desk.project.carry_out(SetScene(await desk.chapter(4), Scene(kind="battle")))
    again = await desk.run("chapter", 4, inputs=(("instruction", WISH),))
    receipts = [(await desk.view(each, "plan")).attempts[-1].receipt for each in (run, again)]
    kinds = [each.intent.scene for each in receipts if each]
    assert kinds == ["dialogue", "battle"]


@pytest.mark.parametrize(
    "scene",
    [Scene(who=()), Scene(who=("a",) * 1 + tuple(f"{n}" for n in range(20))), Scene(where="x" * 121), Scene(kind="?")],
)
async def test_what_makes_no_sense_is_refused_and_changes_nothing(desk: Desk, scene: Scene) -> None:
    chapter = await desk.chapter(4)
    await desk.project.carry_out(SetScene(chapter, Scene(where="the quay")))
    with pytest.raises(RunError):
        await desk.project.carry_out(SetScene(chapter, scene))
    assert (await intent(desk)).where == "the quay"
    with pytest.raises(UnknownName):
        await desk.project.carry_out(SetScene(ChapterId("none"), Scene(where="x")))


async def test_the_scene_of_a_purged_chapter_goes_with_it(desk: Desk) -> None:
    chapter = await desk.chapter(3)
    await desk.project.carry_out(SetScene(chapter, Scene(where="the hidden vault")))
    await desk.project.carry_out(Purge(chapter=chapter))
    await desk.settled()
    found = await desk.project._engine.call(desk.project._parts.store.memory.scene(chapter))
    assert found == Scene()
