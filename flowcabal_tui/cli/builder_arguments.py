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
