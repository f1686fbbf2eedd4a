"""A registry with functions that no installed plug-in brings."""

from __future__ import annotations

from collections.abc import Iterable

from flowcabal_tui.actions.registry import Action, ActionFunction, ActionRegistry


class RegistryWithFunctions(ActionRegistry):
    """Finds the given functions by their names, besides those of plug-ins."""

    def __init__(self, actions: Iterable[Action], **functions: ActionFunction) -> None:
        super().__init__(actions)
        self._given = functions

    def function(self, name: str) -> ActionFunction | None:
        return self._given.get(name) or super().function(name)
