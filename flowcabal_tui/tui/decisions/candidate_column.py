"""One candidate: its letter, its problems, and its paragraphs below their beats."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.comparison import LETTERS, Candidate, Comparison, Taken, in_result, paragraphs_of
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.comparison_words import maker_words
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.list_rows import HangingRow
from flowcabal_tui.tui.widgets.role_words import facts_words


class CandidateColumn(Vertical):
    """Shows a candidate; the id of a row is the number of its paragraph."""

    DEFAULT_CSS = """
    CandidateColumn { width: 1fr; height: 1fr; border-left: vkey $panel; }
    CandidateColumn .who { height: 2; padding: 0 1; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
    CandidateColumn PickList { height: 1fr; text-wrap: wrap; padding: 0 1 0 0; }
    CandidateColumn PickList > .option-list--option-disabled { color: $text-muted; text-style: italic; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.place = 0
        self._rows: dict[int, int] = {}
        """The row of the plan that has a paragraph."""

    def compose(self) -> ComposeResult:
        """Yields a heading and the paragraphs."""
        yield Static(markup=False, classes="who")
        yield PickList()

    @property
    def names(self) -> PickList:
        """The list of paragraphs."""
        return self.query_one(PickList)

    @property
    def paragraph(self) -> int | None:
        """The paragraph under the cursor, from 0."""
        picked = self.names.picked
        return int(picked) if picked and picked.isdecimal() else None

    @property
    def row(self) -> int:
        """The row of the plan under the cursor."""
        return self._rows.get(self.paragraph or 0, 0)

    def show(
        self, comparison: Comparison, place: int, taken: Sequence[Taken], *, is_current: bool, is_equal: bool
    ) -> None:
        """Shows a candidate; keeps the cursor if it was displayed before."""
        candidate, before = comparison.candidates[place], self.paragraph if self.place == place else 0
        self.place = place
        self.query_one(".who", Static).update(head_words(candidate, place, is_current=is_current, is_equal=is_equal))
        texts = paragraphs_of(candidate.text)
        numbers = {each: number for number, each in enumerate(in_result(comparison, taken), 1)}
        options: list[Option] = []
        self._rows = {}
        for number, row in enumerate(comparison.rows):
            if row.beat:
                options.append(Option(HangingRow("── ", clean_line(row.beat)), id=f"beat-{number}", disabled=True))
            for paragraph in row.cells[place]:
                self._rows[paragraph] = number
                mine = numbers.get(Taken(candidate.digest, paragraph))
                sign = f"+{mine}".ljust(3) if mine else "·  "
                options.append(Option(HangingRow(sign, texts[paragraph]), id=str(paragraph)))
        self.names.refill(options, str(before or 0))
        if not before:
            self.names.call_after_refresh(self.names.scroll_home, animate=False)

    def go_on(self) -> None:
        """Moves the cursor to the next paragraph, if there is one."""
        following = [paragraph for paragraph in self._rows if paragraph > (self.paragraph or 0)]
        if following:
            self.names.pick(str(min(following)))

    def go_to_row(self, row: int) -> None:
        """Moves the cursor to the first paragraph of a row of the plan, or of the next row that has one."""
        wanted = [paragraph for paragraph, at in self._rows.items() if at >= row]
        if wanted and self.row != row:
            self.names.pick(str(min(wanted)))


def head_words(candidate: Candidate, place: int, *, is_current: bool, is_equal: bool) -> str:
    """Two lines: the letter with the origin, if revealed; below, the number of problems."""
    made = maker_words(candidate.maker) if candidate.maker else ""
    first = facts_words(LETTERS[place], made, _("equally good") if is_equal else "")
    marks = len(candidate.marks)
    checked = ngettext("{n} fact against it: w", "{n} facts against it: w", marks).format(n=marks) if marks else ""
    if not marks and candidate.checked:
        checked = _("facts checked, nothing found")
    return f"{'>' if is_current else ' '} {first}\n  {checked}"
