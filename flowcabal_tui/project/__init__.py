"""A project: a folder with a novel in it. `Project` is the one facade for the screen and the command line.

The names below are loaded on first access, because the screen imports `project.views` before its first frame, which
must not wait for the store, the models and the agents.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowcabal_tui.project.create import create_demo, create_project
    from flowcabal_tui.project.project import Project

__all__ = ["Project", "create_demo", "create_project"]
_HOMES = {"Project": "project", "create_demo": "create", "create_project": "create"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
