"""The one-row status line, by importance: waiting decisions, runs, words today, spending, the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Static

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.memory.bootstrap_words import progress_words
from flowcabal_tui.project.words import beside, money
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.role_words import without_backticks
from flowcabal_tui.tui.widgets.roles import Role, role_sign, role_style

if TYPE_CHECKING:
    from flowcabal_tui.domain.memory import BootstrapStatus, Totals
    from flowcabal_tui.domain.trust import TrustState
    from flowcabal_tui.project.views import ProjectInfo

_SPINNER: Final = "|/-\\"
_SPIN_SECONDS: Final = 0.25
_BAR: Final = 10
_GAP: Final = "   "
_MINOR: Final = 7
_MERELY_ABSENT: Final = ("absent", "off", "stopped")
"""States of the knowledge server that ask for nothing."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the line; `short` are fewer words for the same, "" if there are none.

    When the line is too long, pieces from the rank `_MINOR` on go first, then pieces are shortened, then others go:
    always that of the highest `rank`.
    """

    words: str
    rank: int
    role: Role = "text"
    short: str = ""

    def content(self) -> Content:
        """With the sign of its role before the words."""
        sign = role_sign(self.role)
        return Content.styled(f"{sign} {self.words}" if sign else self.words, role_style(self.role))


class Waiting(NamedTuple):
    """The numbers of questions and suggested workflows, findings, and proposals that wait for the writer."""

    decisions: int
    findings: int
    proposals: int


def _joined(parts: Sequence[_Part]) -> Content:
    return Content(_GAP).join(part.content() for part in parts)


def short_count(tokens: int) -> str:
    """12,400 as 12.4k; 950 as 950."""
    if tokens < 1000:
        return str(tokens)
    thousands = tokens / 1000
    return f"{thousands:.1f}k" if thousands < 1000 else f"{thousands / 1000:.1f}M"


class StatusLine(Horizontal):
    """Shows runs, waiting questions, tokens, money, the last save, memory work and the knowledge server."""

    DEFAULT_CSS = """
    StatusLine { height: 1; background: $panel; }
    StatusLine > .status-spinner { width: 2; }
    StatusLine > .status-words { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._trust_state: TrustState = "trusted"
        self._offline_model = self._only_reading = False
        self._running_count = self._paused_count = self._question_count = self._interrupted_count = 0
        self._memory_left = self._memory_failed = self._proposal_count = self._build_count = self._finding_count = 0
        self._building_count = 0
        self.unpaid = 0
        """Steps of background work that wait until the writer agrees to what they cost."""
        self._memory_reason = ""
        self._words_shown = Content()
        self._spent = self._spent_short = self._running_cost = ""
        self._today = self._day_goal = 0
        self._saved_at: datetime | None = None
        self._knowledge_state = self._knowledge_message = ""
        self._owed_count = self._owed_failed = 0
        self._owed_reason = self._reading_words = ""
        self._spin_timer: Timer | None = None
        self._spin_step = 0
        self._is_opening = False

    def compose(self) -> ComposeResult:
        """Yields a spinner cell and the text."""
        yield Static("", markup=False, classes="status-spinner")
        yield Static("", markup=False, classes="status-words")

    def show_opening(self, opening: bool) -> None:
        """Shows only that the book is being opened, or (False) the normal line."""
        self._is_opening = opening
        self._show_words()

    def on_mount(self) -> None:
        """Stops the spinner until something runs."""
        self._spin_timer = self.set_interval(_SPIN_SECONDS, self._spin, pause=True)
        self._show_words()

    def update_runs(self, running: int, paused: int, interrupted: int, cost: str = "") -> None:
        """Sets the numbers of active, paused and interrupted runs, and the cost of the active ones so far."""
        self._running_count, self._paused_count, self._interrupted_count = running, paused, interrupted
        self._running_cost = cost
        self._show_words()

    def update_questions(self, waiting: int) -> None:
        """Sets the number of waiting questions."""
        self._question_count = waiting
        self._show_words()

    def update_proposals(self, waiting: int) -> None:
        """Sets the number of waiting proposals of agents."""
        self._proposal_count = waiting
        self._show_words()

    def update_builds(self, waiting: int, at_work: int) -> None:
        """Sets the numbers of suggested workflows that wait, and of those that are being built."""
        self._build_count, self._building_count = waiting, at_work
        self._show_words()

    def update_findings(self, waiting: int) -> None:
        """Sets the number of unseen findings."""
        self._finding_count = waiting
        self._show_words()

    def update_project(self, info: ProjectInfo) -> None:
        """Sets the state of a newly opened project."""
        self._offline_model, self._only_reading, self._trust_state = info.offline, info.read_only, info.trust
        self._show_words()

    def update_trust(self, state: TrustState) -> None:
        """Sets the trust state of the project."""
        self._trust_state = state
        self._show_words()

    @property
    def waiting(self) -> Waiting:
        """The items that wait for the writer."""
        return Waiting(self._question_count + self._build_count, self._finding_count, self._proposal_count)

    @property
    def today(self) -> tuple[int, int]:
        """Words (characters in a Chinese book) since midnight, and the goal of a day (0: none)."""
        return self._today, self._day_goal

    def update_totals(self, totals: Totals) -> None:
        """Sets the tokens and money spent in the project."""
        tokens = _("{count} tok").format(count=short_count(totals.input_tokens + totals.output_tokens))
        spent = totals.about + money(totals.cost, totals.currency)
        self._spent = "  ".join((tokens, _("cost {sum}").format(sum=spent)))
        self._spent_short = spent if totals.cost else tokens
        self._show_words()

    def update_today(self, written: int, goal: int) -> None:
        """Sets the words (characters in a Chinese book) since midnight, and the daily goal (0: none)."""
        self._today, self._day_goal = written, goal
        self._show_words()

    def update_saved(self, at: datetime) -> None:
        """Sets the time of the last save."""
        self._saved_at = at
        self._show_words()

    def update_memory(self, left: int, failed: int, reason: str | None = None) -> None:
        """Sets the background work: steps left, steps failed, and the reason for a delay ("": none, None:
        unchanged)."""
        self._memory_left, self._memory_failed = left, failed
        self._memory_reason = one_line(self._memory_reason if reason is None else reason, 60)
        self._show_words()

    def update_unpaid(self, waiting: int) -> None:
        """Sets the number of steps that wait until the writer agrees to what they cost."""
        self.unpaid = waiting
        self._show_words()

    def update_reading(self, status: BootstrapStatus) -> None:
        """Sets the progress of the paid reading of an import; hidden once it is done or dropped."""
        over = status.state == "dropped" or (status.state == "done" and not status.failed)
        self._reading_words = "" if over else _("reading: {words}").format(words=progress_words(status))
        self._show_words()

    def update_knowledge(self, state: str, reason: str) -> None:
        """Sets the state of the knowledge server, in the protocol's words."""
        self._knowledge_state, self._knowledge_message = state, reason
        self._show_words()

    @property
    def is_knowledge_starting(self) -> bool:
        """True until the knowledge server is ready or has failed."""
        return self._knowledge_state in ("starting", "restarting")

    def update_owed(self, left: int, failed: int, reason: str | None = None) -> None:
        """Sets the texts that the knowledge server has not received yet; arguments as in `update_memory`."""
        self._owed_count, self._owed_failed = left, failed
        self._owed_reason = one_line(self._owed_reason if reason is None else reason, 60)
        self._show_words()

    def _knowledge_words(self) -> str:
        """The server's state, and what waits for it or failed there."""
        state, reason = self._knowledge_state, self._knowledge_message
        if state == "ready" and self._owed_count:
            words, reason = _("knowledge: indexing, {n} left").format(n=self._owed_count), self._owed_reason or reason
        elif state in ("ready", "external") and self._owed_failed:
            words, reason = _("knowledge: {n} failed: `R`").format(n=self._owed_failed), self._owed_reason
        else:
            words, reason = self._bare_words(state), reason if state in ("absent", "failed", "off", "stopped") else ""
        return beside(words, reason)

    def _bare_words(self, state: str) -> str:
        words = {
            "ready": _("knowledge: ready"),
            "external": _("knowledge: ready (elsewhere)"),
            "starting": _("knowledge: starting"),
            "restarting": _("knowledge: restarting"),
            "asks": _("knowledge: waiting for your answer: `R`"),
        }.get(state, _("knowledge: off"))
        waiting = self._owed_count if state in ("external", "starting", "restarting", "failed") else 0
        return _("{words}, {n} waiting").format(words=words, n=waiting) if waiting else words

    @property
    def words(self) -> str:
        """The line, shortened to the available width."""
        return _joined(self._fitting(self._space)).plain

    @property
    def _space(self) -> int:
        return max(20, self.size.width - 2)

    def on_resize(self, event: Resize) -> None:
        """Fits the line to the new width."""
        self._show_words()

    def _parts(self) -> Iterator[_Part]:
        if self._is_opening:
            yield _Part(_("opening: keys are not used yet"), 0)
            return
        if self._trust_state == "restricted":
            yield _Part(_("RESTRICTED: F10"), 0, "waiting")
        elif self._trust_state == "changed":
            yield _Part(_("not confirmed: F10"), 0, "waiting")
        if self._only_reading:
            yield _Part(_("READ ONLY"), 0)
        yield from self._waiting_parts()
        if self._running_count:
            yield _Part(beside(_("{n} running").format(n=self._running_count), self._running_cost), 1)
        if self._building_count:
            words = ngettext("building {n} workflow: V", "building {n} workflows: V", self._building_count)
            yield _Part(words.format(n=self._building_count), 1)
        if self._paused_count:
            yield _Part(_("{n} paused: F7").format(n=self._paused_count), 1)
        if self._interrupted_count:
            yield _Part(_("{n} interrupted: F3").format(n=self._interrupted_count), 2, "stale")
        if self._reading_words:
            yield _Part(one_line(self._reading_words, 100), 2)
        if self._today or self._day_goal:
            yield self._today_part()
        if self._spent:
            yield _Part(self._spent, 5, "secondary", self._spent_short)
        yield from self._memory_parts()
        if self._saved_at is not None:
            yield _Part(_("saved {time}").format(time=self._saved_at.strftime("%H:%M")), 7, "secondary")
        if self._offline_model:
            yield _Part(_("offline model"), 8, "secondary")

    def _waiting_parts(self) -> Iterator[_Part]:
        if self._question_count:
            short = _("{n} waiting: F8").format(n=self._question_count)
            yield _Part(_("{n} waiting for you: F8").format(n=self._question_count), 1, "waiting", short)
        if self._build_count:
            words = ngettext("{n} suggested workflow: V", "{n} suggested workflows: V", self._build_count)
            yield _Part(words.format(n=self._build_count), 1, "waiting")
        if self._finding_count:
            words = ngettext("{n} finding: L", "{n} findings: L", self._finding_count)
            yield _Part(words.format(n=self._finding_count), 2, "contradiction")
        if self._proposal_count:
            words = ngettext("{n} proposal: Shift+F8", "{n} proposals: Shift+F8", self._proposal_count)
            yield _Part(words.format(n=self._proposal_count), 2, "waiting")

    def _memory_parts(self) -> Iterator[_Part]:
        reason = "" if self.unpaid else self._memory_reason
        if self.unpaid:
            words = without_backticks(_("memory waits for your answer: `R`"))
            yield _Part(words, 2, "waiting", without_backticks(_("memory waits: `R`")))
        elif self._memory_left:
            words = _("memory: {n} left").format(n=self._memory_left)
            yield _Part(beside(words, reason), 2 if reason else 6, "secondary", words if reason else "")
        if self._memory_failed:
            words = without_backticks(_("memory: {n} failed: `R`").format(n=self._memory_failed))
            yield _Part(beside(words, "" if self._memory_left else reason), 2, "failed")
        if self._knowledge_state not in ("", *_MERELY_ABSENT):
            is_bad = self._knowledge_state == "failed" or bool(self._owed_failed)
            rank = 2 if is_bad else 6 if self._owed_count else 9
            yield _Part(without_backticks(self._knowledge_words()), rank, "failed" if is_bad else "secondary")

    def _today_part(self) -> _Part:
        """Words since midnight, against the goal of a day where there is one."""
        if not self._day_goal:
            return _Part(_("today {n}").format(n=f"{self._today:+,}"), 4)
        done = min(_BAR, max(0, round(_BAR * self._today / self._day_goal)))
        words = _("today {n} of {goal}").format(n=f"{self._today:,}", goal=f"{self._day_goal:,}")
        short = _("today {n}/{goal}").format(n=f"{self._today:,}", goal=f"{self._day_goal:,}")
        return _Part(f"{words} {'█' * done}{'░' * (_BAR - done)}", 4, short=short)

    def _fitting(self, width: int) -> list[_Part]:
        parts = list(self._parts()) or [_Part(_("nothing runs"), _MINOR, "secondary")]
        while len(parts) > 1 and _joined(parts).cell_length > width:
            least = max(parts, key=lambda part: part.rank)
            long = [part for part in parts if part.short]
            if least.rank < _MINOR and long:
                part = max(long, key=lambda part: part.rank)
                parts[parts.index(part)] = _Part(part.short, part.rank, part.role)
            else:
                parts.remove(least)
        return parts

    def _show_words(self) -> None:
        if not self.is_mounted:
            return
        words = _joined(self._fitting(self._space))
        if words != self._words_shown:
            self._words_shown = words
            self.query_one(".status-words", Static).update(words, layout=False)
        if self._spin_timer is not None and self._is_busy:
            self._spin_timer.resume()
        elif self._spin_timer is not None:
            self._spin_timer.pause()
            if self._spin_step:
                self._spin_step = 0
                self.query_one(".status-spinner", Static).update("", layout=False)

    @property
    def _is_busy(self) -> bool:
        return bool(self._running_count or self._building_count)

    def _spin(self) -> None:
        if not self._is_busy:  # a turn that was on its way when the timer was paused
            return
        self._spin_step += 1
        self.query_one(".status-spinner", Static).update(_SPINNER[self._spin_step % len(_SPINNER)], layout=False)
