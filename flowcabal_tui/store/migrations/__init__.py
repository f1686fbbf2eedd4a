"""The database's migrations: one module a release, in order. A released one is never changed; add the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Final

from flowcabal_tui.domain.errors import ProjectReadOnly, ProjectTooNew
from flowcabal_tui.locale import _
from flowcabal_tui.store.migrations import (
    m001_initial,
    m002_items_and_state,
    m003_story,
    m004_money,
    m005_drafts_and_rewrites,
    m006_proposals,
    m007_sent_requests,
    m008_conversations,
    m009_findings,
    m010_comparisons,
    m011_comments,
    m012_locks_and_passes,
    m013_proposed_rewrites,
    m014_changes,
    m015_place_words,
    m016_own_kinds,
    m017_note_words,
)


def _executing(statements: Iterable[str]) -> Callable[[sqlite3.Connection], None]:
    def execute(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return execute


def _proposals(connection: sqlite3.Connection) -> None:
    _executing(m006_proposals.STATEMENTS)(connection)
    m006_proposals.add_names(connection)


MIGRATIONS: Final[tuple[Callable[[sqlite3.Connection], None], ...]] = (
    _executing(m001_initial.STATEMENTS),
    _executing(m002_items_and_state.STATEMENTS),
    _executing(m003_story.STATEMENTS),
    _executing(m004_money.STATEMENTS),
    _executing(m005_drafts_and_rewrites.STATEMENTS),
    _proposals,
    _executing(m007_sent_requests.STATEMENTS),
    _executing(m008_conversations.STATEMENTS),
    _executing(m009_findings.STATEMENTS),
    _executing(m010_comparisons.STATEMENTS),
    _executing(m011_comments.STATEMENTS),
    _executing(m012_locks_and_passes.STATEMENTS),
    _executing(m013_proposed_rewrites.STATEMENTS),
    _executing(m014_changes.STATEMENTS),
    _executing(m015_place_words.STATEMENTS),
    _executing(m016_own_kinds.STATEMENTS),
    _executing(m017_note_words.STATEMENTS),
)


def version_of(connection: sqlite3.Connection) -> int:
    """The format of the file; 0 when it is new."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def require_known(version: int) -> None:
    """Raises ProjectTooNew for a file of a later program."""
    if version > len(MIGRATIONS):
        raise ProjectTooNew(
            _("The project was written by a newer FlowCabal."),
            _("Its database has format {version}; this program knows up to {known}.").format(
                version=version, known=len(MIGRATIONS)
            ),
            _("Install the newer version to open it. Nothing was changed."),
        )


def require_current(version: int) -> None:
    """Raises ProjectReadOnly when the file must be migrated before it can be read."""
    if version < len(MIGRATIONS):
        raise ProjectReadOnly(
            _("The project was written by an older FlowCabal."),
            _("Its database must be upgraded, which is not possible in read-only mode."),
            _("Open it for writing once."),
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Migrates the file to the newest format in one transaction: cut off or failed, it stays at the format before."""
    done = version_of(connection)
    if done == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[done:]:
            step(connection)
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:  # interrupted or failed: the file stays at the format before
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
