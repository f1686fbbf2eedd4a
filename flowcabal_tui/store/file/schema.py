"""The allowed schema of a project's database: that of the migrations, without anything that acts on its own.

A stranger's triggers, views and virtual tables would run inside our statements.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from typing import Any, Final

from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.store.file.faults import damaged
from flowcabal_tui.store.migrations import MIGRATIONS

CAUTION: Final = ("PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON")
"""The first statements of each connection: no functions with effects in a schema, no page pointers outside the file."""
SCHEMA: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_OF_SQLITE: Final = "sqlite_"
_SHOWN: Final = 5
_LONGEST: Final = 80
CURRENT: Final = "ae927df41ce1a7133c5e3fd07e1c8ad8dc6a9039bdf7badd62436c11fad2de8d"
"""`digest` of what all migrations make: with a file that has it, no schema is made to compare with (17 ms)."""
_OF_SEARCHES: Final = frozenset(
    f"{search}_{part}"
    for search in ("passage_words", "reference_words")
    for part in ("data", "idx", "docsize", "config")
)
"""Tables that the full-text search creates itself, as its version in SQLite needs them."""


def require_own_schema(rows: Iterable[tuple[Any, ...]], version: int) -> None:
    """`rows` are those of SCHEMA in a file of this format. Raises ProjectDamaged with the names of foreign entries."""
    rows = list(rows)
    if version == len(MIGRATIONS) and digest(rows) == CURRENT:
        return
    foreign = [str(row[1]) for row in rows if not _is_ours(row, version)]
    if foreign:
        names = _(", ").join(clean_line(name)[:_LONGEST] for name in foreign[:_SHOWN])
        raise damaged(_("It has parts that this program did not make: {names}.").format(names=names))


def digest(rows: Iterable[tuple[Any, ...]]) -> str:
    """A value that is the same for equal schemas; what SQLite adds itself does not count, as in `_is_ours`."""
    kept = sorted(
        (str(kind), str(name), str(table), "" if str(name) in _OF_SEARCHES else _plain(str(sql or "")))
        for kind, name, table, sql in rows
        if not (kind in ("table", "index") and str(name).startswith(_OF_SQLITE))
    )
    return sha256(repr(kept).encode("utf-8", "surrogatepass")).hexdigest()


def _is_ours(row: tuple[Any, ...], version: int) -> bool:
    kind, name, table, sql = (str(value or "") for value in row)
    if name.startswith(_OF_SQLITE):  # SQLite reserves these names: counters, statistics, indexes of keys
        return kind in ("table", "index")
    expected = _made(version).get((kind, name, table))
    return expected is not None and (_is_inside_search(name, version) or expected == _plain(sql))


def _is_inside_search(name: str, version: int) -> bool:
    """True for the tables that the full-text search creates itself, as its version in SQLite needs them."""
    searches = [name for (_kind, name, _table), sql in _made(version).items() if sql.startswith("create virtual")]
    return any(name.startswith(f"{search}_") for search in searches)


@cache
def _made(version: int) -> dict[tuple[str, str, str], str]:
    """The schema after the migrations up to a format."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for step in MIGRATIONS[:version]:
            step(connection)
        rows = connection.execute(SCHEMA).fetchall()
    return {(kind, name, table): _plain(sql or "") for kind, name, table, sql in rows}


def _plain(sql: str) -> str:
    """The statement without details that SQLite may change when it renames something."""
    return " ".join(sql.replace('"', "").split()).lower()
