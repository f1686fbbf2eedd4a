"""The comparison of candidates: blind and in columns, beat by beat; the writer chooses or composes."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.screen import Screen
from textual.widgets import OptionList, Static

from flowcabal_tui.agents.comparing.seams import with_hunks
from flowcabal_tui.domain.comparison import LETTERS, ChoiceDraft, Comparison, ComparisonTarget, Taken, Verdict
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.comparison_words import verdict_words
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.comparisons import DecideComparison, TakeBackChoice
from flowcabal_tui.tui.decisions.candidate_column import CandidateColumn
from flowcabal_tui.tui.decisions.candidate_work import CandidateWork
from flowcabal_tui.tui.decisions.choice import (
    beat_at,
    edited,
    known,
    read_draft,
    result_of,
    verdict_on,
    with_equal,
    with_taken,
    written_draft,
)
from flowcabal_tui.tui.decisions.comparison_keys import EDITING, HELP, KEYS, OPEN_ONLY, STYLE
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.trouble import attempt, noticed
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen, past_typed
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words, key_words

SIDE_BY_SIDE: Final = 120
"""The width from which two candidates are shown beside the result."""
THREE: Final = 180
"""Least width for three columns."""


class ComparisonScreen(Screen[None]):
    """Shows the candidates of one target; the unfinished choice is stored."""

    help = HELP
    DEFAULT_CSS = STYLE
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, project: Project, target: ComparisonTarget) -> None:
        super().__init__()
        self._project, self._target = project, target
        self._agents = CandidateWork(self, project, target, self._note)
        self.comparison: Comparison | None = None
        """The comparison; None until it has been read."""
        self._draft = ChoiceDraft()
        self._current, self._first = 0, 0
        self._shows_result = False
        self._progress = ""

    def compose(self) -> ComposeResult:
        """Yields a heading, the problems, the candidates, the result and the keys."""
        yield Static(markup=False, classes="head")
        yield Static(markup=False, classes="details")
        with Horizontal():
            for _number in range(3):
                yield CandidateColumn()
            with Vertical(id="result"):
                yield Static(markup=False, classes="who")
                yield ProseArea(id="own-text")
        yield HintLine()

    def on_mount(self) -> None:
        """Reads the candidates and the unfinished choice."""
        self.query("CandidateColumn, #result").set(display=False)
        self.work(self.reload())

    def work(self, work: Coroutine[Any, Any, None], *, exclusive: bool = False) -> None:
        """Starts work that may be refused."""
        attempt(self, noticed(self, work), group="reload" if exclusive else "work", exclusive=exclusive)

    @property
    def area(self) -> ProseArea:
        """The editor of the result."""
        return self.query_one(ProseArea)

    @property
    def is_typing(self) -> bool:
        """True while the result is edited."""
        return self.is_mounted and self.area.has_focus

    async def reload(self) -> None:
        """Reads the current candidates; the choice is read only once."""
        try:
            comparison = await self._project.comparisons.comparison(self._target)
        except FlowCabalError as error:
            if self.comparison is not None:
                raise
            await self._begin_with_more(error)
            return
        if self.comparison is None:
            self._draft = read_draft(await self._project.drafts.draft(comparison.draft_key))
        self.comparison, self._draft = comparison, known(comparison, self._draft)
        self._current = min(self._current, len(comparison.candidates) - 1)
        if self.is_attached:
            self._show_result()
            self._refresh_columns(focus=not self.is_typing)

    async def _begin_with_more(self, error: FlowCabalError) -> None:
        """A node that has written one text can write others; else there is nothing to compare."""
        self.notify(str(error), markup=False)
        try:
            written = not self._target.question and await self._agents.more() == "written"
        except FlowCabalError:
            self.dismiss(None)
            raise
        if written:
            await self.reload()
        else:
            self.dismiss(None)

    def note_progress(self, done: int, total: int) -> None:
        """Shows the progress of a check, or its end."""
        words = _("checking facts: {done} of {total}").format(done=done, total=total)
        self._note(words if done < total else "")

    def _note(self, words: str) -> None:
        self._progress = words
        self._tell()

    # What is shown

    def on_resize(self, _event: Resize) -> None:
        """Adapts the number of columns to the width."""
        self._refresh_columns()

    @property
    def _space(self) -> int:
        width = self.app.size.width
        return 1 if width < SIDE_BY_SIDE else 2 if width < THREE else 3

    @property
    def _columns(self) -> list[CandidateColumn]:
        return list(self.query(CandidateColumn))

    def _refresh_columns(self, *, focus: bool = False) -> None:
        comparison = self.comparison
        if comparison is None:
            return
        space, is_narrow = min(self._space, len(comparison.candidates)), self._space == 1
        last = len(comparison.candidates) - space
        self._first = min(max(self._first, self._current - space + 1), self._current, last)
        row = self._column.row if self._column else 0
        for number, column in enumerate(self._columns):
            column.display = number < space and not (is_narrow and self._shows_result)
            if number < space:
                place = self._first + number
                candidate = comparison.candidates[place]
                is_current, is_equal = place == self._current, candidate.digest in self._draft.equal
                column.show(comparison, place, self._draft.taken, is_current=is_current, is_equal=is_equal)
                column.go_to_row(row)
        self.query_one("#result").display = not is_narrow or self._shows_result
        self._tell()
        if focus and (here := self._column) is not None and here.display:
            here.names.focus()
        self.refresh_bindings()

    @property
    def _column(self) -> CandidateColumn | None:
        """That of the current candidate, where it is shown."""
        place = self._current - self._first
        return self._columns[place] if 0 <= place < len(self._columns) else None

    def _tell(self) -> None:
        comparison = self.comparison
        if comparison is None or not self.is_attached:
            return
        count, verdict = len(comparison.candidates), comparison.verdict
        title = one_line(comparison.title)
        self.query_one(".head", Static).update(head_words(_("Comparison of candidates"), title))
        parts = [_("candidate {n} of {m}").format(n=LETTERS[self._current], m=count)]
        if verdict is None:
            parts.append(_("blind: models and prices are shown after the choice"))
        else:
            digests = {each.digest for each in comparison.candidates}
            letters = [LETTERS[comparison.place(each)] for each in verdict.picks if each in digests]
            parts += [verdict_words(verdict.kind, letters), _("`U` undoes it")]
        self.query_one(".details", Static).update(self._progress or key_words(facts_words(*parts)))
        taken = len(self._draft.taken)
        own = ngettext("{n} paragraph taken", "{n} paragraphs taken", taken).format(n=taken)
        keys = _("F2 chooses it, Esc goes back") if self.is_typing else _("`v` edits it, F2 chooses it")
        self.query_one("#result .who", Static).update(
            Content.assemble("  ", head_words(_("Your text"), own), "\n  ", key_words(keys if self._result else ""))
        )

    @property
    def _result(self) -> str:
        return "" if self.comparison is None else result_of(self.comparison, self._draft)

    def _show_result(self) -> None:
        if self.area.text != self._result:
            self.area.load_text(self._result)
        self.area.read_only = self.comparison is not None and self.comparison.is_decided

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disables letter keys while typing; a made choice can only be read or undone."""
        if not self.is_mounted or self.comparison is None:
            return action in ("leave", "help")
        if self.is_typing and action not in EDITING:
            return False
        if action in OPEN_ONLY:
            return not self.comparison.is_decided and (action != "more" or self.comparison.can_grow)
        return action != "take_back" or self.comparison.is_decided

    # Going about

    @on(DescendantFocus)
    def follow_focus(self, event: DescendantFocus) -> None:
        """Makes the focused column the current one."""
        for column in self._columns:
            if column in event.widget.ancestors and column.place != self._current:
                self._current = column.place
                self.call_after_refresh(self._refresh_columns)
        self._tell()
        self.refresh_bindings()

    @on(OptionList.OptionHighlighted)
    def follow_row(self, message: OptionList.OptionHighlighted) -> None:
        """Scrolls the other candidates to the same beat."""
        message.stop()
        here = self._column
        if here is not None and message.option_list is here.names and here.names.has_focus:
            for column in self._columns:
                if column is not here and column.display:
                    column.go_to_row(here.row)

    @on(OptionList.OptionSelected)
    def take_selected(self, message: OptionList.OptionSelected) -> None:
        """Takes the paragraph on Enter."""
        message.stop()
        if self.check_action("take", ()):
            self.action_take()

    def action_go(self, number: int) -> None:
        """Goes to the candidate with that number."""
        if self.comparison is not None and 1 <= number <= len(self.comparison.candidates):
            self._current = number - 1
            self._refresh_columns(focus=True)

    def action_step(self, step: int) -> None:
        """Goes to the next or previous candidate."""
        self.action_go(self._current + 1 + step)

    def action_result(self) -> None:
        """Goes to the composed text."""
        self._shows_result = True
        self._refresh_columns()
        self.area.focus()

    def action_leave(self) -> None:
        """Leaves the result, else the page; the unfinished choice is stored."""
        if self.is_typing or self._shows_result:
            self.area.report_edit()
            self._shows_result = False
            self._refresh_columns(focus=True)
        else:
            self.dismiss(None)

    # Making the choice

    def _change(self, draft: ChoiceDraft) -> None:
        self._draft = draft
        self._show_result()
        self._refresh_columns()
        self._save()

    def _save(self) -> None:
        if self.comparison is not None:
            self.work(self._project.drafts.put_draft(self.comparison.draft_key, written_draft(self._draft)))

    def _here(self) -> tuple[Comparison, Taken] | None:
        """The paragraph under the cursor."""
        comparison, column = self.comparison, self._column
        if comparison is None or column is None or column.paragraph is None:
            return None
        return comparison, Taken(comparison.candidates[self._current].digest, column.paragraph)

    def action_take(self) -> None:
        """Takes the paragraph under the cursor, or leaves it out again."""
        if (here := self._here()) is not None:
            comparison, taken = here
            self._change(with_taken(comparison, self._draft, (taken,)))
            if self._column is not None:
                self._column.go_on()

    def action_take_beat(self) -> None:
        """Takes all paragraphs for the beat under the cursor."""
        if (here := self._here()) is not None:
            comparison, taken = here
            self._change(with_taken(comparison, self._draft, beat_at(comparison, taken)))

    def action_take_none(self) -> None:
        """Empties the result; text typed into it is discarded only after a question."""
        empty = ChoiceDraft(self._draft.equal)
        past_typed(self, self._draft.text is not None, lambda: self._change(empty))

    def action_equal(self) -> None:
        """Marks the candidate as equally good."""
        if self.comparison is not None:
            self._change(with_equal(self._draft, self.comparison.candidates[self._current].digest))

    @on(ProseArea.Edited)
    def note_typed(self, message: ProseArea.Edited) -> None:
        """Stores the text typed into the result."""
        message.stop()
        if self.comparison is not None and not self.comparison.is_decided:
            self._draft = edited(self.comparison, self._draft, message.text)
            self._save()
            self._tell()

    def action_choose(self) -> None:
        """Chooses the candidate with the focus."""
        if self.comparison is None:
            return
        verdict = verdict_on(self._draft, self.comparison.candidates[self._current].digest)
        letter = LETTERS[self._current]
        words = _("You have put a text together. It is kept as it is, and can be chosen with F2.")
        self._ask(_("Choose all of {letter}?").format(letter=letter) if self._result else "", words, verdict)

    def action_none(self) -> None:
        """Decides that none of them is good enough."""
        words = _("All candidates are rejected. A run that waits for the choice ends here; `U` undoes it.")
        self._ask(_("None of them?"), words, Verdict("none"))

    def action_submit(self) -> None:
        """Chooses the composed text."""
        self.area.report_edit()
        if not self.area.text.strip():
            self.notify(_("Take a paragraph first: Space."), markup=False)
        elif self.comparison is not None:
            self._draft = edited(self.comparison, self._draft, self.area.text)
            self._ask("", "", Verdict("composed", (), self.area.text))

    def _ask(self, title: str, words: str, verdict: Verdict) -> None:
        """Records the verdict, after a confirmation if there is a `title` to ask with."""

        def answered(yes: bool | None) -> None:
            if yes:
                self.work(self._decide(verdict))

        if title:
            self.app.push_screen(ConfirmScreen(title, words), answered)
        else:
            answered(yes=True)

    async def _decide(self, verdict: Verdict) -> None:
        if self.comparison is not None:
            await self._project.drafts.put_draft(self.comparison.draft_key, written_draft(self._draft))
            await self._project.carry_out(DecideComparison(self._target, verdict, tuple(self._draft.taken)))
            self._shows_result = False
            await self.reload()
            self._refresh_columns(focus=True)
            self.notify(_("Chosen. The headings show which model wrote which text; Esc goes back."), markup=False)

    def action_take_back(self) -> None:
        """Reopens the choice."""
        self.work(self._take_back())

    async def _take_back(self) -> None:
        if self.comparison is not None:
            await self._project.carry_out(TakeBackChoice(self.comparison.id))
            await self.reload()

    # What agents add

    def action_why(self) -> None:
        """Shows all problems of this candidate."""
        if self.comparison is not None:
            self._agents.show_facts(LETTERS[self._current], self.comparison.candidates[self._current])

    def action_sift(self) -> None:
        """Checks all candidates against facts."""
        self.work(self._sift())

    async def _sift(self) -> None:
        await self._agents.sift()
        await self.reload()

    def action_more(self) -> None:
        """Writes further candidates."""
        self.work(self._more())

    async def _more(self) -> None:
        if await self._agents.more() == "asks":
            self.dismiss(None)
        else:
            await self.reload()

    def action_seams(self) -> None:
        """Smooths the seams of the result."""
        self.work(self._seams())

    async def _seams(self) -> None:
        text = self._result
        if not text.strip():
            self.notify(_("Take a paragraph first: Space."), markup=False)
            return
        accepted = await self._agents.smoothed(text, self._draft.taken)
        if accepted and self.comparison is not None and self._result == text:
            self._change(edited(self.comparison, self._draft, with_hunks(text, accepted)))

    def action_outcomes(self) -> None:
        """Shows the wins and losses over all choices."""
        self.work(self._agents.show_outcomes())
