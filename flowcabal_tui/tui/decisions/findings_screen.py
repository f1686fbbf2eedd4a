"""What can be done with the findings of a check while a decision is made."""

from __future__ import annotations

from textual import on
from textual.screen import Screen

from flowcabal_tui.domain.run import CheckFinding
from flowcabal_tui.locale import _
from flowcabal_tui.project.views import SourceText
from flowcabal_tui.tui.decisions.finding_view import FindingView, finding_in_full
from flowcabal_tui.tui.shared.find_in_text import ask_to_find
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.stream_view import StreamView


class FindingsScreen(Screen[None]):
    """Holds a FindingView and a reader with the id `text`; what is decided is left to who derives from it."""

    def is_grace(self) -> bool:
        """Did the question appear just now?"""
        raise NotImplementedError

    def waive(self, finding: CheckFinding, reason: str) -> None:
        """The finding is intended."""
        raise NotImplementedError

    def open_source(self, finding: CheckFinding) -> None:
        """What the finding quotes is to be shown."""
        raise NotImplementedError

    def mark_finding(self) -> None:
        """Marks the draft's side of the finding in the text."""
        finding = self.query_one(FindingView).finding
        if finding is not None:
            reader = self.query_one("#text", StreamView)
            reader.highlight(finding.draft.start, finding.draft.end)
            reader.scroll_to_offset(finding.draft.start)

    def action_why(self) -> None:
        """Show the finding in full."""
        finding = self.query_one(FindingView).finding
        if finding is None:
            self.notify(_("There is no finding."), markup=False)
        else:
            self.app.push_screen(SourceScreen(SourceText("", _("Why"), finding_in_full(finding))))

    def action_intended(self) -> None:
        """Call the finding intended; the reason is remembered."""
        view = self.query_one(FindingView)
        finding = view.finding
        if self.is_grace() or finding is None:
            return

        def waive(reason: str | None) -> None:
            if reason is None:
                return
            if not reason.strip():
                self.notify(_("A reason is needed: later checks read it."), markup=False)
                return
            self.waive(finding, reason.strip())
            view.mark_intended(finding)

        self.app.push_screen(PromptLine(_("Why is this intended?")), waive)

    def action_source(self) -> None:
        """Open what the finding quotes from the book."""
        if (finding := self.query_one(FindingView).finding) is not None:
            self.open_source(finding)

    def action_finding(self) -> None:
        """Show the next finding."""
        self.query_one(FindingView).next_finding()
        self.mark_finding()

    @on(StreamView.SearchRequested)
    def find_words(self, message: StreamView.SearchRequested) -> None:
        """`/` asks what to look for."""
        message.stop()
        ask_to_find(self.app, message.stream)
