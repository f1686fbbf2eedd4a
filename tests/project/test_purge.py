"""A purge takes a text, and all that was made of it, out of the project's file."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import DiskFull, ProjectDamaged, RunError
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
from flowcabal_tui.store.maintenance.maintenance import Maintenance
from flowcabal_tui.store.maintenance.purge import PURGED
from tests.faultserver import FaultServer
from tests.pipes import pipe
from tests.project.case import Case, both, endpoint, leave, make_one, opened
from tests.trusting import confirmed
from tests.waiting import PATIENCE

SECRET = (
    "Zyxwold the ferryman counted quixotically. Zyxwold rowed beneath the oxbowed moon. Zyxwold said nothing.\n\n"
    "Beneath the jetty Zyxwold hid the vexillary flag; only Zyxwold knew the burled knot that held it."
)
WORDS = ("yxwold", "quixotically", "oxbowed", "vexillary", "burled")


@pytest_asyncio.fixture
async def case(folder: Path) -> AsyncIterator[Case]:
    """A chapter of a hand, and one that is to be purged, with all that follows a keep."""
    async with opened(await make_one(folder, both(OFFLINE))) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), "Ines Marlow waited at Saltreach all night."))
        await case.project.carry_out(AddChapter("The Flag"))
        yield case


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
    except ProjectDamaged:
        return cell.decode("utf-8", "replace")


async def test_a_purged_chapter_is_nowhere_and_the_rest_is_as_it_was(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    assert left(folder) and "Zyxwold" in everything(folder), "or this test could not fail"
    assert "Zyxwold" in [entity.name for entity in await case.project.story.entities()]
    await case.project.carry_out(Purge(chapter=chapter))
    await case.settled()
    (told,) = case.told(TextPurged)
    assert (told.chapter, told.versions) == (chapter, 1)
    assert left(folder) == []
    found = everything(folder)
    assert [word for word in WORDS if word in found] == []
    assert "Zyxwold" not in [entity.name for entity in await case.project.story.entities()]
    assert [chapter.title for chapter in await case.project.book.chapters()] == ["The Glove"]
    assert len(list((folder / "manuscript").glob("*.md"))) == 1
    assert [task for task in await case.project.memory.background() if task.kind != "knowledge"] == []
    assert await case.project.book.chapter_text(await case.chapter(1)) == "Ines Marlow waited at Saltreach all night."


async def test_what_was_found_by_meaning_of_a_purged_chapters_records_is_forgotten(case: Case) -> None:
    chapters, values = await case.project.book.chapters(), case.project._parts.store.values
    await case.project.carry_out(WriteChapter(chapters[1].id, SECRET))
    for number, chapter in enumerate(chapters, 1):
        await case.project.carry_out(PutRecord(Moment(RecordId(f"moment{number}"), "Somebody rows.", chapter.id)))
        found = {"found": [{"uri": f"moments/moment{number}", "text": "Somebody rows."}]}
        await case.project._engine.call(values.put(f"find/1/{number}", found))
    await case.settled()
    await case.project.carry_out(Purge(chapter=chapters[1].id))
    assert await case.project._engine.call(values.get("find/1/1", object)) is not None
    assert await case.project._engine.call(values.get("find/1/2", object)) is None


async def test_a_purge_that_was_cut_off_is_finished_at_the_next_start(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    await case.project._engine.call(
        case.project._parts.store.maintenance.purge_chapter(chapter, following(("mirror",)))
    )
    await case.project.close()
    assert left(folder), "killed before the file was made anew"
    async with opened(folder) as again:
        await again.settled()
        async with asyncio.timeout(PATIENCE):
            while left(folder):  # noqa: ASYNC110  # a file tells nobody that it is small
                await asyncio.sleep(0.05)


async def test_a_reader_delays_a_purge_which_says_so_and_finishes_by_itself(
    case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(purging, "_TRIES", 2)
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM version").fetchall()
        await case.project.carry_out(Purge(chapter=chapter))
        await case.settled()
        (told,) = case.told(TextPurged)
        assert [reason for reason in told.pending if "another program reads" in reason]
        assert left(folder) and not case.told(PurgeFinished)
        await case.project.carry_out(WriteChapter(await case.chapter(1), "Written meanwhile."))
        reader.execute("ROLLBACK")
    await case.until(PurgeFinished)
    await case.settled()
    assert left(folder) == []


async def test_a_purge_that_a_reader_delayed_is_finished_at_the_next_opening(
    case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "_TRIES", 2)
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM version").fetchall()
        await case.project.carry_out(Purge(chapter=chapter))
        await case.project.close()
        assert left(folder)
    async with opened(folder) as again:
        await again.until(Status, lambda status: status.status == "connected")
        await again.settled()
        async with asyncio.timeout(PATIENCE):
            while left(folder):  # noqa: ASYNC110  # a file tells nobody that it is small
                await asyncio.sleep(0.05)


async def test_a_chapter_that_was_deleted_and_then_purged_is_nowhere(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.project.carry_out(EditChapter(chapter, deleted=True))
    await case.project.carry_out(Purge(chapter=chapter))
    await case.settled()
    assert [word for word in WORDS if word in everything(folder)] == [] == left(folder)
    assert await case.project.book.deleted_chapters() == ()


async def test_what_a_kill_left_in_the_manuscript_folder_goes_with_a_purge(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    (file,) = (folder / "manuscript").glob("0002*")
    for name in (".abcdefgh.tmp", "0007-an-older-place.md"):
        (file.parent / name).write_bytes(file.read_bytes())
    await case.project.carry_out(Purge(chapter=chapter))
    await case.settled()
    assert left(folder) == []


async def test_the_log_forgets_a_purged_text(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    log = logging.getLogger("flowcabal_tui.test")
    log.warning("it says: %s", SECRET.partition("\n")[0])
    log.warning("something else")
    await case.project.carry_out(Purge(chapter=chapter))
    await case.settled()
    log.warning("a line after it")
    assert left(folder) == []
    said = (folder / ".flowcabal" / "flowcabal.log").read_text("utf-8")
    assert "something else" in said and "a line after it" in said


async def test_files_of_others_and_backups_that_hold_a_purged_text_are_named_and_stay(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    await case.project.book.back_up(folder.parent / "before.zip")
    (file,) = (folder / "manuscript").glob("0002*")
    file.write_text(file.read_text("utf-8") + "And a line of an editor's.\n", "utf-8")
    (folder / "notes.txt").write_text("Nothing of it.", "utf-8")
    pipe(folder / "a.zip")
    (folder / "b.zip").mkdir()
    await case.project.carry_out(Purge(chapter=chapter))
    (told,) = case.told(TextPurged)
    assert [*told.left] == [str(file), str(folder.parent / "before.zip")]
    assert file.exists() and (folder.parent / "before.zip").exists()


async def test_an_edit_made_outside_stays_offered_when_an_output_of_its_chapter_is_purged(
    case: Case, folder: Path
) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, HAND))
    secret = await keep(case, chapter, SECRET)
    await case.settled()
    (file,) = (folder / "manuscript").glob("0002*")
    file.write_text("# The Flag\n\nAn editor wrote something else.\n", "utf-8")
    await case.project.carry_out(Purge(output=secret))
    await case.settled()
    await case.until(OutsideEdit)
    assert await case.project.book.outside_text(chapter) == "An editor wrote something else."
    assert [path.name for path in (folder / "manuscript").glob("0002*")] == [file.name]


async def test_accepted_rewrites_go_with_the_text_that_they_are_of(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, HAND))
    secret = await keep(case, chapter, SECRET)

    def rewritten(connection: sqlite3.Connection) -> None:
        for body, after in ((f"{HAND}\n\n{SECRET}", FERRY), (HAND, SECRET[:40]), (HAND, BELL)):
            connection.execute(
                "INSERT INTO rewrite (chapter, body, start, end, after, model, instruction, at)"
                " VALUES (?, ?, 0, 1, ?, '', '', '')",
                (chapter, pack_large(body), pack_large(after)),
            )

    await case.project._engine.call(case.project._parts.store._database.do(rewritten))
    await case.project.carry_out(Purge(output=secret))
    await case.settled()
    found = everything(folder)
    assert [word for word in WORDS if word in found] == [] == left(folder)
    assert BELL in found
    await case.project.carry_out(Purge(chapter=chapter))
    await case.settled()
    assert BELL not in everything(folder)


async def test_a_purge_for_which_there_is_no_room_is_finished_when_there_is(
    case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "RETRY_SECONDS", 0.01)
    compact, full = Maintenance.compact, [True]

    async def compacted(self: Maintenance) -> bool:
        if full:
            raise DiskFull("The project could not be written.")
        return await compact(self)

    monkeypatch.setattr(Maintenance, "compact", compacted)
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    await case.project.carry_out(Purge(chapter=chapter))
    assert case.told(TextPurged)[0].pending == ("The project could not be written.",)
    full.clear()
    await case.until(PurgeFinished)
    await case.settled()
    assert left(folder) == []


async def test_the_knowledge_server_is_told_of_derived_texts_that_went(case: Case) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    await case.settled()
    (profile,) = [row.uri for row in await case.project.memory.profiles() if row.name == "Zyxwold"]
    await case.project.carry_out(Purge(chapter=chapter))
    assert profile in [task.subject for task in await case.project.memory.background() if task.source == PURGED]


async def test_a_purged_output_takes_its_run_along_unless_something_else_rests_on_it(case: Case, folder: Path) -> None:
    run = await case.run("quick-draft", 2)
    text = (await case.view(run, "draft")).attempts[0].text
    both_kept = [await case.keep(run, "draft"), await case.keep(run, "draft", kind="note")]
    await case.settled()
    await case.project.carry_out(Purge(output=both_kept[0]))
    assert await case.project.book.chapter_text(await case.chapter(2)) == ""
    assert [each.id for each in await case.project.book.kept()] == [both_kept[1]]
    assert await case.project.runs.summaries(), "a note that is kept came from that run"
    await case.project.carry_out(Purge(output=both_kept[1]))
    await case.settled()
    assert await case.project.runs.summaries() == ()
    found, other = everything(folder), await case.project.book.chapter_text(await case.chapter(1))
    assert [line for line in text.split("\n") if len(line) > 40 and line in found and line not in other] == []
    with pytest.raises(RunError, match="nothing named"):
        await case.project.carry_out(DeleteOutput(both_kept[0], restore=True))


async def test_a_chinese_chapter_goes_with_the_run_that_made_it(folder: Path, demos: dict[str, Path]) -> None:
    async with opened(confirmed(shutil.copytree(demos["zh"], folder))) as case:
        chapter = await case.chapter(7)
        run = await case.run("chapter", 7)
        await case.keep(run, "polish")
        await case.settled()
        kept = {line for line in (await case.project.book.chapter_text(chapter)).split("\n") if len(line) > 20}
        others = "".join(
            [await case.project.book.chapter_text(each.id) for each in (await case.project.book.chapters())[:6]]
        )
        own = {line for line in kept if line not in others}
        assert own and all(line in everything(folder) for line in own)
        await case.project.carry_out(Purge(chapter=chapter))
        await case.settled()
        found = everything(folder)
        assert [line for line in own if line in found] == []
        assert (await case.project.runs.summaries(), len(await case.project.book.chapters())) == ((), 6)
        await case.project.check()


async def test_a_purge_waits_for_no_run_and_changes_nothing_while_one_goes_on(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        run = await case.start("chapter", 1)
        assert await case.follow(run, leave) == "waiting"
        with pytest.raises(RunError, match="A run is in progress"):
            await case.project.carry_out(Purge(chapter=await case.chapter(1)))
        assert len(await case.project.book.chapters()) == 1


async def test_what_is_purged_must_be_named_once(case: Case) -> None:
    for command in (Purge(), Purge(chapter=await case.chapter(1), output="x")):  # type: ignore[arg-type]  # an id
        with pytest.raises(RunError):
            await case.project.carry_out(command)
    with pytest.raises(RunError, match="nothing named"):
        await case.project.carry_out(Purge(output="x"))  # type: ignore[arg-type]  # an id
    assert len(await case.project.book.chapters()) == 2


HAND, FERRY, BELL = "Ines Marlow slept.", "Tobias Crane sold the ferry at noon.", "The bell at Saltreach rang twice."


async def keep(case: Case, chapter: ChapterId, text: str, mode: KeepMode = "append") -> OutputId:
    """Keeps a text as a model's output."""
    keeping = Keeping(text, "chapter", mode, chapter)
    return (
        await case.project._engine.call(case.project._parts.store.book.keep(keeping, following(("mirror",))))
    ).output.id


async def test_what_was_kept_after_a_purged_output_stays_whatever_is_taken_out_later(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, HAND))
    secret, ferry, bell = [await keep(case, chapter, text) for text in (SECRET, FERRY, BELL)]
    await case.settled()
    await case.project.carry_out(Purge(output=secret))
    await case.settled()
    assert [word for word in WORDS if word in everything(folder)] == [] == left(folder)
    assert await case.project.book.chapter_text(chapter) == f"{HAND}\n\n{FERRY}\n\n{BELL}"
    await case.project.carry_out(DeleteOutput(bell))
    assert await case.project.book.chapter_text(chapter) == f"{HAND}\n\n{FERRY}"
    await case.project.carry_out(DeleteOutput(ferry))
    assert await case.project.book.chapter_text(chapter) == HAND
    for output in (bell, ferry):
        await case.project.carry_out(DeleteOutput(output, restore=True))
    assert await case.project.book.chapter_text(chapter) == f"{HAND}\n\n{FERRY}\n\n{BELL}"
    await case.settled()
    await case.project.check()


async def test_an_output_that_a_hand_wrote_around_is_purged_only_when_it_was_edited_out(
    case: Case, folder: Path
) -> None:
    chapter = await case.chapter(2)
    secret = await keep(case, chapter, SECRET)
    around = f"{HAND}\n\n{SECRET}\n\n{FERRY}"
    await case.project.carry_out(WriteChapter(chapter, around))
    polished = await keep(case, chapter, BELL, "replace")
    await case.settled()
    before = everything(folder)
    with pytest.raises(RunError, match="by hand"):
        await case.project.carry_out(Purge(output=secret))
    assert everything(folder) == before
    await case.project.carry_out(DeleteOutput(polished))
    assert await case.project.book.chapter_text(chapter) == around, "which needs what the hand wrote"
    with pytest.raises(RunError, match="by hand"):
        await case.project.carry_out(Purge(output=secret))
    await case.project.carry_out(WriteChapter(chapter, f"{HAND}\n\n{FERRY}"))
    await case.settled()
    await case.project.carry_out(Purge(output=secret))
    await case.settled()
    assert await case.project.book.chapter_text(chapter) == f"{HAND}\n\n{FERRY}"
    assert [word for word in WORDS if word in everything(folder)] == []


async def test_an_output_is_not_purged_while_another_one_holds_its_words(case: Case) -> None:
    chapter = await case.chapter(2)
    secret = await keep(case, chapter, SECRET)
    longer = await keep(case, chapter, f"{SECRET}\n\n{FERRY}", "replace")
    with pytest.raises(RunError, match="Another kept output"):
        await case.project.carry_out(Purge(output=secret))
    await case.project.carry_out(Purge(output=longer))
    assert await case.project.book.chapter_text(chapter) == SECRET


async def test_a_profile_written_by_hand_stays_when_its_chapter_is_purged(case: Case) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET + " Ines Marlow heard it all."))
    await case.settled()
    ines = EntityId("ines")
    await case.project.carry_out(PutEntity(Entity(ines, "character", "Ines Marlow")))
    await case.settled()
    uri = f"profiles/characters/{ines}"
    await case.project.carry_out(WriteProfile(uri, "L1", "Ines waits for those who do not come."))
    await case.settled()
    assert (await case.levels(uri))["L1"].position == 2, "or this test could not fail"
    await case.project.carry_out(Purge(chapter=chapter))
    await case.settled()
    written = (await case.levels(uri))["L1"]
    assert (written.text, written.position) == ("Ines waits for those who do not come.", 1)


async def test_what_a_hand_noted_stays_without_the_sentences_of_a_purged_chapter(case: Case, folder: Path) -> None:
    first, chapter = await case.chapter(1), await case.chapter(2)
    await case.project.carry_out(WriteChapter(chapter, SECRET))
    waited = Evidence("Ines Marlow waited at Saltreach all night.", first, 0, 42)
    flag = Evidence("Zyxwold said nothing.", chapter, 84, 105)
    ines = EntityId("ines")
    await case.project.carry_out(PutEntity(Entity(ines, "character", "Ines Marlow")))
    await case.settled()
    knower = Knower(ines, evidence=(flag, waited))
    fact = Fact(RecordId(""), "The flag is hidden.", known_by=(knower,), evidence=(waited, flag))
    promise = Promise(RecordId(""), "Someone will come.", first, evidence=(waited,), payment=(flag,))
    for record in (fact, promise):
        await case.project.carry_out(PutRecord(record))
    await case.settled()
    await case.project.carry_out(Purge(chapter=chapter))
    await case.settled()
    assert [word for word in WORDS if word in everything(folder)] == [] == left(folder)
    story = await case.project.story.all()
    (noted,) = [one for one in story.facts if one.by == "hand"]
    assert (noted.text, noted.evidence, noted.known_by[0].evidence) == (fact.text, (waited,), (waited,))
    (hoped,) = [one for one in story.promises if one.by == "hand"]
    assert (hoped.text, hoped.evidence, hoped.payment) == (promise.text, (waited,), ())


async def test_the_files_of_later_chapters_are_numbered_anew(case: Case, folder: Path) -> None:
    await case.project.carry_out(AddChapter("The Bell"))
    for number, text in ((2, SECRET), (3, BELL)):
        await case.project.carry_out(WriteChapter(await case.chapter(number), text))
    await case.settled()
    before = sorted(file.name for file in (folder / "manuscript").glob("*.md"))
    await case.project.carry_out(Purge(chapter=await case.chapter(2)))
    await case.settled()
    after = sorted(file.name for file in (folder / "manuscript").glob("*.md"))
    assert after == [before[0], before[2].replace("3", "2", 1)]
