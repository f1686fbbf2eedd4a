"""Comparisons of candidates: the seed of their order, the verdict, the winners, and the sources of paragraphs."""

from __future__ import annotations

from typing import Final

STATEMENTS: Final = (
    # `chapter` is '' for none; `body` is what lists show, as JSON without texts; `before` is what stood for the step,
    # `after` what stands by the choice; `verdict` is JSON, '' while it is open
    """CREATE TABLE comparison (id TEXT PRIMARY KEY, workflow TEXT NOT NULL, node TEXT NOT NULL, chapter TEXT NOT NULL,
        question TEXT NOT NULL, seed INTEGER NOT NULL, state TEXT NOT NULL, verdict TEXT NOT NULL, before TEXT NOT NULL,
        after TEXT NOT NULL, body TEXT NOT NULL, at TEXT NOT NULL)""",
    "CREATE INDEX comparison_by_chapter ON comparison (chapter, state)",
    """CREATE TABLE comparison_result (comparison TEXT NOT NULL, candidate TEXT NOT NULL, result TEXT NOT NULL,
        model TEXT NOT NULL, prompt TEXT NOT NULL, prompt_name TEXT NOT NULL, sampling TEXT NOT NULL,
        PRIMARY KEY (comparison, candidate)) WITHOUT ROWID""",
    # a paragraph of the result; `number` is its paragraph in the candidate, from 0, `changed` 1 where a hand changed it
    """CREATE TABLE comparison_part (comparison TEXT NOT NULL, paragraph TEXT NOT NULL, candidate TEXT NOT NULL,
        number INTEGER NOT NULL, changed INTEGER NOT NULL, maker TEXT NOT NULL,
        PRIMARY KEY (comparison, paragraph)) WITHOUT ROWID""",
    # what a sifting found in a candidate: its checks as JSON
    """CREATE TABLE comparison_check (comparison TEXT NOT NULL, candidate TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (comparison, candidate)) WITHOUT ROWID""",
)
