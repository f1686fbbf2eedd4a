"""The head of a pane: facts on as many rows as they need."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from flowcabal_tui.tui.widgets.role_words import fold_facts, wrapped


class FactsText(Static):
    """Rows end between two facts. A fact that is longer than a row is wrapped like a sentence."""

    def __init__(self, words: Content | str = "", *, classes: str | None = None) -> None:
        super().__init__(words, markup=False, classes=classes)
        self._facts = words if isinstance(words, Content) else Content(words)

    def show(self, *lines: Content | str) -> None:
        """Shows other lines of facts; they are never markup."""
        self._facts = Content("\n").join(each if isinstance(each, Content) else Content(each) for each in lines)
        self._fold()

    def on_resize(self) -> None:
        """Divides the facts for the new width."""
        self._fold()

    def _fold(self) -> None:
        if (width := self.content_size.width) > 0:
            lines = self._facts.split("\n", allow_blank=True)
            rows = [row for line in lines for facts in fold_facts(line, width) for row in wrapped(facts, width)]
            self.update(Content("\n").join(rows))
