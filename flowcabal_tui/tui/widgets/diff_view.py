"""Two versions of a text in one: what went, what came, and a fold over what stayed."""

from __future__ import annotations

from bisect import bisect_right
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prose_diff import Change, Hunk, hunks, prose_diff
from flowcabal_tui.tui.widgets.stream_view import Span, StreamView

_MARKS: Final = {Change.EQUAL: ("", ""), Change.DELETE: ("[-", "-]"), Change.INSERT: ("{+", "+}")}
_KEPT: Final = 120
"""Characters of what stayed the same that are shown on each side of a change."""


class DiffView(StreamView):
    """The way from one text to another: `[-deleted-]` and `{+inserted+}`, struck out and underlined."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"diff--delete", "diff--insert", "diff--fold"}
    DEFAULT_CSS = """
    DiffView > .diff--delete { color: $error; text-style: strike; }
    DiffView > .diff--insert { color: $success; text-style: underline; }
    DiffView > .diff--fold { text-style: dim italic; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "next_hunk", mark("Next change"), id="diff.next"),
        Binding("N", "previous_hunk", mark("Previous change"), id="diff.previous"),
        Binding("f", "fold", mark("Fold or unfold"), id="diff.fold"),
    ]
    help = HelpData(
        mark("Changes"),
        mark("`[-` went `-]`, `{+` came `+}`. `n` and `N` go from change to change, `f` shows what stayed."),
    )

    def __init__(
        self,
        old: str = "",
        new: str = "",
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._new_text = ""
        self._diff_hunks: tuple[Hunk, ...] = ()
        self._change_spans: list[tuple[Span, str]] = []
        self._change_ends: list[int] = []
        self._hunk_starts: list[int] = []
        self._hunk_at = -1
        self._is_folded = True
        self.set_texts(old, new)

    @property
    def hunk_count(self) -> int:
        """How many changes there are."""
        return len(self._hunk_starts)

    def set_texts(self, old: str, new: str) -> None:
        """Show how `old` becomes `new`, from the first change on."""
        self._new_text = clean(new)
        self._diff_hunks = hunks(prose_diff(clean(old), self._new_text))
        self._hunk_at = -1
        self._write()

    def _write(self) -> None:
        """The text with its marks, and where they are."""
        self._change_spans = []
        self._hunk_starts = []
        written: list[str] = []
        length = 0
        for number, hunk in enumerate(self._diff_hunks):
            if hunk.is_change:
                self._hunk_starts.append(length)
            for run in hunk.runs:
                before, after = _MARKS[run.change]
                pieces = self._folded(number, run.text) if not hunk.is_change else ((before + run.text + after, ""),)
                for words, name in pieces:
                    style = f"diff--{run.change}" if hunk.is_change else name
                    if style:
                        self._change_spans.append(((length, length + len(words)), style))
                    written.append(words)
                    length += len(words)
        self._change_ends = [end for (_start, end), _style in self._change_spans]
        self.set_text("".join(written), follow=False)

    def _folded(self, number: int, words: str) -> tuple[tuple[str, str], ...]:
        """What stayed, as (words, style): its middle is only counted while the view is folded."""
        head = 0 if number == 0 else _KEPT
        tail = 0 if number == len(self._diff_hunks) - 1 else _KEPT
        hidden = len(words) - head - tail
        if not self._is_folded or hidden <= _KEPT or len(self._diff_hunks) == 1:
            return ((words, ""),)
        note = _("… {count} characters unchanged …").format(count=f"{hidden:,}")
        start = words[:head] + ("\n" if head else "")
        end = ("\n" if tail else "") + words[len(words) - tail :]
        return (start, ""), (note, "diff--fold"), (end, "")

    def _spans(self, row: int) -> list[tuple[Span, str]]:
        start, end = self._prose.starts[row], self._prose.end_of(row)
        spans: list[tuple[Span, str]] = []
        for span, style in self._change_spans[bisect_right(self._change_ends, start) :]:
            if span[0] >= end:
                break
            spans.append((span, style))
        return [*spans, *super()._spans(row)]

    def _go_to_hunk(self, number: int) -> None:
        if self._hunk_starts:
            self._hunk_at = number % len(self._hunk_starts)
            start = self._hunk_starts[self._hunk_at]
            self.highlight(start, start + 2)
            self.scroll_to_offset(start)

    def action_next_hunk(self) -> None:
        """Go to the next change, round the end."""
        self._go_to_hunk(self._hunk_at + 1)

    def action_previous_hunk(self) -> None:
        """Go to the change before."""
        self._go_to_hunk(self._hunk_at - 1)

    def action_fold(self) -> None:
        """Hide or show what stayed the same."""
        self._is_folded = not self._is_folded
        at = self._hunk_at
        self._write()
        if at >= 0:
            self._go_to_hunk(at)

    def action_copy(self) -> None:
        """Ask for a copy of the new text, without marks."""
        self.post_message(self.CopyRequested(self, self._new_text))
