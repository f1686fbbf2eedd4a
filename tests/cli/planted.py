"""Hostile values for every column of a project's database, chosen with a seed, and what may be asked afterwards."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.store.file.blobs import pack, unpack

ESCAPE: Final = "\x1b]0;owned\x07\x1b[31m\x9b2J\x00\u202eoof"
LONG: Final = 200_000
_ROWS: Final = 40
IN_SEARCH: Final = ("passage_words_", "reference_words_", "sqlite_")
Json = Any


def tables(database: sqlite3.Connection) -> list[str]:
    """All tables but those that SQLite fills itself."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")
    return [name for (name,) in rows if not name.startswith(IN_SEARCH)]


def columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def hostile_values(outside: Path) -> list[object]:
    """One value of each kind that no program of good will writes."""
    near = [str(outside / "prey"), "../../../outside/prey", "file:///etc/passwd"]
    numbers = [None, -1, 0, 2**63 - 1, -(2**63), 1e308, float("inf")]
    texts = ["", "\x00", ESCAPE, "x" * LONG, "{", "[" * 5_000, "null", "NaN", '{"x": [7]}', "-7", "2026-13-45T99:00"]
    return [*numbers, *texts, *near, b"", b"\xff\xfe\x00", pack("[7]"), pack(ESCAPE), b"x\x9c" + b"\xff" * 40]


class Planter:
    """Plants values into a database; equal seeds plant equal ones."""

    def __init__(self, database: sqlite3.Connection, outside: Path, seed: str) -> None:
        self._database, self._random = database, random.Random(seed)
        self._values = hostile_values(outside)

    def fill(self, table: str) -> None:
        """Makes a row in an empty table: hostile as a whole, unless the table refuses such a row."""
        (count,) = self._database.execute(f"SELECT count(*) FROM {table}").fetchone()
        names = columns(self._database, table)
        for _try in range(20):
            if count:
                return
            values = [self._random.choice([1, "x", "{}", *self._values]) for _name in names]
            with suppress(sqlite3.Error):
                count = self._database.execute(
                    f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(names))})", values
                ).rowcount

    def spoil(self, table: str) -> list[str]:
        """One column of each row, and returns what was done."""
        about = self._database.execute(f"PRAGMA table_info({table})").fetchall()
        names, keys = [row[1] for row in about], [row[1] for row in about if row[5]]
        is_row, done = " AND ".join(f"{key} IS ?" for key in keys) or "rowid=?", list[str]()
        found = self._database.execute(f"SELECT {', '.join(keys) or 'rowid'} FROM {table} LIMIT {_ROWS}").fetchall()
        for row in found:
            column = self._random.choice(names)
            ((before,),) = self._database.execute(f"SELECT {column} FROM {table} WHERE {is_row}", row)
            value, sql = self._worse(before), "?"
            if isinstance(value, bytes) and self._random.random() < 0.3:
                sql = "CAST(? AS TEXT)"
            with suppress(sqlite3.Error):
                self._database.execute(f"UPDATE OR IGNORE {table} SET {column}={sql} WHERE {is_row}", (value, *row))
                done.append(f"{table}.{column}={str(value)[:40]!r}")
        return done

    def _worse(self, before: object) -> object:
        """Another value, or the same JSON or packed JSON with one part of another form."""
        choice = self._random.choice(self._values)
        if self._random.random() < 0.5 or not isinstance(before, str | bytes):
            return choice
        with suppress(ValueError, ProjectDamaged, RecursionError):
            spoiled = json.dumps(self._spoiled(json.loads(unpack(before))), ensure_ascii=True)
            return pack(spoiled) if isinstance(before, bytes) else spoiled
        return choice

    def _spoiled(self, value: Json) -> Json:
        """The value with one part replaced or taken away."""
        if isinstance(value, dict | list) and value and self._random.random() < 0.9:
            copy = dict(value) if isinstance(value, dict) else list(value)
            key = self._random.choice(sorted(copy) if isinstance(copy, dict) else range(len(copy)))
            if self._random.random() < 0.2:
                del copy[key]
            else:
                copy[key] = self._spoiled(copy[key])
            return copy
        worse = [-1, 1e308, None, [], {}, [[7]], "", ESCAPE, "\ud800", "\x00", "x" * 9_000, True, 2**80]
        return self._random.choice(worse)


def arguments(database: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    """For each question of a session what it is asked about; questions that need nothing are left out."""

    def one(sql: str) -> Any:
        row = database.execute(sql).fetchone()
        return row[0] if row is not None else "none"

    chapter, run = one("SELECT chapter FROM place"), one("SELECT id FROM run")
    workflow, node = one("SELECT id FROM workflow"), one("SELECT node FROM event WHERE node<>''")
    entity, output = one("SELECT id FROM entity"), one("SELECT id FROM curated")
    uri, talk = one("SELECT uri FROM derived"), f"talk-{one('SELECT number FROM conversation')}"
    target = {"workflow": workflow, "node": node, "chapter": chapter}
    request = {"workflow": workflow, "chapter": chapter}
    return {
        **{
            key: {"chapter": chapter} for key in ("chapter_text", "chapter_versions", "outside_text", "scenes", "blame")
        },
        "provenance": {"chapter": chapter, "line": 1},
        "kept_text": {"output": output},
        **{key: {"query": "river"} for key in ("search", "search_references")},
        "occurrences": {"words": "the"},
        "meta": {"name": "outline"},
        "reference_parts": {"book": one("SELECT id FROM reference")},
        **{key: {"uri": uri} for key in ("source", "profile")},
        **{key: {"entity": entity} for key in ("mentions", "companions")},
        **{key: {"wish": {"states": []}} for key in ("proposals", "findings")},
        "comments": {"wish": {}},
        "proposal": {"identity": one("SELECT id FROM proposal")},
        "pass_progress": {"of": "pace"},
        "proposed_rewrite": {"rewrite": 1},
        "workflow": {"reference": workflow},
        "workflow_versions": {"workflow": workflow},
        **{key: {"workflow": workflow, "chapter": chapter} for key in ("standing", "todo")},
        "versions": {"workflow": workflow, "node": node, "chapter": chapter},
        **{key: {"run": run} for key in ("run_details", "run_workflow", "replay")},
        **{key: {"run": run, "node": node} for key in ("node", "version_trace")},
        "quote": {"request": request},
        "preview_context": {"request": request, "node": node},
        **{key: {"target": target} for key in ("comparison", "quote_candidates", "quote_sifting")},
        **{key: {"target": target, "text": "One.\n\nTwo."} for key in ("quote_seams", "seam_changes")},
        "find_comparison": {"identity": one("SELECT id FROM comparison")},
        **{key: {"identity": talk} for key in ("conversation", "turns")},
        "ask_quote": {"text": "Who crossed the river?"},
    }
