"""`import`, `bootstrap` and `references` as a user calls them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.text import word_count
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.manuscript.packages import docx
from tests.project.case import CHAPTERS, both, calls, endpoint, write_chapters


def priced(server: FaultServer) -> ModelsSettings:
    return both(endpoint(server, price_in=Decimal(1), price_out=Decimal(2)))


def test_a_reading_by_a_model_on_this_machine_begins_without_a_yes(
    project: Make, call: Call, tmp_path: Path, server: FaultServer
) -> None:
    folder = project(both(endpoint(server)))
    call("import", folder, write_chapters(tmp_path / "texts"))
    read = call("bootstrap", folder)
    assert read.code == 0 and calls(server) > 0
    assert "costs money" not in read.err and "unknown" not in read.err
    assert "0 paid calls" in call("status", folder).out


def test_an_import_offers_a_reading_and_a_reading_needs_a_yes(
    project: Make, call: Call, tmp_path: Path, server: FaultServer
) -> None:
    folder = project(priced(server))
    assert "3 chapters: likely" in call("import", folder, write_chapters(tmp_path / "texts")).out
    assert calls(server) == 0
    refused = call("bootstrap", folder)
    assert refused.code == 1 and "--yes" in refused.err
    assert calls(server) == 0
    read = call("bootstrap", folder, "--yes")
    assert read.code == 0
    assert f"{calls(server)} calls" in read.out.splitlines()[-1]
    assert "All imported chapters" in call("bootstrap", folder, "--yes").out


def test_a_cap_ends_a_reading_with_3_and_it_goes_on_with_a_higher_one(
    project: Make, call: Call, tmp_path: Path, server: FaultServer
) -> None:
    folder = project(priced(server))
    call("import", folder, write_chapters(tmp_path / "texts"))
    stopped = call("bootstrap", folder, "--yes", "--max-cost", "0.000001")
    assert stopped.code == 3 and "paused" in stopped.out
    assert "paused" in call("status", folder).out
    refused = call("bootstrap", folder, "--yes", "--from", 2)
    assert refused.code == 1 and "--drop" in refused.err, "before anything is quoted or asked"
    assert json.loads(call("status", folder, "--json").out)["bootstrap"]["state"] == "paused"
    assert call("bootstrap", folder, "--yes", "--max-cost", "5").code == 0


def test_a_dry_run_tells_what_would_come_and_stores_nothing(project: Make, call: Call, tmp_path: Path) -> None:
    folder, texts = project(), write_chapters(tmp_path / "texts")
    (texts / "04.txt").write_text("Chapter 6 The Fog\n\n" + "Fog lay on the river. " * 30, encoding="utf-8")
    shown = call("import", folder, texts, "--dry-run")
    rows = [line.split("\t") for line in shown.out.splitlines()]
    assert [row[2] for row in rows[:-1]] == [*CHAPTERS, "Chapter 6 The Fog"]
    assert [int(row[3]) for row in rows[:3]] == [word_count(text) for text in CHAPTERS.values()]
    assert rows[-1][0].startswith("4 chapters, ") and "words (utf-8" in rows[-1][0]
    assert "missing: 4-5" in shown.err
    told = json.loads(call("import", folder, texts, "--dry-run", "--json", "--first", 2).out)
    assert [one["title"] for one in told["chapters"]] == [*CHAPTERS][:2]
    assert (told["encoding"], told["language"], told["chapters"][0]["known"]) == ("utf-8", "en", False)
    assert any("missing" in warning for warning in told["warnings"])
    assert len(call("chapters", folder).out.splitlines()) == 1


def test_a_manuscript_in_another_language_than_the_books_is_told(project: Make, call: Call, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("第一章 风雪\n\n" + "林远走进山道，风很大。" * 30, encoding="utf-8")
    folder = project()
    shown = call("import", folder, tmp_path / "one.txt", "--dry-run")
    assert 'language = "zh"' in shown.err
    assert "270 characters" in shown.out, "as the book counts them: without punctuation"
    assert "language =" not in call("import", folder, write_chapters(tmp_path / "texts"), "--dry-run").err


def test_what_is_in_the_book_already_is_not_imported_twice(project: Make, call: Call, tmp_path: Path) -> None:
    folder, texts = project(), write_chapters(tmp_path / "texts")
    call("import", folder, texts)
    twice = call("import", folder, texts)
    assert twice.code == 1 and "--again" in twice.err
    (texts / "03.txt").write_text("Chapter 3 The Bell\n\nThe bell fell into the river.", encoding="utf-8")
    (texts / "04.txt").write_text("Chapter 4 The Fog\n\nFog lay on the river.", encoding="utf-8")
    shown = call("import", folder, texts, "--dry-run")
    assert [line.split("\t")[-1] for line in shown.out.splitlines()[:-1]] == [*["already in the book"] * 2, "", ""]
    assert "different text" in shown.err and "Chapter 3 The Bell" in shown.err
    more = call("import", folder, texts)
    assert "Imported 2 chapters" in more.out and "2 were already in the book" in more.out
    titles = [line.split("\t")[2] for line in call("chapters", folder).out.splitlines()]
    assert titles == ["The Glove", *CHAPTERS, "Chapter 3 The Bell", "Chapter 4 The Fog"]
    assert "Imported 4 chapters" in call("import", folder, texts, "--again").out


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize("form", ["docx", "epub", "md"])
def test_a_book_that_was_exported_is_in_the_book_already(
    project: Make, call: Call, tmp_path: Path, form: str, between: str
) -> None:
    told = {f"Chapter {n} The Bell": between.join(f"The bell rang {k} times." for k in range(n, n + 4)) for n in (1, 2)}
    folder = project()
    call("import", folder, write_chapters(tmp_path / "texts", told))
    assert call("export", folder, tmp_path / f"book.{form}").code == 0
    shown = call("import", folder, tmp_path / f"book.{form}", "--dry-run")
    known = [line.split("\t")[-1] for line in shown.out.splitlines()[:-1] if "The Bell" in line]
    assert known == ["already in the book"] * 2
    assert "different text" not in shown.err and "another title" not in shown.err


@pytest.mark.parametrize("form", ["docx", "epub"])
def test_chinese_paragraphs_with_wide_spaces_are_known_again(
    project: Make, call: Call, tmp_path: Path, form: str
) -> None:
    folder = project()
    lines = "\n\n".join(f"\u3000\u3000雪落了{n}天。" for n in ("一", "两", "三"))
    call("import", folder, write_chapters(tmp_path / "texts", {"第一章 雪": lines}))
    assert call("export", folder, tmp_path / f"book.{form}").code == 0
    shown = call("import", folder, tmp_path / f"book.{form}", "--dry-run").out
    assert [line.split("\t")[-1] for line in shown.splitlines() if "第一章" in line] == ["already in the book"]


def test_a_document_says_what_became_of_everything_in_it(project: Make, call: Call, tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>He </w:t></w:r><w:ins><w:r><w:t>slowly </w:t></w:r></w:ins><w:commentRangeStart w:id='0'/>"
        "<w:r><w:t>opened the door.</w:t></w:r><w:commentRangeEnd w:id='0'/></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>left</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    comment = "<w:comment w:id='0' w:author='Editor'><w:p><w:r><w:t>Too fast.</w:t></w:r></w:p></w:comment>"
    folder, file = project(), docx(tmp_path / "a.docx", body, parts={"comments": comment})
    for arguments in (("--dry-run",), ()):
        told = call("import", folder, file, *arguments).err
        assert "2 paragraphs were read. The document has no headings" in told
        assert "Tracked insertions accepted: 1." in told and "Tables, read row by row: 1." in told
        assert "Editor on “opened the door.”: Too fast." in told
    report = json.loads(call("import", folder, file, "--dry-run", "--json").out)["report"]
    assert (report["insertions"], report["comments"][0]["anchor"]) == (1, "opened the door.")
    (kept,) = json.loads(call("comments", folder, "--json").out)["comments"]
    assert (kept["author"], kept["words"], kept["quotation"]) == ("Editor", "Too fast.", "opened the door.")


def test_a_chapter_with_the_text_of_another_one_is_named(project: Make, call: Call, tmp_path: Path) -> None:
    folder, texts = project(), write_chapters(tmp_path / "texts")
    call("import", folder, texts)
    assert "another title" not in call("import", folder, texts, "--dry-run").err
    (texts / "04.txt").write_text(f"Chapter 4 The Rope\n\n{CHAPTERS['Chapter 3 The Bell']}", encoding="utf-8")
    (texts / "05.txt").write_text("Chapter 5 The Fog\n\nFog lay on the river.", encoding="utf-8")
    made = call("import", folder, texts)
    (told,) = [line for line in made.err.splitlines() if "another title" in line]
    assert "Chapter 4 The Rope" in told and "The Bell" not in told
    assert "Imported 1 chapter (" in made.out


def test_a_note_about_the_book_is_of_the_chapters_that_were_asked_for(
    project: Make, call: Call, tmp_path: Path
) -> None:
    folder, texts = project(), write_chapters(tmp_path / "texts")
    call("import", folder, texts)
    (texts / "03.txt").write_text("Chapter 3 The Bell\n\nThe bell fell into the river.", encoding="utf-8")
    assert "different text" in call("import", folder, texts, "--dry-run", "--first", 3).err
    assert "different text" not in call("import", folder, texts, "--dry-run", "--first", 2).err
    assert call("import", folder, texts, "--dry-run", "--first", 2).out.splitlines()[-1].endswith("2 are in the book.")


def test_a_reference_book_is_not_compared_with_the_writers_own(project: Make, call: Call, tmp_path: Path) -> None:
    folder, texts = project(), write_chapters(tmp_path / "texts")
    call("import", folder, texts)
    (texts / "03.txt").write_text("Chapter 3 The Bell\n\n" + "林远走进山道，风很大。" * 90, encoding="utf-8")
    own = call("import", folder, texts, "--dry-run").err
    assert "different text" in own and 'language = "zh"' in own
    for more in (["--dry-run"], ["--title", "The Bells"]):
        shelved = call("import", folder, texts, "--as", "reference", *more)
        assert (shelved.code, shelved.err) == (0, ""), "nothing of it is about the writer's own book"


def test_an_import_that_the_memory_follows_for_long_says_so(
    project: Make, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowcabal_tui.cli.importing._LONG_SECONDS", 0.0)
    made = call("import", project(both(OFFLINE)), write_chapters(tmp_path / "texts"))
    assert made.code == 0 and "Background work follows" in made.err


def test_a_paused_reading_is_given_up(project: Make, call: Call, tmp_path: Path, server: FaultServer) -> None:
    folder = project(priced(server))
    call("import", folder, write_chapters(tmp_path / "texts"))
    assert call("bootstrap", folder, "--drop").code == 1, "there is none"
    call("bootstrap", folder, "--yes", "--max-cost", "0.000001")
    assert call("bootstrap", folder, "--drop").code == 0
    assert "reading" not in call("status", folder).out
    assert "\n2 chapters\n" in call("bootstrap", folder, "--yes", "--from", 3).err


def test_only_the_named_chapters_are_read(project: Make, call: Call, tmp_path: Path, server: FaultServer) -> None:
    folder = project(priced(server))
    call("import", folder, write_chapters(tmp_path / "texts"))
    assert "\n2 chapters\n" in call("bootstrap", folder, "--yes", "--from", 2, "--to", 3).err


def test_a_reference_book_is_listed_read_searched_and_removed(project: Make, call: Call, tmp_path: Path) -> None:
    folder = project()
    put = call("import", folder, write_chapters(tmp_path / "texts"), "--as", "reference", "--title", "The Ferry")
    assert put.code == 0 and "3 parts" in put.out
    assert len(call("chapters", folder).out.splitlines()) == 1, "the writer's own book is as it was"
    (listed,) = json.loads(call("references", folder, "--json").out)
    book = listed["id"]
    same = call("import", folder, tmp_path / "texts", "--as", "reference", "--title", "The Ferry")
    assert same.code == 1 and "already" in same.err
    assert (listed["title"], listed["parts"]) == ("The Ferry", 3)
    assert [line.split("\t")[1] for line in call("references", folder, book).out.splitlines()] == list(CHAPTERS)
    assert call("references", folder, book, 2).out.strip() == list(CHAPTERS.values())[1]
    assert f"reference/{book}/3" in call("references", folder, "--search", "rope").out
    assert call("references", folder, "the ferry", 2).out.strip() == list(CHAPTERS.values())[1]
    nothing = call("references", folder, "ferry", "--search", "zeppelin")
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "Nothing was found.\n")
    unknown = call("references", folder, "The Tunnel")
    assert unknown.code == 2 and "The Tunnel" in unknown.err
    call("import", folder, tmp_path / "texts", "--as", "reference", "--title", "The Ferryman")
    several = call("references", folder, "ferr")
    assert several.code == 2 and book in several.err
    assert len(call("references", folder, "The Ferry").out.splitlines()) == 3, "a whole title is no part of another"
    assert call("references", folder, "ferryman", "--remove").code == 0
    assert call("references", folder, book, "--remove").code == 0
    empty = call("references", folder)
    assert (empty.code, empty.out) == (0, "") and "no reference book" in empty.err
    assert call("references", folder, book, "--remove").code == 2
