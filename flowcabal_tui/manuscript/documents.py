"""DOCX and EPUB to plain text, headings marked as in Markdown."""

from __future__ import annotations

import io
import warnings
import zipfile
from html.parser import HTMLParser
from typing import Any, Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import _

_UNPACKED_AT_MOST: Final = 512 * 1024 * 1024
_BLOCKS: Final = frozenset(
    ["p", "div", "br", "li", "tr", "blockquote", "section", "article", "h1", "h2", "h3", "h4", "h5", "h6"]
)
_LEVELS: Final = {"h1": "#", "h2": "##", "h3": "###"}
_UNSEEN: Final = frozenset({"style", "script", "head", "title", "rt"})


def _check_archive(data: bytes, name: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile as error:
        raise ManuscriptError(
            _("This file is damaged: {name}").format(name=name),
            str(error),
            _("Open it in the program that wrote it, save it again, and import that."),
        ) from error
    if unpacked > _UNPACKED_AT_MOST:
        raise ManuscriptError(_("This file is too large when unpacked: {name}").format(name=name))


def docx_text(data: bytes, name: str) -> str:
    """The paragraphs, one a line; heading styles become `#` marks. Raises ManuscriptError."""
    _check_archive(data, name)
    import docx
    from docx.opc.exceptions import OpcError

    try:
        document = docx.Document(io.BytesIO(data))
    except (OpcError, KeyError, ValueError) as error:
        raise ManuscriptError(
            _("This is not a Word document: {name}").format(name=name),
            str(error),
            _("Save it as DOCX again, or as TXT, and import that."),
        ) from error
    lines: list[str] = []
    for paragraph in document.paragraphs:
        style = str(paragraph.style.name) if paragraph.style is not None else ""
        mark = {"Title": "# ", "Heading 1": "# ", "Heading 2": "## ", "Heading 3": "### "}.get(style, "")
        text = str(paragraph.text)
        lines.append(mark + " ".join(text.split()) if mark and text.strip() else text)
    return "\n".join(lines)


class _Prose(HTMLParser):
    """Lines of a page; headings marked, ruby readings and styles left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = [""]
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._hidden += 1
        elif tag in _BLOCKS:
            self.lines.append(f"{_LEVELS[tag]} " if tag in _LEVELS else "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _BLOCKS and tag != "br":
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.lines[-1] += (
                " ".join(data.split("\n")) if self.lines[-1].strip() else data.lstrip("\n\t ").replace("\n", " ")
            )


def page_text(page: bytes) -> str:
    """The prose of an XHTML page, a paragraph a line, a blank line between."""
    reader = _Prose()
    reader.feed(page.decode("utf-8", "replace"))
    return "\n\n".join(line.rstrip() for line in reader.lines if line.strip(" #\t"))


def epub_text(data: bytes, name: str) -> str:
    """The pages in reading order. A page without a heading gets its title from the table of contents."""
    _check_archive(data, name)
    from ebooklib import epub

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = epub.read_epub(io.BytesIO(data), {"ignore_ncx": False})
    except (epub.EpubException, KeyError, AttributeError, IndexError, SyntaxError) as error:
        raise ManuscriptError(
            _("This is not an EPUB book: {name}").format(name=name),
            str(error),
            _("Convert it again, or import it as TXT."),
        ) from error
    titles: dict[str, str] = {}
    _contents(book.toc, titles)
    parts: list[str] = []
    for identifier, *_linear in book.spine:
        item = book.get_item_with_id(identifier)
        if item is None or isinstance(item, epub.EpubNav) or "nav" in getattr(item, "properties", []):
            continue
        text = page_text(item.get_content())
        title = titles.get(item.get_name(), "")
        if text and title and not text.startswith("#"):
            text = text if text.split("\n", 1)[0].strip() == title else f"# {title}\n\n{text}"
        parts.append(text)
    return "\n\n".join(part for part in parts if part)


def _contents(entries: Any, titles: dict[str, str]) -> None:
    """Fills `titles` with file name -> title from the nested table of contents; the first entry of a file wins."""
    for entry in entries:
        if isinstance(entry, (tuple, list)):
            _contents(entry, titles)
        elif getattr(entry, "href", "") and getattr(entry, "title", ""):
            titles.setdefault(str(entry.href).partition("#")[0], " ".join(str(entry.title).split()))
