"""The arguments of `context`, `bench context` and `bench check`."""

from __future__ import annotations

import argparse

from flowcabal_tui.cli.argument_types import flag, json_flag, path, repeated, whole
from flowcabal_tui.domain.context import BUDGET_CLASSES, SCENE_FIELDS, SCENE_KINDS
from flowcabal_tui.locale import _


def context_arguments(context: argparse.ArgumentParser) -> None:
    """Adds the arguments: the node and chapter of the context, and the scene of that chapter."""
    context.add_argument("--chapter", type=whole, metavar="N", help=_("for the chapter at this place in the story"))
    context.add_argument("--workflow", default="chapter", metavar=_("WORKFLOW"), help=_("id or id@version"))
    context.add_argument("--node", metavar=_("NODE"), help=_("default: the first node that writes with a model"))
    context.add_argument(
        "--against", metavar=_("RUN"), help=_("show only the differences from a run, or from a chapter")
    )
    context.add_argument("--instruction", metavar=_("TEXT"), default="")
    context.add_argument("--who", metavar=_("NAMES"), help=_("set who is in the chapter's scene, separated by commas"))
    context.add_argument("--where", metavar=_("PLACE"), help=_("set the place of the chapter's scene"))
    context.add_argument("--when", metavar=_("TIME"), help=_("set the time of the chapter's scene"))
    context.add_argument("--kind", choices=SCENE_KINDS, help=_("set the kind of the chapter's scene"))
    repeated(context, "--by-rule", _("reset this field: it is read from the texts again"), choices=SCENE_FIELDS)
    json_flag(context)


def bench_arguments(context: argparse.ArgumentParser) -> None:
    """Adds the arguments: queries of a book, or of a file over novels, and how their contexts are made."""
    context.add_argument("project", type=path, nargs="?", metavar=_("PROJECT"), help=_("make queries from this book"))
    context.add_argument("--most", type=whole, default=40, metavar="N", help=_("queries of each kind, per book"))
    context.add_argument("--novels", type=path, metavar=_("DIR"), help=_("a folder for each novel"))
    context.add_argument("--queries", type=path, metavar=_("FILE"), help=_("queries, one JSON object per line"))
    context.add_argument("--every", type=whole, default=1, metavar="N", help=_("only every N-th of the queries"))
    context.add_argument("--out", type=path, metavar=_("FILE"), help=_("write the run file"))
    context.add_argument(
        "--chapters",
        type=int,
        default=0,
        metavar="N",
        help=_("put other novels before it, up to this many chapters in all"),
    )
    flag(context, "--ablate", _("print one table with the contribution of each part"))
    json_flag(context)
    context.add_argument("--budget", type=whole, default=25_000, help=_("tokens of a context"))
    repeated(context, "--novel", _("only this novel"), metavar=_("NAME"))
    repeated(context, "--without", _("switch a class of the budget off"), choices=BUDGET_CLASSES)
    context.add_argument(
        "--only",
        choices=("lexical", "vectors"),
        help=_("lexical: without names; vectors: also with the offline embedder's vectors"),
    )
    context.add_argument(
        "--embedding", metavar="URL", help=_("with vectors of this OpenAI-compatible server, which are stored")
    )
    context.add_argument(
        "--embedding-model", default="embedding", metavar=_("NAME"), help=_("the embedding model of that server")
    )
    context.add_argument("--dimensions", type=whole, default=384, metavar="N", help=_("the length of its vectors"))
    flag(context, "--fresh", _("import the novels again"))


def check_arguments(check: argparse.ArgumentParser) -> None:
    """Adds the arguments: rows over novels, or contradictions planted into the user's own book, and how they are
    checked."""
    what = check.add_mutually_exclusive_group(required=True)
    what.add_argument("--novels", type=path, metavar=_("DIR"), help=_("a folder for each novel"))
    what.add_argument(
        "--own", type=path, metavar=_("PROJECT"), help=_("plant contradictions into copies of this book's chapters")
    )
    check.add_argument(
        "--rows", type=path, metavar=_("FILE"), help=_("rows, one JSON object per line; or a folder of such files")
    )
    check.add_argument("--out", type=path, metavar=_("FILE"), help=_("write the run file"))
    check.add_argument(
        "--most",
        type=whole,
        default=20,
        metavar="N",
        help=_("how many contradictions of each kind to plant, and how many chapters to check"),
    )
    how = check.add_mutually_exclusive_group(required=True)
    flag(how, "--rules-only", _("without a model"))
    how.add_argument("--model", choices=("user", "agent"), help=_("with the model of your settings for this role"))
    how.add_argument("--erring", type=whole, metavar="SEED", help=_("judge with simulated errors of known probability"))
    flag(check, "--yes", _("ask the model, which may cost money"))
    flag(check, "--inside", _("put each draft into the middle of its chapter"))
    flag(check, "--fresh", _("import the novels again"))
    json_flag(check)
