"""Two versions of a text in one: deletions, insertions, and a fold over unchanged text."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.diff_text import DiffText
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prose_diff import Hunk, hunks, prose_diff
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.widgets.text_marks import Span


class DiffView(StreamView):
    """The way from one text to another: `[-deleted-]` and `{+inserted+}`, struck out and underlined."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"diff--delete", "diff--insert", "diff--fold"}
    DEFAULT_CSS = """
    DiffView > .diff--delete { color: $error; text-style: strike; }
    DiffView > .diff--insert { color: $success; text-style: underline; }
    DiffView > .diff--fold { color: $text-muted; text-style: italic; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "next_hunk", mark("Next change"), id="diff.next"),
        Binding("N", "previous_hunk", mark("Previous change"), id="diff.previous"),
        Binding("f", "fold", mark("Fold or unfold"), id="diff.fold"),
    ]
    help = HelpData(
        mark("Changes"),
        mark("`[-` removed `-]`, `{+` added `+}`. `n` and `N` go from change to change, `f` shows unchanged text."),
    )

    def __init__(
        self, old: str = "", new: str = "", *, id: str | None = None, classes: str | None = None  # noqa: A002 - Textual's
    ) -> None:  # fmt: skip
        super().__init__(id=id, classes=classes)
        self._new_text = ""
        self._diff_hunks: tuple[Hunk, ...] = ()
        self._diff_text = DiffText()
        self._hunk_at = -1
        self._is_folded = True
        self.set_texts(old, new)

    @property
    def hunk_count(self) -> int:
        """The number of changes."""
        return len(self._diff_text.starts)

    def show_first(self) -> None:
        """Bring the first change into view."""
        self.scroll_to_offset([*self._diff_text.starts, 0][0])

    def set_texts(self, old: str, new: str) -> None:
        """Show how `old` becomes `new`, from the beginning."""
        self._new_text = clean(new)
        self._diff_hunks = hunks(prose_diff(clean(old), self._new_text))
        self._hunk_at = -1
        self._write()

    def _write(self) -> None:
        self._diff_text = DiffText(self._diff_hunks, folded=self._is_folded)
        self.set_text(self._diff_text.text, follow=False)

    def _spans(self, row: int) -> list[tuple[Span, str]]:
        changes = self._diff_text.in_row(self._prose.starts[row], self._prose.end_of(row))
        return [*changes, *super()._spans(row)]

    def _go_to_hunk(self, number: int) -> None:
        if starts := self._diff_text.starts:
            self._hunk_at = number % len(starts)
            start = starts[self._hunk_at]
            self.highlight(start, start + 2)
            self.scroll_to_offset(start)

    def action_next_hunk(self) -> None:
        """Go to the next change, round the end."""
        self._go_to_hunk(self._hunk_at + 1)

    def action_previous_hunk(self) -> None:
        """Go to the change before."""
        self._go_to_hunk(self._hunk_at - 1)

    def action_fold(self) -> None:
        """Hides or shows unchanged text."""
        self._is_folded = not self._is_folded
        self._write()
        if self._hunk_at >= 0:
            self._go_to_hunk(self._hunk_at)

    def action_copy(self) -> None:
        """Ask for a copy of the new text, without marks."""
        self.post_message(self.CopyRequested(self, self._new_text))
