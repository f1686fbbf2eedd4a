"""The findings of an attempt, one at a time, with its two quotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from flowcabal_tui.domain.quoting import quoted as between_marks
from flowcabal_tui.domain.run import AngleCheck, CheckFinding, Evaluation, Quotation
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.project.words import ANGLES
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.words import is_chinese, one_line
from flowcabal_tui.tui.widgets.facts_text import FactsText
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words
from flowcabal_tui.tui.widgets.roles import Role, role_sign, role_style
from flowcabal_tui.tui.widgets.stream_view import StreamView


class FindingView(Vertical):
    """Shows quotations in columns if there is space, else one below the other."""

    DEFAULT_CSS = """
    FindingView { height: auto; max-height: 55%; overflow-y: auto; padding: 0 1; }
    FindingView Static { height: auto; }
    FindingView > .explained { text-style: bold; }
    FindingView Horizontal { height: auto; }
    FindingView .quoted { width: 1fr; padding: 0 1 0 0; max-height: 6; }
    FindingView.-clean > .explained, FindingView.-clean > Horizontal { display: none; }
    """

    @dataclass
    class CalledIntended(Message):
        """The writer declares the contradiction as intended."""

        finding: CheckFinding
        reason: str

    def __init__(self) -> None:
        super().__init__(classes="-clean")
        self._findings: tuple[CheckFinding, ...] = ()
        self._intended: set[tuple[str, str]] = set()
        self._place = 0

    def compose(self) -> ComposeResult:
        """Yields a line for all angles, the explanation, the quotations."""
        yield FactsText(classes="checks")
        yield Static(markup=False, classes="explained")
        with Horizontal():
            yield Static(markup=False, classes="quoted", id="in-draft")
            yield Static(markup=False, classes="quoted", id="in-source")

    @property
    def finding(self) -> CheckFinding | None:
        """The displayed finding."""
        return self._findings[self._place] if self._findings else None

    @property
    def count(self) -> int:
        """The number of findings."""
        return len(self._findings)

    def show(self, evaluation: Evaluation | None) -> None:
        """Shows the checks of an attempt, and its first finding."""
        checks = evaluation.checks if evaluation else ()
        self._findings, self._place = evaluation.findings if evaluation else (), 0
        outcomes = map(_check_content, checks) if checks else (_("no check requested"),)
        self.query_one(FactsText).show(head_words("", *outcomes, role="text"))
        self._refresh_finding()

    def next_finding(self) -> None:
        """Shows the next finding, wrapping around."""
        if self._findings:
            self._place = (self._place + 1) % len(self._findings)
            self._refresh_finding()

    def mark_in(self, reader: StreamView) -> None:
        """Marks the finding's quotation in the draft's text."""
        if (finding := self.finding) is not None:
            reader.highlight(finding.draft.start, finding.draft.end)
            reader.scroll_to_offset(finding.draft.start)

    def open_in_full(self) -> None:
        """Shows the whole finding on its own page."""
        if (finding := self.finding) is None:
            self.notify(_("There is no finding."), markup=False)
        else:
            self.app.push_screen(SourceScreen(OpenedSource("", _("Why"), finding_in_full(finding))))

    def ask_reason(self) -> None:
        """Asks for the reason and marks the finding as intended."""
        if (finding := self.finding) is None:
            return

        def waive(reason: str | None) -> None:
            if reason is None:
                return
            if not reason.strip():
                self.notify(_("A reason is needed: later checks read it."), markup=False)
                return
            self.post_message(self.CalledIntended(finding, reason.strip()))
            self._intended.add(finding.signature)
            self._refresh_finding()

        self.app.push_screen(PromptLine(_("Why is this intended?")), waive)

    def _refresh_finding(self) -> None:
        finding = self.finding
        self.set_class(finding is None, "-clean")
        if finding is None:
            return
        number = _("finding {n} of {m}").format(n=self._place + 1, m=len(self._findings))
        sign = Content.styled(f"{role_sign('contradiction')} {number}  ", "bold $role-contradiction")
        end = Content.styled("  " + _("noted as intended"), role_style("hand"))
        words = Content.assemble(sign, (f"{finding.rule}  " if finding.rule else "", role_style("rule")),
                                 (one_line(finding.explanation), "bold"))  # fmt: skip
        self.query_one(".explained", Static).update(words + end if finding.signature in self._intended else words)
        draft = _quoted_content(_("The draft says:"), finding.draft, "contradiction")
        self.query_one("#in-draft", Static).update(draft)
        book = _quoted_content(_("The book says ({title}):"), finding.source, "quoted")
        self.query_one("#in-source", Static).update(book if finding.source.text else "")


def _check_content(check: AngleCheck) -> Content:
    """The result of one angle: a sign and its name; the reason only where it has none."""
    sign, role = _CHECKS[check.outcome]
    count = f" {len(check.findings)}" if check.findings else ""
    why = f" ({one_line(check.detail)})" if check.outcome == "not checked" and check.detail else ""
    look = role_style(role) if check.outcome != "passed" else "$role-done"
    return Content.assemble((f"{sign}{count} ", look), (_(ANGLES[check.angle]) + why, role_style("secondary")))


def _quoted_content(head: str, quotation: Quotation, role: Role) -> Content:
    """A quotation under its head, with the mark of its role."""
    first, _line, words = quoted(head, quotation, 600).partition("\n")
    gap = "" if is_chinese(words) else " "  # a Chinese line would break at the blank
    mark = (f"{role_sign('quoted')}{gap}", f"$role-{role}")
    return Content.assemble((f"{first}\n", role_style("secondary")), mark, (words, f"$role-{role}"))


_CHECKS: Final[dict[str, tuple[str, Role]]] = {
    "passed": ("●", "done"),
    "found": ("≠", "contradiction"),
    "not checked": ("○", "stale"),
}
"""Outcome of a check -> its sign and its role."""


def quoted(head: str, quotation: Quotation, limit: int | None = None) -> str:
    """A quotation under its head, cut after `limit` characters."""
    title = one_line(quotation.title or quotation.uri)
    return f"{head.format(title=title)}\n{between_marks(clean(quotation.text)[:limit])}"


def finding_in_full(finding: CheckFinding) -> str:
    """All information about a finding."""
    confidence = finding.rule or _("confidence {percent} %").format(percent=round(100 * finding.confidence))
    kind = facts_words(_(ANGLES[finding.angle]), clean(_(finding.subtype)), confidence)
    parts = (
        kind,
        clean(finding.explanation),
        quoted(_("The draft says:"), finding.draft),
        quoted(_("The book says ({title}):"), finding.source) if finding.source.text else "",
    )
    return "\n\n".join(filter(None, parts))
