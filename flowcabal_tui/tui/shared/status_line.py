"""The one-row status line: what runs, what waits, what was spent, and how the knowledge server is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Static

from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.memory.bootstrap_words import said
from flowcabal_tui.tui.shared.words import one_line

if TYPE_CHECKING:
    from flowcabal_tui.domain.memory import BootstrapStatus, Totals
    from flowcabal_tui.domain.trust import TrustState
    from flowcabal_tui.project.views import ProjectInfo

_SPINNER: Final = "|/-\\"
_SPIN_SECONDS: Final = 0.25
_SIGNS: Final = {"USD": "$", "CNY": "¥", "EUR": "€", "GBP": "£"}


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the line; the pieces of the highest `rank` go first when the line is too long."""

    words: str
    rank: int


def short_count(tokens: int) -> str:
    """12,400 as 12.4k; 950 as 950."""
    if tokens < 1000:
        return str(tokens)
    thousands = tokens / 1000
    return f"{thousands:.1f}k" if thousands < 1000 else f"{thousands / 1000:.1f}M"


def money(cost: Decimal | None, currency: str) -> str:
    """A sum as it is shown; unknown stays unknown."""
    return _("unknown") if cost is None else f"{_SIGNS.get(currency, currency + ' ' if currency else '')}{cost:.2f}"


class StatusLine(Horizontal):
    """Runs, waiting questions, tokens, money, saved, memory work, knowledge."""

    DEFAULT_CSS = """
    StatusLine { height: 1; background: $panel; }
    StatusLine > .status-spinner { width: 2; }
    StatusLine > .status-words { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, *, offline: bool = False, read_only: bool = False, trust: TrustState = "trusted") -> None:
        super().__init__()
        self._trust_state = trust
        self._offline_model, self._only_reading = offline, read_only
        self._running_count = self._paused_count = self._question_count = self._interrupted_count = 0
        self._memory_left = self._memory_failed = self._proposal_count = self._build_count = self._finding_count = 0
        self._memory_reason = ""
        self._words_shown = ""
        self._spent = ""
        self._saved_at: datetime | None = None
        self._knowledge_state = self._knowledge_message = ""
        self._owed_count = self._owed_failed = 0
        self._owed_reason = self._reading_words = ""
        self._spin_timer: Timer | None = None
        self._spin_step = 0

    @classmethod
    def of(cls, info: ProjectInfo) -> StatusLine:
        """The line of a project as it was opened."""
        return cls(offline=info.offline, read_only=info.read_only, trust=info.trust)

    def compose(self) -> ComposeResult:
        """One cell that turns while something runs, and the words."""
        yield Static("", markup=False, classes="status-spinner")
        yield Static("", markup=False, classes="status-words")

    def on_mount(self) -> None:
        """The spinner is still until something runs."""
        self._spin_timer = self.set_interval(_SPIN_SECONDS, self._spin, pause=True)
        self._show_words()

    def update_runs(self, running: int, paused: int, interrupted: int) -> None:
        """How many runs do something, how many wait for their next level, how many could go on."""
        self._running_count, self._paused_count, self._interrupted_count = running, paused, interrupted
        self._show_words()

    def update_questions(self, waiting: int) -> None:
        """How many questions wait for the writer."""
        self._question_count = waiting
        self._show_words()

    def update_proposals(self, waiting: int) -> None:
        """How many proposals of agents wait for the writer's word."""
        self._proposal_count = waiting
        self._show_words()

    def update_builds(self, waiting: int) -> None:
        """How many suggested workflows wait for the writer."""
        self._build_count = waiting
        self._show_words()

    def update_findings(self, waiting: int) -> None:
        """How many findings of checks nobody has looked at."""
        self._finding_count = waiting
        self._show_words()

    def update_trust(self, state: TrustState) -> None:
        """Whether the user has confirmed all that the project asks for."""
        self._trust_state = state
        self._show_words()

    def update_totals(self, totals: Totals) -> None:
        """Tokens and money spent in the project."""
        tokens = _("{count} tok").format(count=short_count(totals.input_tokens + totals.output_tokens))
        cost = _("cost {sum}").format(sum=totals.about + money(totals.cost, totals.currency))
        self._spent = f"{tokens} · {cost}"
        self._show_words()

    def update_saved(self, at: datetime) -> None:
        """The time of the last save."""
        self._saved_at = at
        self._show_words()

    def update_memory(self, left: int, failed: int, reason: str | None = None) -> None:
        """Background work: steps left, steps failed, and the reason for a delay ("": none, None: as before)."""
        self._memory_left, self._memory_failed = left, failed
        self._memory_reason = one_line(self._memory_reason if reason is None else reason, 60)
        self._show_words()

    def update_reading(self, status: BootstrapStatus) -> None:
        """Progress of the paid reading of an import; nothing once it is done or dropped."""
        over = status.state == "dropped" or (status.state == "done" and not status.failed)
        self._reading_words = "" if over else _("reading: {words}").format(words=said(status))
        self._show_words()

    def update_knowledge(self, state: str, reason: str) -> None:
        """The state of the knowledge server, in the protocol's words."""
        self._knowledge_state, self._knowledge_message = state, reason
        self._show_words()

    @property
    def is_knowledge_starting(self) -> bool:
        """True until the knowledge server is ready or has failed."""
        return self._knowledge_state in ("starting", "restarting")

    def update_owed(self, left: int, failed: int, reason: str | None = None) -> None:
        """Texts that the knowledge server has not received yet; arguments as in `update_memory`."""
        self._owed_count, self._owed_failed = left, failed
        self._owed_reason = one_line(self._owed_reason if reason is None else reason, 60)
        self._show_words()

    def _knowledge_words(self) -> str:
        """The server's state, and what waits for it or failed there."""
        state, reason = self._knowledge_state, self._knowledge_message
        if state == "ready" and self._owed_count:
            words, reason = _("knowledge: indexing, {n} left").format(n=self._owed_count), self._owed_reason or reason
        elif state in ("ready", "external") and self._owed_failed:
            words, reason = _("knowledge: {n} failed: R").format(n=self._owed_failed), self._owed_reason
        else:
            words, reason = self._bare_words(state), reason if state in ("absent", "failed", "off", "stopped") else ""
        return f"{words} ({reason})" if reason else words

    def _bare_words(self, state: str) -> str:
        words = {
            "ready": _("knowledge: ready"),
            "external": _("knowledge: ready (elsewhere)"),
            "starting": _("knowledge: starting"),
            "restarting": _("knowledge: restarting"),
            "asks": _("knowledge: waiting for your answer: R"),
        }.get(state, _("knowledge: off"))
        waiting = self._owed_count if state in ("external", "starting", "restarting", "failed") else 0
        return _("{words}, {n} waiting").format(words=words, n=waiting) if waiting else words

    @property
    def words(self) -> str:
        """The line as it fits the width that there is."""
        return self._fitting(max(20, self.size.width - 2))

    def on_resize(self, event: Resize) -> None:
        """More or fewer words fit."""
        self._show_words()

    def _parts(self) -> list[_Part]:
        parts = []
        if self._trust_state == "restricted":
            parts.append(_Part(_("RESTRICTED: F10"), 0))
        elif self._trust_state == "changed":
            parts.append(_Part(_("not confirmed: F10"), 0))
        if self._only_reading:
            parts.append(_Part(_("READ ONLY"), 0))
        if self._offline_model:
            parts.append(_Part(_("OFFLINE MODEL"), 0))
        if self._running_count:
            parts.append(_Part(_("{n} running").format(n=self._running_count), 1))
        if self._paused_count:
            parts.append(_Part(_("{n} paused: F7").format(n=self._paused_count), 1))
        if self._question_count:
            parts.append(_Part(_("{n} waiting for you: F8").format(n=self._question_count), 1))
        if self._proposal_count:
            words = ngettext("{n} proposal: A", "{n} proposals: A", self._proposal_count)
            parts.append(_Part(words.format(n=self._proposal_count), 2))
        if self._build_count:
            words = ngettext("{n} suggested workflow: V", "{n} suggested workflows: V", self._build_count)
            parts.append(_Part(words.format(n=self._build_count), 1))
        if self._finding_count:
            words = ngettext("{n} finding: L", "{n} findings: L", self._finding_count)
            parts.append(_Part(words.format(n=self._finding_count), 2))
        if self._interrupted_count:
            parts.append(_Part(_("{n} interrupted: F3").format(n=self._interrupted_count), 2))
        if self._spent:
            parts.append(_Part(self._spent, 4))
        if self._saved_at is not None:
            parts.append(_Part(_("saved {time}").format(time=self._saved_at.strftime("%H:%M")), 3))
        reason = f" ({self._memory_reason})" if self._memory_reason else ""
        if self._memory_left:
            parts.append(_Part(_("memory: {n} left").format(n=self._memory_left) + reason, 2 if reason else 5))
        if self._memory_failed:
            words = _("memory: {n} failed: R").format(n=self._memory_failed)
            parts.append(_Part(words + ("" if self._memory_left else reason), 2))
        if self._reading_words:
            parts.append(_Part(one_line(self._reading_words, 100), 2))
        if self._knowledge_state:
            parts.append(_Part(self._knowledge_words(), 6))
        return parts or [_Part(_("nothing runs"), 9)]

    def _fitting(self, width: int) -> str:
        parts = self._parts()
        while len(parts) > 1 and cell_len(" · ".join(part.words for part in parts)) > width:
            parts.remove(max(parts, key=lambda part: part.rank))
        return " · ".join(part.words for part in parts)

    def _show_words(self) -> None:
        if not self.is_mounted:
            return
        if self.words != self._words_shown:
            self._words_shown = self.words
            self.query_one(".status-words", Static).update(self._words_shown, layout=False)
        if self._spin_timer is not None and self._running_count:
            self._spin_timer.resume()
        elif self._spin_timer is not None:
            self._spin_timer.pause()
            if self._spin_step:
                self._spin_step = 0
                self.query_one(".status-spinner", Static).update("", layout=False)

    def _spin(self) -> None:
        if not self._running_count:  # a turn that was on its way when the timer was paused
            return
        self._spin_step += 1
        self.query_one(".status-spinner", Static).update(_SPINNER[self._spin_step % len(_SPINNER)], layout=False)
