"""The arguments of `candidates`."""

from __future__ import annotations

import argparse

from flowcabal_tui.cli.argument_types import path, whole
from flowcabal_tui.locale import _


def candidate_arguments(compared: argparse.ArgumentParser) -> None:
    """The candidates to compare, and the writer's decision."""
    words = _("a comparison or a waiting question; without one, what can be compared is listed")
    compared.add_argument("comparison", nargs="?", metavar=_("COMPARISON"), help=words)
    compared.add_argument("--workflow", metavar=_("WORKFLOW"), help=_("with --node: the outputs of a step"))
    compared.add_argument("--node", metavar=_("NODE"), help=_("the step whose outputs are compared"))
    compared.add_argument("--chapter", type=whole, metavar="N", help=_("with --node: for the chapter at this place"))
    word = compared.add_mutually_exclusive_group()
    word.add_argument("--choose", metavar="A", help=_("choose this candidate, by its letter"))
    words = _("these are equally good; the first of them goes on")
    word.add_argument("--tie", nargs="+", default=[], metavar="A", help=words)
    word.add_argument("--none", action="store_true", help=_("none of them is good enough"))
    words = _("put these paragraphs together: A1, B2 or whole candidates")
    word.add_argument("--take", nargs="+", default=[], metavar="A1", help=words)
    word.add_argument("--compose", type=path, metavar="FILE", help=_("the text of this file, made of the candidates"))
    word.add_argument("--undo", action="store_true", help=_("take the choice back"))
    word.add_argument("--more", type=whole, metavar="N", help=_("write N further candidates, for money"))
    word.add_argument("--sift", action="store_true", help=_("check the facts of each candidate by rule"))
    word.add_argument("--outcomes", action="store_true", help=_("how often each prompt and model won, tied and lost"))
    compared.add_argument("--model", action="store_true", help=_("with --sift: also by the agents' model, for money"))
    words = _("with --take or --compose: have the sentences at the seams changed, for money, and print the changes")
    compared.add_argument("--seams", action="store_true", help=words)
    compared.add_argument("--accept", nargs="+", type=whole, default=[], metavar="N", help=_("with --seams: use these"))
    compared.add_argument("--yes", action="store_true", help=_("start without asking"))
    compared.add_argument("--json", action="store_true", help=_("print JSON, for programs"))
