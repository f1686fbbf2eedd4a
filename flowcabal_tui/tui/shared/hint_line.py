"""The one-row footer: at most six keys, those of the focused pane first."""

from __future__ import annotations

from typing import Final

from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.actions import shown_key
from flowcabal_tui.tui.widgets.roles import role_style

HINTS: Final = 6
OWN_HINTS: Final = 4


class HintLine(Static):
    """Keys of the focused widget, those of its pane before those of the part within; the rest is in the help."""

    DEFAULT_CSS = "HintLine { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    _hints_now = Content()

    def on_mount(self) -> None:
        """Follows the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._show_hints)
        self.call_after_refresh(self._show_hints, self.screen)

    def _show_hints(self, screen: Screen[object]) -> None:
        own: dict[str, str] = {}
        shared: dict[str, str] = {}
        everywhere = (screen, self.app)
        found = screen.active_bindings.values()
        for active in sorted(found, key=lambda item: 0 if item.node in everywhere else len(item.node.ancestors)):
            binding = active.binding
            if binding.show and active.enabled and binding.description:
                hints = shared if active.node in everywhere else own
                hints.setdefault(_(binding.description), binding.key_display or shown_key(binding.key))
        rest = [item for item in shared.items() if item[0] not in own]
        first = list(own.items())[: max(OWN_HINTS, HINTS - len(rest))]
        ask_for_help = [item for item in rest if item[0] == _("Help")]
        others = [item for item in rest if item not in ask_for_help][: HINTS - len(first) - len(ask_for_help)]
        hints_shown = [*first, *others, *ask_for_help]
        looks = role_style("key"), role_style("secondary")
        parts = [part for words, key in hints_shown for part in zip((f" {key} ", f"{words} "), looks, strict=True)]
        hints_now = Content.assemble(*parts)
        if hints_now != self._hints_now:
            self._hints_now = hints_now
            self.update(hints_now, layout=False)
