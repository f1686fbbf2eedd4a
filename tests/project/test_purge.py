"""A purge takes a text, and all that was made of it, out of the project's file."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
import zlib
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import DiskFull, RunError
from flowcabal_tui.domain.ids import ChapterId, EntityId, OutputId
from flowcabal_tui.domain.memory import Entity, Evidence, KeepMode
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId
from flowcabal_tui.project.book.following import following
from flowcabal_tui.project.memory import purging
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.book import AddChapter, DeleteOutput, EditChapter, OutsideEdit, WriteChapter
from flowcabal_tui.protocol.memory import Purge, PurgeFinished, TextPurged, WriteProfile
from flowcabal_tui.protocol.story import PutEntity, PutRecord
from flowcabal_tui.settings.project_file import OFFLINE
from flowcabal_tui.store import Keeping
from flowcabal_tui.store.file.blobs import pack_large, unpack
from flowcabal_tui.store.upkeep.purge import PURGED
from flowcabal_tui.store.upkeep.upkeep import Upkeep
from tests.faultserver import FaultServer
from tests.project.desk import Desk, both, endpoint, leave, make_one, opened
from tests.trusting import confirmed
from tests.waiting import PATIENCE

SECRET = (
    "Zyxwold the ferryman counted quixotically. Zyxwold rowed beneath the oxbowed moon. Zyxwold said nothing.\n\n"
    "Beneath the jetty Zyxwold hid the vexillary flag; only Zyxwold knew the burled knot that held it."
)
WORDS = ("yxwold", "quixotically", "oxbowed", "vexillary", "burled")


@pytest_asyncio.fixture
async def desk(folder: Path) -> AsyncIterator[Desk]:
    """A chapter of a hand, and one that is to be purged, with all that follows a keep."""
    async with opened(await make_one(folder, both(OFFLINE))) as desk:
        await desk.project.carry_out(WriteChapter(await desk.chapter(1), "Ines Marlow waited at Saltreach all night."))
        await desk.project.carry_out(AddChapter("The Flag"))
        yield desk


def left(folder: Path) -> list[str]:
    """The secret's words that stand in any file of the project, whole or as they are compressed nowhere."""
    data = b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())
    return [word for word in WORDS if word.encode() in data or word.title().encode() in data]


def everything(folder: Path) -> str:
    """Every cell of every table, unpacked where it is compressed."""
    cells: list[str] = []
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
            if not table.startswith("passage_words"):
                cells += [_said(cell) for row in database.execute(f"SELECT * FROM {table}") for cell in row]
    return "\n".join(cells)


def _said(cell: object) -> str:
    if not isinstance(cell, bytes):
        return str(cell)
    try:
        return unpack(cell)
    except zlib.error:
        return cell.decode("utf-8", "replace")


async def test_a_purged_chapter_is_nowhere_and_the_rest_is_as_it_was(desk: Desk, folder: Path) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    assert left(folder) and "Zyxwold" in everything(folder), "or this test could not fail"
    assert "Zyxwold" in [entity.name for entity in await desk.project.story.entities()]
    await desk.project.carry_out(Purge(chapter=chapter))
    await desk.settled()
    (told,) = desk.told(TextPurged)
    assert (told.chapter, told.versions) == (chapter, 1)
    assert left(folder) == []
    found = everything(folder)
    assert [word for word in WORDS if word in found] == []
    assert "Zyxwold" not in [entity.name for entity in await desk.project.story.entities()]
    assert [chapter.title for chapter in await desk.project.book.chapters()] == ["The Glove"]
    assert len(list((folder / "manuscript").glob("*.md"))) == 1
    assert [task for task in await desk.project.memory.background() if task.kind != "knowledge"] == []
    assert await desk.project.book.chapter_text(await desk.chapter(1)) == "Ines Marlow waited at Saltreach all night."


async def test_what_was_found_by_meaning_of_a_purged_chapters_records_is_forgotten(desk: Desk) -> None:
    chapters, values = await desk.project.book.chapters(), desk.project._parts.store.values
    await desk.project.carry_out(WriteChapter(chapters[1].id, SECRET))
    for number, chapter in enumerate(chapters, 1):
        await desk.project.carry_out(PutRecord(Moment(RecordId(f"moment{number}"), "Somebody rows.", chapter.id)))
        found = {"found": [{"uri": f"moments/moment{number}", "text": "Somebody rows."}]}
        await desk.project._engine.call(values.put(f"find/1/{number}", found))
    await desk.settled()
    await desk.project.carry_out(Purge(chapter=chapters[1].id))
    assert await desk.project._engine.call(values.get("find/1/1")) is not None
    assert await desk.project._engine.call(values.get("find/1/2")) is None


async def test_a_purge_that_was_cut_off_is_finished_at_the_next_start(desk: Desk, folder: Path) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    await desk.project._engine.call(desk.project._parts.store.upkeep.purge_chapter(chapter, following(("mirror",))))
    await desk.project.close()
    assert left(folder), "killed before the file was made anew"
    async with opened(folder) as again:
        await again.settled()
        async with asyncio.timeout(PATIENCE):
            while left(folder):  # noqa: ASYNC110  # a file tells nobody that it is small
                await asyncio.sleep(0.05)


async def test_a_reader_delays_a_purge_which_says_so_and_finishes_by_itself(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(purging, "_TRIES", 2)
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM version").fetchall()
        await desk.project.carry_out(Purge(chapter=chapter))
        await desk.settled()
        (told,) = desk.told(TextPurged)
        assert [reason for reason in told.pending if "another program reads" in reason]
        assert left(folder) and not desk.told(PurgeFinished)
        await desk.project.carry_out(WriteChapter(await desk.chapter(1), "Written meanwhile."))
        reader.execute("ROLLBACK")
    await desk.until(PurgeFinished)
    await desk.settled()
    assert left(folder) == []


async def test_a_purge_that_a_reader_delayed_is_finished_at_the_next_opening(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "_TRIES", 2)
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM version").fetchall()
        await desk.project.carry_out(Purge(chapter=chapter))
        await desk.project.close()
        assert left(folder)
    async with opened(folder) as again:
        await again.until(Status, lambda status: status.status == "connected")
        await again.settled()
        async with asyncio.timeout(PATIENCE):
            while left(folder):  # noqa: ASYNC110  # a file tells nobody that it is small
                await asyncio.sleep(0.05)


async def test_a_chapter_that_was_deleted_and_then_purged_is_nowhere(desk: Desk, folder: Path) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.project.carry_out(EditChapter(chapter, deleted=True))
    await desk.project.carry_out(Purge(chapter=chapter))
    await desk.settled()
    assert [word for word in WORDS if word in everything(folder)] == [] == left(folder)
    assert await desk.project.book.deleted_chapters() == ()


async def test_what_a_kill_left_in_the_manuscript_folder_goes_with_a_purge(desk: Desk, folder: Path) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    (file,) = (folder / "manuscript").glob("0002*")
    for name in (".abcdefgh.tmp", "0007-an-older-place.md"):
        (file.parent / name).write_bytes(file.read_bytes())
    await desk.project.carry_out(Purge(chapter=chapter))
    await desk.settled()
    assert left(folder) == []


async def test_the_log_forgets_a_purged_text(desk: Desk, folder: Path) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    log = logging.getLogger("flowcabal_tui.test")
    log.warning("it says: %s", SECRET.partition("\n")[0])
    log.warning("something else")
    await desk.project.carry_out(Purge(chapter=chapter))
    await desk.settled()
    log.warning("a line after it")
    assert left(folder) == []
    said = (folder / ".flowcabal" / "flowcabal.log").read_text("utf-8")
    assert "something else" in said and "a line after it" in said


async def test_files_of_others_and_backups_that_hold_a_purged_text_are_named_and_stay(desk: Desk, folder: Path) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    await desk.project.book.back_up(folder.parent / "before.zip")
    (file,) = (folder / "manuscript").glob("0002*")
    file.write_text(file.read_text("utf-8") + "And a line of an editor's.\n", "utf-8")
    (folder / "notes.txt").write_text("Nothing of it.", "utf-8")
    await desk.project.carry_out(Purge(chapter=chapter))
    (told,) = desk.told(TextPurged)
    assert [*told.left] == [str(file), str(folder.parent / "before.zip")]
    assert file.exists() and (folder.parent / "before.zip").exists()


async def test_an_edit_made_outside_stays_offered_when_an_output_of_its_chapter_is_purged(
    desk: Desk, folder: Path
) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, HAND))
    secret = await keep(desk, chapter, SECRET)
    await desk.settled()
    (file,) = (folder / "manuscript").glob("0002*")
    file.write_text("# The Flag\n\nAn editor wrote something else.\n", "utf-8")
    await desk.project.carry_out(Purge(output=secret))
    await desk.settled()
    await desk.until(OutsideEdit)
    assert await desk.project.book.outside_text(chapter) == "An editor wrote something else."
    assert [path.name for path in (folder / "manuscript").glob("0002*")] == [file.name]


async def test_accepted_rewrites_go_with_the_text_that_they_are_of(desk: Desk, folder: Path) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, HAND))
    secret = await keep(desk, chapter, SECRET)

    def rewritten(connection: sqlite3.Connection) -> None:
        for body, after in ((f"{HAND}\n\n{SECRET}", FERRY), (HAND, SECRET[:40]), (HAND, BELL)):
            connection.execute(
                "INSERT INTO rewrite (chapter, body, start, end, after, model, instruction, at)"
                " VALUES (?, ?, 0, 1, ?, '', '', '')",
                (chapter, pack_large(body), pack_large(after)),
            )

    await desk.project._engine.call(desk.project._parts.store._database.do(rewritten))
    await desk.project.carry_out(Purge(output=secret))
    await desk.settled()
    found = everything(folder)
    assert [word for word in WORDS if word in found] == [] == left(folder)
    assert BELL in found
    await desk.project.carry_out(Purge(chapter=chapter))
    await desk.settled()
    assert BELL not in everything(folder)


async def test_a_purge_for_which_there_is_no_room_is_finished_when_there_is(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "RETRY_SECONDS", 0.01)
    compact, full = Upkeep.compact, [True]

    async def compacted(self: Upkeep) -> bool:
        if full:
            raise DiskFull("The project could not be written.")
        return await compact(self)

    monkeypatch.setattr(Upkeep, "compact", compacted)
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    await desk.project.carry_out(Purge(chapter=chapter))
    assert desk.told(TextPurged)[0].pending == ("The project could not be written.",)
    full.clear()
    await desk.until(PurgeFinished)
    await desk.settled()
    assert left(folder) == []


async def test_the_knowledge_server_is_told_of_derived_texts_that_went(desk: Desk) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    await desk.settled()
    (profile,) = [row.uri for row in await desk.project.memory.profiles() if row.name == "Zyxwold"]
    await desk.project.carry_out(Purge(chapter=chapter))
    assert profile in [task.subject for task in await desk.project.memory.background() if task.source == PURGED]


async def test_a_purged_output_takes_its_run_along_unless_something_else_rests_on_it(desk: Desk, folder: Path) -> None:
    run = await desk.run("quick-draft", 2)
    text = (await desk.view(run, "draft")).attempts[0].text
    both_kept = [await desk.keep(run, "draft"), await desk.keep(run, "draft", kind="note")]
    await desk.settled()
    await desk.project.carry_out(Purge(output=both_kept[0]))
    assert await desk.project.book.chapter_text(await desk.chapter(2)) == ""
    assert [each.id for each in await desk.project.book.kept()] == [both_kept[1]]
    assert await desk.project.runs.summaries(), "a note that is kept came from that run"
    await desk.project.carry_out(Purge(output=both_kept[1]))
    await desk.settled()
    assert await desk.project.runs.summaries() == ()
    found, other = everything(folder), await desk.project.book.chapter_text(await desk.chapter(1))
    assert [line for line in text.split("\n") if len(line) > 40 and line in found and line not in other] == []
    with pytest.raises(RunError, match="nothing named"):
        await desk.project.carry_out(DeleteOutput(both_kept[0], restore=True))


async def test_a_chinese_chapter_goes_with_the_run_that_made_it(folder: Path, demos: dict[str, Path]) -> None:
    async with opened(confirmed(shutil.copytree(demos["zh"], folder))) as desk:
        chapter = await desk.chapter(7)
        run = await desk.run("chapter", 7)
        await desk.keep(run, "polish")
        await desk.settled()
        kept = {line for line in (await desk.project.book.chapter_text(chapter)).split("\n") if len(line) > 20}
        others = "".join(
            [await desk.project.book.chapter_text(each.id) for each in (await desk.project.book.chapters())[:6]]
        )
        own = {line for line in kept if line not in others}
        assert own and all(line in everything(folder) for line in own)
        await desk.project.carry_out(Purge(chapter=chapter))
        await desk.settled()
        found = everything(folder)
        assert [line for line in own if line in found] == []
        assert (await desk.project.runs.summaries(), len(await desk.project.book.chapters())) == ((), 6)
        await desk.project.check()


async def test_a_purge_waits_for_no_run_and_changes_nothing_while_one_goes_on(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as desk:
        run = await desk.start("chapter", 1)
        assert await desk.follow(run, leave) == "waiting"
        with pytest.raises(RunError, match="A run is in progress"):
            await desk.project.carry_out(Purge(chapter=await desk.chapter(1)))
        assert len(await desk.project.book.chapters()) == 1


async def test_what_is_purged_must_be_named_once(desk: Desk) -> None:
    for command in (Purge(), Purge(chapter=await desk.chapter(1), output="x")):  # type: ignore[arg-type]  # an id
        with pytest.raises(RunError):
            await desk.project.carry_out(command)
    with pytest.raises(RunError, match="nothing named"):
        await desk.project.carry_out(Purge(output="x"))  # type: ignore[arg-type]  # an id
    assert len(await desk.project.book.chapters()) == 2


HAND, FERRY, BELL = "Ines Marlow slept.", "Tobias Crane sold the ferry at noon.", "The bell at Saltreach rang twice."


async def keep(desk: Desk, chapter: ChapterId, text: str, mode: KeepMode = "append") -> OutputId:
    """Keeps a text as a model's output."""
    keeping = Keeping(text, "chapter", mode, chapter)
    return (
        await desk.project._engine.call(desk.project._parts.store.book.keep(keeping, following(("mirror",))))
    ).output.id


async def test_what_was_kept_after_a_purged_output_stays_whatever_is_taken_out_later(desk: Desk, folder: Path) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, HAND))
    secret, ferry, bell = [await keep(desk, chapter, text) for text in (SECRET, FERRY, BELL)]
    await desk.settled()
    await desk.project.carry_out(Purge(output=secret))
    await desk.settled()
    assert [word for word in WORDS if word in everything(folder)] == [] == left(folder)
    assert await desk.project.book.chapter_text(chapter) == f"{HAND}\n\n{FERRY}\n\n{BELL}"
    await desk.project.carry_out(DeleteOutput(bell))
    assert await desk.project.book.chapter_text(chapter) == f"{HAND}\n\n{FERRY}"
    await desk.project.carry_out(DeleteOutput(ferry))
    assert await desk.project.book.chapter_text(chapter) == HAND
    for output in (bell, ferry):
        await desk.project.carry_out(DeleteOutput(output, restore=True))
    assert await desk.project.book.chapter_text(chapter) == f"{HAND}\n\n{FERRY}\n\n{BELL}"
    await desk.settled()
    await desk.project.check()


async def test_an_output_that_a_hand_wrote_around_is_purged_only_when_it_was_edited_out(
    desk: Desk, folder: Path
) -> None:
    chapter = await desk.chapter(2)
    secret = await keep(desk, chapter, SECRET)
    around = f"{HAND}\n\n{SECRET}\n\n{FERRY}"
    await desk.project.carry_out(WriteChapter(chapter, around))
    polished = await keep(desk, chapter, BELL, "replace")
    await desk.settled()
    before = everything(folder)
    with pytest.raises(RunError, match="by hand"):
        await desk.project.carry_out(Purge(output=secret))
    assert everything(folder) == before
    await desk.project.carry_out(DeleteOutput(polished))
    assert await desk.project.book.chapter_text(chapter) == around, "which needs what the hand wrote"
    with pytest.raises(RunError, match="by hand"):
        await desk.project.carry_out(Purge(output=secret))
    await desk.project.carry_out(WriteChapter(chapter, f"{HAND}\n\n{FERRY}"))
    await desk.settled()
    await desk.project.carry_out(Purge(output=secret))
    await desk.settled()
    assert await desk.project.book.chapter_text(chapter) == f"{HAND}\n\n{FERRY}"
    assert [word for word in WORDS if word in everything(folder)] == []


async def test_an_output_is_not_purged_while_another_one_holds_its_words(desk: Desk) -> None:
    chapter = await desk.chapter(2)
    secret = await keep(desk, chapter, SECRET)
    longer = await keep(desk, chapter, f"{SECRET}\n\n{FERRY}", "replace")
    with pytest.raises(RunError, match="Another kept output"):
        await desk.project.carry_out(Purge(output=secret))
    await desk.project.carry_out(Purge(output=longer))
    assert await desk.project.book.chapter_text(chapter) == SECRET


async def test_a_profile_written_by_hand_stays_when_its_chapter_is_purged(desk: Desk) -> None:
    chapter = await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET + " Ines Marlow heard it all."))
    await desk.settled()
    ines = EntityId("ines")
    await desk.project.carry_out(PutEntity(Entity(ines, "character", "Ines Marlow")))
    await desk.settled()
    uri = f"profiles/characters/{ines}"
    await desk.project.carry_out(WriteProfile(uri, "L1", "Ines waits for those who do not come."))
    await desk.settled()
    assert (await desk.levels(uri))["L1"].position == 2, "or this test could not fail"
    await desk.project.carry_out(Purge(chapter=chapter))
    await desk.settled()
    written = (await desk.levels(uri))["L1"]
    assert (written.text, written.position) == ("Ines waits for those who do not come.", 1)


async def test_what_a_hand_noted_stays_without_the_sentences_of_a_purged_chapter(desk: Desk, folder: Path) -> None:
    first, chapter = await desk.chapter(1), await desk.chapter(2)
    await desk.project.carry_out(WriteChapter(chapter, SECRET))
    waited = Evidence("Ines Marlow waited at Saltreach all night.", first, 0, 42)
    flag = Evidence("Zyxwold said nothing.", chapter, 84, 105)
    ines = EntityId("ines")
    await desk.project.carry_out(PutEntity(Entity(ines, "character", "Ines Marlow")))
    await desk.settled()
    knower = Knower(ines, evidence=(flag, waited))
    fact = Fact(RecordId(""), "The flag is hidden.", known_by=(knower,), evidence=(waited, flag))
    promise = Promise(RecordId(""), "Someone will come.", first, evidence=(waited,), payment=(flag,))
    for record in (fact, promise):
        await desk.project.carry_out(PutRecord(record))
    await desk.settled()
    await desk.project.carry_out(Purge(chapter=chapter))
    await desk.settled()
    assert [word for word in WORDS if word in everything(folder)] == [] == left(folder)
    story = await desk.project.story.all()
    (noted,) = [one for one in story.facts if one.by == "hand"]
    assert (noted.text, noted.evidence, noted.known_by[0].evidence) == (fact.text, (waited,), (waited,))
    (hoped,) = [one for one in story.promises if one.by == "hand"]
    assert (hoped.text, hoped.evidence, hoped.payment) == (promise.text, (waited,), ())


async def test_the_files_of_later_chapters_are_numbered_anew(desk: Desk, folder: Path) -> None:
    await desk.project.carry_out(AddChapter("The Bell"))
    for number, text in ((2, SECRET), (3, BELL)):
        await desk.project.carry_out(WriteChapter(await desk.chapter(number), text))
    await desk.settled()
    before = sorted(file.name for file in (folder / "manuscript").glob("*.md"))
    await desk.project.carry_out(Purge(chapter=await desk.chapter(2)))
    await desk.settled()
    after = sorted(file.name for file in (folder / "manuscript").glob("*.md"))
    assert after == [before[0], before[2].replace("3", "2", 1)]
