"""`make locale`: collects the words of the source, merges them into the catalogues and compiles those."""

from __future__ import annotations

import io
import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

import flowcabal_tui

SOURCE = Path(flowcabal_tui.__file__).parent
FOLDER = SOURCE / "locale" / "zh_CN" / "LC_MESSAGES"
PO, MO = FOLDER / "flowcabal.po", FOLDER / "flowcabal.mo"
KEYWORDS = {"_": None, "mark": None, "ngettext": (1, 2)}
PLACE = re.compile(r"\{(\w*)[^{}]*\}")


def collected() -> Catalog:
    """Every word in the source, in the order of files and lines."""
    catalog = Catalog(domain="flowcabal")
    found = extract_from_dir(str(SOURCE), [("**.py", "python")], keywords=KEYWORDS)
    for file, _line, message, _comments, _context in sorted(found, key=lambda item: (item[0], item[1])):
        catalog.add(message, locations=[(file, 0)])
    return catalog


def stored() -> Catalog:
    """The Chinese catalogue as it lies in the package."""
    with PO.open("rb") as file:
        return read_po(file, locale="zh_CN")


def compiled(catalog: Catalog) -> bytes:
    """The catalogue as gettext loads it."""
    out = io.BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def main() -> None:
    """Merges; words that are gone are dropped, new ones wait for a translation."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    catalog = stored() if PO.exists() else Catalog(locale="zh_CN", domain="flowcabal")
    catalog.update(collected(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    with PO.open("wb") as file:
        write_po(file, catalog, no_location=True, omit_header=True, sort_output=True, width=0)
    MO.write_bytes(compiled(stored()))
    missing = [message.id for message in stored() if message.id and not message.string]
    print(f"{len(stored())} words, {len(missing)} without a translation")


if __name__ == "__main__":
    main()
