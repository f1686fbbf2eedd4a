"""The words of `knowledge`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import get_args

from flowcabal_tui.locale import _
from flowcabal_tui.viking.install_tools import ToolName


def knowledge_arguments(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Adds `knowledge` with what it can do."""
    named = add("knowledge", _("the knowledge server for search by meaning: install it, remove it"))
    commands = named.add_subparsers(dest="what", required=True, metavar=_("COMMAND"))

    def one(name: str, words: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=words, description=words)

    status = one("status", _("which knowledge server is used, and what was installed; 1: none"))
    status.add_argument("--json", action="store_true", help=_("print JSON, for programs"))
    install = one("install", _("install it into a folder of your own; shows size, licence and host, and asks"))
    words = _("what fetches it (default: uv where it is installed and you have no settings of pip; else pip)")
    install.add_argument("--with", dest="tool", choices=get_args(ToolName), help=words)
    install.add_argument("--again", action="store_true", help=_("install it again"))
    remove = one("remove", _("delete what was installed; books stay as they are"))
    for command in (install, remove):
        command.add_argument("--yes", action="store_true", help=_("ask nothing"))
