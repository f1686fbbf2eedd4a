"""argparse's own messages, in the user's language."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.late_pattern import late
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
_WIDE: Final = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6"
)
_WIDE_ONE: Final = late(f"[{_WIDE}]")
_PIECE: Final = late(rf"\s+|[（“‘《]{{0,4}}(?:[{_WIDE}]|[^\s{_WIDE}“”‘’…]+)[，。、：；！？）”’》…]*|\S")
"""A piece after which a row may end: a wide character or a word, with its brackets and trailing marks."""
_WIDE_HEADING: Final = late(rf"^([{_WIDE}]+):$", re.MULTILINE)
_PAD: Final = "\0"


def use_catalogue() -> None:
    """Makes argparse use this program's catalogue instead of gettext's default; there is no other way."""
    setattr(argparse, "_", _)  # noqa: B010  # the stubs do not know that name


class Parser(argparse.ArgumentParser):
    """Prints help and errors, which repeat the typed words, with control sequences removed."""

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if message:
            is_output = file is sys.stdout
            say(message, end="", file=sys.stdout if is_output else sys.stderr)

    def _get_formatter(self) -> argparse.HelpFormatter:
        self.formatter_class = _WideHelp
        return super()._get_formatter()


class _WideHelp(argparse.HelpFormatter):
    """Lays help out by cells of the terminal: a wide character takes two."""

    def format_help(self) -> str:
        return _WIDE_HEADING.sub(r"\1：", super().format_help().replace(_PAD, ""))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return _WIDE_ONE.sub(rf"\g<0>{_PAD}", super()._format_action_invocation(action))  # as long as it is wide

    def _split_lines(self, text: str, width: int) -> list[str]:
        return list(_rows(" ".join(text.split()), width))


def _rows(text: str, width: int) -> Iterable[str]:
    row = ""
    for piece in _PIECE.findall(text):
        if row and _cells(row) + _cells(piece.rstrip()) > width:
            yield row.rstrip()
            row = ""
        row += piece if row else piece.lstrip()
    yield row


def _cells(text: str) -> int:
    return len(text) + len(_WIDE_ONE.findall(text))
