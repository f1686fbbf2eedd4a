"""Finds node kinds: every module of `nodes/kinds`, and the entry points `flowcabal_tui.nodes` of others."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from flowcabal_tui.nodes.base import NodeKind

_KINDS: Final = "flowcabal_tui.nodes.kinds"


@cache
def kind_named(name: str) -> NodeKind | None:
    """One node kind. Loads only the module of that name if there is one, since loading all would block the screen."""
    module = f"{_KINDS}.{name}"
    if name.isidentifier() and importlib.util.find_spec(module):
        kind: NodeKind | None = getattr(importlib.import_module(module), "KIND", None)
        if kind is not None and kind.name == name:
            return kind
    return kinds().get(name)


@cache
def kinds() -> dict[str, NodeKind]:
    """All kinds by name. A module offers one as `KIND`."""
    found: dict[str, NodeKind] = {}
    for module in sorted(pkgutil.iter_modules(importlib.import_module(_KINDS).__path__), key=lambda item: item.name):
        kind = getattr(importlib.import_module(f"{_KINDS}.{module.name}"), "KIND", None)
        if kind is not None:
            found[kind.name] = kind
    for entry in entry_points(group="flowcabal_tui.nodes"):
        plugged: NodeKind = entry.load()
        found.setdefault(plugged.name, plugged)
    return found


def plug_in_of(name: str) -> str:
    """`module:class` of a kind that a plug-in offers; "" for a built-in or unknown kind."""
    kind = kind_named(name)
    module = "" if kind is None else type(kind).__module__
    return "" if kind is None or module.startswith(f"{_KINDS}.") else f"{module}:{type(kind).__qualname__}"
