"""Rows are columns: no row of a list or a tree chains its parts, in any test that fills one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.visual import VisualType
from textual.widgets import Tree
from textual.widgets.option_list import Option

CHAIN = " · "


@pytest.fixture(autouse=True)
def rows_chain_nothing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Fails the test whose lists or trees had a row with a chain; yields these rows."""
    chained: list[str] = []
    made, worded, labelled = Option.__init__, Option._set_prompt, Tree.process_label

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

    monkeypatch.setattr(Option, "__init__", make)
    monkeypatch.setattr(Option, "_set_prompt", word)
    monkeypatch.setattr(Tree, "process_label", label)
    yield chained
    assert chained == [], chained
