"""DOCX of a book: own styles, fonts and language for Chinese and Latin text, a page for every chapter.

python-docx provides the package and its styles; the paragraphs are built here, because python-docx searches all styles
for each of them.
"""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast

from lxml import etree

from flowcabal_tui.domain.comments import COMMENT_KINDS, Comment
from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.headings.scenes import break_line
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.blocks import language_tag, legal, paragraphs, volume_starts
from flowcabal_tui.manuscript.xml_input import Element

Place = tuple[int, int]
"""The row of a chapter, and the number of a paragraph in it."""


def by_paragraph(
    chapters: Sequence[ImportedChapter], notes: Mapping[int, Sequence[Comment]]
) -> Mapping[Place, Sequence[Comment]]:
    """Each comment by the paragraph in which its words begin; one without words belongs to the first."""
    found: defaultdict[Place, list[Comment]] = defaultdict(list)
    for row, chapter in enumerate(chapters):
        for note in notes.get(row, ()):
            place = 0 if note.lost else chapter.text.rfind("\n", 0, note.start) + 1
            last = max(0, len(paragraphs(chapter.text)) - 1)
            found[row, min(len(paragraphs(chapter.text[:place])), last)].append(note)
    return found


def put_note(document: Any, paragraph: Element, note: Comment, author: str) -> None:
    """Adds the comment to a paragraph of the document: around its words, or around the whole paragraph."""
    kind = "" if note.kind == "note" else f"[{_(COMMENT_KINDS[note.kind])}] "
    words = legal(kind + clean(note.words))
    made = document.comments.add_comment(text=words, author=legal(clean_line(note.author or author)), initials="")
    if note.at is not None:
        made._comment_elm.set(f"{_W}date", note.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    number = str(made.comment_id)
    first, last = _around(paragraph, legal(note.quotation.split("\n")[0].strip()))
    first.addprevious(_element("commentRangeStart", number))
    reference = etree.Element(f"{_W}r")
    reference.append(_element("commentReference", number))
    last.addnext(reference)
    last.addnext(_element("commentRangeEnd", number))


def _around(paragraph: Element, words: str) -> tuple[Element, Element]:
    """The first and the last run of these words, which get a run of their own; else of the whole paragraph."""
    runs = [run for run in paragraph.findall(f"{_W}r") if run.find(f"{_W}t") is not None]
    for run in runs:
        texts = run.findall(f"{_W}t")
        text = (texts[0].text or "") if len(texts) == 1 else ""
        if words and words in text:
            before, _words, behind = text.partition(words)
            for piece, put in ((before, run.addprevious), (behind, run.addnext)):
                if piece:
                    other = deepcopy(run)
                    other.find(f"{_W}t").text = piece
                    put(other)
            texts[0].text = words
            return run, run
    return runs[0], runs[-1]


def _element(name: str, number: str) -> Element:
    made = etree.Element(f"{_W}{name}")
    made.set(f"{_W}id", number)
    return made


_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""The date of a book whose text has none."""
_BODY, _FIRST, _SCENE, _AUTHOR = "FlowCabalBody", "FlowCabalFirst", "FlowCabalScene", "FlowCabalAuthor"
_LATIN: Final = "Times New Roman"
_SERIF: Final = {"zh-CN": "宋体", "zh-TW": "新細明體"}
_SANS: Final = {"zh-CN": "黑体", "zh-TW": "微軟正黑體"}


def docx(
    details: BookDetails, chapters: Sequence[ImportedChapter], notes: Mapping[int, Sequence[Comment]] | None = None
) -> bytes:
    """The bytes of the DOCX file, with comments by the row of their chapter at the commented paragraphs."""
    from docx import Document

    document: Any = Document()
    tag = language_tag(details.language, chapters)
    chinese = tag.startswith("zh")
    _set_properties(document.core_properties, details, "en-US" if tag == "en" else tag)
    _set_styles(document.styles.element, tag, chinese)
    body = document.element.body
    section = body[-1]
    noted = by_paragraph(chapters, notes or {})
    for place, paragraph in _paragraphs(details, chapters, chinese):
        section.addprevious(paragraph)
        for note in noted.get(place, ()) if place else ():
            put_note(document, paragraph, note, details.author)
    return _packed(document.part.package)


def _packed(package: Any) -> bytes:
    """The package as a ZIP without the current date. python-docx would set it, and fails while the clock of the machine
    is before 1980, the first date of a ZIP."""
    from docx.opc.pkgwriter import PackageWriter

    out, parts, writer = io.BytesIO(), package.parts, cast(Any, PackageWriter)
    for part in parts:
        part.before_marshal()
    with zipfile.ZipFile(out, "w") as archive:
        sink = _Undated(archive)
        writer._write_content_types_stream(sink, parts)
        writer._write_pkg_rels(sink, package.rels)
        writer._write_parts(sink, parts)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class _Undated:
    """Stores the parts of a package for python-docx."""

    archive: zipfile.ZipFile

    def write(self, place: Any, content: bytes | str) -> None:
        self.archive.writestr(zipfile.ZipInfo(place.membername), content, zipfile.ZIP_DEFLATED)


def _paragraphs(
    details: BookDetails, chapters: Sequence[ImportedChapter], chinese: bool
) -> Iterator[tuple[Place | None, Element]]:
    """Each paragraph; those of a chapter's text with their places."""
    yield None, _paragraph("Title", details.title)
    if details.author:
        yield None, _paragraph(_AUTHOR, details.author)
    in_volumes = any(chapter.volume for chapter in chapters)
    for row, (chapter, starts) in enumerate(zip(chapters, volume_starts(chapters), strict=True)):
        if starts:
            yield None, _paragraph("Heading1", chapter.volume)
        yield None, _paragraph("Heading2" if in_volumes else "Heading1", chapter.title)
        follows = False
        for number, line in enumerate(paragraphs(chapter.text)):
            ornament = break_line(line) is not None
            yield (row, number), _paragraph(_SCENE if ornament else _BODY if follows or chinese else _FIRST, line)
            follows = not ornament


def _paragraph(style: str, text: str) -> Element:
    paragraph = etree.Element(f"{_W}p")
    properties = etree.SubElement(paragraph, f"{_W}pPr")
    etree.SubElement(properties, f"{_W}pStyle").set(f"{_W}val", style)
    run = etree.SubElement(paragraph, f"{_W}r")
    for at, piece in enumerate(legal(text).split("\t")):
        if at:
            etree.SubElement(run, f"{_W}tab")
        words = etree.SubElement(run, f"{_W}t")
        words.text = piece
        words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return paragraph


def _set_properties(core: Any, details: BookDetails, language: str) -> None:
    """Replaces the properties of the template (python-docx, 2013)."""
    core.title, core.author, core.language = legal(details.title)[:255], legal(details.author)[:255], language
    core.last_modified_by, core.comments, core.keywords, core.subject, core.revision = core.author, "", "", "", 1
    modified = (details.modified or _EPOCH).astimezone(UTC).replace(tzinfo=None)
    core.created = (details.created or details.modified or _EPOCH).astimezone(UTC).replace(tzinfo=None)
    core.modified = modified


def _set_styles(styles: Element, tag: str, chinese: bool) -> None:
    """The language and fonts of all text, the headings, and the styles of the book."""
    east = tag if chinese else "zh-CN"
    defaults = styles.find(f"{_W}docDefaults/{_W}rPrDefault/{_W}rPr")
    _put(defaults, "rFonts", ascii=_LATIN, hAnsi=_LATIN, cs=_LATIN, eastAsia=_SERIF[east])
    for name in ("sz", "szCs"):  # in the order of the schema: Word repairs a file that has another
        _put(defaults, name, val="21" if chinese else "24")
    _put(defaults, "lang", val="en-US", eastAsia=east, bidi="ar-SA")
    for name, size in (("Title", "44"), ("Heading1", "32"), ("Heading2", "28")):
        style = next(one for one in styles if one.get(f"{_W}styleId") == name)
        _set_heading(style, size, _SANS[east], breaks=name != "Title")
    indent = {"firstLineChars": "200", "firstLine": "420"} if chinese else {"firstLine": "720"}
    _add(styles, _BODY, "FlowCabal Body", indent=indent, line="360" if chinese else "480")
    if not chinese:
        _add(styles, _FIRST, "FlowCabal First Paragraph", indent={"firstLine": "0"}, line="480", following=_BODY)
    _add(styles, _SCENE, "FlowCabal Scene Break", indent={"firstLine": "0"}, centred=True, following=_BODY)
    _add(styles, _AUTHOR, "FlowCabal Author", indent={"firstLine": "0"}, centred=True)


def _set_heading(style: Element, size: str, font: str, *, breaks: bool) -> None:
    for old in [one for one in style if one.tag in (f"{_W}pPr", f"{_W}rPr")]:
        style.remove(old)
    paragraph = etree.SubElement(style, f"{_W}pPr")
    etree.SubElement(paragraph, f"{_W}keepNext")
    if breaks:
        etree.SubElement(paragraph, f"{_W}pageBreakBefore")
    _put(paragraph, "spacing", before="240", after="360")
    _put(paragraph, "ind", firstLine="0")
    _put(paragraph, "jc", val="center")
    if breaks:
        _put(paragraph, "outlineLvl", val="0" if size == "32" else "1")
    run = etree.SubElement(style, f"{_W}rPr")
    _put(run, "rFonts", ascii=_LATIN, hAnsi=_LATIN, cs=_LATIN, eastAsia=font)
    etree.SubElement(run, f"{_W}b")
    _put(run, "sz", val=size)
    _put(run, "szCs", val=size)


def _add(
    styles: Element,
    identifier: str,
    name: str,
    *,
    indent: dict[str, str],
    line: str = "360",
    centred: bool = False,
    following: str = "",
) -> None:
    style = etree.SubElement(styles, f"{_W}style")
    style.set(f"{_W}type", "paragraph")
    style.set(f"{_W}customStyle", "1")
    style.set(f"{_W}styleId", identifier)
    _put(style, "name", val=name)
    _put(style, "basedOn", val="Normal")
    if following:
        _put(style, "next", val=following)
    etree.SubElement(style, f"{_W}qFormat")
    paragraph = etree.SubElement(style, f"{_W}pPr")
    _put(paragraph, "spacing", before="0", after="0", line=line, lineRule="auto")
    _put(paragraph, "ind", **indent)
    _put(paragraph, "jc", val="center" if centred else "both" if line == "360" else "left")


def _put(parent: Element, name: str, **values: str) -> None:
    """Replaces the child element of that tag by one with these attributes."""
    for old in parent.findall(f"{_W}{name}"):
        parent.remove(old)
    new = etree.SubElement(parent, f"{_W}{name}")
    for key, value in values.items():
        new.set(f"{_W}{key}", value)
