"""Chapters with unsaved text, as the command line lists, exports and backs them up."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from flowcabal_tui.project import Project
from tests.cli.conftest import Call


def type_into_first(folder: Path) -> str:
    """Unsaved text in the first chapter; gives its title."""

    async def put() -> str:
        project = await Project.open(folder, knowledge=False)
        try:
            chapter = (await project.book.chapters())[0]
            await project.drafts.put(chapter.id, "Typed and not saved.", chapter.version)
            return chapter.title
        finally:
            await project.close()

    return asyncio.run(put())


def test_chapters_and_status_mark_what_is_unsaved(call: Call, demo: Path) -> None:
    title = type_into_first(demo)
    first, second, *_rest = call("chapters", demo).out.splitlines()
    assert first.endswith("\tunsaved")
    assert not second.endswith("\tunsaved")
    assert [row["unsaved"] for row in json.loads(call("chapters", demo, "--json").out)][:2] == [True, False]
    assert f"unsaved\t1\t{title}" in call("status", demo).out
    assert json.loads(call("status", demo, "--json").out)["unsaved"][0]["title"] == title


def test_export_and_backup_name_the_unsaved_chapters_and_say_what_they_hold(
    call: Call, demo: Path, tmp_path: Path
) -> None:
    title = type_into_first(demo)
    exported = call("export", demo, tmp_path / "book.txt")
    assert f"Unsaved text in: 1 {title}. The file has the saved text." in exported.err
    assert "Typed and not saved." not in (tmp_path / "book.txt").read_text(encoding="utf-8")
    backed_up = call("backup", demo, tmp_path / "book.zip")
    assert f"Unsaved text in: 1 {title}. The backup contains it as unsaved text" in backed_up.err
    call("restore", tmp_path / "book.zip", tmp_path / "copy")
    assert call("chapters", tmp_path / "copy").out.splitlines()[0].endswith("\tunsaved")


def test_without_unsaved_text_nothing_is_said(call: Call, demo: Path, tmp_path: Path) -> None:
    assert call("export", demo, tmp_path / "book.txt").err == ""


def test_the_sentences_of_a_note_follow_each_other_without_a_blank_in_chinese(
    call: Call, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_into_first(demo)
    monkeypatch.setenv("FLOWCABAL_LANG", "zh")
    assert "。 " not in call("export", demo, tmp_path / "book.txt").err
