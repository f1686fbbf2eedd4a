"""DOCX as an editor expects it: fonts and language for Chinese, indents, page breaks, styles, properties."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import docx as python_docx
import pytest

from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.manuscript.word.writer import docx

ZH = BookDetails(
    "盐账",
    "zh",
    "林远",
    created=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    modified=datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC),
)
EN = BookDetails("The Salt Ledger", "en")
VOLUMES = (
    ImportedChapter("第一章 雪", "他推开门。\n\n***\n\n雪落了一地。\x0c", "第一卷 风起"),
    ImportedChapter("第二章 归途", "她没有回头。", "第二卷 云涌"),
)
FLAT = (ImportedChapter("Chapter 1", "Snow.\n\nMore\tsnow.\n\n#\n\nNight."), ImportedChapter("Chapter 2", "Rain."))


def parts(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".xml")}


def style(content: bytes, identifier: str) -> str:
    found = re.search(rf'<w:style [^>]*w:styleId="{identifier}".*?</w:style>', parts(content)["word/styles.xml"], re.S)
    assert found is not None
    return found[0]


def styles_used(content: bytes) -> list[str]:
    return re.findall(r'<w:pStyle w:val="(\w+)"', parts(content)["word/document.xml"])


def test_chinese_text_has_its_fonts_and_its_language() -> None:
    defaults = parts(docx(ZH, VOLUMES))["word/styles.xml"].partition("</w:docDefaults>")[0]
    assert 'w:eastAsia="宋体"' in defaults and 'w:lang w:val="en-US" w:eastAsia="zh-CN"' in defaults
    assert "Theme" not in defaults, "a font of the theme would win over the one that is named"
    traditional = [ImportedChapter("第一章", "這個時候，他們還沒來。")]
    assert 'w:eastAsia="zh-TW"' in parts(docx(ZH, traditional))["word/styles.xml"]


def test_chinese_paragraphs_are_indented_by_characters_and_english_ones_after_the_first() -> None:
    assert 'w:firstLineChars="200"' in style(docx(ZH, VOLUMES), "FlowCabalBody")
    book = docx(EN, FLAT)
    assert "firstLineChars" not in style(book, "FlowCabalBody") and 'w:firstLine="720"' in style(book, "FlowCabalBody")
    assert styles_used(book) == [
        "Title",
        *("Heading1", "FlowCabalFirst", "FlowCabalBody", "FlowCabalScene", "FlowCabalFirst"),
        *("Heading1", "FlowCabalFirst"),
    ]


def test_every_chapter_begins_on_a_page_and_volumes_are_above_chapters() -> None:
    book = docx(ZH, VOLUMES)
    assert styles_used(book)[:5] == ["Title", "FlowCabalAuthor", "Heading1", "Heading2", "FlowCabalBody"]
    for name in ("Heading1", "Heading2"):
        assert "<w:pageBreakBefore/>" in style(book, name) and "firstLineChars" not in style(book, name)


def test_the_properties_are_the_books_own() -> None:
    core = python_docx.Document(io.BytesIO(docx(ZH, VOLUMES))).core_properties
    assert (core.title, core.author, core.language, core.comments) == ("盐账", "林远", "zh-CN", "")
    assert core.created == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert core.modified == datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
    assert python_docx.Document(io.BytesIO(docx(EN, FLAT))).core_properties.author == ""


@pytest.mark.parametrize(("details", "chapters"), [(ZH, VOLUMES), (EN, FLAT)], ids=["zh", "en"])
def test_the_reader_gives_the_book_back(
    tmp_path: Path, details: BookDetails, chapters: Sequence[ImportedChapter]
) -> None:
    file = tmp_path / "book.docx"
    file.write_bytes(docx(details, chapters))
    preview = read_manuscript(file)
    assert [(one.volume, one.title) for one in preview.chapters] == [(one.volume, one.title) for one in chapters]
    assert [one.text.split() for one in preview.chapters] == [one.text.split() for one in chapters]
    assert preview.report.rule == "headings"


def test_a_book_is_exported_while_the_clock_is_before_1980(monkeypatch: pytest.MonkeyPatch) -> None:
    made = docx(EN, FLAT)
    monkeypatch.setattr("time.localtime", lambda *_seconds: time.struct_time((1970, 1, 1, 0, 0, 0, 3, 1, 0)))
    assert docx(EN, FLAT) == made
