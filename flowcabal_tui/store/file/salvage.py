"""Finds the intact data of a damaged database: texts that match their digests, and the rows that refer to them.

Rows are recognised by their form instead of their table, so a lost schema loses nothing else. Times, titles and numbers
have no digest and are taken unverified.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.text import digest
from flowcabal_tui.store.file.foreign_log import has_foreign_log
from flowcabal_tui.store.file.pages import Pages, RowStart, Value

_DIGEST: Final = re.compile(r"[0-9a-f]{32}")
_IDENTITY: Final = re.compile(r"[0-9a-z][0-9a-z_/-]{0,79}")
_LARGEST_TEXT: Final = 64 << 20
_MODES: Final = ("replace", "append", "replay")
_HANDS: Final = ("human", "model", "import", "outside")
_KINDS: Final = ("character", "location", "plot-thread", "item", "organisation")


@dataclass(frozen=True, slots=True)
class FoundVersion:
    """A version of a text; `number` counts from 1.

    `subject` is a chapter's id, `meta/<name>`, `entity/<id>` or `scene/<chapter>`.
    """

    subject: str
    number: int
    digest: Digest
    author: str
    note: str
    at: str


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """The place of a chapter as of a generation."""

    chapter: ChapterId
    generation: int
    position: int
    title: str
    volume: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A name in the book."""

    identity: str
    generation: int
    kind: str
    name: str
    aliases: str
    note: str
    by: str
    removed: bool
    own_kind: str = ""
    fields: str = "[]"


@dataclass
class SalvagedData:
    """All readable data. `texts` are intact: each matches its digest."""

    pages: int = 0
    header_is_whole: bool = False
    has_foreign_log: bool = False
    """True when the log beside the file belongs to another one, so that it was not read."""
    damaged_texts: int = 0
    versions: dict[tuple[str, int], FoundVersion] = field(default_factory=dict)
    places: dict[ChapterId, FoundPlace] = field(default_factory=dict)
    entities: dict[str, FoundEntity] = field(default_factory=dict)
    texts: dict[Digest, RowStart] = field(default_factory=dict)
    comments: list[tuple[Value, ...]] = field(default_factory=list)
    findings: list[tuple[Value, ...]] = field(default_factory=list)
    locks: list[tuple[Value, ...]] = field(default_factory=list)
    note_words: list[tuple[Value, ...]] = field(default_factory=list)
    """Rows that have the form of comments, findings, locks of chapters and words on notes; see `store.rows.salvaged`.
    Comments and words begin with their numbers."""


class Salvage:
    """Reads a database file as far as possible. Use it in a `with` statement. Raises OSError."""

    def __init__(self, file: Path) -> None:
        is_foreign = file.exists() and file.stat().st_size > 0 and has_foreign_log(file)
        self._pages = Pages(file, None if is_foreign else file.with_name(f"{file.name}-wal"))
        self.found = SalvagedData(self._pages.count, self._pages.header_is_whole, is_foreign)

    def __enter__(self) -> Salvage:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pages.__exit__()

    def read(self) -> SalvagedData:
        """Reads all pages once; texts are checked and not kept in memory."""
        damaged: set[str] = set()
        for place, row in self._pages.rows():
            match len(row):
                case 2:
                    self._text(place, row, damaged)
                case 6 if row[0] is None:
                    self.found.note_words.append((self._pages.number(place), *row[1:]))
                case 6:
                    self._place(row)
                case 11 if row[0] is None:
                    self.found.comments.append((self._pages.number(place), *row[1:]))
                case 11:
                    self._version(row)
                case 4:
                    self.found.locks.append(row)
                case 23 if row[2] == "finding":
                    self.found.findings.append(row)
                case 8 | 9 | 10 | 12:
                    self._entity(row)
        self.found.damaged_texts = len(damaged - self.found.texts.keys())
        return self.found

    def text(self, name: Digest) -> str:
        """An intact text. Raises KeyError if it was not found."""
        row = self._pages.row(self.found.texts[name])
        text = _unpacked(row[1]) if row is not None and len(row) == 2 else None
        if text is None or digest(text) != name:
            raise KeyError(name)
        return text

    def _text(self, place: RowStart, row: tuple[Value, ...], damaged: set[str]) -> None:
        name, body = row
        if not isinstance(name, str) or not _DIGEST.fullmatch(name) or not isinstance(body, str | bytes):
            return
        text = _unpacked(body)
        if text is not None and digest(text) == name:
            self.found.texts[Digest(name)] = place
        else:
            damaged.add(name)

    def _place(self, row: tuple[Value, ...]) -> None:
        if not _fits(row, (str, int, int, str, str, int)) or row[5] not in (0, 1) or not _is_identity(row[0]):
            return
        place = FoundPlace(ChapterId(str(row[0])), _int(row[1]), _int(row[2]), str(row[3]), str(row[4]), bool(row[5]))
        known = self.found.places.get(place.chapter)
        if known is None or known.generation <= place.generation:
            self.found.places[place.chapter] = place

    def _version(self, row: tuple[Value, ...]) -> None:
        fits = _fits((*row[:6], *row[7:]), (str, int, str, str, str, str, str, int, int, str))
        if (
            not fits
            or row[4] not in _MODES
            or row[5] not in _HANDS
            or not _is_identity(row[0])
            or not _is_time(row[10])
        ):
            return
        if _DIGEST.fullmatch(str(row[2])) and _int(row[1]) > 0:
            version = FoundVersion(
                str(row[0]), _int(row[1]), Digest(str(row[2])), str(row[5]), str(row[7]), str(row[10])
            )
            self.found.versions[version.subject, version.number] = version

    def _entity(self, row: tuple[Value, ...]) -> None:
        if not _fits(row[:8], (str, int, str, str, str, str, str, int)) or row[2] not in _KINDS:
            return
        noted = (str(row[10]), str(row[11])) if len(row) > 11 and _fits(row[10:12], (str, str)) else ()
        entity = FoundEntity(
            *(str(row[0]), _int(row[1]), str(row[2]), str(row[3]), str(row[4]), str(row[5]), str(row[6])),
            bool(row[7]),
            *noted,
        )
        known = self.found.entities.get(entity.identity)
        if known is None or known.generation <= entity.generation:
            self.found.entities[entity.identity] = entity


def _unpacked(body: Value) -> str | None:
    """The original text of a stored body; None when it cannot be read or is too large."""
    if isinstance(body, str):
        return body
    if not isinstance(body, bytes):
        return None
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(body, _LARGEST_TEXT)
        return data.decode("utf-8", "surrogatepass") if unpacker.eof else None
    except (zlib.error, UnicodeDecodeError):
        return None


def _fits(row: Iterable[Value], kinds: Iterable[type]) -> bool:
    return all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True))


def _int(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _is_identity(value: Value) -> bool:
    return isinstance(value, str) and _IDENTITY.fullmatch(value) is not None


def _is_time(value: Value) -> bool:
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        return False
    return True
