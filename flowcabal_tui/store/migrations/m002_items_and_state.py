"""Outputs that are JSON, the project's state, current outputs of nodes, and stale marks."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    "ALTER TABLE result ADD COLUMN form TEXT NOT NULL DEFAULT 'text'",
    "ALTER TABLE outcome ADD COLUMN form TEXT NOT NULL DEFAULT 'text'",
    # a short output is kept beside its key too: one look-up instead of two
    "ALTER TABLE outcome ADD COLUMN short TEXT",
    "CREATE TABLE state (key TEXT PRIMARY KEY, working, stable, pending INTEGER NOT NULL) WITHOUT ROWID",
    # of a workflow (its id) for a chapter ('' for none): the current output of a node, a person's text for it, and
    # what is out of date because of which node (`source`)
    """CREATE TABLE standing (workflow TEXT NOT NULL, chapter TEXT NOT NULL, node TEXT NOT NULL, digest TEXT NOT NULL,
        form TEXT NOT NULL, frozen INTEGER NOT NULL, chosen INTEGER NOT NULL, run TEXT NOT NULL, made TEXT NOT NULL,
        at TEXT NOT NULL, PRIMARY KEY (workflow, chapter, node)) WITHOUT ROWID""",
    """CREATE TABLE edit (number INTEGER PRIMARY KEY, workflow TEXT NOT NULL, chapter TEXT NOT NULL, node TEXT NOT NULL,
        digest TEXT NOT NULL, form TEXT NOT NULL, base TEXT NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX edit_by_node ON edit (workflow, chapter, node)",
    """CREATE TABLE stale (workflow TEXT NOT NULL, chapter TEXT NOT NULL, node TEXT NOT NULL, source TEXT NOT NULL,
        reason TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (workflow, chapter, node, source)) WITHOUT ROWID""",
)
