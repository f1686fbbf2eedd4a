"""Watches the settings file of the open book."""

from __future__ import annotations

from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.settings import SettingsChanged
from flowcabal_tui.tui.shared.subscriptions import on_event
from flowcabal_tui.tui.shared.trouble import attempt

LOOK_SECONDS: Final = 2.0
"""Interval of checking the file."""


class SettingsWatch:
    """Checks the file every LOOK_SECONDS; shows what another program has changed, and what takes effect later."""

    def __init__(self, screen: Screen[Any], project: Project) -> None:
        self._screen, self._project = screen, project
        screen.set_interval(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        attempt(self._screen, self._project.settings.look(), group="settings", exclusive=True)

    @on_event
    def _say(self, event: SettingsChanged) -> None:
        if event.problem:
            words = f"{event.problem}\n{_('The last valid settings are in use.')}"
            self._screen.notify(clean(words), severity="warning", markup=False)
            return
        now = [name for name in event.tables if name not in event.later]
        words = _("flowcabal.toml was changed outside.") if event.tables else _("flowcabal.toml can be read again.")
        if now:
            words = sentences(words, _("In force: {names}.").format(names=_(", ").join(now)))
        if event.later:
            later = _("When the book is opened again: {names}.").format(names=_(", ").join(event.later))
            words = sentences(words, later)
        self._screen.notify(clean(words), markup=False)
