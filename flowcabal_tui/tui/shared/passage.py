"""An excerpt of a chapter around the words of a row in a list."""

from __future__ import annotations

from typing import Final

from textual.content import Content, Span

from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.tui.widgets.roles import Role, role_style

_AROUND: Final = 400
"""Characters of the paragraph before and after the words."""


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    """An excerpt of a text; the characters from `start` to `end` are the words in question."""

    text: str
    start: int
    end: int

    def shown(self, role: Role = "quoted") -> Content:
        """The excerpt with its words in a role."""
        words = [self.text[: self.start], self.text[self.start : self.end], self.text[self.end :]]
        before, cited, after = (clean(part) for part in words)
        text = Content(before + cited + after)
        return text.add_spans([Span(len(before), len(before) + len(cited), role_style(role))])


def passage_at(text: str, start: int, end: int) -> MarkedPassage | None:
    """The paragraph around a place of a text; None where the text has no such place."""
    if not 0 <= start < end <= len(text):
        return None
    first = max(text.rfind("\n", 0, start) + 1, start - _AROUND)
    newline = text.find("\n", end)
    last = min(newline if newline >= 0 else len(text), end + _AROUND)
    return MarkedPassage(text[first:last], start - first, end - first)
