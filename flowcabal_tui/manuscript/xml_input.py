"""Parses untrusted XML: no DTD, no entities, limits on elements and depth, all encodings converted to UTF-8."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from html.entities import html5
from itertools import chain
from typing import Any, Final

from lxml import etree

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.archive import MOST_NODES_OF_A_TREE, Archive, damaged, too_large

Element = Any
"""An element of lxml, which has no types of its own."""
_DECLARED: Final = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._\-]{1,40})["']""")
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_WITHOUT_BOM: Final = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_WESTERN: Final = frozenset(["ascii", "cp1250", "cp1251", "cp1252", "iso8859-1", "iso8859-15", "iso8859-2", "koi8-r"])
_ASIAN: Final = frozenset(["big5", "big5hkscs", "gb18030", "gb2312", "gbk", "shift_jis", "euc_jp", "euc_kr", "cp949"])
_ENCODINGS: Final = _WESTERN | _ASIAN | {"utf-8"}
_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^\[>]*>")
_ENTITY: Final = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31};)")
_OF_XML: Final = frozenset(["amp;", "lt;", "gt;", "quot;", "apos;"])
_MOST_BETWEEN_EVENTS: Final = 4 << 20
"""Bytes of one block, which is held as a whole: as a tree they take up to 30 times as much."""
_OPTIONS: Final[dict[str, Any]] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}


_LOCAL: dict[str, str] = {}
_MOST_NAMES: Final = 10_000


def local(element: Element) -> str:
    """The name of an element without its namespace; "" for anything else."""
    tag = element.tag
    name = _LOCAL.get(tag)
    if name is None:
        name = tag.rpartition("}")[2] if isinstance(tag, str) else ""
        if len(_LOCAL) < _MOST_NAMES:
            _LOCAL[tag] = name
    return name


def attribute(element: Element, name: str) -> str | None:
    """An attribute by its name without namespace (strict and transitional documents differ in it); None: missing."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2].rpartition(":")[2] == name:
            return str(value)
    return None


def tree(archive: Archive, part: str) -> Element:
    """The root of a part of the package. Raises ManuscriptError: missing, damaged, too large, with a DOCTYPE."""
    parser, nodes = etree.XMLParser(encoding="utf-8", **_OPTIONS), 0
    try:
        for chunk in checked(archive, part):
            nodes += chunk.count(b"<") + chunk.count(b"=")
            _check_nodes(archive, part, nodes)
            parser.feed(chunk)
        return parser.close()
    except etree.XMLSyntaxError as error:
        raise _unreadable(archive, part, error) from error


def events(archive: Archive, part: str, kinds: tuple[str, ...], tags: Iterable[str]) -> Iterator[tuple[str, Element]]:
    """The parse events of a large part while it is read; the caller clears processed elements. Raises ManuscriptError.

    The part is inflated twice: once to be counted, so that one that is too large is refused before it is parsed.
    """
    for _chunk in checked(archive, part):
        pass
    parser, silent = etree.XMLPullParser(kinds, tag=list(tags), encoding="utf-8", **_OPTIONS), 0
    try:
        for chunk in _utf8(archive, part, archive.chunks(part, again=True)):
            silent += len(chunk)
            parser.feed(chunk)
            for event in parser.read_events():
                silent = 0
                yield event
            if silent > _MOST_BETWEEN_EVENTS:
                raise too_large(archive.name, _("A paragraph or table row is too long."))
        parser.close()
        yield from parser.read_events()
    except etree.XMLSyntaxError as error:
        raise _unreadable(archive, part, error) from error


def page(archive: Archive, part: str) -> Element | None:
    """The root of an XHTML page or an NCX; None if it cannot be read at all.

    A DOCTYPE without a subset and the named entities of HTML are accepted, and errors are tolerated. Raises
    ManuscriptError as `tree` does.
    """
    text = b"".join(_utf8(archive, part, archive.chunks(part))).decode("utf-8", "replace")
    text = _DOCTYPE.sub("", text, count=1)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise _doctype(archive.name, part)
    text = _ENTITY.sub(lambda found: found[0] if found[1] in _OF_XML else html5.get(found[1], found[0]), text)
    archive.count_elements(text.count("<") - text.count("</"))
    _check_nodes(archive, part, text.count("<") + text.count("="))
    parser = etree.XMLParser(encoding="utf-8", recover=True, **_OPTIONS)
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None


def checked(archive: Archive, part: str) -> Iterator[bytes]:
    """A part as UTF-8, its elements counted before they are built. Raises ManuscriptError."""
    last = b""
    for chunk in _utf8(archive, part, archive.chunks(part)):
        seen = last + chunk
        if b"<!DOCTYPE" in seen or b"<!ENTITY" in seen:
            raise _doctype(archive.name, part)
        archive.count_elements(chunk.count(b"<") - seen.count(b"</") + last.count(b"</"))
        last = seen[-8:]
        yield chunk


def _utf8(archive: Archive, part: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
    first = next(chunks, b"")
    encoding = _encoding_of(first)
    if encoding is None:
        raise damaged(archive.name, _("{part} has an encoding that is not known.").format(part=part))
    for bom, _name in _BOMS:
        first = first.removeprefix(bom)
    if encoding == "utf-8":
        yield first
        yield from chunks
        return
    for text in codecs.iterdecode(chain([first], chunks), encoding, "replace"):
        yield text.encode("utf-8", "replace")


def _encoding_of(first: bytes) -> str | None:
    for start, encoding in (*_BOMS, *_WITHOUT_BOM):
        if first.startswith(start):
            return encoding
    declared = _DECLARED.match(first[:300])
    if declared is None:
        return "utf-8"
    try:
        name = codecs.lookup(declared[1].decode("ascii")).name
    except LookupError:
        return None
    if name.startswith("utf-16"):  # the declaration is wrong: it could be read as single bytes
        return "utf-8"
    return name if name in _ENCODINGS else None


def _check_nodes(archive: Archive, part: str, nodes: int) -> None:
    """An element has one or two `<`; half of the bound is left for attributes."""
    if nodes > 2 * MOST_NODES_OF_A_TREE:
        raise too_large(archive.name, _("{part} has too many XML elements.").format(part=part))


def _doctype(name: str, part: str) -> ManuscriptError:
    return damaged(name, _("{part} defines entities (DOCTYPE), which no book needs.").format(part=part))


def _unreadable(archive: Archive, part: str, error: etree.XMLSyntaxError) -> ManuscriptError:
    reason = _("The XML of {part} is damaged ({reason}).").format(part=part[:80], reason=str(error.msg)[:200])
    return damaged(archive.name, reason)
