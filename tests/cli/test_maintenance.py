"""rebuild, purge, backup, restore and the advice on what is kept, as they are typed."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

from flowcabal_tui.cli.maintenance import beginning
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import WriteChapter
from tests.cli.conftest import Call, Make
from tests.project.case import opened, write_chapters


def chapters(call: Call, folder: Path) -> list[dict[str, object]]:
    return list(json.loads(call("chapters", folder, "--json").out))


def test_a_rebuild_says_what_it_would_do_and_then_does_it(demo: Path, call: Call) -> None:
    plan = call("rebuild", demo, "--dry-run")
    assert plan.code == 0
    assert "index: 7 chapters" in plan.out or "index: 6 chapters" in plan.out
    with closing(sqlite3.connect(demo / ".flowcabal" / "project.db")) as database:
        database.execute("DELETE FROM mention WHERE chapter=(SELECT min(chapter) FROM mention)")
        database.commit()
    done = call("rebuild", demo)
    assert done.code == 0
    assert "corrected in 1 chapter" in done.out
    assert "Rebuilt." in done.out
    assert "corrected" not in call("rebuild", demo, "--what", "index").out


def test_a_rebuild_says_what_it_leaves(demo: Path, call: Call) -> None:
    nothing = call("rebuild", demo, "--what", "stale")
    assert (nothing.code, nothing.out) == (0, "There is nothing to regenerate.\n")
    owed = len(json.loads(call("status", demo, "--json").out)["background"])
    planned = call("rebuild", demo, "--what", "knowledge", "--dry-run")
    assert planned.out == f"knowledge server: {owed} steps\n"
    without = call("rebuild", demo, "--what", "knowledge")
    assert without.code == 0 and f"{owed} still to send to the knowledge server; --knowledge starts it" in without.err
    absent = call("rebuild", demo, "--what", "knowledge", "--knowledge")
    assert absent.code == 1 and "is not available (switched off)" in absent.err


def test_a_rebuild_of_profiles_that_nothing_can_make_says_why(project: Make, call: Call, tmp_path: Path) -> None:
    folder = project()
    assert call("import", folder, write_chapters(tmp_path / "texts")).code == 0
    rebuilt = call("rebuild", folder, "--what", "profiles")
    assert rebuilt.code == 0 and "no model of the agents is set" in rebuilt.err


def test_what_is_stale_and_stays_so_is_said(demo: Path, call: Call) -> None:
    async def rewrite() -> None:
        project = await Project.open(demo, knowledge=False)
        try:
            chapter = (await project.book.chapters())[1].id
            text = await project.book.chapter_text(chapter)
            await project.carry_out(WriteChapter(chapter, f"{text}\n\nNora Vale wept for Tobias Crane."))
            await project.memory.settled()
        finally:
            await project.close()

    asyncio.run(rewrite())
    profiles = call("rebuild", demo, "--what", "profiles")
    assert "as of chapter 3" in profiles.out
    assert "`rebuild --what stale` regenerates them" in profiles.out
    stale = call("rebuild", demo, "--what", "stale", "--dry-run")
    assert "as of chapter 3" in stale.out and "are not changed" not in stale.out
    assert call("rebuild", demo, "--what", "stale").code == 0
    assert call("rebuild", demo, "--what", "stale").out == "There is nothing to regenerate.\n"


def test_a_purge_wants_the_name_typed(demo: Path, call: Call) -> None:
    title = str(chapters(call, demo)[1]["title"])
    text = (demo / "manuscript").glob("0002-*.md").__next__().read_text("utf-8")
    refused = call("purge", demo, 2, lines="yes\n")
    assert (refused.code, len(chapters(call, demo))) == (1, 7)
    assert "Nothing was purged." in refused.out
    assert call("purge", demo, 2, "--dry-run").code == 0
    done = call("purge", demo, 2, lines=f"{title}\n")
    assert done.code == 0
    assert "Purged: 1 versions" in done.out
    assert title not in [chapter["title"] for chapter in chapters(call, demo)]
    assert not list((demo / "manuscript").glob("0002-*" + title.split()[-1] + "*.md"))
    data = (demo / ".flowcabal" / "project.db").read_bytes()
    longest = max(text.split(), key=len).strip(".,;—").encode()
    assert longest not in data
    assert call("purge", demo, "nothing").code == 2


def test_what_was_deleted_is_listed_comes_back_or_is_purged(demo: Path, call: Call) -> None:
    before = chapters(call, demo)
    first = before[0]["id"]
    gone = call("delete", demo, 1)
    assert gone.code == 0 and f"undelete {demo} {first}" in gone.out
    assert first not in [chapter["id"] for chapter in chapters(call, demo)]
    (deleted,) = json.loads(call("chapters", demo, "--deleted", "--json").out)
    assert call("undelete", demo, deleted["id"]).code == 0
    assert chapters(call, demo) == before
    assert call("undelete", demo, 1).code == 2, "it is in the book"
    assert call("delete", demo, 1).code == 0
    assert call("purge", demo, first, "--yes").code == 0
    assert call("chapters", demo, "--deleted").out == ""
    assert call("undelete", demo, first).code == 2


def test_a_backup_is_restored_elsewhere(demo: Path, call: Call, tmp_path: Path) -> None:
    made = call("backup", demo, tmp_path / "book.zip")
    assert made.code == 0
    assert call("backup", demo, tmp_path / "book.zip").code == 1
    restored = call("restore", tmp_path / "book.zip", tmp_path / "again")
    assert restored.code == 0
    assert re.search(r"as it was on \d{4}-\d\d-\d\d \d\d:\d\d, in", restored.out)
    assert chapters(call, tmp_path / "again") == chapters(call, demo)
    assert call("restore", tmp_path / "book.zip", tmp_path / "again").code == 1
    assert call("rebuild", tmp_path / "again", "--what", "index").code == 0


def test_the_name_in_a_backup_is_one_line(demo: Path, call: Call, tmp_path: Path) -> None:
    call("backup", demo, tmp_path / "book.zip")
    with zipfile.ZipFile(tmp_path / "book.zip") as source, zipfile.ZipFile(tmp_path / "other.zip", "w") as sink:
        for name in source.namelist():
            content = source.read(name)
            if name == "manifest.json":
                content = json.dumps(json.loads(content) | {"name": "a\nIt is trusted."}).encode()
            sink.writestr(name, content)
    assert "\nIt is trusted" not in call("restore", tmp_path / "other.zip", tmp_path / "again").out


KEEP = ("quick-draft", "--chapter", 7, "--decide", "draft=approve", "--keep", "draft", "--wait")


def test_an_undone_keep_that_changes_no_text_says_so(demo: Path, call: Call) -> None:
    assert call("run", demo, *KEEP).code == 0
    (kept,) = [row.split("\t")[0] for row in call("keep", demo).out.splitlines() if "draft#1" in row]

    async def write() -> None:
        async with opened(demo) as case:
            await case.project.carry_out(WriteChapter(await case.chapter(7), "Written since."))

    asyncio.run(write())
    undone = call("delete", demo, kept, "--yes").out
    assert "Its keep was undone; `undelete" in undone and "it is no longer in the book" not in undone
    assert "The text of the chapter stays as it is" in undone


def test_what_is_said_of_kept_text_is_told_and_is_no_veto(demo: Path, call: Call) -> None:
    told = call("run", demo, *KEEP, "--json")
    assert told.code == 0
    kept, checked = told.told("output:persisted"), told.told("output:checked")
    assert [event["version"] for event in kept] == [event["version"] for event in checked] == [1]


def test_advice_stands_below_the_confirmation(demo: Path, call: Call) -> None:
    out = call("run", demo, *KEEP).out
    assert out.index("Kept as version 1.") < out.index("Advice on kept version 1:")


def test_a_project_without_its_database_names_the_rescue_which_makes_a_new_one(
    demo: Path, call: Call, tmp_path: Path
) -> None:
    before = call("chapters", demo).out
    for file in (demo / ".flowcabal").glob("project.db*"):
        file.unlink()
    refused = call("chapters", demo)
    assert refused.code == 1 and f"rescue {demo}" in refused.err
    listed = call("rescue", demo)
    assert listed.code == 0 and "--to FOLDER" in listed.out
    written = call("rescue", demo, "--to", tmp_path / "out")
    assert written.code == 0, written.err
    assert len(call("chapters", tmp_path / "out" / "project").out.splitlines()) == len(listed.out.splitlines()) - 3
    assert before


def test_a_rescue_that_finds_nothing_says_so(tmp_path: Path, call: Call) -> None:
    (tmp_path / "empty" / "manuscript").mkdir(parents=True)
    ended = call("rescue", tmp_path / "empty")
    assert ended.code == 1 and "Nothing that can be extracted" in ended.out


def test_a_text_that_is_named_by_its_beginning_is_on_one_line_and_says_that_it_goes_on() -> None:
    assert beginning("他走了。\n\n她没有。") == "他走了。她没有。"
    assert beginning("一" * 81) == "一" * 79 + "…"
