"""A project with a real OpenViking: what it brings into a context, and how it is whole again after every loss."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.story import Fact, Moment, Promise, RecordId
from flowcabal_tui.domain.workflow import Node, PromptParams, TextBlock, Workflow
from flowcabal_tui.models import shared
from flowcabal_tui.protocol.book import AddChapter, EditChapter, ImportManuscript, WriteChapter
from flowcabal_tui.protocol.memory import KnowledgeStatus, Purge, Rebuild
from flowcabal_tui.protocol.story import PutRecord, RemoveRecord
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from flowcabal_tui.viking.server import OpenVikingServer
from flowcabal_tui.viking.status import Ready
from tests.project.case import Case, change, make, opened, write_chapters
from tests.project.served import counts, knowledge, whole
from tests.trusting import confirmed
from tests.viking.fakes import DIMENSION, KEY, FakeModel, Statuses, embed, fake_model, server_process
from tests.waiting import PATIENCE, soon

pytestmark = [pytest.mark.viking, pytest.mark.slow, pytest.mark.usefixtures("quick_knowledge")]

LAMPS = ("lantern", "lamp")
SECRET = "Under the boathouse floor the old lamp still burned, and nobody living had filled it.\n"
FILLER = "Mr Oakes counted barrels in the yard and wrote {n} figures into his book before noon.\n"
CHAPTERS = {
    f"Chapter {n} of it": (SECRET if n == 3 else "") + "".join(FILLER.format(n=n * 100 + k) for k in range(40))
    for n in range(1, 13)
}
QUESTION = "She must find whoever lit that lantern."


def by_meaning(text: str) -> list[float]:
    """What tells of a lamp stands apart from everything else, whatever the words."""
    return [90.0 if any(word in text for word in LAMPS) else 0.0, *embed(text)[1:]]


@asynccontextmanager
async def vectors(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[FakeModel, Callable[[str], ModelsSettings]]]:
    """An embedding endpoint, and the settings that use it under a name."""
    monkeypatch.setenv("FAKE_KEY", KEY)
    monkeypatch.setattr(shared, "KEPT", 1)  # so that what is sent again is embedded again
    async with fake_model() as model:
        model.embed = by_meaning
        url = model.endpoint.url

        def settings(name: str) -> ModelsSettings:
            given = {"model": name, "base_url": url, "api_key_env": "FAKE_KEY", "dimensions": DIMENSION, "retries": 0}
            embedding = Endpoint.model_validate(given)
            return ModelsSettings(user=OFFLINE, agent=OFFLINE, embedding=embedding)

        yield model, settings


async def book(folder: Path, tmp_path: Path, models: ModelsSettings, chapters: int) -> None:
    """Some chapters, and one that is to be written, in a project that uses a knowledge server."""
    await make(folder, models)
    change(folder, "knowledge", enabled=True)
    change(folder, "budget", context_tokens=2_400)
    async with opened(folder) as case:
        await case.project.carry_out(
            ImportManuscript(str(write_chapters(tmp_path / "texts", dict([*CHAPTERS.items()][:chapters]))))
        )
        await case.project.carry_out(AddChapter("The Lantern"))
        node = Node(id=NodeId("draft"), params=PromptParams(prompt=(TextBlock(text=QUESTION),)).model_dump())
        await case.project.carry_out(SaveWorkflow(Workflow(id="plain", nodes=(node,))))
        await case.settled()


async def receipt(case: Case) -> Receipt:
    return await case.project.runs.preview_context(RunRequest("plain", await case.chapter(13)), NodeId("draft"))


def cited(receipt: Receipt) -> set[tuple[str, str]]:
    return {(source.uri, source.level) for source in receipt.sources}


async def test_an_item_that_only_the_server_brought_in_is_in_the_receipt(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vectors(monkeypatch) as (_model, settings):
        await book(folder, tmp_path, settings("lamps"), 12)
        async with opened(folder, knowledge=True) as case:
            await whole(case)
            third = f"manuscript/{await case.chapter(3)}"
            served = await receipt(case)
            assert served.digest == (await receipt(case)).digest
            near = [source for source in served.sources if source.budget_class == "knowledge"]
            lamp = min(near, key=lambda source: source.rank)
            assert (lamp.uri, lamp.level) == (third, "L2") and "near in meaning" in lamp.reason
            await case.project.carry_out(EditChapter(await case.chapter(3), position=13))
            late = await case.project.runs.preview_context(RunRequest("plain", await case.chapter(3)), NodeId("draft"))
            assert (third, "L2") not in cited(late), "from later in the story"
            await case.project.carry_out(EditChapter(await case.chapter(13), position=3))
            assert (await receipt(case)).digest == served.digest
        async with opened(folder) as case:
            alone = await receipt(case)
    assert not any("knowledge server" in note for note in alone.notes), "none was wanted this time"
    assert (third, "L2") in cited(served) - cited(alone)
    assert alone.digest != served.digest


async def test_what_the_story_says_is_found_by_meaning_and_only_as_far_as_it_was_told(
    folder: Path, tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vectors(monkeypatch) as (_model, settings):
        await book(folder, tmp_path, settings("lamps"), 12)
        async with opened(folder, knowledge=True) as case:
            second, seventh = await case.chapter(2), await case.chapter(7)
            for record in (
                Promise(RecordId("p1"), "Mr Oakes swore that the lamp would be lit again", second),
                Moment(RecordId("m1"), "The lamp on the pier went out", seventh),
                Fact(RecordId("f1"), "The lamp was never lit", (), since=second, secret=True),
            ):
                await case.project.carry_out(PutRecord(record))
            await whole(case)

            async def cited_at(number: int) -> set[str]:
                request = RunRequest("plain", await case.chapter(number))
                receipt = await case.project.runs.preview_context(request, NodeId("draft"))
                return {each.uri for each in receipt.sources if each.budget_class == "knowledge"}

            assert {"promises/p1", "moments/m1"} <= await cited_at(13)
            assert "promises/p1" in (early := await cited_at(7)) and "moments/m1" not in early, (
                "from later in the story"
            )
            assert not any(uri.startswith("facts/") for uri in early | await cited_at(13)), "secrets are not searched"
            told = {f"story/{second}", f"story/{seventh}"}
            assert told <= knowledge(case).sync().sources().keys()
            before = await counts(case)
            assert any("lit again" in text for text in before.files.values())
            await case.project.carry_out(RemoveRecord(RecordId("m1")))
            await whole(case)
            assert f"story/{seventh}" not in knowledge(case).sync().sources()
            assert not any("went out" in text for text in (await counts(case)).files.values())
            await case.project.carry_out(PutRecord(Moment(RecordId("m1"), "The lamp on the pier went out", seventh)))
            await whole(case)
            untouched = await counts(case)
        shutil.rmtree(own_folders / "cache", ignore_errors=True)
        async with opened(folder, knowledge=True) as case:
            await whole(case)
            assert await counts(case) == untouched
            await case.project.carry_out(Rebuild("knowledge"))
            await whole(case)
            assert await counts(case) == untouched


async def forget_vectors(case: Case) -> None:
    """Takes the vectors out that the project keeps, so that the embedder is asked again."""
    database = case.project._parts.store._database
    await case.project._engine.call(database.do(lambda connection: connection.execute("DELETE FROM vector").close()))


async def test_it_is_whole_again_after_a_kill_a_lost_folder_and_a_silent_embedder(
    folder: Path, tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vectors(monkeypatch) as (model, settings):
        await book(folder, tmp_path, settings("lamps"), 5)
        async with opened(folder, knowledge=True) as case:
            await whole(case)
            untouched = await counts(case)
            assert untouched.vectors >= 3 * 5 and not untouched.missing

            async def anew() -> int:
                """Begins to send everything once more; returns how many states were told before."""
                told = len(case.told(KnowledgeStatus))
                await forget_vectors(case)
                await case.project._engine.call(knowledge(case).rebuild())
                await case.project._engine.call(case.project._parts.memory.background.heal({}))
                model.asked.clear()
                await soon(model.asked.wait())
                return told

            told = await anew()
            os.kill(server_process(own_folders), signal.SIGKILL)
            await whole(case, told)
            assert await counts(case) == untouched, "killed while it indexed"

            told = len(case.told(KnowledgeStatus))
            shutil.rmtree(own_folders / "cache", ignore_errors=True)
            await whole(case, told)
            assert await counts(case) == untouched, "its folder was removed"

            model.broken = True
            await anew()
            async with asyncio.timeout(PATIENCE):
                while not any(task.error for task in await case.project.memory.background()):  # noqa: ASYNC110  # it is polled
                    await asyncio.sleep(0.05)
            model.broken = False
            await whole(case)
            assert await counts(case) == untouched, "the embedder was away"


async def test_a_folder_lost_while_closed_and_another_embedder_are_made_good(
    folder: Path, tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vectors(monkeypatch) as (model, settings):
        await book(folder, tmp_path, settings("lamps"), 5)
        async with opened(folder, knowledge=True) as case:
            await whole(case)
            untouched = await counts(case)
            backup = tmp_path / "pack"
            assert await case.project._engine.call(knowledge(case).pack(backup))
        shutil.rmtree(own_folders / "cache", ignore_errors=True)
        shutil.copy(backup, folder / ".flowcabal" / "knowledge.ovpack")
        embedded = len(model.embedded)
        async with opened(folder, knowledge=True) as case:
            await whole(case)
            assert await counts(case) == untouched
            assert not [text for text in model.embedded[embedded:] if "Oakes" in text], "the pack had the vectors"
            assert not (folder / ".flowcabal" / "knowledge.ovpack").exists()
        change(folder, "models", embedding=settings("other").embedding)
        async with opened(folder, knowledge=True) as case:
            ready = await whole(case)
            assert "other" in ready.message
            assert await counts(case) == untouched


async def test_a_book_and_its_copy_do_not_mix_on_a_server_elsewhere_and_no_key_is_written(
    folder: Path, tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vectors(monkeypatch) as (model, settings):
        statuses = Statuses()
        elsewhere = OpenVikingServer(tmp_path / "elsewhere", model.endpoint, statuses, start_seconds=90)
        await elsewhere.start()
        try:
            await statuses.wait_for(lambda status: isinstance(status, Ready))
            address = elsewhere.address()
            monkeypatch.setenv("ELSEWHERE_KEY", address.key)
            await book(folder, tmp_path, settings("lamps"), 3)
            change(folder, "knowledge", url=address.url, api_key_env="ELSEWHERE_KEY")
            copy = tmp_path / "copy"
            confirmed(shutil.copytree(folder, copy))
            async with opened(folder, knowledge=True) as case, opened(copy, knowledge=True) as other:
                assert (await whole(case)).state == "external"
                await whole(other)
                untouched = await counts(case)
                assert (await counts(other)).files.keys() == untouched.files.keys()
                await other.project.carry_out(EditChapter(await other.chapter(1), deleted=True))
                await other.project.carry_out(WriteChapter(await other.chapter(1), "Only the copy says so."))
                await other.settled()
                await whole(other)
                assert await counts(case) == untouched
                assert "Only the copy says so." in (await counts(other)).files.values()
                for one in (case, other):
                    (hit, *_others) = await one.project._engine.call(
                        knowledge(one).sync().find("Only the copy says so.")
                    )
                    chapter = next(found for found in await one.project.book.chapters() if found.id == hit.chapter)
                    assert (chapter.author == "human") is (one is other)
        finally:
            await elsewhere.stop(wait=True)
        written = [path for place in (folder, copy, own_folders) for path in place.rglob("*") if path.is_file()]
        assert not [path for path in written if address.key.encode() in path.read_bytes()]


async def test_no_file_of_the_knowledge_server_holds_a_purged_chapter(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vectors(monkeypatch) as (_model, settings):
        await book(folder, tmp_path, settings("lamps"), 3)
        async with opened(folder, knowledge=True) as case:
            await whole(case)
            assert files_with(b"boathouse", folder), "or this test could not fail"
            assert files_with(b"boathouse", paths.cache_folder()), "or this test could not fail"
            before = len(case.told(KnowledgeStatus))
            await case.project.carry_out(Purge(chapter=await case.chapter(3)))
            await whole(case, before)
            assert files_with(b"boathouse", folder) == [] == files_with(b"boathouse", paths.cache_folder())
            await receipt_of(case)
        assert files_with(b"boathouse", paths.cache_folder()) == []


def files_with(words: bytes, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()]


async def receipt_of(case: Case) -> Receipt:
    """Of the chapter that is to be written, wherever it is."""
    last = (await case.project.book.chapters())[-1].id
    return await case.project.runs.preview_context(RunRequest("plain", last), NodeId("draft"))
