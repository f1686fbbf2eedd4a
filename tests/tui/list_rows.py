"""Rows are columns and lines are facts apart from each other: no row and no line chains its parts, in any test."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from textual.visual import VisualType
from textual.widgets import Static, Tree
from textual.widgets.option_list import Option

CHAIN = " · "
RAW_KEY = re.compile(r"`[^`\n]{1,12}`")
"""A key in backticks, as messages name it; on the screen it has the key role instead."""


@pytest.fixture(autouse=True)
def rows_chain_nothing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Fails the test whose lists, trees or lines had a chain, or a line a key in backticks; yields these words."""
    chained: list[str] = []
    made, worded, labelled = Option.__init__, Option._set_prompt, Tree.process_label
    begun, updated = Static.__init__, Static.update

    def look(prompt: object) -> None:
        if CHAIN in (words := str(prompt)):
            chained.append(words)

    def make(self: Option, prompt: VisualType, *given: object, **named: object) -> None:
        look(prompt)
        made(self, prompt, *given, **named)

    def word(self: Option, prompt: VisualType) -> None:
        look(prompt)
        worded(self, prompt)

    def label(self: Tree[object], words: str) -> object:
        look(words)
        return labelled(self, words)

    def look_at_line(content: object) -> None:
        look(content)
        if RAW_KEY.search(words := str(content)):
            chained.append(words)

    def begin(self: Static, content: VisualType = "", **named: object) -> None:
        look_at_line(content)
        begun(self, content, **named)

    def update(self: Static, content: VisualType = "", **named: object) -> None:
        look_at_line(content)
        updated(self, content, **named)

    monkeypatch.setattr(Static, "__init__", begin)
    monkeypatch.setattr(Static, "update", update)
    monkeypatch.setattr(Option, "__init__", make)
    monkeypatch.setattr(Option, "_set_prompt", word)
    monkeypatch.setattr(Tree, "process_label", label)
    yield chained
    assert chained == [], chained
