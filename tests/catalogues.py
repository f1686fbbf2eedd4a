"""`make locale`: collects the words of the source, merges them into the catalogues and compiles those."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from textual.app import App
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Checkbox, Input, OptionList, Select, TextArea, Tree

import flowcabal_tui
from flowcabal_tui.nodes.registry import kinds

SOURCE = Path(flowcabal_tui.__file__).parent
FOLDER = SOURCE / "locale" / "zh_CN" / "LC_MESSAGES"
PO, MO = FOLDER / "flowcabal.po", FOLDER / "flowcabal.mo"
KEYWORDS = {"_": None, "mark": None, "ngettext": (1, 2)}
TEXTUAL = (App, Screen, TextArea, Input, Tree, OptionList, Select, Checkbox, VerticalScroll)
Words = str | tuple[str, ...] | list[str]


def words_of_textual() -> set[str]:
    """What Textual's own keys do: the help and the palette show them beside ours."""
    bases = {base for widget in TEXTUAL for base in widget.__mro__}
    keys = [key for base in bases for key in Binding.make_bindings(vars(base).get("BINDINGS", ()))]
    return {words for key in keys for words in (key.description, key.tooltip) if words}


def words_of_kinds() -> set[str]:
    """What the parameters of nodes are for: the form of a node shows it beside each field."""
    found: set[str] = set()
    waiting: list[Any] = [kind.params.model_json_schema() for kind in kinds().values()]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            found |= {about for about in (part.get("description"),) if isinstance(about, str)}
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return found


@cache
def collected() -> Catalog:
    """Every word in the source, in the order of files and lines, then those of parameters and of Textual."""
    catalog = Catalog(domain="flowcabal")
    found = extract_from_dir(str(SOURCE), [("**.py", "python")], keywords=KEYWORDS)
    for file, _line, message, _comments, _context in sorted(found, key=lambda item: (item[0], item[1])):
        catalog.add(message, locations=[(file, 0)])
    for words in sorted(words_of_kinds() | words_of_textual()):
        catalog.add(words)
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


def untranslated(catalog: Catalog) -> list[Words]:
    """The words that have no translation, or whose plural has a gap."""
    return [
        message.id
        for message in catalog
        if message.id and not (all(message.string or ("",)) if message.pluralizable else message.string)
    ]


def merged(catalog: Catalog) -> None:
    """Takes the words of the source into the catalogue: those that are gone go, new ones wait for a translation."""
    catalog.update(collected(), no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()


def save(catalog: Catalog) -> None:
    """Writes both files; the same catalogue gives the same bytes, whatever the time is."""
    with PO.open("wb") as file:
        write_po(file, catalog, no_location=True, sort_output=True, width=0)
    MO.write_bytes(compiled(stored()))


def main() -> None:
    """Merges, compiles, and tells what is missing."""
    catalog = stored()
    merged(catalog)
    save(catalog)
    missing = untranslated(catalog)
    print(f"{len(catalog)} words, {len(missing)} without a translation", *missing, sep="\n")


if __name__ == "__main__":
    main()
