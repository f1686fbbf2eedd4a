"""An excerpt of a chapter around the words of a row in a list."""

from __future__ import annotations

from typing import Final

from textual.content import Content, Span

from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.tui.widgets.roles import Role, role_style

_AROUND: Final = 400
"""Characters of the paragraph before and after the words."""
_LONGEST_WORD: Final = 20
"""A cut text ends at the last blank of so many characters, if they have one."""


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
    paragraph_end = newline if newline >= 0 else len(text)
    last = min(paragraph_end, end + _AROUND)
    before, after = "…" if text[:first].rstrip(" ")[-1:] not in ("", "\n") else "", "…" if last < paragraph_end else ""
    if after and (blank := text.rfind(" ", max(end, last - _LONGEST_WORD), last)) >= 0:
        last = blank
    return MarkedPassage(f"{before}{text[first:last]}{after}", start - first + len(before), end - first + len(before))
