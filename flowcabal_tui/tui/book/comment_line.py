"""The comment on the passage in view, below the text."""

from __future__ import annotations

from textual.widgets import Static


class CommentLine(Static):
    """Shows a comment; hidden while it is empty."""

    DEFAULT_CSS = """
    CommentLine { display: none; height: auto; max-height: 3; padding: 0 1; }
    CommentLine.-shown { display: block; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.words = ""

    def show(self, words: str) -> None:
        """Shows these words; "" hides the line."""
        if words != self.words:
            self.words = words
            self.set_class(bool(words), "-shown")
            self.update(words)
