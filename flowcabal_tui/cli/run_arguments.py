"""The arguments of `run`, and of its alias `execute`."""

from __future__ import annotations

import argparse

from flowcabal_tui.cli.agreeing import add_yes
from flowcabal_tui.cli.argument_types import embeddings_flag, flag, repeated, whole
from flowcabal_tui.locale import _


def run_arguments(run: argparse.ArgumentParser) -> None:
    """Adds the arguments of a run: the workflow and the options."""
    run.add_argument("workflow", nargs="?", metavar=_("WORKFLOW"), help=_("id or id@version"))
    run.add_argument("--resume", metavar=_("RUN"), help=_("continue a run whose process ended"))
    words = _("with --resume: continue cut-off texts from where they stopped, not from the start")
    run.add_argument("--continue", dest="continues", action="store_true", help=words)
    run.add_argument("--chapter", type=whole, metavar="N", help=_("for the chapter at this place in the story"))
    inputs_arguments(run)
    run.add_argument(
        "--length", type=whole, metavar="N", help=_("length of the chapter in words, or in characters for Chinese")
    )
    repeated(run, "--target", _("run only this node and the nodes it needs"), metavar=_("NODE"))
    repeated(run, "--again", _("make another sample"), metavar=_("NODE"))
    repeated(run, "--freeze", _("use its current output from now on, never run it"), metavar=_("NODE"))
    repeated(run, "--set", _("a parameter, for this run only"), metavar="NODE.PARAM=VALUE")
    flag(run, "--step", _("pause after each level; an empty line continues"))
    flag(run, "--fresh-context", _("read the newest memory, not the pinned one"))
    flag(run, "--knowledge", _("start the knowledge server and wait for it"))
    embeddings_flag(run)
    flag(run, "--quote", _("only show what it would cost"))
    repeated(
        run,
        "--decide",
        _(
            "answer a question of that node: approve, choose:N, reject, retry:NOTE, mend:NOTE or edit:@FILE;"
            " never a required approval"
        ),
        metavar="NODE=ANSWER",
    )
    run.add_argument("--keep", metavar=_("NODE"), help=_("keep the output of this node when the run is done"))
    flag(run, "--wait", _("with --keep: wait for background work and its advice"))
    add_yes(run)
    form = run.add_mutually_exclusive_group()
    flag(form, "--json", _("print events, read commands, one JSON object per line"))
    flag(form, "--plain", _("plain text without a progress line"))


def inputs_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments for the inputs of a run."""
    command.add_argument("--instruction", metavar=_("TEXT"), default="", help=_("your instructions for this chapter"))
    message = _("a value for {{input.NAME}}: a text, or with NAME:=JSON a number, true, a list or an object")
    repeated(command, "--input", message, metavar="NAME=TEXT")
