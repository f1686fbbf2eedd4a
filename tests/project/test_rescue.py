"""A damaged project: what is whole is listed and taken out, nothing is changed, nothing empty is opened beside it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.comments import Comment, CommentFilter
from flowcabal_tui.domain.errors import ChapterLocked, ProjectDamaged, ProjectExists, ProjectLocked, RunError
from flowcabal_tui.domain.findings import FindingFilter, FindingVerdict
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Difference, Finding, Origin, Proposal, ProposalId, ProposalPlace
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.project import Project
from flowcabal_tui.project.rescue import Rescue
from flowcabal_tui.project.rescue_out import PROJECT, REPORT, described, take_out
from flowcabal_tui.protocol.book import AddChapter, AssignOutline, EditChapter, WriteChapter, WriteMeta
from flowcabal_tui.protocol.findings import DecideFindings
from flowcabal_tui.protocol.revision import AddComment, LockChapters
from flowcabal_tui.protocol.story import PutEntity, UndoDecision
from flowcabal_tui.settings.project_file import OFFLINE
from tests.project.case import both, make, opened

COUNT = 30
Damage = Callable[[Path], None]


def words(number: int, version: int) -> str:
    """A text that fills some pages of the database, and compresses badly."""
    noise = "\n\n".join(hashlib.sha256(f"{number} {version} {line}".encode()).hexdigest() for line in range(60))
    return f"Ines Marlow wrote text {number}, version {version}.\n\n{noise}"


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty chapters of two versions, one of them deleted, with an outline and a name of the writer's."""
    folder = tmp_path_factory.mktemp("rescue") / "novel"

    async def write() -> None:
        await make(folder, both(OFFLINE))
        async with opened(folder) as case:
            for number in range(1, COUNT + 1):
                chapter = await case.project.carry_out(AddChapter(f"Title {number}"))
                for version in (1, 2):
                    await case.project.carry_out(WriteChapter(chapter, words(number, version)))  # type: ignore[arg-type]  # an id
            await case.project.carry_out(EditChapter(await case.chapter(COUNT), deleted=True))
            await case.project.carry_out(WriteMeta("outline", "Everybody leaves Saltreach."))
            ines = Entity(EntityId("ines"), "character", "Ines Marlow", ("Ines",))
            await case.project.carry_out(PutEntity(replace(ines, own_kind="Ferrier", fields=(("looks", "tall"),))))
            await case.settled()

    asyncio.run(write())
    return folder


@pytest.fixture
def novel(book: Path, tmp_path: Path) -> Path:
    return shutil.copytree(book, tmp_path / "novel")


def database(folder: Path) -> Path:
    return folder / ".flowcabal" / "project.db"


def fingerprint(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def taken_out(folder: Path) -> Path:
    """Everything that is whole, in a folder beside it; the damaged project stays as it is."""
    before, target = fingerprint(folder), folder.parent / "out"
    with Rescue(folder) as rescue:
        assert list(described(rescue))
        assert await take_out(rescue, folder, target)
    assert fingerprint(folder) == before
    assert (target / REPORT).exists() and json.loads((target / "metadata.json").read_text("utf-8"))
    return target


async def texts(project: Path) -> dict[str, list[str]]:
    """The chapters of a project by title, each with its versions, oldest first."""
    async with opened(project) as case:
        await case.project.check()
        return {
            chapter.title: [
                await case.project.book.chapter_text(chapter.id, version.version)
                for version in reversed(await case.project.book.chapter_versions(chapter.id))
            ]
            for chapter in await case.project.book.chapters()
        }


async def read_all(project: Path) -> None:
    async with opened(project) as case:
        await case.project.book.chapter_text(await case.chapter(1))


WHOLE = {f"Title {number}": [words(number, 1), words(number, 2)] for number in range(1, COUNT)}
NEWEST = {title: versions[-1] for title, versions in WHOLE.items()}


def header(folder: Path) -> None:
    file = database(folder)
    file.write_bytes(b"\xff" * 100 + file.read_bytes()[100:])


def first_page(folder: Path) -> None:
    file = database(folder)
    file.write_bytes(b"\x00" * 4096 + file.read_bytes()[4096:])


def a_table(folder: Path) -> None:
    """The schema forgets the versions; their pages stay."""
    with closing(sqlite3.connect(database(folder))) as connection:
        connection.execute("PRAGMA writable_schema=1")
        connection.execute("DELETE FROM sqlite_master WHERE name='version'")
        connection.commit()


@pytest.mark.parametrize("damage", [header, first_page, a_table])
async def test_what_stands_beside_the_damage_is_whole(novel: Path, damage: Damage) -> None:
    damage(novel)
    with pytest.raises(ProjectDamaged, match="rescue"):
        await read_all(novel)
    out = await taken_out(novel)
    assert await texts(out / PROJECT) == WHOLE
    assert len(list((out / "chapters").iterdir())) == COUNT - 1
    assert len(list((out / "deleted").iterdir())) == 1
    async with opened(out / PROJECT) as case:
        assert await case.project.book.meta("outline") == "Everybody leaves Saltreach."
        known = {each.name: each for each in await case.project.story.entities()}
        ines = known["Ines Marlow"]
        assert (ines.by, ines.own_kind, ines.fields) == ("hand", "Ferrier", (("looks", "tall"),))
        assert len(await case.project.book.deleted_chapters()) == 1
        assert case.project.info.trust == "trusted", "the program has made it itself"


@pytest.mark.parametrize("tenth", range(10))
async def test_of_a_truncated_database_all_chapters_come_from_it_or_from_their_files(novel: Path, tenth: int) -> None:
    data = database(novel).read_bytes()
    database(novel).write_bytes(data[: len(data) * tenth // 10])
    found = await texts((await taken_out(novel)) / PROJECT)
    assert {title: versions[-1] for title, versions in found.items()} == NEWEST


@pytest.mark.parametrize("tenth", range(1, 10))
async def test_of_a_database_without_files_a_page_of_zeros_costs_no_more_than_the_page(novel: Path, tenth: int) -> None:
    shutil.rmtree(novel / "manuscript")
    data = database(novel).read_bytes()
    page = len(data) // 4096 * tenth // 10 * 4096
    database(novel).write_bytes(data[:page] + b"\x00" * 4096 + data[page + 4096 :])
    found = await texts((await taken_out(novel)) / PROJECT)
    known = {text for versions in WHOLE.values() for text in versions} | {words(COUNT, 1), words(COUNT, 2)}
    whole = {text for versions in found.values() for text in versions}
    assert whole <= known, "nothing is invented, nothing is half there"
    loose = {path.read_text("utf-8") for path in (novel.parent / "out" / "loose").glob("*.md")}
    assert len({text for text in known if text in whole | loose}) >= len(known) * 3 // 4


async def test_a_damaged_text_is_told_and_an_older_version_stands_in(novel: Path) -> None:
    shutil.rmtree(novel / "manuscript")
    with closing(sqlite3.connect(database(novel))) as connection:
        connection.execute(
            "UPDATE blob SET body=zeroblob(40) WHERE digest=(SELECT digest FROM version JOIN place ON chapter=subject"
            " WHERE title='Title 7' ORDER BY number DESC LIMIT 1)"
        )
        connection.commit()
    out = await taken_out(novel)
    assert await texts(out / PROJECT) == WHOLE | {"Title 7": [words(7, 1)]}
    (line,) = [line for line in (out / REPORT).read_text("utf-8").splitlines() if "Title 7 " in line]
    assert "LOST" in line


async def test_what_only_the_log_holds_is_read_from_it(novel: Path) -> None:
    shutil.rmtree(novel / "manuscript")
    async with opened(novel) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), "Only in the log."))
        log = database(novel).with_name("project.db-wal").read_bytes()
        copy = shutil.copytree(novel, novel.parent / "copy")
    assert b"Only in the log." in log and b"Only in the log." not in database(copy).read_bytes()
    (copy / ".flowcabal" / "lock").unlink()
    found = await texts((await taken_out(copy)) / PROJECT)
    assert found["Title 1"] == [*WHOLE["Title 1"], "Only in the log."]


async def test_a_lost_log_costs_what_was_in_it_alone(novel: Path) -> None:
    database(novel).with_name("project.db-wal").unlink(missing_ok=True)
    assert await texts((await taken_out(novel)) / PROJECT) == WHOLE


async def test_an_edit_made_outside_is_the_newest_text(novel: Path) -> None:
    (file,) = (novel / "manuscript").glob("0003-*")
    file.write_text("# Title 3\n\nAn editor wrote this.\n", "utf-8")
    found = await texts((await taken_out(novel)) / PROJECT)
    assert found == WHOLE | {"Title 3": [*WHOLE["Title 3"], "An editor wrote this."]}


def empty(folder: Path) -> None:
    for file in database(folder).parent.glob("project.db*"):
        file.unlink()
    database(folder).touch()


def gone(folder: Path) -> None:
    shutil.rmtree(database(folder).parent)


@pytest.mark.parametrize("damage", [empty, gone])
@pytest.mark.parametrize("read_only", [False, True])
async def test_nothing_empty_is_opened_beside_a_full_manuscript(novel: Path, damage: Damage, read_only: bool) -> None:
    damage(novel)
    before = fingerprint(novel)
    with pytest.raises(ProjectDamaged, match=f"rescue {novel}"):
        await Project.open(novel, read_only=read_only)
    assert fingerprint(novel) == before
    found = await texts((await taken_out(novel)) / PROJECT)
    assert {title: versions[-1] for title, versions in found.items()} == NEWEST


async def test_a_project_that_is_open_is_not_rescued_and_nothing_is_written_over(novel: Path, tmp_path: Path) -> None:
    async with opened(novel):
        with pytest.raises(ProjectLocked):
            Rescue(novel)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with Rescue(novel) as rescue, pytest.raises(ProjectExists):
        await take_out(rescue, novel, tmp_path / "full")


async def test_links_and_names_of_a_stranger_lead_nowhere(novel: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("The key of the house.")
    (novel / "manuscript" / "0044-key.md").symlink_to(secret)
    with closing(sqlite3.connect(database(novel))) as connection:
        connection.execute("UPDATE place SET title='../../escaped', position=1")
        for table, column in (("place", "chapter"), ("version", "subject")):  # two of one name: ids make them differ
            connection.execute(f"UPDATE {table} SET {column}='a/' || {column} WHERE {column} NOT LIKE 'meta/%'")
        connection.commit()
    out = await taken_out(novel)
    assert not [path for path in out.rglob("*") if path.is_file() and b"The key of the house." in path.read_bytes()]
    assert {path.name for path in tmp_path.iterdir()} >= {"out", "novel"} and not list(tmp_path.glob("*escaped*"))


async def test_comments_findings_and_locks_come_too(novel: Path) -> None:
    async with opened(novel) as case:
        third, fourth = await case.chapter(3), await case.chapter(4)
        for note in ("Who is she?", "A second note. " * 1_000):
            await case.project.carry_out(AddComment(third, note, "question", "Ines Marlow", 0))
        about = Finding("", "Two numbers.", Quotation(words(3, 2)[:30], f"manuscript/{third}", 0, 30), 0.9)
        place, quoted = ProposalPlace(fourth, 0, 30), words(4, 2)[:30]
        kept = [
            Proposal("finding", place, quoted, Difference(each), origin=Origin("rule", f"rule {n}"))
            for n, each in enumerate((about, replace(about, explanation="Three numbers.")))
        ]
        await case.project._engine.call(case.project._parts.store.findings.raise_all(kept[:1]))
        (row,) = (await case.project.findings.findings(FindingFilter())).rows
        await case.project.carry_out(DecideFindings((row.proposal.id,), "intended", "She lies."))
        await case.project._engine.call(case.project._parts.store.findings.raise_all(kept[1:]))
        await case.project.carry_out(LockChapters((fourth,)))
        await case.settled()
    header(novel)
    out = await taken_out(novel)
    report = (out / REPORT).read_text("utf-8")
    assert all(line in report for line in ("comments: 2", "your decisions: 1", "locked chapters: 1"))
    assert "notes of readers" not in report
    async with opened(out / PROJECT) as case:
        third, fourth = await case.chapter(3), await case.chapter(4)
        notes = await case.project.revision.comments(CommentFilter())
        assert {(note.chapter, note.kind, note.quotation) for note in notes} == {(third, "question", "Ines Marlow")}
        assert max(len(note.words) for note in notes) > 10_000, "on pages of its own"
        page = await case.project.findings.findings(FindingFilter(states=("waiting", "intended"), folded=True))
        (finding,) = page.rows
        assert (finding.proposal.place, finding.proposal.state) == (ProposalPlace(fourth, 0, 30), "intended")
        assert finding.word == "She lies." and finding.proposal.difference.after.against == third
        with pytest.raises(ChapterLocked):
            await case.project.carry_out(WriteChapter(fourth, "Another text."))


async def notes_of(project: Project) -> list[tuple[str, str, str]]:
    """The notes of readers with the writer's words on them."""
    page = await project.findings.findings(FindingFilter(states=(), folded=True, notes=True))
    rows = [row for row in page.rows if row.proposal.origin.by == "reader"]
    return [(row.proposal.difference.after.explanation, row.proposal.state, row.word) for row in rows]  # type: ignore[union-attr]  # findings


async def test_words_on_notes_of_readers_come_too(novel: Path) -> None:
    decided: tuple[tuple[FindingVerdict, str], ...] = (("intended", "She lies."), ("later", ""), ("useless", ""))
    async with opened(novel) as case:
        third, store = await case.chapter(3), case.project._parts.store
        await case.project.carry_out(AddComment(third, "The writer's own."))
        for number in range(5):
            note = Comment(third, f"Note {number}", "question", "Ines Marlow", 0, 11, "Anna")
            identity = await case.project._engine.call(store.comments.add(note))
            if number < len(decided):
                verdict, reason = decided[number]
                await case.project.carry_out(DecideFindings((ProposalId(f"note-{identity}"),), verdict, reason))
        await case.project.carry_out(DecideFindings((ProposalId(f"note-{identity}"),), "useless"))
        await case.project.carry_out(UndoDecision(scope="findings"))
        await case.settled()
        told = await notes_of(case.project)
    assert [each[1:] for each in told] == [*decided, ("waiting", ""), ("waiting", "")]
    header(novel)
    out = await taken_out(novel)
    assert "your decisions on notes of readers: 3" in (out / REPORT).read_text("utf-8")
    async with opened(out / PROJECT) as case:
        assert await notes_of(case.project) == told
        open_ = {each.words for each in await case.project.revision.comments(CommentFilter())}
        assert open_ == {"The writer's own.", "Note 1", "Note 3", "Note 4"}
        with pytest.raises(RunError):
            await case.project.carry_out(UndoDecision(scope="findings"))


@pytest.mark.parametrize("state", ["x'00'", "'spell'", "7"])
async def test_a_word_of_a_stranger_decides_no_note(novel: Path, state: str) -> None:
    async with opened(novel) as case:
        note = Comment(await case.chapter(3), "Note", author="Anna")
        identity = await case.project._engine.call(case.project._parts.store.comments.add(note))
    with closing(sqlite3.connect(database(novel))) as connection:
        connection.execute(f"INSERT INTO note_word VALUES ({identity}, {state}, '', 'so', 'no', 7)")
        connection.execute("INSERT INTO note_word VALUES (99, 'useless', '', 'so', 1, '[]')")
        connection.commit()
    header(novel)
    out = await taken_out(novel)
    async with opened(out / PROJECT) as case:
        assert await notes_of(case.project) == [("Note", "waiting", "")]


async def test_rows_of_a_stranger_that_look_like_notes_are_left_out(novel: Path) -> None:
    async with opened(novel) as case:
        await case.project.carry_out(AddComment(await case.chapter(3), "Mine."))
    with closing(sqlite3.connect(database(novel))) as connection:
        connection.execute(
            "INSERT INTO comment SELECT NULL, chapter, 'spell', words, '', 0, 0, 0, 0, '', at FROM comment"
        )
        connection.execute(
            "INSERT INTO comment SELECT NULL, chapter, 'note', words, '', 0, 0, 0, 0, '', 'no' FROM comment"
        )
        connection.execute(
            "INSERT INTO comment SELECT NULL, 'gone', 'note', 'Lost.', '', 0, 0, 0, 0, '', at FROM comment"
        )
        connection.execute("INSERT INTO chapter_lock SELECT 'gone', 1, 1, at FROM comment LIMIT 1")
        connection.execute(
            "INSERT INTO proposal VALUES (NULL, 'x', 'finding', 'waiting', '', '', '', '', 0, 0, '', '{broken', '[]',"
            " '[]', 0, '', '', NULL, NULL, '', 0, 0, '')"
        )
        connection.commit()
    header(novel)
    out = await taken_out(novel)
    async with opened(out / PROJECT) as case:
        assert [note.words for note in await case.project.revision.comments(CommentFilter())] == ["Mine."]
        assert not (await case.project.findings.findings(FindingFilter())).rows


async def test_parts_of_the_outline_stay_with_their_chapters(novel: Path) -> None:
    outline = "## Ends\n- Everybody leaves.\n\n## Ghosts\n- Nobody stays.\n"
    async with opened(novel) as case:
        await case.project.carry_out(WriteMeta("outline", outline))
        await case.project.carry_out(AssignOutline("Ends", 1, await case.chapter(7)))
        (deleted,) = await case.project.book.deleted_chapters()
        await case.project.carry_out(EditChapter(deleted.id, deleted=False))
        await case.project.carry_out(AssignOutline("Ghosts", 1, deleted.id))
        await case.project.carry_out(EditChapter(deleted.id, deleted=True))
        await case.settled()
    header(novel)
    out = await taken_out(novel)
    assert "assigned to chapters: 2" in (out / REPORT).read_text("utf-8")
    async with opened(out / PROJECT) as case:
        found, _version = await case.project.book.outline()
        assert (found.text, found.beats(await case.chapter(7))) == (outline, "- Everybody leaves.")
        assert [each.part.title for each in found.unassigned] == ["Ghosts"]
        (deleted,) = await case.project.book.deleted_chapters()
        await case.project.carry_out(EditChapter(deleted.id, deleted=False))
        found, _version = await case.project.book.outline()
        assert found.beats(deleted.id) == "- Nobody stays."
