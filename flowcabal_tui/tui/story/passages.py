"""The two passages of a finding: in two columns if they fit, else one below the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize

from flowcabal_tui.domain.text import nearest
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.list_detail import DetailText
from flowcabal_tui.tui.widgets.roles import role_style

BESIDE: Final = 100
"""Cells from which the passages are side by side."""
_BEFORE, _AFTER = 50, 160
_LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """Quoted words with their place: in `text` near `start`, or by themselves."""

    title: str
    words: str
    text: str = ""
    start: int = 0

    def shown(self) -> Content:
        """The title, and the words highlighted within their context."""
        at = nearest(self.text, self.words, self.start) if self.text else -1
        title = (one_line(self.title, 120) + "\n", role_style("secondary"))
        if at < 0:
            lost = _("(these words are no longer in the text)") + "\n" if self.text else ""
            return Content.assemble(title, lost, (one_line(self.words, _LONGEST), "bold"))
        end = at + len(self.words)
        return Content.assemble(
            title,
            ("…" if at > _BEFORE else "") + _joined(self.text[max(0, at - _BEFORE) : at]),
            (_joined(self.words[:_LONGEST]), "bold reverse"),
            _joined(self.text[end : end + _AFTER]) + ("…" if end + _AFTER < len(self.text) else ""),
        )


class Passages(Container):
    """Shows two passages, or one."""

    DEFAULT_CSS = """
    Passages { height: 9; layout: horizontal; border-top: solid $panel; }
    Passages > DetailText { width: 1fr; height: 1fr; padding: 0 1; }
    Passages.-stacked { layout: vertical; height: 9; }
    Passages.-stacked > DetailText { width: 100%; }
    """

    def compose(self) -> ComposeResult:
        """Yields the passage of the checked chapter, and the other one."""
        yield DetailText(classes="here")
        yield DetailText(classes="there")

    def on_resize(self, event: Resize) -> None:
        """Switches between one and two columns."""
        self.set_class(event.size.width < BESIDE, "-stacked")

    def show(self, here: QuotedPassage | None, there: QuotedPassage | None) -> None:
        """Shows these passages; empties the view for None."""
        for name, passage in ((".here", here), (".there", there)):
            shown = passage.shown() if passage is not None else ""
            self.query_one(name, DetailText).show([shown])


def _joined(text: str) -> str:
    """Line ends as blanks; a blank at an edge stays, so that words do not run together."""
    lead = " " if text[:1].isspace() else ""
    trail = " " if text[-1:].isspace() and text.strip() else ""
    return lead + one_line(text, len(text) + 1).strip() + trail
