"""What is kept, written, moved and deleted, and the files that mirror it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import BindingError, Gone, ManuscriptError, ProjectReadOnly, RunError, VersionConflict
from flowcabal_tui.domain.ids import NodeId, OutputId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.validation import validate
from flowcabal_tui.project import Project
from flowcabal_tui.project.book import outside_edits
from flowcabal_tui.project.change_words import version_words
from flowcabal_tui.protocol.book import (
    AddChapter,
    DeleteOutput,
    EditChapter,
    ImportManuscript,
    OutputPersisted,
    OutsideEdit,
    PersistOutput,
    TagOutput,
    WriteChapter,
)
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import OFFLINE
from tests.project.case import CHAPTERS, Case, both, make, opened, write_chapters
from tests.runner.fakes import prompt
from tests.waiting import PATIENCE


@pytest_asyncio.fixture
async def case(folder: Path, tmp_path: Path) -> AsyncIterator[Case]:
    """Three imported chapters and an empty fourth, with the offline model."""
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.project.carry_out(AddChapter("Chapter 4 The Glove"))
        await case.settled()
        yield case


def mirrored(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "manuscript").iterdir())


async def test_a_folder_is_imported_in_the_order_of_its_files(case: Case, folder: Path) -> None:
    chapters = await case.project.book.chapters()
    assert [chapter.title for chapter in chapters[:3]] == list(CHAPTERS)
    for chapter, text in zip(chapters, CHAPTERS.values(), strict=False):
        assert await case.project.book.chapter_text(chapter.id) == text
    assert len(mirrored(folder)) == 3
    assert CHAPTERS["Chapter 2 The Ledger"] in (folder / "manuscript" / mirrored(folder)[1]).read_text("utf-8")


async def test_an_import_of_nothing_says_so(case: Case, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for source in (tmp_path / "empty", tmp_path / "not there.txt"):
        with pytest.raises(ManuscriptError):
            await case.project.carry_out(ImportManuscript(str(source)))
    assert len(await case.project.book.chapters()) == 4


async def test_keeping_twice_does_nothing(case: Case) -> None:
    run = await case.run("quick-draft", 4)
    first = await case.keep(run, "draft")
    await case.settled()
    second = await case.keep(run, "draft")
    assert first == second
    assert [event.created for event in case.told(OutputPersisted)] == [True, False]
    assert len(await case.project.book.chapter_versions(await case.chapter(4))) == 1
    assert not [task for task in await case.project.memory.background() if task.kind != "knowledge"]


async def test_a_deleted_output_leaves_the_book_and_comes_back(case: Case) -> None:
    run = await case.run("quick-draft", 4)
    output = await case.keep(run, "draft")
    chapter = await case.chapter(4)
    text = await case.project.book.chapter_text(chapter)
    await case.project.carry_out(DeleteOutput(output))
    assert await case.project.book.chapter_text(chapter) == ""
    await case.project.carry_out(DeleteOutput(output, restore=True))
    assert await case.project.book.chapter_text(chapter) == text


async def test_text_that_was_edited_after_a_keep_stays_when_the_keep_is_undone_which_is_said(case: Case) -> None:
    run = await case.run("quick-draft", 4)
    output = await case.keep(run, "draft")
    chapter = await case.chapter(4)
    text = f"{await case.project.book.chapter_text(chapter)}\nA sentence by hand."
    await case.project.carry_out(WriteChapter(chapter, text))
    assert await case.project.carry_out(DeleteOutput(output)) == "edited"
    assert await case.project.book.chapter_text(chapter) == text
    assert await case.project.carry_out(DeleteOutput(output, restore=True)) == ""
    versions = await case.project.book.chapter_versions(chapter)
    origins = ["output kept again", "keep undone", "by hand", "from a model"]
    assert [version_words(each) for each in versions] == origins


async def test_an_undone_keep_whose_text_leaves_the_chapter_is_not_spoken_of(case: Case) -> None:
    output = await case.keep(await case.run("quick-draft", 4), "draft")
    assert await case.project.carry_out(DeleteOutput(output)) == ""


async def test_append_puts_the_output_behind_what_is_there(case: Case) -> None:
    chapter = await case.chapter(4)
    await case.project.carry_out(WriteChapter(chapter, "It began quietly."))
    run = await case.run("quick-draft", 4)
    draft = (await case.view(run, "draft")).attempts[0].text
    await case.keep(run, "draft", mode="append")
    text = await case.project.book.chapter_text(chapter)
    assert text.startswith("It began quietly.")
    assert text.endswith(draft)


async def test_a_text_that_was_not_finished_cannot_be_kept(case: Case) -> None:
    run = await case.run("quick-draft", 4)
    with pytest.raises(RunError):
        await case.keep(run, "nothing")
    with pytest.raises(RunError):
        await case.keep(run, "draft", attempt=7)


async def test_an_edit_on_an_old_version_is_refused_and_loses_nothing(case: Case) -> None:
    chapter = await case.chapter(4)
    assert await case.project.carry_out(WriteChapter(chapter, "One.", expected_version=0)) == "1"
    with pytest.raises(VersionConflict):
        await case.project.carry_out(WriteChapter(chapter, "Another one.", expected_version=0))
    assert await case.project.book.chapter_text(chapter) == "One."


async def test_a_moved_and_renamed_chapter_takes_its_file_along(case: Case, folder: Path) -> None:
    await case.project.carry_out(EditChapter(await case.chapter(3), title="The Silent Bell", position=1))
    await case.settled()
    assert [chapter.title for chapter in await case.project.book.chapters()][:2] == [
        "The Silent Bell",
        "Chapter 1 The Ferry",
    ]
    files = mirrored(folder)
    assert len(files) == 3
    assert "Silent" in files[0]
    assert CHAPTERS["Chapter 3 The Bell"] in (folder / "manuscript" / files[0]).read_text("utf-8")
    assert CHAPTERS["Chapter 1 The Ferry"] in (folder / "manuscript" / files[1]).read_text("utf-8")


async def test_two_chapters_that_change_places_keep_both_files(case: Case, folder: Path) -> None:
    for number, title in ((1, "Bell"), (2, "Bell")):
        await case.project.carry_out(EditChapter(await case.chapter(number), title=title))
    await case.settled()
    await case.project.carry_out(EditChapter(await case.chapter(1), position=2))
    await case.settled()
    texts = [(folder / "manuscript" / name).read_text("utf-8") for name in mirrored(folder)]
    assert CHAPTERS["Chapter 2 The Ledger"] in texts[0]
    assert CHAPTERS["Chapter 1 The Ferry"] in texts[1]


async def test_a_deleted_chapter_loses_its_file_and_gets_it_back(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    await case.project.carry_out(EditChapter(chapter, deleted=True))
    await case.settled()
    assert len(mirrored(folder)) == 2
    await case.project.carry_out(EditChapter(chapter, deleted=False))
    await case.settled()
    assert CHAPTERS["Chapter 2 The Ledger"] in (folder / "manuscript" / mirrored(folder)[1]).read_text("utf-8")


async def test_an_edit_made_outside_is_offered_and_never_overwritten(case: Case, folder: Path) -> None:
    path = folder / "manuscript" / mirrored(folder)[0]
    path.write_text(path.read_text("utf-8").replace("one blue glove", "two blue gloves"), encoding="utf-8")
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, "Something else altogether."))
    await case.settled()
    offered = await case.until(OutsideEdit)
    assert offered.chapter == chapter
    assert "two blue gloves" in path.read_text("utf-8")
    outside = await case.project.book.outside_text(chapter)
    assert outside is not None
    await case.project.carry_out(WriteChapter(chapter, outside))
    await case.settled()
    assert "two blue gloves" in await case.project.book.chapter_text(chapter)
    assert "two blue gloves" in path.read_text("utf-8")


async def test_an_edit_made_while_the_project_was_closed_is_found_at_the_next_start(case: Case, folder: Path) -> None:
    await case.project.close()
    path = folder / "manuscript" / mirrored(folder)[1]
    path.write_text(path.read_text("utf-8") + "\nA line from elsewhere.\n", encoding="utf-8")
    async with opened(folder) as again:
        offered = await again.until(OutsideEdit)
        assert offered.chapter == await again.chapter(2)
        assert "A line from elsewhere." in (await again.project.book.outside_text(offered.chapter) or "")


async def test_an_edit_made_while_the_project_is_open_is_offered_when_the_file_rests(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside_edits, "WATCH_SECONDS", 0.02)
    source = write_chapters(folder.parent / "source")
    await make(folder)
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(source)))
        await case.settled()
        path = folder / "manuscript" / mirrored(folder)[1]
        before = path.read_text("utf-8")
        edited = folder.parent / "edited"
        edited.write_text(before + "\nA line from elsewhere.\n", encoding="utf-8")
        edited.replace(path)
        offered = await case.until(OutsideEdit)
        assert offered.chapter == await case.chapter(2)
        assert "A line from elsewhere." in (await case.project.book.outside_text(offered.chapter) or "")
        assert len(case.told(OutsideEdit)) == 1, "what the program itself wrote is not offered"
        edited.write_text(before, encoding="utf-8")
        edited.replace(path)
        async with asyncio.timeout(PATIENCE):
            while await case.project.book.outside_text(offered.chapter) is not None:  # noqa: ASYNC110  # told by no event of its own
                await asyncio.sleep(0.005)


async def test_a_folder_of_chapters_that_is_not_there_has_no_stamps(case: Case, folder: Path) -> None:
    mirror = case.project._parts.book.mirror
    assert sorted(await mirror.stamps()) == mirrored(folder)
    (folder / "manuscript").rename(folder / "elsewhere")
    assert await mirror.stamps() == {}


async def test_an_edit_in_another_encoding_is_an_edit_too(case: Case, folder: Path) -> None:
    path = folder / "manuscript" / mirrored(folder)[0]
    path.write_bytes("# 第一章\n\n渡口的灯灭了，少年站在雨里，听见远处有人叫他的名字。".encode("gb18030"))
    await case.project.carry_out(WriteChapter(await case.chapter(1), "Something else altogether."))
    await case.settled()
    assert (await case.until(OutsideEdit)).chapter == await case.chapter(1)
    assert "渡口的灯灭了" in (await case.project.book.outside_text(await case.chapter(1)) or "")
    assert "渡口的灯灭了" in path.read_bytes().decode("gb18030")


async def test_a_file_of_somebody_else_stays_as_it_is(case: Case, folder: Path) -> None:
    other = folder / "manuscript" / mirrored(folder)[2].replace("0003-Chapter-3-The-Bell", "0004-Chapter-4-The-Glove")
    other.write_text("Notes of mine.", encoding="utf-8")
    await case.project.carry_out(WriteChapter(await case.chapter(4), "The glove lay on the step."))
    await case.settled()
    assert other.read_text("utf-8") == "Notes of mine."
    (written,) = (folder / "manuscript").glob(f"{other.stem}-*.md")
    assert "The glove lay on the step." in written.read_text("utf-8")


async def test_a_title_never_becomes_a_path(case: Case, folder: Path) -> None:
    await case.project.carry_out(AddChapter("../../../etc/passwd\x1b]0;owned\x07"))
    await case.project.carry_out(WriteChapter(await case.chapter(5), "Harmless."))
    await case.settled()
    assert len(mirrored(folder)) == 4
    assert not (folder.parent.parent / "etc").exists()
    assert "\x1b" not in (await case.project.book.chapters())[4].title


async def test_kept_from_two_places_at_once_it_is_kept_once(case: Case) -> None:
    run = await case.run("quick-draft", 4)
    draft = (await case.view(run, "draft")).attempts[0].text
    project, chapter = case.project, await case.chapter(4)
    keep = PersistOutput(run, NodeId("draft"))
    outputs = await asyncio.gather(*(project.carry_out(keep) for _place in range(4)), raced(project, keep))
    assert len(set(outputs)) == 1
    await case.settled()
    assert [event.created for event in case.told(OutputPersisted)].count(True) == 1
    assert len(await project.book.chapter_versions(chapter)) == 1
    assert await project.book.chapter_text(chapter) == draft
    tasks = await project._engine.call(project._parts.store.outbox.all(("fresh", "waiting", "running", "failed")))
    mine = [(task.kind, task.source) for task in tasks if task.subject == chapter]
    assert len(mine) == len(set(mine))
    before = await project.runs.totals()
    await project.carry_out(keep)
    await case.settled()
    assert (
        await project._engine.call(project._parts.store.outbox.all(("fresh", "waiting", "running", "failed"))) == tasks
    )
    assert await project.runs.totals() == before


async def raced(project: Project, keep: PersistOutput) -> str:
    """The same on the engine's own loop, past the queue of commands."""
    return await project._engine.call(project._parts.book.curation.persist(keep))


async def test_who_only_reads_can_keep_nothing(case: Case, folder: Path) -> None:
    run = await case.run("quick-draft", 4)
    async with opened(folder, read_only=True) as reader:
        with pytest.raises(ProjectReadOnly):
            await reader.keep(run, "draft")
    assert await case.project.book.kept() == ()


async def test_a_chapter_stays_in_the_index_when_what_stands_is_kept_once_more(case: Case) -> None:
    run = await case.run("quick-draft", 4)
    chapter, memory = await case.chapter(4), case.project._parts.store.memory
    await case.project.carry_out(WriteChapter(chapter, (await case.view(run, "draft")).attempts[0].text))
    await case.settled()
    passages = await (await memory.view(None)).passages(chapter)
    output = await case.keep(run, "draft")
    await case.settled()
    assert passages and await (await memory.view(None)).passages(chapter) == passages
    await case.project.carry_out(DeleteOutput(output))
    await case.settled()
    assert await (await memory.view(None)).passages(chapter) == passages, "it is the writer's own text too"


SHEET = Workflow.model_validate(
    {
        "id": "sheet",
        "nodes": [prompt("draft", "Describe {{input.name}}.", context=False).model_dump(mode="json")],
        "keep": {"kind": "entity", "entity": "location", "name": "{{input.name}}"},
    }
)


async def test_an_output_that_is_kept_as_an_entity_is_of_the_kind_and_the_name_that_the_workflow_declares(
    case: Case,
) -> None:
    await case.project.carry_out(SaveWorkflow(SHEET))
    run = await case.run("sheet@1", inputs=(("name", "The Heron Inn"),))
    await case.keep(run, "draft")
    await case.settled()
    (inn,) = [each for each in await case.project.story.entities() if each.name == "The Heron Inn"]
    (attempt,) = (await case.view(run, "draft")).attempts
    assert (inn.kind, inn.by, inn.note) == ("location", "agent", attempt.text)
    again = await case.run("sheet@1", inputs=(("name", "The Heron Inn"),), again=(NodeId("draft"),))
    await case.keep(again, "draft")
    assert [each.id for each in await case.project.story.entities() if each.name == "The Heron Inn"] == [inn.id]


async def test_the_name_of_an_entity_may_come_from_the_chapter_and_from_the_output_of_a_node(case: Case) -> None:
    name = "{{chapter.number}} {{chapter.title}}: {{result_of.draft}}"
    of_chapter = SHEET.model_copy(update={"keep": SHEET.keep.model_copy(update={"name": name})})
    await case.project.carry_out(SaveWorkflow(of_chapter))
    run = await case.run("sheet@1", 4, inputs=(("name", "x"),))
    (attempt,) = (await case.view(run, "draft")).attempts
    await case.keep(run, "draft")
    wanted = f"4 Chapter 4 The Glove: {attempt.text}".partition("\n")[0][:60].strip()
    (made,) = [each for each in await case.project.story.entities() if each.note == attempt.text]
    assert (made.name, made.kind, made.by) == (wanted, "location", "agent")


async def test_an_entity_whose_text_the_writer_wrote_is_the_writer_s(case: Case) -> None:
    asking = SHEET.model_copy(
        update={"nodes": (prompt("draft", "Describe {{input.name}}.", context=False, review="always"),)}
    )
    await case.project.carry_out(SaveWorkflow(asking))
    edit = Decision("edit", attempt=1, text="A dark inn by the ford.")
    run = await case.run("sheet@1", answer=lambda _question: edit, inputs=(("name", "The Heron Inn"),))
    await case.keep(run, "draft")
    (inn,) = [each for each in await case.project.story.entities() if each.name == "The Heron Inn"]
    assert (inn.by, inn.note) == ("hand", "A dark inn by the ford.")


@pytest.mark.parametrize(
    "keep",
    [
        {"kind": "entity"},
        {"kind": "entity", "name": "x"},
        {"kind": "entity", "entity": "character"},
        {"kind": "entity", "entity": "character", "name": " "},
        {"kind": "chapter"},
    ],
)
async def test_without_a_declared_entity_the_keep_is_refused_and_nothing_is_changed(
    case: Case, keep: dict[str, str]
) -> None:
    undeclared = Workflow.model_validate({**SHEET.model_dump(mode="json"), "keep": keep})
    await case.project.carry_out(SaveWorkflow(undeclared))
    run, known = await case.run("sheet@1", inputs=(("name", "x"),)), await case.project.story.entities()
    with pytest.raises(RunError, match="which entity") as refused:
        await case.keep(run, "draft", kind="entity")
    assert '"entity": "character"' in refused.value.advice
    assert (await case.project.story.entities(), await case.project.book.kept()) == (known, ())


async def test_a_name_that_is_empty_or_cannot_be_filled_in_is_refused(case: Case) -> None:
    await case.project.carry_out(SaveWorkflow(SHEET))
    empty = await case.run("sheet@1", inputs=(("name", " "),))
    with pytest.raises(RunError, match="name of the entity is empty"):
        await case.keep(empty, "draft")
    bad = SHEET.model_copy(update={"keep": SHEET.keep.model_copy(update={"name": "{{input.nobody}}"})})
    await case.project.carry_out(SaveWorkflow(bad))
    run = await case.run("sheet@2", inputs=(("name", "x"),))
    with pytest.raises(BindingError):
        await case.keep(run, "draft")


def test_a_document_that_keeps_an_undeclared_entity_opens_unchanged_and_validate_says_what_to_add() -> None:
    old = {**SHEET.model_dump(mode="json"), "keep": {"kind": "entity", "mode": "replace"}}
    opened_now = Workflow.model_validate(old)
    assert opened_now.model_dump(mode="json") == old
    (finding,) = validate(opened_now)
    assert (finding.code, finding.field, finding.severity) == ("KEEP_ENTITY", "keep", "warning")
    assert '"name": "{{input.name}}"' in finding.message
    assert validate(SHEET) == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [("{{result_of.nobody}}", "nobody"), ("{{chapter.titel}}", "titel"), ("{{project.name}}", "project")],
)
def test_validate_finds_a_name_of_an_entity_that_cannot_be_filled_in(name: str, said: str) -> None:
    bad = SHEET.model_copy(update={"keep": SHEET.keep.model_copy(update={"name": name})})
    (finding,) = validate(bad)
    assert (finding.field, finding.severity) == ("keep.name", "warning") and said in finding.message


@pytest.mark.parametrize("name", ["Lin Yuan", "{{input.name}}", "{{chapter.title}}, {{result_of.draft}}"])
def test_names_of_entities_that_can_be_filled_in_are_fine(name: str) -> None:
    assert validate(SHEET.model_copy(update={"keep": SHEET.keep.model_copy(update={"name": name})})) == ()


async def test_tags_are_the_writers_and_survive_that_the_output_leaves_and_comes_back(case: Case) -> None:
    run = await case.run("quick-draft", 4)
    output = await case.keep(run, "draft", tags=("siege",))
    await case.settled()
    version = (await case.project.book.chapters())[3].version
    await case.project.carry_out(TagOutput(output, ("#night", " night ", "")))
    assert [each.tags for each in await case.project.book.kept()] == [("night",)]
    assert (await case.project.book.chapters())[3].version == version, "no text was written"
    await case.project.carry_out(DeleteOutput(output))
    assert await case.keep(run, "draft") == output
    assert [(each.tags, each.deleted) for each in await case.project.book.kept()] == [(("night",), False)]
    with pytest.raises(Gone):
        await case.project.carry_out(TagOutput(OutputId("none"), ()))
