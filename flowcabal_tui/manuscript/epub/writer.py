"""EPUB 3 with an NCX for old readers; the same book gives the same bytes."""

from __future__ import annotations

import io
import uuid
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Final

from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.headings.scenes import break_line
from flowcabal_tui.manuscript.blocks import language_tag, legal, paragraphs, volume_starts
from flowcabal_tui.manuscript.epub.cover import Cover, cover_of

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""The date of a book whose text has none."""
_NAMESPACE: Final = uuid.UUID("7d0c1f6e-6c0b-4f43-9f0a-3c9f6b1f2a55")
_CONTENTS: Final = {"zh": "目录", "en": "Contents"}
_COVER: Final = {"zh": "封面", "en": "Cover"}
_TITLE_PAGE: Final = {"zh": "书名页", "en": "Title page"}
_SUMMARY: Final = {
    "zh": "全书为可重排的文本，有完整的目录和阅读顺序；唯一的图片是封面，附有替代文字。",
    "en": "The whole book is reflowable text with a table of contents and a reading order; "
    "its only picture is the cover, which has an alternative text.",
}
_FEATURES: Final = (
    "alternativeText",
    "displayTransformability",
    "readingOrder",
    "structuralNavigation",
    "tableOfContents",
    "unlocked",
)
_STYLE: Final = """@charset "utf-8";
body { margin: 0 5%; }
p { margin: 0; text-indent: 1.5em; }
h1, h2 { margin: 2em 0 1.5em; text-align: center; font-weight: bold; line-height: 1.4; }
h1 + p, h2 + p, .scene-break + p { text-indent: 0; }
.scene-break { margin: 1em 0; text-align: center; text-indent: 0; }
.title-page, .volume { margin-top: 30%; text-align: center; }
.author { text-align: center; text-indent: 0; }
.cover { margin: 0; padding: 0; text-align: center; }
.cover img { max-width: 100%; max-height: 100%; }
:lang(zh) { line-height: 1.8; text-align: justify; }
:lang(zh) p, h1 + p:lang(zh), h2 + p:lang(zh), .scene-break + p:lang(zh) { text-indent: 2em; }
:lang(zh) h1, :lang(zh) h2, :lang(zh) .scene-break, :lang(zh) .author { text-align: center; text-indent: 0; }
p.scene-break:lang(zh), p.author:lang(zh) { text-align: center; text-indent: 0; }
"""
_CONTAINER: Final = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of the book; `depth` 0 keeps it out of the table of contents."""

    name: str
    title: str
    body: str
    kind: str
    depth: int


def epub(details: BookDetails, chapters: Sequence[ImportedChapter]) -> bytes:
    """The bytes of the EPUB file."""
    language = language_tag(details.language, chapters)
    words = "zh" if language.startswith("zh") else "en"
    title, author = legal(details.title), legal(details.author)
    identifier = _identifier(details)
    modified = (details.modified or _EPOCH).astimezone(UTC)
    cover = cover_of(details.cover, title, author, language)
    pages = _pages(title, author, words, chapters)
    files: list[tuple[str, bytes]] = [
        ("META-INF/container.xml", _CONTAINER.encode()),
        ("EPUB/package.opf", _package(title, author, language, identifier, modified, cover, pages).encode()),
        ("EPUB/nav.xhtml", _nav(title, language, words, pages).encode()),
        ("EPUB/toc.ncx", _ncx(title, language, identifier, pages).encode()),
        ("EPUB/style.css", _STYLE.encode()),
        (f"EPUB/{cover.name}", cover.content),
        ("EPUB/cover.xhtml", _cover_page(title, author, language, words, cover).encode()),
        *((f"EPUB/{page.name}", _xhtml(page, language).encode()) for page in pages),
    ]
    return _packed(files, modified)


def _identifier(details: BookDetails) -> str:
    """The project's id as a UUID; for another id a UUID derived from it, which is as stable."""
    try:
        return f"urn:uuid:{uuid.UUID(details.identifier)}"
    except ValueError:
        return f"urn:uuid:{uuid.uuid5(_NAMESPACE, legal(details.identifier or details.title))}"


def _pages(title: str, author: str, words: str, chapters: Sequence[ImportedChapter]) -> list[_Page]:
    byline = f'<p class="author">{escape(author)}</p>' if author else ""
    head = f'<div class="title-page"><h1>{escape(title)}</h1>{byline}</div>'
    pages = [_Page("title.xhtml", _TITLE_PAGE[words], head, "titlepage", 0)]
    volumes, named = 0, any(chapter.volume for chapter in chapters)
    for number, (chapter, starts) in enumerate(zip(chapters, volume_starts(chapters), strict=True), start=1):
        if starts:
            volumes += 1
            name = legal(chapter.volume)
            body = f'<div class="volume"><h1>{escape(name)}</h1></div>'
            pages.append(_Page(f"volume-{volumes:03}.xhtml", name, body, "part", 1))
        heading = "h2" if named else "h1"
        legal_title = legal(chapter.title)
        lines = "\n".join(_paragraph(legal(line)) for line in paragraphs(chapter.text))
        body = f"<{heading}>{escape(legal_title)}</{heading}>\n{lines}"
        pages.append(_Page(f"chapter-{number:04}.xhtml", legal_title, body, "chapter", 2 if chapter.volume else 1))
    return pages


def _paragraph(line: str) -> str:
    kind = ' class="scene-break"' if break_line(line) else ""
    return f"<p{kind}>{escape(line, quote=False)}</p>"


def _xhtml(page: _Page, language: str) -> str:
    role = f' role="doc-{page.kind}"' if page.kind in ("part", "chapter") else ""
    section = f'<section epub:type="{page.kind}"{role} aria-label="{escape(page.title)}">'
    return _document(page.title, language, f"<body>\n{section}\n{page.body}\n</section>\n</body>")


def _document(title: str, language: str, body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        f'xml:lang="{language}" lang="{language}">\n<head>\n<title>{escape(title) or "-"}</title>\n'
        f'<link rel="stylesheet" type="text/css" href="style.css"/>\n</head>\n{body}\n</html>\n'
    )


def _cover_page(title: str, author: str, language: str, words: str, cover: Cover) -> str:
    label = escape(f"{title}, {author}" if author else title)
    image = f'<div class="cover"><img src="{cover.name}" alt="{label}" role="doc-cover"/></div>'
    return _document(_COVER[words], language, f'<body epub:type="cover">\n{image}\n</body>')


def _nav(title: str, language: str, words: str, pages: Sequence[_Page]) -> str:
    lines: list[str] = []
    listed = [page for page in pages if page.depth]
    for page, after in zip(listed, [*(one.depth for one in listed[1:]), 1], strict=True):
        lines.append(f'<li><a href="{page.name}">{escape(page.title) or "-"}</a>')
        lines.append("<ol>" if after > page.depth else "</li>" + "</ol></li>" * (page.depth - after))
    toc = "\n".join(lines)
    return _document(
        title,
        language,
        f'<body>\n<nav epub:type="toc" role="doc-toc" id="toc"><h1>{_CONTENTS[words]}</h1>\n<ol>\n{toc}\n</ol></nav>\n'
        f'<nav epub:type="landmarks" hidden="hidden"><ol>'
        f'<li><a epub:type="cover" href="cover.xhtml">{_COVER[words]}</a></li>'
        f'<li><a epub:type="titlepage" href="title.xhtml">{_TITLE_PAGE[words]}</a></li>'
        f'<li><a epub:type="bodymatter" href="{listed[0].name}">{escape(listed[0].title) or "-"}</a></li>'
        "</ol></nav>\n</body>",
    )


def _ncx(title: str, language: str, identifier: str, pages: Sequence[_Page]) -> str:
    lines: list[str] = []
    listed = [page for page in pages if page.depth]
    for at, (page, after) in enumerate(zip(listed, [*(one.depth for one in listed[1:]), 1], strict=True), start=1):
        label = f"<navLabel><text>{escape(page.title) or '-'}</text></navLabel>"
        lines.append(f'<navPoint id="point-{at}" playOrder="{at}">{label}<content src="{page.name}"/>')
        if after <= page.depth:
            lines.append("</navPoint>" * (1 + page.depth - after))
    deepest = max(page.depth for page in listed)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1" xml:lang="{language}">\n<head>'
        f'<meta name="dtb:uid" content="{identifier}"/><meta name="dtb:depth" content="{deepest}"/>'
        '<meta name="dtb:totalPageCount" content="0"/><meta name="dtb:maxPageNumber" content="0"/></head>\n'
        f"<docTitle><text>{escape(title)}</text></docTitle>\n<navMap>\n" + "\n".join(lines) + "\n</navMap>\n</ncx>\n"
    )


def _package(
    title: str, author: str, language: str, identifier: str, modified: datetime, cover: Cover, pages: Sequence[_Page]
) -> str:
    creator = (
        f'<dc:creator id="author">{escape(author)}</dc:creator>\n'
        '<meta refines="#author" property="role" scheme="marc:relators">aut</meta>\n'
        if author
        else ""
    )
    summary = _SUMMARY["zh" if language.startswith("zh") else "en"]
    features = "\n".join(f'<meta property="schema:accessibilityFeature">{feature}</meta>' for feature in _FEATURES)
    items = "\n".join(
        f'<item id="{_id(page)}" href="{page.name}" media-type="application/xhtml+xml"/>' for page in pages
    )
    spine = "\n".join(f'<itemref idref="{_id(page)}"/>' for page in pages)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book-id" xml:lang="{language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="book-id">{identifier}</dc:identifier>
<dc:title>{escape(title)}</dc:title>
<dc:language>{language}</dc:language>
{creator}<meta property="dcterms:modified">{modified:%Y-%m-%dT%H:%M:%SZ}</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
{features}
<meta property="schema:accessibilityHazard">none</meta>
<meta property="schema:accessibilitySummary">{summary}</meta>
<meta name="cover" content="cover-image"/>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="style" href="style.css" media-type="text/css"/>
<item id="cover-image" href="{cover.name}" media-type="{cover.media_type}" properties="cover-image"/>
<item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
{items}
</manifest>
<spine toc="ncx">
<itemref idref="cover"/>
{spine}
</spine>
</package>
"""


def _id(page: _Page) -> str:
    return page.name.removesuffix(".xhtml")


def _packed(files: Sequence[tuple[str, bytes]], modified: datetime) -> bytes:
    """The mimetype first and uncompressed, as the format requires; every date is the book's own."""
    date = max(modified, datetime(1980, 1, 1, tzinfo=UTC)).timetuple()[:6]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in [("mimetype", b"application/epub+zip"), *files]:
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, content)
    return out.getvalue()
