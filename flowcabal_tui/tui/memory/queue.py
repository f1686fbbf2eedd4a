"""The background work: every step with its subject, state, tries and reason; keys retry or cancel it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import var
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Freshness, StaleText
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.memory.bootstrap_words import progress_words
from flowcabal_tui.project.words import TASK_STATES, TASKS, UNPAID
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.progress import progress_bar
from flowcabal_tui.tui.widgets.rail_graph import state_sign
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words, key_words
from flowcabal_tui.tui.widgets.roles import Role, role_sign, role_style

if TYPE_CHECKING:
    from flowcabal_tui.tui.memory.queue_controller import QueueController

_LOOK: Final = 1.0
"""Interval in seconds for reading the queue."""
_SHOWN: Final = 100
"""Steps of one state that are listed; the others are counted."""
_BAR: Final = 20
_CHANGED: Final = 3
"""Changed chapters that are named beside the texts based on them."""
_ORDER: Final[tuple[Freshness, ...]] = ("running", "failed", "stale", "waiting", "cancelled", "fresh")
_SIGNS: Final[Mapping[Freshness, str]] = {
    "running": "running", "failed": "failed", "stale": "stale", "waiting": "pending", "cancelled": "cancelled",
    "fresh": "done",
}  # fmt: skip
"""The state of a node that has the sign of a task's state."""

_ROLES: Final[Mapping[Freshness, Role]] = {
    "running": "focus", "failed": "failed", "stale": "stale", "waiting": "secondary", "fresh": "done",
}  # fmt: skip
_COLUMNS: Final = (
    Column(most=1, least=1),
    Column(most=24),
    Column(least=12, rank=1),
    Column(rank=2, fill=True, is_phrase=True, role="secondary"),
)


_STALE: Final = (Column(most=1, least=1), Column(fill=True, least=12), Column(rank=1, role="secondary"))
"""Sign, text, changed chapters."""


def _class_head(words: str, count: int, listed: int) -> Option:
    """The head of a class of rows with their number, and how many of them are listed."""
    count_words = f"  {count:,}"
    if listed > _SHOWN:
        count_words += "  " + _("the first {n} are listed").format(n=_SHOWN)
    return Option(Content.assemble((words, "bold"), (count_words, role_style("secondary"))), disabled=True)


class QueueScreen(ModalScreen[None]):
    """Follows the work while the page is open."""

    help = HelpData(
        mark("Background work"),
        mark("Tasks that follow a keep: files, index, names, summaries, profiles, checks, the knowledge server. "
             "`r` retries the step under the cursor and `x` cancels it; `R` and `X` do that with all. `f` also "
             "lists finished steps. Cancelling loses nothing, and finished work is never paid for again. Texts "
             "made from text that you changed since are listed first: `m` regenerates the one under the cursor, "
             "`M` all. `Y` rebuilds the index, summaries, profiles or the knowledge server, after showing the "
             "cost."),
    )  # fmt: skip
    DEFAULT_CSS = """
    QueueScreen { background: $background; }
    QueueScreen > .head { height: auto; max-height: 5; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="queue.back"),
        Binding("r", "retry(False)", mark("Retry"), tooltip=mark("Retry this step."), id="queue.retry"),
        Binding("R", "retry(True)", mark("Retry all"), show=False, tooltip=mark("Retry all failed steps."),
                id="queue.retry-all"),
        Binding("x", "cancel(False)", mark("Cancel"), tooltip=mark("Cancel this step."), id="queue.cancel"),
        Binding("X", "cancel(True)", mark("Cancel all"), show=False, tooltip=mark("Cancel all remaining steps."),
                id="queue.cancel-all"),
        Binding("m", "make(False)", mark("Regenerate"), tooltip=mark("Regenerate this text from the current chapters."),
                id="queue.make"),
        Binding("M", "make(True)", mark("Regenerate all"), show=False, id="queue.make-all",
                tooltip=mark("Regenerate everything that is out of date.")),
        Binding("Y", "rebuild", mark("Rebuild"), show=False, id="queue.rebuild",
                tooltip=mark("Rebuild the memory, or a part of it.")),
        Binding("f", "done", mark("Done "
                                  "ones too"), tooltip=mark("List finished steps, or hide them."), id="queue.done"),
        HELP_KEYS,
    ]  # fmt: skip
    shows_done = var(False)

    def __init__(self, controller: QueueController, now: Callable[[], datetime], *, rebuilds: bool = False) -> None:
        """`rebuilds`: the page asks at once for the parts to rebuild."""
        super().__init__()
        self._controller, self._now, self._rebuilds = controller, now, rebuilds
        self._stale: Mapping[str, StaleText] = {}
        self._seen: tuple[object, ...] = ()
        self._listed: dict[str, BackgroundTask] = {}
        self._subjects: Mapping[str, str] = {}

    def compose(self) -> ComposeResult:
        """Yields the progress, the steps, and the one under the cursor in full."""
        yield Static(markup=False, classes="head")
        yield ListDetail(PickList(), DetailText())
        yield HintLine()

    def on_mount(self) -> None:
        """Reads the queue now, and then every second."""
        self.query_one(PickList).focus()
        attempt(self, self.reload(), group="reload")
        self.set_interval(_LOOK, lambda: attempt(self, self.reload(), group="reload", exclusive=True))
        if self._rebuilds:
            self.action_rebuild()

    async def reload(self) -> None:
        """Reads the queue again; repaints nothing if nothing has changed."""
        tasks, counts = await self._controller.tasks(None), await self._controller.counts()
        reading = await self._controller.project.memory.bootstrap()
        done = await self._controller.tasks("fresh") if self.shows_done else ()
        seen = (tasks, tuple(counts.items()), reading, done, self._controller.rebuilt)
        if seen == self._seen:
            return
        self._subjects, stale = await self._controller.subjects(), await self._controller.stale()
        self._seen = seen
        self.query_one(".head", Static).update("\n".join(self._head(counts, reading)))
        self._listed = {}
        self._stale = {f"stale/{text.uri}@{text.anchor or ''}": text for text in stale}
        rows = (*self._stale_rows(stale), *self._rows((*tasks, *done), counts))
        self.query_one(PickList).refill(rows)
        self._show_details()

    def _head(self, counts: Mapping[Freshness, int], reading: BootstrapStatus | None) -> Iterator[str]:
        whole, done = sum(counts.values()), counts.get("fresh", 0)
        bar = progress_bar(done / whole if whole else 1.0, _BAR, plain=is_plain(self.app))
        yield _("{bar} {done} of {count} steps are done").format(bar=bar, done=f"{done:,}", count=f"{whole:,}")
        parts = [f"{_(TASK_STATES[state])} {counts[state]:,}" for state in _ORDER if counts.get(state)]
        yield facts_words(*parts) or _(
            "No background work yet: it starts when you keep a chapter. Press Esc, then F5, to have one written."
        )
        if reading is not None:
            yield _("reading of the import: {words}").format(words=one_line(progress_words(reading)))
        if (rebuilt := self._controller.rebuilt) is not None:
            words = _("index: {done} of {total}").format(done=rebuilt.done, total=rebuilt.total)
            right = ngettext("corrected in {n} chapter", "corrected in {n} chapters", rebuilt.wrong)
            right = right.format(n=rebuilt.wrong) if rebuilt.wrong else ""
            yield facts_words(words, right)

    def _stale_rows(self, stale: Mapping[StaleText, str]) -> Iterator[Option]:
        if not stale:
            return
        yield _class_head(_("made from text that has been changed since"), len(stale), len(stale))
        columns = Columns(*_STALE)
        for key, text in [*self._stale.items()][:_SHOWN]:
            changed = _(", ").join(one_line(self._subjects.get(each, each), 40) for each in text.chapters[:_CHANGED])
            more = " …" if len(text.chapters) > _CHANGED else ""
            sign = Cell(role_sign("stale", plain=is_plain(self.app)), "stale")
            yield Option(columns.row(sign, one_line(stale[text]), changed + more), id=key)

    def _rows(self, tasks: Sequence[BackgroundTask], counts: Mapping[Freshness, int]) -> Iterator[Option]:
        columns = Columns(*_COLUMNS)
        for state in _ORDER:
            of_state = [task for task in tasks if task.state == state]
            if not of_state:
                continue
            yield _class_head(_(TASK_STATES[state]), counts.get(state, 0), len(of_state))
            above = None
            for task in of_state[:_SHOWN]:
                self._listed[str(task.id)] = task
                yield Option(self._row(columns, task, names_kind=task.kind != above), id=str(task.id))
                above = task.kind

    @on(OptionList.OptionHighlighted)
    def _show_details(self) -> None:
        task, stale = self.step, self._stale.get(self.query_one(PickList).picked or "")
        if task is not None:
            self.query_one(DetailText).show(self._step_lines(task))
        else:
            self.query_one(DetailText).show(self._stale_lines(stale) if stale is not None else ())

    def _step_lines(self, task: BackgroundTask) -> Iterator[Content]:
        """The step with its subject, then its tries and the whole reason of a failure."""
        yield head_words(_(TASKS[task.kind]), one_line(self._subject(task)), _(TASK_STATES[task.state]))
        if tries := self._history(task):
            yield head_words("", *tries)
        if task.error:
            yield Content(clean(task.error))
        if task.state == "failed":
            yield key_words(_("`r` tries it again, `x` cancels it."))

    def _stale_lines(self, stale: StaleText) -> Iterator[Content]:
        """The chapters that were changed since, and the key that makes the text again."""
        for chapter in stale.chapters:
            yield head_words("", one_line(self._subjects.get(chapter, chapter), 80))
        yield key_words(_("`m` makes it again from the chapters as they are now."))

    def _history(self, task: BackgroundTask) -> list[str]:
        """The number of tries, and the time of the next one."""
        parts = []
        if task.tries and task.error != _(UNPAID):
            parts.append(_("attempts: {n}").format(n=task.tries))
        left = task.not_before - self._now().timestamp()
        if task.state == "waiting" and left > 0 and task.error != _(UNPAID):
            parts.append(_("again in {n} s").format(n=round(left)))
        return parts

    def _row(self, columns: Columns, task: BackgroundTask, *, names_kind: bool) -> ColumnRow:
        parts = self._history(task)
        if task.error:
            parts.append(one_line(task.error))
        sign = Cell(state_sign(_SIGNS[task.state], is_plain(self.app)), _ROLES.get(task.state))
        kind = _(TASKS[task.kind]) if names_kind else ""
        return columns.row(sign, kind, one_line(self._subject(task)), _(", ").join(parts))

    def _subject(self, task: BackgroundTask) -> str:
        """The chapter, or what it is about, by name; `<profile>@<chapter>` names both."""
        who, _at, chapter = task.subject.rpartition("@")
        return _(", ").join(self._called(part) for part in (who, chapter) if part)

    def _called(self, subject: str) -> str:
        return self._subjects.get(subject) or self._subjects.get(subject.rpartition("/")[2], subject)

    @property
    def step(self) -> BackgroundTask | None:
        """The step under the cursor."""
        return self._listed.get(self.query_one(PickList).picked or "")

    def _then(self, work: Awaitable[None]) -> None:
        async def done() -> None:
            await work
            self._seen = ()
            await self.reload()

        attempt(self, done(), group="change")

    def action_retry(self, every: bool) -> None:
        """Retries one step, or all that failed or were cancelled."""
        self._do(self._controller.retry, every, ("failed", "cancelled", "waiting"), _("Nothing here can be resumed."))

    def action_make(self, every: bool) -> None:
        """Regenerates one outdated text, or all."""
        here = self._stale.get(self.query_one(PickList).picked or "")
        texts = [*self._stale.values()] if every else [here] if here else []
        if texts:
            self._then(self._controller.make_again(texts))
        elif self._stale:
            self.notify(_("Put the cursor on a text that is out of date; `M` regenerates all of them."), markup=False)
        else:
            self.notify(_("Nothing is out of date."), markup=False)

    def action_rebuild(self) -> None:
        """Asks for the part to rebuild."""
        self._then(self._controller.rebuild())

    def action_cancel(self, every: bool) -> None:
        """Cancels one step, or all remaining ones."""
        self._do(self._controller.cancel, every, ("waiting", "running"), _("There is nothing left to cancel."))

    def _do(
        self, change: Callable[[int | None], Awaitable[None]], every: bool, states: tuple[Freshness, ...], nothing: str
    ) -> None:
        """Changes the task under the cursor, or all tasks, if in one of these states; otherwise shows `nothing`."""
        steps = [*self._listed.values()] if every else [self.step] if self.step else []
        if any(step.state in states for step in steps):
            self._then(change(None if every else steps[0].id))
        else:
            self.notify(nothing, markup=False)

    def action_done(self) -> None:
        """Lists finished steps, or hides them."""
        self.shows_done = not self.shows_done
        attempt(self, self.reload(), group="reload", exclusive=True)
