"""The one-row footer: the four most useful keys, and the keys for back, palette and help."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.actions import binding_key
from flowcabal_tui.tui.widgets.cells import cell_width
from flowcabal_tui.tui.widgets.roles import role_style

HINTS: Final = 4
_PALETTE: Final = "app.palette"
_HELP: Final = "app.help"
_STEPS: Final = (
    (HINTS, ("escape", _PALETTE, _HELP)),
    (3, ("escape", _PALETTE, _HELP)),
    (3, ("escape", _PALETTE)),
    (2, ("escape", _PALETTE)),
    (2, (_PALETTE,)),
    (1, (_PALETTE,)),
)
"""How many keys and which ends are shown, the fullest first."""
_Hint = tuple[str, str]
"""A key and its label."""


class HintLine(Static):
    """Shows keys of the focused widget, those of its pane first; the others are in the palette.

    A screen may name ids of actions that come first (`keys_of_the_moment`), such as the answer to a question.
    """

    DEFAULT_CSS = "HintLine { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    _hints_now = Content()

    def on_mount(self) -> None:
        """Watches the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._show_hints)
        self.call_after_refresh(self._show_hints, self.screen)

    def on_resize(self, _event: Resize) -> None:
        """Fits the keys to the width of the terminal."""
        self._show_hints(self.screen)

    def _show_hints(self, screen: Screen[object]) -> None:
        looks = role_style("key"), role_style("secondary")
        parts = [
            part
            for key, words in self._fitting(*self._hints(screen))
            for part in zip((f" {key} ", f"{words} "), looks, strict=True)
        ]
        hints_now = Content.assemble(*parts)
        if hints_now != self._hints_now:
            self._hints_now = hints_now
            self.update(hints_now, layout=False)

    def _hints(self, screen: Screen[object]) -> tuple[list[_Hint], dict[str, _Hint]]:
        """The hints in order, keys of the moment first; and by id those that end the line, where Esc is `escape`."""
        urgent: tuple[str, ...] = getattr(screen, "keys_of_the_moment", ())
        everywhere = (screen, self.app)
        groups: tuple[list[_Hint], ...] = ([], [], [])
        ends: dict[str, _Hint] = {}
        found = screen.active_bindings.values()
        for active in sorted(found, key=lambda item: 0 if item.node in everywhere else len(item.node.ancestors)):
            binding = active.binding
            if not (active.enabled and binding.description and (binding.show or binding.id in urgent)):
                continue
            if _is_typed(binding, screen.focused):
                continue
            if binding.key == "escape" or binding.id in (_PALETTE, _HELP):
                ends.setdefault("escape" if binding.key == "escape" else binding.id or "", _hint(binding))
            else:
                groups[0 if binding.id in urgent else 2 if active.node in everywhere else 1].append(_hint(binding))
        if _PALETTE not in ends:  # it works over a modal screen too
            below = self.app.screen_stack[0].active_bindings.values()
            ends.update((_PALETTE, _hint(each.binding)) for each in below if each.binding.id == _PALETTE)
        keys: dict[str, str] = {}
        for key, words in (*groups[0], *groups[1], *groups[2]):
            if all(words != end for _key, end in ends.values()):  # as `q` beside Esc
                keys.setdefault(words, key)
        return [(key, words) for words, key in keys.items()], ends

    def _fitting(self, keys: list[_Hint], ends: dict[str, _Hint]) -> list[_Hint]:
        """The hints that fit: four keys and the end of the line; in little space fewer keys, then no help or Esc."""
        shown: list[_Hint] = []
        for count, kept in _STEPS:
            shown = [*keys[:count], *(ends[each] for each in kept if each in ends)]
            if sum(cell_width(key) + cell_width(words) + 3 for key, words in shown) <= (self.size.width or 80):
                break
        return shown


def _is_typed(binding: Binding, focused: Widget | None) -> bool:
    """True if the focused field takes the key as a character; Textual 8.2.8 misses `plus` and `slash`."""
    shown = binding_key(binding)
    is_character = len(shown) == 1 and shown.isascii()
    return focused is not None and is_character and focused.check_consume_key(binding.key, shown)


def _hint(binding: Binding) -> _Hint:
    return binding_key(binding), _(binding.description)
