"""The arguments of `ask`; read on every start, so it imports no project."""

from __future__ import annotations

from argparse import ArgumentParser

from flowcabal_tui.cli.argument_types import path, whole
from flowcabal_tui.locale import _


def ask_arguments(command: ArgumentParser) -> None:
    """The question, the texts sent with it, and the conversation that it continues."""
    command.add_argument("project", type=path, metavar=_("PROJECT"), help=_("the project's folder"))
    command.add_argument("question", metavar=_("QUESTION"), help=_("about the book, in your words"))
    chapter = _("send the text of this chapter with it; may be given again")
    command.add_argument("--chapter", type=whole, action="append", default=[], metavar="N", help=chapter)
    goes_on = _("continue this conversation; without it a new one begins")
    command.add_argument("--conversation", default="", metavar="ID", help=goes_on)
    command.add_argument("--json", action="store_true", help=_("print JSON, for programs"))
