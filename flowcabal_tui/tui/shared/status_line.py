"""The one-row status line, by importance: waiting decisions, runs, words today, spending, the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize
from textual.reactive import var
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
_REASON: Final = 60
"""The most characters of the reason for a delay."""
_MERELY_ABSENT: Final = ("absent", "off", "stopped")
"""States of the knowledge server that ask for nothing."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the line; `short` are fewer words for the same, "" if there are none.

    When the line is too long, pieces from the rank `_MINOR` on are removed first, then pieces are
    shortened, then others are removed: always that of the highest `rank`.
    """

    words: str
    rank: int
    role: Role = "text"
    short: str = ""

    def content(self) -> Content:
        """The words, preceded by the sign of their role."""
        sign = role_sign(self.role)
        return Content.styled(f"{sign} {self.words}" if sign else self.words, role_style(self.role))


class Backlog(NamedTuple):
    """Steps of background work that are left and that failed, and the reason for a delay ("": none)."""

    left: int = 0
    failed: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Everything that the line shows.

    `questions`, `builds` (suggested workflows), `findings` and `proposals` are those that wait for the writer; `unpaid`
    are steps of background work that wait until the writer agrees to their cost. `today` and `day_goal` (0: none) are
    words, or characters in a Chinese book. `owed` is what the knowledge server has not received yet, `knowledge` its
    state in the protocol's words.
    """

    is_opening: bool = False
    trust: TrustState = "trusted"
    is_offline: bool = False
    is_read_only: bool = False
    questions: int = 0
    builds: int = 0
    findings: int = 0
    proposals: int = 0
    running: int = 0
    running_cost: str = ""
    building: int = 0
    paused: int = 0
    interrupted: int = 0
    reading: BootstrapStatus | None = None
    today: int = 0
    day_goal: int = 0
    totals: Totals | None = None
    memory: Backlog = Backlog()
    unpaid: int = 0
    owed: Backlog = Backlog()
    knowledge: str = ""
    knowledge_reason: str = ""
    saved_at: datetime | None = None

    @property
    def is_knowledge_starting(self) -> bool:
        """True until the knowledge server is ready or has failed."""
        return self.knowledge in ("starting", "restarting")

    @property
    def is_busy(self) -> bool:
        """True while a run is active or a workflow is being built."""
        return bool(self.running or self.building)


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

    facts = var(StatusFacts())

    def __init__(self) -> None:
        super().__init__()
        self._words_shown = Content()
        self._spin_timer: Timer | None = None
        self._spin_step = 0

    def compose(self) -> ComposeResult:
        """Yields a spinner cell and the text."""
        yield Static("", markup=False, classes="status-spinner")
        yield Static("", markup=False, classes="status-words")

    def on_mount(self) -> None:
        """Stops the spinner until something runs."""
        self._spin_timer = self.set_interval(_SPIN_SECONDS, self._spin, pause=True)
        self._show_words()

    def watch_facts(self) -> None:
        """Shows the new facts."""
        self._show_words()

    def show_project(self, info: ProjectInfo) -> None:
        """Shows the state of an open project."""
        self.facts = replace(self.facts, is_offline=info.offline, is_read_only=info.read_only, trust=info.trust)

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

    def _fitting(self, width: int) -> list[_Part]:
        parts = list(_parts(self.facts)) or [_Part(_("nothing runs"), _MINOR, "secondary")]
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
        if self._spin_timer is not None and self.facts.is_busy:
            self._spin_timer.resume()
        elif self._spin_timer is not None:
            self._spin_timer.pause()
            if self._spin_step:
                self._spin_step = 0
                self.query_one(".status-spinner", Static).update("", layout=False)

    def _spin(self) -> None:
        if not self.facts.is_busy:  # a turn that was on its way when the timer was paused
            return
        self._spin_step += 1
        self.query_one(".status-spinner", Static).update(_SPINNER[self._spin_step % len(_SPINNER)], layout=False)


def _parts(facts: StatusFacts) -> Iterator[_Part]:
    if facts.is_opening:
        yield _Part(_("opening: keys are not used yet"), 0)
        return
    if facts.trust == "restricted":
        yield _Part(_("RESTRICTED: F10"), 0, "waiting")
    elif facts.trust == "changed":
        yield _Part(_("not confirmed: F10"), 0, "waiting")
    if facts.is_read_only:
        yield _Part(_("READ ONLY"), 0)
    yield from _waiting_parts(facts)
    if facts.running:
        yield _Part(beside(_("{n} running").format(n=facts.running), facts.running_cost), 1)
    if facts.building:
        words = ngettext("building {n} workflow: V", "building {n} workflows: V", facts.building)
        yield _Part(words.format(n=facts.building), 1)
    if facts.paused:
        yield _Part(_("{n} paused: F7").format(n=facts.paused), 1)
    if facts.interrupted:
        yield _Part(_("{n} interrupted: F3").format(n=facts.interrupted), 2, "stale")
    if facts.reading is not None and not _is_over(facts.reading):
        yield _Part(one_line(_("reading: {words}").format(words=progress_words(facts.reading)), 100), 2)
    if facts.today or facts.day_goal:
        yield _today_part(facts.today, facts.day_goal)
    if facts.totals is not None:
        yield _spent_part(facts.totals)
    yield from _memory_parts(facts)
    if facts.saved_at is not None:
        yield _Part(_("saved {time}").format(time=facts.saved_at.strftime("%H:%M")), 7, "secondary")
    if facts.is_offline:
        yield _Part(_("offline model"), 8, "secondary")


def _waiting_parts(facts: StatusFacts) -> Iterator[_Part]:
    if facts.questions:
        short = _("{n} waiting: F8").format(n=facts.questions)
        yield _Part(_("{n} waiting for you: F8").format(n=facts.questions), 1, "waiting", short)
    if facts.builds:
        words = ngettext("{n} suggested workflow: V", "{n} suggested workflows: V", facts.builds)
        yield _Part(words.format(n=facts.builds), 1, "waiting")
    if facts.findings:
        words = ngettext("{n} finding: L", "{n} findings: L", facts.findings)
        yield _Part(words.format(n=facts.findings), 2, "contradiction")
    if facts.proposals:
        words = ngettext("{n} proposal: Shift+F8", "{n} proposals: Shift+F8", facts.proposals)
        yield _Part(words.format(n=facts.proposals), 2, "waiting")


def _is_over(reading: BootstrapStatus) -> bool:
    """True for a paid reading that is done or dropped."""
    return reading.state == "dropped" or (reading.state == "done" and not reading.failed)


def _today_part(today: int, goal: int) -> _Part:
    """Words of the writing day, against its goal if there is one."""
    if not goal:
        return _Part(_("today {n}").format(n=f"{today:+,}"), 4)
    done = min(_BAR, max(0, round(_BAR * today / goal)))
    words = _("today {n} of {goal}").format(n=f"{today:,}", goal=f"{goal:,}")
    short = _("today {n}/{goal}").format(n=f"{today:,}", goal=f"{goal:,}")
    return _Part(f"{words} {'█' * done}{'░' * (_BAR - done)}", 4, short=short)


def _spent_part(totals: Totals) -> _Part:
    tokens = _("{count} tok").format(count=short_count(totals.input_tokens + totals.output_tokens))
    spent = totals.about + money(totals.cost, totals.currency)
    words = "  ".join((tokens, _("cost {sum}").format(sum=spent)))
    return _Part(words, 5, "secondary", spent if totals.cost else tokens)


def _memory_parts(facts: StatusFacts) -> Iterator[_Part]:
    left, failed, reason = facts.memory
    reason = "" if facts.unpaid else one_line(reason, _REASON)
    if facts.unpaid:
        words = without_backticks(_("background work waits for your answer: `R`"))
        yield _Part(words, 2, "waiting", without_backticks(_("background work waits: `R`")))
    elif left:
        words = beside(_("background: {n} left").format(n=left), reason)
        yield _Part(words, 2 if reason else 6, "secondary", _("{n} in background").format(n=left))
    if failed:
        words = without_backticks(_("background: {n} failed: `R`").format(n=failed))
        yield _Part(beside(words, "" if left else reason), 2, "failed")
    if facts.knowledge not in ("", *_MERELY_ABSENT):
        is_bad = facts.knowledge == "failed" or bool(facts.owed.failed)
        rank = 2 if is_bad else 6 if facts.owed.left else 9
        yield _Part(without_backticks(_knowledge_words(facts)), rank, "failed" if is_bad else "secondary")


def _knowledge_words(facts: StatusFacts) -> str:
    """The server's state, and what waits for it or failed there."""
    state, reason, owed = facts.knowledge, facts.knowledge_reason, facts.owed
    why = one_line(owed.reason, _REASON)
    if state == "ready" and owed.left:
        return beside(_("knowledge: indexing, {n} left").format(n=owed.left), why or reason)
    if state in ("ready", "external") and owed.failed:
        return beside(_("knowledge: {n} failed: `R`").format(n=owed.failed), why)
    words = {
        "ready": _("knowledge: ready"),
        "external": _("knowledge: ready (elsewhere)"),
        "starting": _("knowledge: starting"),
        "restarting": _("knowledge: restarting"),
        "asks": _("knowledge: waiting for your answer: `R`"),
    }.get(state, _("knowledge: off"))
    if owed.left and state in ("external", "starting", "restarting", "failed"):
        words = _("{words}, {n} waiting").format(words=words, n=owed.left)
    return beside(words, reason if state in ("absent", "failed", "off", "stopped") else "")
