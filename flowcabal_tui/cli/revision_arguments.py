"""The arguments of `comments`, `lock`, `unlock`, `passes` and `revise`."""

from __future__ import annotations

import argparse

from flowcabal_tui.cli.agreeing import add_yes
from flowcabal_tui.cli.argument_types import (
    chapters_between,
    chapters_option,
    flag,
    json_flag,
    repeated,
    several,
    whole,
)
from flowcabal_tui.domain.comments import COMMENT_KINDS
from flowcabal_tui.locale import _


def comments_arguments(listed: argparse.ArgumentParser) -> None:
    """Adds the arguments: the comments to list, and the changes to some."""
    chapters_option(listed)
    states = ("open", "resolved", "lost", "all")
    listed.add_argument("--state", choices=states, default="open", help=_("which ones; lost: their passage is gone"))
    repeated(listed, "--kind", _("only this kind"), choices=tuple(COMMENT_KINDS))
    listed.add_argument("--words", default="", metavar=_("WORDS"), help=_("only with these words"))
    listed.add_argument("--add", metavar=_("WORDS"), help=_("add a comment to the chapter of --chapter"))
    listed.add_argument("--on", metavar=_("WORDS"), help=_("with --add: the words of the chapter that it is about"))
    listed.add_argument("--edit", type=whole, metavar="ID", help=_("change this comment with --to or --as"))
    listed.add_argument("--to", metavar=_("WORDS"), help=_("with --edit: its new words"))
    listed.add_argument("--as", dest="as_kind", choices=tuple(COMMENT_KINDS), help=_("with --add or --edit: its kind"))
    for name, words in (
        ("--resolve", _("mark these as resolved")),
        ("--reopen", _("mark these as open again")),
        ("--remove", _("remove these for good")),
    ):
        several(listed, name, words, metavar="ID", type=whole)
    json_flag(listed)


def lock_arguments(command: argparse.ArgumentParser, *, locks: bool) -> None:
    """Adds the arguments: the chapters to lock; `lock` without any lists the locked ones."""
    words = _("the chapters at these places: 7, 7..9, 7.. or ..9; without any, the locked ones are listed")
    needed = _("the chapters at these places: 7, 7..9, 7.. or ..9")
    command.add_argument(
        "chapters", type=chapters_between, nargs="?" if locks else None, metavar="N..M", help=words if locks else needed
    )
    json_flag(command)


def passes_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments: the pass to show, and the changes or ticks before."""
    command.add_argument("name", nargs="?", metavar=_("PASS"), help=_("one of them, by its id: its chapters"))
    chapters = _("the chapters at these places: 7, 7..9, 7.. or ..9")
    command.add_argument(
        "--tick", type=chapters_between, metavar="N..M", help=_("done: {chapters}").format(chapters=chapters)
    )
    words = _("not done: {chapters}").format(chapters=chapters)
    command.add_argument("--untick", type=chapters_between, metavar="N..M", help=words)
    words = _("with --tick or --untick: only this item of the checklist, by its number")
    command.add_argument("--item", type=whole, metavar="N", help=words)
    command.add_argument("--add", metavar=_("TITLE"), help=_("add a pass at the end"))
    command.add_argument("--rename", metavar=_("TITLE"), help=_("give it another title"))
    command.add_argument("--place", type=whole, metavar="N", help=_("move it to this place in the order"))
    flag(command, "--remove", _("remove it, with its ticks"))
    words = _('its findings: names of checks, separated by commas; "": of any check')
    command.add_argument("--checks", metavar=_("NAMES"), help=words)
    words = _('its comments: kinds, separated by commas; "": of any kind')
    command.add_argument("--kinds", metavar=_("NAMES"), help=words)
    command.add_argument("--checklist", metavar=_("WORDS"), help=_("its checklist: items separated by semicolons"))
    json_flag(command)


def revise_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments: the text to rewrite, or the rewrite to decide."""
    command.add_argument("--chapter", type=whole, metavar="N", help=_("the chapter at this place"))
    words = _("only these of its paragraphs: 7, 7..9, 7.. or ..9")
    command.add_argument("--paragraphs", type=chapters_between, metavar="N..M", help=words)
    command.add_argument("--instruction", metavar=_("WORDS"), help=_("how it is to be rewritten"))
    words = _("mend these findings; without ids, all that wait there")
    command.add_argument("--findings", nargs="*", metavar="ID", help=words)
    add_yes(command)
    command.add_argument("--take", type=whole, metavar="ID", help=_("accept this proposed rewrite as a new version"))
    command.add_argument("--only", type=whole, nargs="+", metavar="N", help=_("with --take: only these of its changes"))
    command.add_argument("--drop", type=whole, metavar="ID", help=_("refuse this proposed rewrite"))
    words = _("undo an accepted rewrite, by the number that --take printed")
    command.add_argument("--undo", type=whole, metavar="N", help=words)
    json_flag(command)
