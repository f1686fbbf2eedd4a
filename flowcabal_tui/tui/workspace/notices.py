"""Notices of engine events that the writer should read.

`command:failed` is not shown here: the caller that awaited the command got it as an error.
"""

from __future__ import annotations

from typing import Any

from textual.notifications import SeverityLevel
from textual.screen import Screen

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.book import ImportProgress, OutputChecked, OutsideEdit
from flowcabal_tui.protocol.memory import PurgeFinished, TextPurged
from flowcabal_tui.protocol.runs import WorkflowFailed
from flowcabal_tui.tui.shared.subscriptions import on_event
from flowcabal_tui.tui.shared.words import one_line


class EngineNotices:
    """Shows events that only inform the writer."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    def _show(self, title: str, *words: str, severity: SeverityLevel = "information") -> None:
        text = "\n".join(part for part in words if part)
        self._screen.notify(clean(text) or " ", title=clean(title), severity=severity, markup=False)

    @on_event
    def _show_failure(self, event: WorkflowFailed) -> None:
        self._show(event.error, event.detail, event.advice, severity="error")

    @on_event
    def _show_advice(self, event: OutputChecked) -> None:
        if any(event.advice):  # findings are in their list
            self._show(_("Advice on the kept text"), *event.advice, severity="warning")

    @on_event
    def _show_outside_edit(self, event: OutsideEdit) -> None:
        self._show(_("A chapter was changed outside"), _("{path}: press `o` in the text.").format(path=event.path))

    @on_event
    def _show_import(self, event: ImportProgress) -> None:
        if event.done >= event.total or event.warnings:
            title = _("{done} of {total} chapters imported").format(done=event.done, total=event.total)
            self._show(title if event.warnings else "", *(event.warnings or (f"{title}.",)))

    @on_event
    def _show_purge(self, event: TextPurged) -> None:
        words = _("Purged: {versions} versions, {runs} runs, {derived} derived texts, {answers} answers.").format(
            versions=event.versions, runs=event.runs, derived=event.derived, answers=event.answers
        )
        left = [_("left as it is: {path}").format(path=one_line(path)) for path in event.left]
        if not event.pending:
            self._show(_("It was removed from the project's file for good"), words, *left)
            return
        pending = [_("not finished: {reason}").format(reason=one_line(reason)) for reason in event.pending]
        self._show(_("The purge is not finished"), words, *pending, *left, severity="warning")

    @on_event
    def _show_purge_end(self, _event: PurgeFinished) -> None:
        self._show(_("The purge is finished"), _("The words you purged no longer occur in any file of the project."))

    @on_event
    def _show_status(self, event: Status) -> None:
        if event.status == "error":
            self._show(_("The project reports an error"), event.message, severity="error")
        elif event.status == "warning":
            self._show(event.message, severity="warning")
