"""argparse's own messages, in the user's language."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.locale import _, mark

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

WORDS = (
    mark("usage: "),
    mark("options"),
    mark("positional arguments"),
    mark("show this help message and exit"),
    mark("%(prog)s: error: %(message)s\n"),
    mark("argument %(argument_name)s: %(message)s"),
    mark("the following arguments are required: %s"),
    mark("one of the arguments %s is required"),
    mark("unrecognized arguments: %s"),
    mark("ambiguous option: %(option)s could match %(matches)s"),
    mark("not allowed with argument %s"),
    mark("expected one argument"),
    mark("expected at least one argument"),
    mark("expected at most one argument"),
    mark("invalid choice: %(value)r (choose from %(choices)s)"),
    mark("invalid %(type)s value: %(value)r"),
    mark("ignored explicit argument %r"),
)


def use_catalogue() -> None:
    """From now on argparse asks this program's catalogue, not gettext's own; there is no other door."""
    setattr(argparse, "_", _)  # noqa: B010  # the stubs do not know that name


class Parser(argparse.ArgumentParser):
    """Prints help and errors, which repeat the typed words, safely like every command."""

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if message:
            is_output = file is sys.stdout
            say(message, end="", file=sys.stdout if is_output else sys.stderr)
