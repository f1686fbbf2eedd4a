"""Parses the command line and calls the named command."""

from __future__ import annotations

import asyncio
import difflib
import errno
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Collection, Coroutine, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from flowcabal_tui import __version__
from flowcabal_tui.cli.argparse_words import Parser
from flowcabal_tui.cli.commands import COMMANDS
from flowcabal_tui.cli.screen_arguments import screen_parser
from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _, use_language

INTERRUPTED: Final = 128 + signal.SIGINT
TERMINATED: Final = 128 + signal.SIGTERM
OLD_FLAGS: Final[Mapping[tuple[str, str], str]] = {("import", "--last"): "--first"}
"""The new name of a flag, by its command and its old name. A row stays for one release."""


def dispatch(given: Sequence[str]) -> int:
    """Parses and runs a command; prints errors on standard error as title, detail and advice."""
    language = given[given.index("--lang") + 1] if "--lang" in given[:-1] else None
    use_language(language)
    words = list(given)
    if not any(word in COMMANDS for word in words) and not {"-h", "--help", "-V", "--version"} & set(words):
        at = words.index("--lang") + 2 if language else 0
        if misspelt := _no_command(words[at:]):
            say(misspelt, file=sys.stderr)
            return 2
        words.insert(at, "open")
    arguments = _parser(words).parse_args(_with_new_names(words))
    if arguments.version:
        say(f"flowcabal-tui {__version__}")
        return 0
    try:
        code = _run(arguments)
        if sys.stdout is not None:  # it is None where it was closed before the start
            sys.stdout.flush()
        return code
    except FlowCabalError as error:
        say(_("flowcabal-tui: {error}").format(error=error), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return 1
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            title = _("Cannot read {file}.").format(file=error.filename)
            say(_("flowcabal-tui: {error}").format(error=FlowCabalError(title, os_reason(error))), file=sys.stderr)
            return 1
        if error.filename is not None:
            raise
        _give_up_output()
        say(_("flowcabal-tui: {error}").format(error=_output_error(error)), file=sys.stderr)
        return 1


def _parser(words: Sequence[str]) -> Parser:
    """The parser of the whole command line, or of the commands that open the screen."""
    first = words[2:] if words[0] == "--lang" else words
    if first[:1] in (["open"], ["demo"]):
        return screen_parser()
    from flowcabal_tui.cli.parser import parser

    return parser()


def with_new_names(words: Sequence[str], commands: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """The words of a command line with current names, and the current name of each old one in it.

    Words after `--` are values and stay unchanged.
    """
    command = next((word for word in words if word in commands), "")
    end = words.index("--") if "--" in words else len(words)
    new, replaced = list(words), {}
    for place, word in enumerate(words[:end]):
        old, equals, value = word.partition("=")
        if flag := OLD_FLAGS.get((command, old)):
            new[place], replaced[old] = f"{flag}{equals}{value}", flag
    return new, replaced


def _with_new_names(words: Sequence[str]) -> Sequence[str]:
    """The words with new names for old ones; each that was replaced gets a note on standard error."""
    words, replaced = with_new_names(words, COMMANDS)
    note = _("note: {old} is now called {new}; the next release no longer accepts the old name.")
    for old, new in replaced.items():
        say(note.format(old=old, new=new), file=sys.stderr)
    return words


def _no_command(words: Sequence[str]) -> str:
    """The message where the first word is neither a command nor an existing path; "" where it is."""
    if not words or words[0].startswith("-") or not words[0].strip() or os.path.exists(words[0]):
        return ""
    near = "".join(difflib.get_close_matches(words[0], COMMANDS, 1))
    advice = _("Did you mean {name}?").format(name=near) if near else _("See `flowcabal-tui --help`.")
    title = _("{name} is neither a command nor a folder.").format(name=words[0])
    return _("flowcabal-tui: {error}").format(error=f"{title}\n{advice}")


def _give_up_output() -> None:
    """Discards the buffered output, which would fail again with a traceback when the interpreter exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _output_error(error: OSError) -> FlowCabalError:
    return FlowCabalError(
        _("The output cannot be written."),
        os_reason(error),
        _("Results up to this point are kept. Free some space, or send the output elsewhere."),
    )


def _run(arguments: Namespace) -> int:
    """Imports the module of the command and calls its function, on an event loop where it is a coroutine."""
    module, _dot, function = COMMANDS[arguments.command].rpartition(".")
    code: int | Coroutine[Any, Any, int] = getattr(import_module(f"flowcabal_tui.cli.{module}"), function)(arguments)
    return code if isinstance(code, int) else asyncio.run(_until_terminated(code))


async def _until_terminated(work: Coroutine[Any, Any, int]) -> int:
    """SIGTERM ends a command as Ctrl+C does: its text is journalled, its servers are stopped."""
    task, terminated = asyncio.ensure_future(work), asyncio.Event()

    def terminate() -> None:
        terminated.set()
        task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await task
    except asyncio.CancelledError:
        if terminated.is_set():
            return TERMINATED
        raise
