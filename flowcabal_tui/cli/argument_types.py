"""Argument types: a whole number, an amount of money, a file or folder."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation
from pathlib import Path

from flowcabal_tui.locale import _


def whole(text: str) -> int:
    """A whole number from 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(_("{text} is not a whole number from 1.").format(text=text))
    return int(text)


def chapters_between(text: str) -> tuple[int | None, int | None]:
    """The first and the last position in `7`, `7..9`, `7..` or `..9`; None: from the first, to the last."""
    first, dots, last = text.partition("..")
    start, end = (whole(part) if part else None for part in (first, last))
    if not dots:
        end = start
    if (start is None and end is None) or (start and end and end < start):
        raise argparse.ArgumentTypeError(
            _("{text} is not a range of chapters: write 7, 7..9, 7.. or ..9.").format(text=text)
        )
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


def embeddings_flag(command: argparse.ArgumentParser) -> None:
    """Adds `--embeddings yes|no`."""
    command.add_argument(
        "--embeddings",
        choices=("yes", "no"),
        help=_("whether texts of the book may be sent to the embedding model; asked once per project"),
    )
