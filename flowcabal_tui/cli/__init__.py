"""The command line, a client of the project like the screen. The guide has the table of exit codes (docs/guide/en.md):
0 done, 1 refused or failed, 2 nothing was begun, 3 something waits, 4 a model failed, 5 the run was cancelled,
6 the project asks for something that the user has not confirmed, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from flowcabal_tui import __version__
from flowcabal_tui.cli.terminal import accept_any_encoding, say, say_trace
from flowcabal_tui.locale import _


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code. `--version` loads nothing else."""
    accept_any_encoding()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in (["--version"], ["-V"]):
        say(f"flowcabal-tui {__version__}")
        return 0
    if sys.platform == "win32":  # no signals between processes, no fcntl: the imports below would fail
        say(_("flowcabal-tui needs Linux or macOS. On Windows, run it inside WSL 2."), file=sys.stderr)
        return 2
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would look through all installed packages
    from flowcabal_tui.cli.dispatch import dispatch

    if arguments is None:
        from flowcabal_tui.system.processes import forget_current_folder

        forget_current_folder()
        sys.excepthook = say_trace
    return dispatch(given)
