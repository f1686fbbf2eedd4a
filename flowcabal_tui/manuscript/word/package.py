"""The parts of a Word document, found by relationships and never by their usual names."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.archive import Archive
from flowcabal_tui.manuscript.xml_input import attribute, local, tree

_TYPES: Final = "[Content_Types].xml"
_MAIN: Final = ("document.main+xml", "template.main+xml")


@dataclass(frozen=True, slots=True)
class WordParts:
    """The main part, and the others by the last word of their relationship type; `margins` are headers and footers."""

    main: str
    related: Mapping[str, str]
    margins: tuple[str, ...]


def find_parts(archive: Archive) -> WordParts:
    """The parts of an archive. Raises ManuscriptError: not a Word document, or damaged."""
    if _TYPES not in archive:
        raise _no_document(archive, _("{part} is missing.").format(part=_TYPES))
    main = next((path for kind, path in _relations(archive, "") if kind == "officeDocument"), "")
    if main not in archive:
        raise _no_document(archive, _("It does not say where its text is."))
    kinds = {
        (attribute(one, "PartName") or "").lstrip("/"): attribute(one, "ContentType") or ""
        for one in tree(archive, _TYPES)
        if local(one) == "Override"
    }
    if not kinds.get(main, _MAIN[0]).endswith(_MAIN):
        raise _no_document(archive, _("Its content type is {name}.").format(name=kinds[main][:100]))
    relations = _relations(archive, main)
    margins = tuple(path for kind, path in relations if kind in ("header", "footer") and path in archive)
    return WordParts(main, {kind: path for kind, path in relations if path in archive}, margins)


def _relations(archive: Archive, part: str) -> list[tuple[str, str]]:
    """Kind and path of the parts that a part ("" for the package) refers to inside the package."""
    folder, name = posixpath.split(part)
    listed = posixpath.join(folder, "_rels", f"{name}.rels")
    if listed not in archive:
        return []
    return [
        ((attribute(one, "Type") or "").rpartition("/")[2], _resolved(folder, attribute(one, "Target") or ""))
        for one in tree(archive, listed)
        if local(one) == "Relationship" and attribute(one, "TargetMode") != "External"
    ]


def _resolved(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def _no_document(archive: Archive, reason: str) -> ManuscriptError:
    return ManuscriptError(
        _("This is not a Word document: {name}").format(name=archive.name),
        reason,
        _("Save it as DOCX again, or as TXT, and import that."),
    )
