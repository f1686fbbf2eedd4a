"""Every notice since the start of the program, newest first."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.notices import Notice
from flowcabal_tui.tui.shared.source import TextPage
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import without_backticks


class NoticesScreen(TextPage):
    """A text with the time and words of each notice; warnings have a `!`."""

    help = HelpData(mark("Notices"), mark("Each notice of this session with its time; `!` is a warning or an error."))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="notices.back"),
        HELP_KEYS,
    ]

    def __init__(self, notices: tuple[Notice, ...]) -> None:
        """`notices` are sorted oldest first."""
        rows = [f"{notice.at:%H:%M:%S}  {without_backticks(notice.line)}" for notice in reversed(notices)]
        super().__init__(_("Notices, newest first"), "\n".join(rows) or _("No notice yet. Esc goes back."))
