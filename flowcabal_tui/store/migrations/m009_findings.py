"""Findings of checks among the proposals, and the checked text of each chapter."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `against` is the chapter of the second passage ('': none), `lost` 1 where the first quotation is gone, 2 where the
    # second is, 3: both; `word` is the writer's reason
    "ALTER TABLE proposal ADD COLUMN against TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE proposal ADD COLUMN sure INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE proposal ADD COLUMN lost INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE proposal ADD COLUMN word TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX proposal_by_against ON proposal (against) WHERE against<>''",
    "CREATE INDEX proposal_findings ON proposal (state, chapter, against, sure, number) WHERE kind='finding'",
    # `digest` is the text that was checked, `body` the outcome of each check, without the findings
    "CREATE TABLE checked (chapter TEXT PRIMARY KEY, digest TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL)",
)
