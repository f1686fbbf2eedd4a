"""The database's migrations: one function a release, in order. A released one is never changed; add the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from flowcabal_tui.domain.errors import ProjectReadOnly, ProjectTooNew
from flowcabal_tui.locale import _
from flowcabal_tui.store.migrations.m001_initial import m001_initial
from flowcabal_tui.store.migrations.m002_items_and_state import m002_items_and_state
from flowcabal_tui.store.migrations.m003_story import m003_story
from flowcabal_tui.store.migrations.m004_money import m004_money
from flowcabal_tui.store.migrations.m005_drafts_and_rewrites import m005_drafts_and_rewrites
from flowcabal_tui.store.migrations.m006_proposals import m006_proposals
from flowcabal_tui.store.migrations.m007_sent_requests import m007_sent_requests
from flowcabal_tui.store.migrations.m008_conversations import m008_conversations
from flowcabal_tui.store.migrations.m009_findings import m009_findings
from flowcabal_tui.store.migrations.m010_comparisons import m010_comparisons
from flowcabal_tui.store.migrations.m011_comments import m011_comments
from flowcabal_tui.store.migrations.m012_locks_and_passes import m012_locks_and_passes
from flowcabal_tui.store.migrations.m013_proposed_rewrites import m013_proposed_rewrites
from flowcabal_tui.store.migrations.m014_changes import m014_changes
from flowcabal_tui.store.migrations.m015_place_words import m015_place_words
from flowcabal_tui.store.migrations.m016_own_kinds import m016_own_kinds
from flowcabal_tui.store.migrations.m017_note_words import m017_note_words

MIGRATIONS: Final[tuple[Callable[[sqlite3.Connection], None], ...]] = (
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
    """Migrates the file to the newest format, each step in a transaction of its own."""
    done = version_of(connection)
    for number, step in enumerate(MIGRATIONS[done:], done + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            step(connection)
            connection.execute(f"PRAGMA user_version={number}")
            connection.execute("COMMIT")
        except BaseException:  # cut off or failed, the file stays at the format before
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
