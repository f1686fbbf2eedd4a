"""Profiles and summaries: showing with their history, writing, pinning, accepting, regenerating."""

from __future__ import annotations

import difflib
from argparse import Namespace
from collections.abc import Iterable

from flowcabal_tui.cli.agreeing import memory_settled
from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_list, say_row
from flowcabal_tui.cli.text_files import text_from
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.memory import Derived
from flowcabal_tui.locale import _
from flowcabal_tui.project.views import ProfileView
from flowcabal_tui.project.words import LEVELS, METHODS
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.memory import PinProfile, RegenerateProfile, TakeProfile, WriteProfile


async def profile(arguments: Namespace) -> int:
    """Prints all profiles, one per line, or the current state, history or diff of one, after applying the options."""
    commands = _commands(arguments)
    async with await opened(arguments, read_only=not commands, knowledge=False) as project:
        if not arguments.uri:
            rows = await project.memory.profiles()
            cells = ((row.uri, row.kind_title, row.name, row.abstract) for row in rows)
            say_list(rows, cells, as_json=arguments.json)
            return 0
        for command in commands:
            await project.carry_out(command)
        if commands:
            await memory_settled(project, yes=arguments.yes)
        _print(await project.memory.profile(arguments.uri), arguments)
    return 0


def _commands(arguments: Namespace) -> list[Command]:
    uri, found = arguments.uri, list[Command]()
    if arguments.write:
        found.append(WriteProfile(uri, arguments.level, text_from(arguments.write)))
    if arguments.pin is not None:
        found.append(PinProfile(uri, Generation(arguments.pin) if arguments.pin else None))
    if arguments.take:
        found.append(TakeProfile(uri))
    if arguments.regenerate:
        found.append(RegenerateProfile(uri))
    if found and not uri:
        raise BadArgument(_("Which profile?"), _("Nothing was changed."), _("Give its uri as shown in the list."))
    return found


def _print(view: ProfileView, arguments: Namespace) -> None:
    if not (view.levels or view.history):
        raise UnknownName(
            _("There is nothing at {uri}.").format(uri=view.uri), _("`profile PROJECT` lists the profiles.")
        )
    if arguments.json:
        say_json(to_plain(view), indent=2)
    elif arguments.diff:
        _print_diff(view, arguments)
    elif arguments.history:
        for state in view.history:
            pinned = _("pinned") if state.generation == view.pinned else ""
            when = _("as of chapter {n}").format(n=state.position)
            say_row((str(state.generation), state.level, when, _(METHODS[state.method]), pinned))
    else:
        _print_levels(view.levels)
        if view.offered:
            say(_("Generated since then, available as an alternative:"))
            _print_levels(view.offered)
        if view.pinned is not None:
            written = _("Saved, but a pinned version is in use.") if arguments.write else ""
            pinned = _("State {n} is pinned and in use until `--pin 0`.").format(n=view.pinned)
            say(f"{written} {pinned}".strip())


def _print_levels(states: Iterable[Derived]) -> None:
    for state in states:
        say(f"# {_(LEVELS[state.level])} · {_('as of chapter {n}').format(n=state.position)}\n{state.text}\n")


def _print_diff(view: ProfileView, arguments: Namespace) -> None:
    """Prints the difference of two states of a level, line by line."""
    texts = []
    for generation in arguments.diff:
        state = next((s for s in view.history if s.generation == generation and s.level == arguments.level), None)
        if state is None:
            levels = (str(s.generation) for s in view.history if s.level == arguments.level)
            raise UnknownName(
                _("There is no state {n} of this level.").format(n=generation),
                _("Its states: {names}").format(names=_(", ").join(levels) or _("none")),
            )
        texts.append(state.text.splitlines())
    older, newer = texts
    before, after = map(str, arguments.diff)
    say("\n".join(difflib.unified_diff(older, newer, before, after, lineterm="")))
