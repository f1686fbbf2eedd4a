"""From words to the command that they name."""

from __future__ import annotations

import asyncio
import difflib
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final

from flowcabal_tui import __version__
from flowcabal_tui.cli.argparse_words import Parser
from flowcabal_tui.cli.commands import COMMANDS
from flowcabal_tui.cli.old_names import with_new_names
from flowcabal_tui.cli.screen_arguments import screen_parser
from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _, use_language

Handler = Callable[[Namespace], Coroutine[Any, Any, int]]
INTERRUPTED: Final = 128 + signal.SIGINT
TERMINATED: Final = 128 + signal.SIGTERM


def dispatch(given: Sequence[str]) -> int:
    """Parses and runs; errors are printed to standard error as title, detail and advice."""
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


def _with_new_names(words: Sequence[str]) -> Sequence[str]:
    """The words with new names for old ones; each that was replaced gets a note on standard error."""
    words, replaced = with_new_names(words, COMMANDS)
    note = _("note: {old} is now called {new}; the next release no longer accepts the old name.")
    for old, new in replaced.items():
        say(note.format(old=old, new=new), file=sys.stderr)
    return words


def _no_command(words: Sequence[str]) -> str:
    """What is said where the first word is neither a command nor anything that is there; "" where it is."""
    if not words or words[0].startswith("-") or not words[0].strip() or Path(words[0]).exists():
        return ""
    near = "".join(difflib.get_close_matches(words[0], COMMANDS, 1))
    advice = _("Did you mean {name}?").format(name=near) if near else _("See `flowcabal-tui --help`.")
    title = _("{name} is neither a command nor a folder.").format(name=words[0])
    return _("flowcabal-tui: {error}").format(error=f"{title}\n{advice}")


def _give_up_output() -> None:
    """What is left in the buffer goes nowhere; else it would fail again, loudly, when the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _output_error(error: OSError) -> FlowCabalError:
    return FlowCabalError(
        _("The output cannot be written."),
        os_reason(error),
        _("What the command had done by then is kept. Free some space, or send the output elsewhere."),
    )


def _run(arguments: Namespace) -> int:
    if arguments.command in ("open", "demo"):
        from flowcabal_tui.cli.screen import show

        return show(arguments)
    if arguments.command == "completion":
        from flowcabal_tui.cli.completion import script

        say(script(arguments.shell))
        return 0
    return asyncio.run(_until_terminated(_handler(arguments.command)(arguments)))


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


def _handler(command: str) -> Handler:
    if command in ("run", "execute", "decide"):
        from flowcabal_tui.cli import running

        return {"run": running.run, "execute": running.execute, "decide": running.decide}[command]
    if command in ("build", "update", "builds"):
        from flowcabal_tui.cli import building

        return {"build": building.build, "update": building.update, "builds": building.builds}[command]
    if command == "ask":
        from flowcabal_tui.cli.asking import ask

        return ask
    if command == "session":
        from flowcabal_tui.cli.session.command import session

        return session
    if command == "bench":
        from flowcabal_tui.cli import bench

        return bench.measure
    if command == "knowledge":
        from flowcabal_tui.cli.knowledge_install import knowledge

        return knowledge
    if command == "trust":
        from flowcabal_tui.cli.trusting import trust

        return trust
    if command in ("search", "blame", "actions"):
        from flowcabal_tui.cli import searching

        return {"search": searching.search, "blame": searching.blame, "actions": searching.actions}[command]
    if command == "profile":
        from flowcabal_tui.cli import profiles

        return profiles.profile
    if command == "outline":
        from flowcabal_tui.cli.outlining import outline

        return outline
    if command in ("findings", "check"):
        from flowcabal_tui.cli import findings

        return {"findings": findings.findings, "check": findings.check}[command]
    if command in ("proof", "scenes"):
        from flowcabal_tui.cli import proofing

        return {"proof": proofing.proof, "scenes": proofing.scenes}[command]
    if command == "names":
        from flowcabal_tui.cli.names import names

        return names
    if command == "words":
        from flowcabal_tui.cli.counting import words

        return words
    if command == "impact":
        from flowcabal_tui.cli.impact import impact

        return impact
    if command == "candidates":
        from flowcabal_tui.cli.candidates import candidates

        return candidates
    if command == "comments":
        from flowcabal_tui.cli.comments import comments

        return comments
    if command == "revise":
        from flowcabal_tui.cli.revising import revise

        return revise
    if command in ("lock", "unlock", "passes"):
        from flowcabal_tui.cli import revision

        return {"lock": revision.lock, "unlock": revision.lock, "passes": revision.passes}[command]
    if command == "proposals":
        from flowcabal_tui.cli.proposals import proposals

        return proposals
    if command in ("runs", "replay"):
        from flowcabal_tui.cli import history

        return {"runs": history.runs, "replay": history.replay}[command]
    if command == "simulate":
        from flowcabal_tui.cli.simulating import simulate

        return simulate
    if command in ("doctor", "models", "config"):
        from flowcabal_tui.cli import settings

        return {"doctor": settings.doctor, "models": settings.models, "config": settings.config}[command]
    if command in ("import", "bootstrap", "references"):
        from flowcabal_tui.cli import importing

        return {
            "import": importing.import_,
            "bootstrap": importing.bootstrap,
            "references": importing.references,
        }[command]
    if command in ("new", "export", "keep"):
        from flowcabal_tui.cli import writing

        return {
            "new": writing.new,
            "export": writing.export,
            "keep": writing.keep,
        }[command]
    if command in ("delete", "undelete", "rebuild", "purge", "backup", "restore"):
        from flowcabal_tui.cli import upkeep

        return {
            "delete": upkeep.delete,
            "undelete": upkeep.delete,
            "rebuild": upkeep.rebuild,
            "purge": upkeep.purge,
            "backup": upkeep.backup,
            "restore": upkeep.restore_command,
        }[command]
    if command in ("changes", "undo"):
        from flowcabal_tui.cli import changing

        return {"changes": changing.changes, "undo": changing.undo}[command]
    if command == "rescue":
        from flowcabal_tui.cli.rescuing import rescue

        return rescue
    if command in ("validate", "convert", "render", "schema"):
        from flowcabal_tui.cli import checking, converting

        return {
            "validate": checking.validate_command,
            "convert": converting.convert,
            "render": converting.render,
            "schema": converting.schema,
        }[command]
    from flowcabal_tui.cli import context, reading

    return {
        "status": reading.status,
        "chapters": reading.chapters,
        "workflows": reading.workflows,
        "context": context.context,
    }[command]
