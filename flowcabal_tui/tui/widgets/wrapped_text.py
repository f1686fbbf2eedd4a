"""A growing text as rows of a given width: the cost of an addition depends on its own length."""

from __future__ import annotations

from bisect import bisect_right

from flowcabal_tui.tui.widgets.prose_wrap import wrap


class WrappedText:
    """Rows of a text; closed rows are kept, only the last row of the open paragraph is wrapped again."""

    def __init__(self, width: int = 80) -> None:
        self.width = max(1, width)
        self.rows: list[str] = []
        self.starts: list[int] = []

    @property
    def text(self) -> str:
        """The whole text."""
        return self.slice(0, len(self.rows) - 1)

    def end_of(self, row: int) -> int:
        """The offset after the last character of `row`, without its line end."""
        return self.starts[row] + len(self.rows[row])

    def append(self, text: str) -> int:
        """Adds `text`; returns the number of the first row that changed."""
        if not text:
            return len(self.rows)
        start, tail = (self.starts.pop(), self.rows.pop()) if self.rows else (0, "")
        first_changed = len(self.rows)
        for paragraph in (tail + text).split("\n"):
            for words in wrap(paragraph, self.width):
                self.rows.append(words)
                self.starts.append(start)
                start += len(words)
            start += 1
        return first_changed

    def clear(self) -> None:
        """Clears the text."""
        self.rows.clear()
        self.starts.clear()

    def rewrap(self, width: int) -> None:
        """Wraps the text for another width."""
        if (width := max(1, width)) != self.width:
            text = self.text
            self.clear()
            self.width = width
            self.append(text)

    def row_of(self, offset: int) -> int:
        """The row that contains the character at `offset` (the nearest one, outside the text)."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def slice(self, first: int, last: int) -> str:
        """The text of the rows `first` to `last`, both included."""
        text: list[str] = []
        for row in range(first, last + 1):
            if row > first and self.starts[row] > self.end_of(row - 1):
                text.append("\n")
            text.append(self.rows[row])
        return "".join(text)
