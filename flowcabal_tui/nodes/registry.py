"""Finds node kinds: every module of this package, and the entry points `flowcabal_tui.nodes` of others."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

from flowcabal_tui import nodes
from flowcabal_tui.nodes.base import NodeKind


@cache
def kinds() -> dict[str, NodeKind]:
    """All kinds by name. A module offers one as `KIND`."""
    found: dict[str, NodeKind] = {}
    for module in sorted(pkgutil.iter_modules(nodes.__path__), key=lambda item: item.name):
        kind = getattr(importlib.import_module(f"{nodes.__name__}.{module.name}"), "KIND", None)
        if kind is not None:
            found[kind.name] = kind
    for entry in entry_points(group="flowcabal_tui.nodes"):
        plugged: NodeKind = entry.load()
        found.setdefault(plugged.name, plugged)
    return found
