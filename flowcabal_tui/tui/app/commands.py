"""The command palette: every action that works at this moment, with its key beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.dom import DOMNode

from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.actions import shown_key

_HANDS: Final = ("list.", "tree.", "rail.", "stream.", "prose.")
"""Ids of what hands do without thinking, such as a cursor that goes down: keys, but no commands."""


class _Command(NamedTuple):
    title: str
    explanation: str
    node: DOMNode
    action: str


class ActionCommands(Provider):
    """Commands from the active bindings, and so from the table of actions and the panes' own keys."""

    def _commands(self) -> Iterator[_Command]:
        seen: set[str] = set()
        found = self.screen.active_bindings.values()
        for active in sorted(found, key=lambda item: item.node in (self.screen, self.app)):
            binding = active.binding
            is_of_hands = not binding.show and (binding.id or _HANDS[0]).startswith(_HANDS)
            if binding.description and active.enabled and binding.action not in seen and not is_of_hands:
                seen.add(binding.action)
                key = shown_key(binding.key)
                title = f"{_(binding.description)}  ({key})"
                yield _Command(title, _(binding.tooltip), active.node, binding.action)

    async def discover(self) -> Hits:
        """Everything, before a letter is typed."""
        for command in self._commands():
            run = partial(self.app.run_action, command.action, command.node)
            yield DiscoveryHit(command.title, run, text=command.title, help=command.explanation)

    async def search(self, query: str) -> Hits:
        """The commands whose title or explanation matches the letters typed."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = max(matcher.match(command.title), matcher.match(command.explanation) * 0.5)
            if score > 0:
                run = partial(self.app.run_action, command.action, command.node)
                yield Hit(score, matcher.highlight(command.title), run, text=command.title, help=command.explanation)
