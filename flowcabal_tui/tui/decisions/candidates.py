"""Candidates side by side, read, compared and chosen, or put together paragraph by paragraph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import DescendantFocus, Resize
from textual.message import Message
from textual.widgets import ContentSwitcher, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.run import Choice
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.views import SourceText
from flowcabal_tui.tui.decisions.answers import DIGITS
from flowcabal_tui.tui.decisions.finding_view import finding_in_full
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.words import length_words, one_line, verdict_words
from flowcabal_tui.tui.widgets.confirm import past_typed
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_rows import HangingRow
from flowcabal_tui.tui.widgets.prose_area import ProseArea

COLUMN: Final = 40
"""The narrowest column of prose, in cells, where several stand side by side."""
MOST_COLUMNS: Final = 4
SIDE_BY_SIDE: Final = 120
"""From this width on candidates stand side by side."""
Mark = tuple[int, int]
"""A candidate from 0, and a paragraph of it from 0."""


def paragraphs(text: str) -> tuple[str, ...]:
    """The paragraphs of a text, as they are taken one by one."""
    return tuple(row.strip() for row in clean(text).splitlines() if row.strip())


class _Column(Vertical):
    """One candidate: who made it, what the check says, and its paragraphs."""

    def compose(self) -> ComposeResult:
        """A head and the paragraphs."""
        yield Static(markup=False, classes="who")
        yield PickList()


class CandidateView(Vertical):
    """Shows the candidates of one question. Marked paragraphs make up a text, in the order of marking."""

    help = HelpData(
        mark("Candidates"),
        mark("`a` chooses the focused one. Space marks a paragraph; `v` combines the marked ones into one text, "
             "which you can edit and submit with Ctrl+s. Digits go to a candidate, `w` shows the findings of its "
             "check."),
    )  # fmt: skip
    DEFAULT_CSS = """
    CandidateView { height: 1fr; }
    CandidateView > .told { height: 1; padding: 0 1; color: $text-muted; }
    CandidateView ContentSwitcher { height: 1fr; }
    CandidateView #columns { height: 1fr; }
    CandidateView _Column { width: 1fr; height: 1fr; border-left: vkey $panel; }
    CandidateView _Column .who {
        height: 2; padding: 0 1; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis;
    }
    CandidateView _Column PickList { height: 1fr; text-wrap: wrap; padding: 0 1 0 0; }
    CandidateView ProseArea, CandidateView ProseArea:focus { height: 1fr; border: none; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "mark", mark("Mark paragraph"), key_display="Space", priority=False,
                id="candidates.mark",
                tooltip=mark("Add this paragraph to your own text, or remove it again.")),
        Binding("v", "preview", mark("Combine"), tooltip=mark("Combine the marked paragraphs into one text "
                                                                   "that you can edit."),
                id="candidates.preview"),
        Binding("u", "unmark", mark("Unmark all"), show=False, id="candidates.unmark"),
        Binding("l,right,right_square_bracket", "candidate(1)", mark("Next candidate"), show=False,
                id="candidates.next"),
        Binding("h,left,left_square_bracket", "candidate(-1)", mark("Previous candidate"), show=False,
                id="candidates.previous"),
        *(Binding(digit, f"go({digit})", mark("Go to a candidate"), show=digit == "1", key_display="1-9",
                  id=f"candidates.{digit}") for digit in DIGITS.split(",")),
        Binding("w", "findings", mark("Why"), tooltip=mark("The findings of the check in this candidate."),
                id="candidates.findings"),
    ]  # fmt: skip

    class Turned(Message):
        """From the candidates to the text that was put together, or back: other keys."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._choices: tuple[Choice, ...] = ()
        self._blind = False
        self._marks: list[Mark] = []
        self._put = ""
        self._rows: dict[int, int] = {}
        self._first = 0
        self._current = 0

    def compose(self) -> ComposeResult:
        """Up to four columns; a line that counts; the text that is put together."""
        yield Static(markup=False, classes="told")
        with ContentSwitcher(initial="columns"):
            with Horizontal(id="columns"):
                for _number in range(MOST_COLUMNS):
                    yield _Column()
            yield ProseArea(id="together")

    @property
    def number(self) -> int:
        """The candidate with the focus, from 1."""
        return self._current + 1

    @property
    def is_preview(self) -> bool:
        """Is the text that was put together shown?"""
        return self.query_one(ContentSwitcher).current == "together"

    @property
    def put_together(self) -> str:
        """The text that was put together, as it was edited."""
        return self.query_one(ProseArea).text

    def show(self, choices: Sequence[Choice], *, blind: bool) -> None:
        """Other candidates, none marked."""
        self._choices, self._blind, self._marks = tuple(choices), blind, []
        self._rows, self._first, self._current = {}, 0, 0
        self.query_one(ContentSwitcher).current = "columns"
        self._refresh_columns()

    def on_resize(self, _event: Resize) -> None:
        """Another width has room for another number of columns."""
        self._refresh_columns()

    def _count(self) -> int:
        """How many columns there is room for."""
        width = self.app.size.width
        room = max(2, min(MOST_COLUMNS, width // COLUMN)) if width >= SIDE_BY_SIDE else 1
        return min(room, max(1, len(self._choices)))

    def _refresh_columns(self) -> None:
        count, had_focus = self._count(), self.has_focus_within and not self.is_preview
        last = max(0, len(self._choices) - count)
        self._first = min(max(self._first, self._current - count + 1), self._current, last)
        for place, column in enumerate(self.query(_Column)):
            column.display = place < count and self._first + place < len(self._choices)
            if column.display:
                self._fill(column, self._first + place)
        self._tell()
        if had_focus:
            self.focus_current()

    def _fill(self, column: _Column, number: int) -> None:
        choice = self._choices[number]
        column.query_one(".who", Static).update(self._who(number))
        names = column.query_one(PickList)
        rows = [
            Option(HangingRow(self._sign((number, place)), words), id=f"{number}:{place}")
            for place, words in enumerate(paragraphs(choice.text or choice.label))
        ]
        names.set_options(rows)
        names.highlighted = min(self._rows.get(number, 0), len(rows) - 1) if rows else None

    def _sign(self, place: Mark) -> str:
        return f"+{self._marks.index(place) + 1} " if place in self._marks else "   "

    def _who(self, number: int) -> str:
        choice = self._choices[number]
        here = ">" if number == self._current else " "
        name = "" if self._blind else one_line(choice.label or choice.node)
        length = length_words(choice.text)
        checked = verdict_words(choice.evaluation) if choice.evaluation else ""
        first = " · ".join(part for part in (f"{here}{number + 1}", name) if part)
        return f"{first}\n  " + " · ".join(part for part in (length, checked) if part)

    def _tell(self) -> None:
        count, marked = len(self._choices), len(self._marks)
        parts = [_("candidate {n} of {m}").format(n=self._current + 1, m=count)]
        parts += [_("blind: the models are not shown")] if self._blind else []
        words = ngettext("{n} paragraph marked", "{n} paragraphs marked", marked).format(n=marked)
        parts += [words, _("`v` combines them")] if marked else []
        if self.is_preview:
            parts = [_("Combined: edit it if you like; Ctrl+s submits, Esc goes back.")]
        self.query_one(".told", Static).update(" · ".join(parts))

    def _list(self) -> PickList:
        return list(self.query(_Column))[self._current - self._first].query_one(PickList)

    def focus_current(self) -> None:
        """The focus goes to the candidate at the cursor."""
        self._list().focus()

    @on(DescendantFocus)
    def follow_focus(self, event: DescendantFocus) -> None:
        """A column that was clicked, or reached with tab, is the current one."""
        for place, column in enumerate(self.query(_Column)):
            if column in event.widget.ancestors and place + self._first != self._current:
                self._current = place + self._first
                self._refresh_heads()

    def _refresh_heads(self) -> None:
        for place, column in enumerate(self.query(_Column)):
            if column.display:
                column.query_one(".who", Static).update(self._who(self._first + place))
        self._tell()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the text that was put together is edited, letters are letters."""
        return not self.is_mounted or not self.is_preview

    @on(OptionList.OptionHighlighted)
    def note_row(self, message: OptionList.OptionHighlighted) -> None:
        """Each candidate keeps its cursor."""
        message.stop()
        number, _colon, row = (message.option.id or "").partition(":")
        if row and message.option_list.has_focus:
            self._rows[int(number)] = int(row)

    @on(OptionList.OptionSelected)
    def mark_selected(self, message: OptionList.OptionSelected) -> None:
        """Enter marks too."""
        message.stop()
        self.action_mark()

    def action_mark(self) -> None:
        """Take the paragraph under the cursor, or leave it out again."""
        row = self._list().highlighted
        if row is None:
            return
        self._rows[self._current] = min(row + 1, self._list().option_count - 1)
        place = (self._current, row)
        self._marks = [each for each in self._marks if each != place] if place in self._marks else [*self._marks, place]
        self._refresh_columns()

    def action_unmark(self) -> None:
        """Begin again."""
        self._marks = []
        self._refresh_columns()

    def action_go(self, number: int) -> None:
        """To the candidate with that number."""
        if 1 <= number <= len(self._choices):
            self._current = number - 1
            self._refresh_columns()
            self.focus_current()

    def action_candidate(self, step: int) -> None:
        """To the candidate beside."""
        self.action_go(self.number + step)

    def action_preview(self) -> None:
        """The marked paragraphs as one text; none marked: the whole candidate."""
        marks = self._marks or [(self._current, n) for n in range(self._list().option_count)]
        texts = [paragraphs(choice.text or choice.label) for choice in self._choices]
        area = self.query_one(ProseArea)
        area.load_text("\n\n".join(texts[candidate][place] for candidate, place in marks))
        self._put = area.text
        self.query_one(ContentSwitcher).current = "together"
        area.focus()
        self._turned()

    def leave_preview(self) -> None:
        """Back to the candidates; what was typed is not thrown away unasked."""
        past_typed(self.screen, self.put_together != self._put, self._to_columns)

    def _to_columns(self) -> None:
        self.query_one(ContentSwitcher).current = "columns"
        self.focus_current()
        self._turned()

    def _turned(self) -> None:
        self._tell()
        self.screen.refresh_bindings()
        self.post_message(self.Turned())

    def action_findings(self) -> None:
        """Everything that the check found in this candidate."""
        evaluation = self._choices[self._current].evaluation
        if evaluation is None or not evaluation.findings:
            self.notify(_("There is no finding."), markup=False)
            return
        words = "\n\n———\n\n".join(finding_in_full(each) for each in evaluation.findings)
        title = _("Candidate {n}").format(n=self.number)
        self.app.push_screen(SourceScreen(SourceText("", title, words)))
