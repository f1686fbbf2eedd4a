"""Loads objects of installed packages by entry point."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _


def load_plugin(group: str, name: str, error: type[FlowCabalError]) -> Any:
    """The callable that an installed package offers under this name in the group; None when none does.

    Imports the package. Raises `error` when it cannot be imported, is not callable, or two packages offer the name.
    """
    found = list(entry_points(group=group, name=name))
    if not found:
        return None
    if len(found) > 1:
        raise error(
            _("Two plug-ins are called {name}.").format(name=name),
            ", ".join(sorted(entry.dist.name if entry.dist else entry.value for entry in found)),
        )
    try:
        loaded = found[0].load()
    except Exception as fault:  # the edge: a package may raise anything while it is imported
        raise error(
            _("The plug-in {name} cannot be imported.").format(name=name),
            clean(f"{found[0].value}: {type(fault).__name__}: {fault}"),
        ) from fault
    if not callable(loaded):
        raise error(_("{name} is not a function.").format(name=found[0].value))
    return loaded
