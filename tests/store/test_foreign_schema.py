"""A stranger's database holds nothing that would act inside our statements."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.store import migrations
from flowcabal_tui.store.file import schema
from flowcabal_tui.store.migrations import MIGRATIONS

FOREIGN = {
    "a trigger": "CREATE TRIGGER bite AFTER INSERT ON blob BEGIN DELETE FROM place; END",
    "a view": "CREATE VIEW spy AS SELECT * FROM blob",
    "a view in the place of a table": "ALTER TABLE workflow RENAME TO old; CREATE VIEW workflow AS SELECT * FROM old",
    "a virtual table": "CREATE VIRTUAL TABLE bite USING fts5 (words)",
    "a computed column": "ALTER TABLE value ADD COLUMN bite GENERATED ALWAYS AS (hex(zeroblob(99))) VIRTUAL",
    "an index over an expression": "CREATE INDEX bite ON blob (hex(body))",
    "a name with control sequences": 'CREATE VIEW "bite\x1b]0;owned\x07" AS SELECT 1',
}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN)
async def test_what_the_program_did_not_make_keeps_the_database_closed(store, reopen, folder, change, read_only):
    await store.close()
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as connection:
        connection.executescript(change)
    with pytest.raises(ProjectDamaged) as refused:
        await reopen(read_only=read_only)
    assert "did not make" in refused.value.detail and "\x1b" not in refused.value.detail


async def test_a_database_that_says_it_is_new_and_is_not_gets_no_migration(folder, reopen):
    (folder / ".flowcabal").mkdir(parents=True)
    path = folder / ".flowcabal" / "project.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FOREIGN["a view"].replace("blob", "sqlite_schema"))
    with pytest.raises(ProjectDamaged):
        await reopen()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("spy",)]


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
async def test_a_database_of_an_older_program_is_opened_with_its_statistics(folder, reopen, version):
    (folder / ".flowcabal").mkdir(parents=True)
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db", isolation_level=None)) as connection:
        for number, step in enumerate(MIGRATIONS[:version], 1):
            step(connection)
            connection.execute(f"PRAGMA user_version={number}")
        connection.execute("ANALYZE")
    assert await (await reopen()).journal.put_text("here")


async def test_a_migration_that_fails_leaves_an_older_database_as_it_was(folder, reopen, monkeypatch):
    class CutOff(Exception):
        pass

    def cut_off(_connection: sqlite3.Connection) -> None:
        raise CutOff

    (folder / ".flowcabal").mkdir(parents=True)
    path = folder / ".flowcabal" / "project.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for step in MIGRATIONS[:5]:
            step(connection)
        connection.execute("PRAGMA user_version=5")
        before = connection.execute(schema.SCHEMA).fetchall()
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS[:-1], cut_off))
    with pytest.raises(CutOff):
        await reopen()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (5,)
        assert connection.execute(schema.SCHEMA).fetchall() == before
    monkeypatch.undo()
    assert await (await reopen()).journal.put_text("here")


def test_the_digest_is_that_of_all_migrations():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for step in MIGRATIONS:
            step(connection)
        assert schema.digest(connection.execute(schema.SCHEMA).fetchall()) == schema.CURRENT


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN)
def test_the_digest_tells_a_foreign_part(change):
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for step in MIGRATIONS:
            step(connection)
        connection.executescript(change)
        assert schema.digest(connection.execute(schema.SCHEMA).fetchall()) != schema.CURRENT


async def test_a_present_database_is_opened_without_making_a_schema(store, reopen, monkeypatch):
    await store.close()

    def none(version: int) -> dict[tuple[str, str, str], str]:
        raise AssertionError(f"a schema of format {version} was made")

    monkeypatch.setattr(schema, "_made", none)
    assert await (await reopen()).journal.put_text("here")
