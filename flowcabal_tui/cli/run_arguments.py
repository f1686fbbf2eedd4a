"""The arguments of `run`, and of its alias `execute`."""

from __future__ import annotations

import argparse

from flowcabal_tui.cli.agreeing import add_yes
from flowcabal_tui.cli.argument_types import embeddings_flag, path, whole
from flowcabal_tui.locale import _


def run_arguments(run: argparse.ArgumentParser) -> None:
    """Adds the arguments of a run: the workflow and the options."""
    run.add_argument("project", type=path, metavar=_("PROJECT"), help=_("the project's folder"))
    run.add_argument("workflow", nargs="?", metavar=_("WORKFLOW"), help=_("id or id@version"))
    run.add_argument("--resume", metavar=_("RUN"), help=_("continue a run whose process ended"))
    words = _("with --resume: continue cut-off texts from where they stopped, not from the start")
    run.add_argument("--continue", dest="continues", action="store_true", help=words)
    run.add_argument("--chapter", type=whole, metavar="N", help=_("for the chapter at this place in the story"))
    inputs_arguments(run)
    run.add_argument(
        "--length", type=whole, metavar="N", help=_("length of the chapter in words, or in characters for Chinese")
    )
    run.add_argument(
        "--target", action="append", default=[], metavar=_("NODE"), help=_("run only this node and the nodes it needs")
    )
    run.add_argument("--again", action="append", default=[], metavar=_("NODE"), help=_("make another sample"))
    run.add_argument(
        "--freeze",
        action="append",
        default=[],
        metavar=_("NODE"),
        help=_("use its current output from now on, never run it"),
    )
    run.add_argument(
        "--set", action="append", default=[], metavar="NODE.PARAM=VALUE", help=_("a parameter, for this run only")
    )
    run.add_argument("--step", action="store_true", help=_("pause after each level; an empty line continues"))
    run.add_argument("--fresh-context", action="store_true", help=_("read the newest memory, not the pinned one"))
    run.add_argument("--knowledge", action="store_true", help=_("start the knowledge server and wait for it"))
    embeddings_flag(run)
    run.add_argument("--quote", action="store_true", help=_("only show what it would cost"))
    run.add_argument(
        "--decide",
        action="append",
        default=[],
        metavar="NODE=ANSWER",
        help=_(
            "answer a question of that node: approve, choose:N, reject, retry:NOTE, mend:NOTE or edit:@FILE;"
            " never a required approval"
        ),
    )
    run.add_argument("--keep", metavar=_("NODE"), help=_("keep the output of this node when the run is done"))
    run.add_argument("--wait", action="store_true", help=_("with --keep: wait for background work and its advice"))
    add_yes(run)
    form = run.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help=_("print events, read commands, one JSON object per line"))
    form.add_argument("--plain", action="store_true", help=_("plain text without a progress line"))


def inputs_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments for the inputs of a run."""
    command.add_argument("--instruction", metavar=_("TEXT"), default="", help=_("your instructions for this chapter"))
    message = _("a value for {{input.NAME}}: a text, or with NAME:=JSON a number, true, a list or an object")
    command.add_argument("--input", action="append", default=[], metavar="NAME=TEXT", help=message)
