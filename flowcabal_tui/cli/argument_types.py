"""Argument types, such as a whole number or a file, and arguments that many commands have."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeAlias

from flowcabal_tui.cli.argparse_words import Parser
from flowcabal_tui.locale import _

Arguments: TypeAlias = argparse._ActionsContainer
"""A parser, or a group of its arguments."""


def whole(text: str) -> int:
    """A whole number from 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(_("{text} is not a whole number from 1.").format(text=text))
    return int(text)


def chapters_between(text: str) -> tuple[int | None, int | None]:
    """The first and the last position in `7`, `7..9`, `7..` or `..9`; None: from the first, to the last."""
    first, dots, last = text.partition("..")
    wrong = argparse.ArgumentTypeError(
        _("{text} is not a range of chapters: write 7, 7..9, 7.. or ..9.").format(text=text)
    )
    try:
        start, end = (whole(part) if part else None for part in (first, last))
    except argparse.ArgumentTypeError:
        raise wrong from None
    if not dots:
        end = start
    if (start is None and end is None) or (start and end and end < start):
        raise wrong
    return start, end


def path(text: str) -> Path:
    """A named file or folder; raises an error for an empty name, such as an unset variable of a script."""
    if not text.strip():
        raise argparse.ArgumentTypeError(_("an empty name is not a file or folder"))
    return Path(text)


def money(text: str) -> Decimal:
    """An amount of money, not negative."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise argparse.ArgumentTypeError(_("{text} is not an amount of money.").format(text=text))
    return amount


class Commands:
    """The commands of a parser, each with the same words in the list of commands and in its own help."""

    def __init__(self, parser: Parser, **how: Any) -> None:
        self.added: argparse._SubParsersAction[Parser] = parser.add_subparsers(**how)

    def add(self, name: str, words: str) -> Parser:
        """Adds a command."""
        return self.added.add_parser(name, help=words, description=words)

    def book(self, name: str, words: str) -> Parser:
        """Adds a command on the project of one book."""
        command = self.add(name, words)
        command.add_argument("project", type=path, metavar=_("PROJECT"), help=_("the project's folder"))
        return command


def flag(command: Arguments, name: str, words: str) -> None:
    """Adds an option without a value."""
    command.add_argument(name, action="store_true", help=words)


def repeated(command: Arguments, name: str, words: str, **how: Any) -> None:
    """Adds an option with one value that may be given several times: a list, empty by default."""
    command.add_argument(name, action="append", default=[], help=words, **how)


def several(command: Arguments, name: str, words: str, **how: Any) -> None:
    """Adds an option with one or more values: a list, empty by default."""
    command.add_argument(name, nargs="+", default=[], help=words, **how)


def json_flag(command: Arguments) -> None:
    """Adds `--json`."""
    flag(command, "--json", _("print JSON, for programs"))


def chapters_option(command: Arguments) -> None:
    """Adds `--chapter N..M`."""
    words = _("only the chapters at these places: 7, 7..9, 7.. or ..9")
    command.add_argument("--chapter", type=chapters_between, metavar="N..M", help=words)


def actions_option(command: Arguments) -> None:
    """Adds `--actions FILE`."""
    repeated(command, "--actions", _("a registry of actions"), metavar=_("FILE"), type=path)


def embeddings_flag(command: Arguments) -> None:
    """Adds `--embeddings yes|no`."""
    command.add_argument(
        "--embeddings",
        choices=("yes", "no"),
        help=_("whether texts of the book may be sent to the embedding model; asked once per project"),
    )
