"""The package of an EPUB 2 or 3 book: its reading order, and its table of contents."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from lxml import etree

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.archive import Archive
from flowcabal_tui.manuscript.xml_input import Element, attribute, local, page, tree

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_FONT_MANGLING: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES: Final = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_FRONT: Final = frozenset({"cover", "toc", "title-page", "titlepage"})
"""Types in the guide (EPUB 2) and in landmarks (EPUB 3) whose pages are not part of the novel."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents; `depth` counts from 1. `fragment` is "" for the start of the file."""

    title: str
    file: str
    fragment: str
    depth: int


@dataclass(frozen=True, slots=True)
class Package:
    """`pages` are parts of the archive in reading order; `front` are those of them that only present the book."""

    pages: tuple[str, ...]
    contents: tuple[Entry, ...]
    front: frozenset[str]


def read_package(archive: Archive) -> Package:
    """Reads the package. Raises ManuscriptError: not an EPUB, copy-protected, or damaged."""
    if _CONTAINER not in archive:
        raise _no_epub(archive, _("{part} is missing.").format(part=_CONTAINER))
    _check_protection(archive)
    root_file = next((el for el in tree(archive, _CONTAINER).iter() if local(el) == "rootfile"), None)
    opf = "" if root_file is None else (attribute(root_file, "full-path") or "")
    if opf not in archive:
        raise _no_epub(archive, _("It does not say where its package file is."))
    root = tree(archive, opf)
    items = {
        attribute(item, "id") or "": (_inside(opf, attribute(item, "href") or ""), item)
        for item in root.iter()
        if local(item) == "item"
    }
    spine = next((el for el in root.iter() if local(el) == "spine"), None)
    if spine is None:
        raise _no_epub(archive, _("It does not define a reading order."))
    nav = next((path for path, item in items.values() if "nav" in (attribute(item, "properties") or "").split()), "")
    ncx = items.get(attribute(spine, "toc") or "", ("", None))[0] or next(
        (path for path, item in items.values() if attribute(item, "media-type") == "application/x-dtbncx+xml"), ""
    )
    pages = tuple(
        items[name][0]
        for ref in spine
        if local(ref) == "itemref"
        and (name := attribute(ref, "idref") or "") in items
        and (attribute(items[name][1], "media-type") or _PAGES[0]) in _PAGES
    )
    contents, front = _nav(archive, nav) if nav in archive else ((), frozenset[str]())
    if not contents and ncx in archive:
        contents = _ncx(archive, ncx)
    guided = {
        _inside(opf, attribute(el, "href") or "")
        for el in root.iter()
        if local(el) == "reference" and (attribute(el, "type") or "").lower() in _FRONT
    }
    return Package(pages, contents, (front | guided | {nav}) - _with_chapters(contents))


def target(base: str, href: str) -> tuple[str, str]:
    """The part and the fragment to which a link in the part `base` leads."""
    path, _hash, fragment = href.partition("#")
    return (_inside(base, path) if path else base), unquote(fragment)


def _with_chapters(contents: tuple[Entry, ...]) -> frozenset[str]:
    """Files with several entries: a title page in one file with the text is no separate page."""
    return frozenset(file for file, entries in Counter(entry.file for entry in contents).items() if entries > 1)


def _nav(archive: Archive, part: str) -> tuple[tuple[Entry, ...], frozenset[str]]:
    root = page(archive, part)
    contents: list[Entry] = []
    front: set[str] = set()
    for nav in () if root is None else root.iter():
        if local(nav) != "nav":
            continue
        kind = (attribute(nav, "type") or "").split()
        for depth, line, found in _list_items(nav):
            path, fragment = target(part, attribute(line, "href") or "") if local(line) == "a" else ("", "")
            if "toc" in kind and found:
                contents.append(Entry(found, path, fragment, depth))
            elif "landmarks" in kind and set((attribute(line, "type") or "").split()) & _FRONT:
                front.add(path)
    return tuple(contents), frozenset(front)


def _list_items(nav: Element) -> Iterator[tuple[int, Element, str]]:
    """Depth from 1, link or caption, and words of every item of the nested lists."""
    depth = 0
    for event, element in etree.iterwalk(nav, events=("start", "end")):
        if local(element) == "ol":
            depth += 1 if event == "start" else -1
        elif local(element) == "li" and event == "start":
            line = next((child for child in element if local(child) in ("a", "span")), None)
            if line is not None:
                yield depth, line, _words(line)


def _ncx(archive: Archive, part: str) -> tuple[Entry, ...]:
    root = page(archive, part)
    found: list[Entry] = []
    depth = 0
    for event, point in () if root is None else etree.iterwalk(root, events=("start", "end")):
        if local(point) != "navPoint":
            continue
        depth += 1 if event == "start" else -1
        if event == "end":
            continue
        label = next((child for child in point if local(child) == "navLabel"), None)
        source = next((child for child in point if local(child) == "content"), None)
        if label is None or not (title := _words(label)):
            continue
        path, fragment = target(part, "" if source is None else attribute(source, "src") or "")
        found.append(Entry(title, path, fragment, depth))
    return tuple(found)


def _words(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _inside(base: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(href.partition("#")[0])))


def _check_protection(archive: Archive) -> None:
    """Fonts may be mangled; anything else that is encrypted is copy protection."""
    if _ENCRYPTION not in archive:
        return
    methods = {
        attribute(el, "Algorithm") for el in tree(archive, _ENCRYPTION).iter() if local(el) == "EncryptionMethod"
    }
    if methods - set(_FONT_MANGLING):
        raise ManuscriptError(
            _("This book is copy-protected (DRM): {name}").format(name=archive.name),
            _("Nothing was read."),
            _("Import a copy without copy protection."),
        )


def _no_epub(archive: Archive, reason: str) -> ManuscriptError:
    return ManuscriptError(
        _("This is not an EPUB book: {name}").format(name=archive.name),
        reason,
        _("Convert it again, or import it as TXT."),
    )
