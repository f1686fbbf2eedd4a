"""Exports that read back, and the mirror."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.errors import DiskFull, ManuscriptError
from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.domain.text import clean, digest
from flowcabal_tui.manuscript.mirror import mirror_digest, mirror_name, parse_mirror, render_mirror
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.manuscript.writer import EXPORT_FORMATS, export_manuscript, write_atomically

DETAILS = BookDetails("盐账", "zh")
BOOK = (
    ImportedChapter("第一章 雪 & <灯>", "他推开门。\n\n雪落了一地。", "第一卷 风起"),
    ImportedChapter("第二章 归途", "她没有回头。", "第一卷 风起"),
    ImportedChapter("第三章 渡口", "船来了。", "第二卷 云涌"),
)


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_an_export_reads_back_as_the_same_book(tmp_path: Path, name: str) -> None:
    file = tmp_path / f"book.{name}"
    assert export_manuscript(file, DETAILS, BOOK) == file.stat().st_size
    chapters = read_manuscript(file).chapters
    assert [(c.volume, c.title) for c in chapters] == [(c.volume, c.title) for c in BOOK]
    assert [c.text.split() for c in chapters] == [c.text.split() for c in BOOK]


def test_an_unknown_format_and_an_empty_book_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ManuscriptError, match=r"book\.pdf"):
        export_manuscript(tmp_path / "book.pdf", DETAILS, BOOK)
    with pytest.raises(ManuscriptError):
        export_manuscript(tmp_path / "book.txt", DETAILS, ())


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "x").write_text("old")
    with pytest.raises(DiskFull, match="taken"):
        write_atomically(tmp_path / "taken", b"new")
    assert [p.name for p in tmp_path.rglob("*")] == ["taken", "x"]


@pytest.mark.parametrize("title", ["../../etc/passwd", "a/b\\c", "..", "", "\x1b[31mred", "雪夜：归人？", "x" * 500])
def test_a_mirror_name_is_one_safe_part_of_a_path(title: str) -> None:
    name = mirror_name(7, title)
    assert name.startswith("0007-")
    assert Path(name).name == name
    assert len(name.encode()) < 255


@given(st.text().map(clean), st.text().map(clean))
def test_a_mirror_gives_the_text_back_exactly(title: str, text: str) -> None:
    content = render_mirror(title, text)
    assert parse_mirror(content) == (" ".join(title.split()), text)
    assert mirror_digest(content) == digest(text)


def test_an_edit_outside_is_found_and_line_ends_are_none() -> None:
    content = render_mirror("Snow", "He opened the door.\nSnow.")
    assert mirror_digest(content.replace("\n", "\r\n")) == mirror_digest(content)
    assert mirror_digest(content.replace("door", "gate")) != mirror_digest(content)
    assert parse_mirror("no heading here\n") == ("", "no heading here")


def test_markdown_has_a_blank_line_between_paragraphs_whatever_the_chapter_has(tmp_path: Path) -> None:
    chapters = [ImportedChapter("One", "He came.\nShe left."), ImportedChapter("Two", "Verse,\nverse.\n\nProse.")]
    export_manuscript(tmp_path / "book.md", DETAILS, chapters)
    text = (tmp_path / "book.md").read_text("utf-8")
    assert "## One\n\nHe came.\n\nShe left.\n\n## Two\n\nVerse,\nverse.\n\nProse.\n" in text
