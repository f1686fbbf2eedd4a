"""Kinds and fields of names defined by the writer."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    "ALTER TABLE entity ADD COLUMN own_kind TEXT NOT NULL DEFAULT ''",
    # a list of [name, value]
    "ALTER TABLE entity ADD COLUMN fields TEXT NOT NULL DEFAULT '[]'",
)
