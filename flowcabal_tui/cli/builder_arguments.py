"""The arguments of the Builder's commands."""

from __future__ import annotations

import argparse
from typing import get_args

from flowcabal_tui.cli.agreeing import add_yes
from flowcabal_tui.cli.argument_types import actions_option, flag, json_flag, path
from flowcabal_tui.domain.builds import BuildState
from flowcabal_tui.locale import _
from flowcabal_tui.protocol.builds import BuildWords


def bench_builder_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments: the briefs, and the model or form that answers them."""
    command.add_argument(
        "--briefs", type=path, required=True, metavar=_("FILE"), help=_("briefs, one JSON object per line")
    )
    command.add_argument("--out", type=path, required=True, metavar=_("FILE"), help=_("write the answers"))
    how = command.add_mutually_exclusive_group(required=True)
    flag(how, "--offline", _("fill the form from the words of the request, without a model"))
    how.add_argument("--model", choices=("user", "agent"), help=_("use this model of your settings file"))
    how.add_argument("--forms", type=path, metavar=_("FILE"), help=_("filled forms, one JSON object per line"))
    add_yes(command)


def build_arguments(command: argparse.ArgumentParser, *, updates: bool) -> None:
    """Adds the arguments: the request, and the workflows and files that it may use."""
    if updates:
        named = _("the workflow to change: its id, or a file")
        command.add_argument("workflow", metavar=_("WORKFLOW"), help=named)
    command.add_argument("wish", metavar=_("REQUEST"), help=_("your request, in your own words"))
    if not updates:
        command.add_argument("--template", default="", metavar=_("NAME"), help=_("start from this workflow"))
    actions_option(command)
    flag(command, "--offline", _("fill the form from the words of the request, without a model"))
    command.add_argument(
        "--tools",
        choices=get_args(BuildWords),
        default="ours",
        help=_("the tools offered to the model: this program's (ours) or VelvetFlow's"),
    )
    add_yes(command)
    command.add_argument("-o", "--out", type=path, metavar=_("FILE"), help=_("write the suggested workflow"))
    json_flag(command)


def builds_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments: the builds to show."""
    command.add_argument(
        "build", nargs="?", default="", metavar=_("BUILD"), help=_("show only this build, with its rounds")
    )
    command.add_argument("--state", choices=get_args(BuildState), help=_("list only builds in this state"))
    json_flag(command)
