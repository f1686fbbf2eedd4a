"""What the commands of the Builder take."""

from __future__ import annotations

import argparse

from flowcabal_tui.cli.argument_types import path
from flowcabal_tui.locale import _


def bench_builder_arguments(command: argparse.ArgumentParser) -> None:
    """Briefs, and who answers them."""
    command.add_argument(
        "--briefs", type=path, required=True, metavar=_("FILE"), help=_("briefs, a JSON object a line")
    )
    command.add_argument("--out", type=path, required=True, metavar=_("FILE"), help=_("write the answers"))
    how = command.add_mutually_exclusive_group(required=True)
    how.add_argument("--offline", action="store_true", help=_("fill the form from the wish, by a vocabulary"))
    how.add_argument("--forms", type=path, metavar=_("FILE"), help=_("filled forms, a JSON object a line"))


def build_arguments(command: argparse.ArgumentParser, *, updates: bool) -> None:
    """A wish, and what may be used for it."""
    command.add_argument("project", type=path, metavar=_("PROJECT"), help=_("the project's folder"))
    if updates:
        command.add_argument("workflow", metavar=_("WORKFLOW"), help=_("the workflow to change"))
    command.add_argument("wish", metavar=_("WISH"), help=_("what you want, in your words"))
    if not updates:
        command.add_argument("--template", default="", metavar=_("NAME"), help=_("start from this workflow"))
    command.add_argument(
        "--actions", type=path, action="append", default=[], metavar=_("FILE"), help=_("a registry of actions")
    )
    command.add_argument("--offline", action="store_true", help=_("fill the form from the wish, by a vocabulary"))
    command.add_argument("-o", "--out", type=path, metavar=_("FILE"), help=_("write the suggested workflow"))
    command.add_argument("--json", action="store_true")
