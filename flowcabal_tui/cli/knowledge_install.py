"""`knowledge status`, `knowledge install` and `knowledge remove`: the knowledge server of this user."""

from __future__ import annotations

import sys
from argparse import Namespace

from flowcabal_tui.cli.agreeing import agreed
from flowcabal_tui.cli.terminal import say, say_json, say_over
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.locale import _
from flowcabal_tui.viking.install_tools import find_tool
from flowcabal_tui.viking.install_words import plan_rows, progress_words
from flowcabal_tui.viking.installed import LICENCE, VERSION, installation_folder, installed
from flowcabal_tui.viking.installer import Installation, Progress, remove_installation
from flowcabal_tui.viking.server import find_server

DONE, FAILED = 0, 1


async def knowledge(arguments: Namespace) -> int:
    """Carries out `knowledge WHAT`."""
    return await {"status": _status, "install": _install, "remove": _remove}[arguments.what](arguments)


async def _status(arguments: Namespace) -> int:
    """Prints the server in use and the installed one; returns 1 when there is none."""
    own, command = installed(), find_server()
    if arguments.json:
        found = to_plain(own) if own else None
        say_json({"command": list(command), "installed": found, "folder": str(installation_folder())}, indent=2)
        return DONE if command else FAILED
    if own:
        words = _("openviking {version} ({licence}): {n} packages, {size:,} MB, in {folder}")
        size, folder = own.megabytes, own.folder
        say(words.format(version=own.version, licence=LICENCE, n=own.packages, size=size, folder=folder))
        if not own.can_start:
            say(_("Its Python is gone: `flowcabal-tui knowledge install` installs it again."), file=sys.stderr)
    if command and not (own and command == own.command):
        say(_("Books use the server that is found at {path}.").format(path=command[0]))
    if not command:
        say(_("No knowledge server is installed: `flowcabal-tui knowledge install`."))
    return DONE if command else FAILED


async def _install(arguments: Namespace) -> int:
    """Shows what would be fetched, asks, and installs; prints the progress."""
    own = installed()
    if own and own.can_start and own.version == VERSION and not arguments.again:
        say(_("openviking {version} is already installed; --again reinstalls it.").format(version=own.version))
        return DONE
    async with Installation(find_tool(arguments.tool)) as work:
        plan = await work.prepare()
        for name, words in plan_rows(plan):
            say(_("{place}: {problem}").format(place=name, problem=words))
        if not (arguments.yes or await agreed(_("Nothing was fetched."))):
            return FAILED
        shown = _Shown()
        done = await work.install(shown)
    shown.end()
    words = _("Installed openviking {version}: {n} packages, {size:,} MB. Books that are opened from now on start it.")
    say(words.format(version=done.version, n=done.packages, size=done.megabytes))
    return DONE


async def _remove(arguments: Namespace) -> int:
    """Deletes the installed server; a server installed later gets the contents of the books again."""
    if installed() and not (arguments.yes or await agreed(_("Nothing was deleted."))):
        return FAILED
    gone = await remove_installation()
    say(_("The knowledge server was removed. Books work without it.") if gone else _("There was nothing to remove."))
    return DONE


class _Shown:
    """One line on a terminal that is written over; elsewhere a line for each step."""

    def __init__(self) -> None:
        self._moving, self._last, self._step = sys.stdout.isatty(), "", ""

    def __call__(self, progress: Progress) -> None:
        words = progress_words(progress)
        if self._moving and words != self._last:
            say_over(words)
        elif not self._moving and progress.step != self._step:
            say(words, flush=True)
        self._last, self._step = words, progress.step

    def end(self) -> None:
        if self._moving and self._last:
            say_over("")
