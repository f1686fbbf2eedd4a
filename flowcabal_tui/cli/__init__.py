"""The command line: a guest of the project like the screen. Exit codes:

0 done · 1 refused or failed · 2 nothing was begun: an argument that means nothing, a name that names nothing, a setting
or document that cannot be read · 3 a question waits for a human · 4 a model failed · 5 the run was cancelled ·
130 interrupted · 143 terminated
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from flowcabal_tui import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code. `--version` loads nothing else."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in (["--version"], ["-V"]):
        print(f"flowcabal-tui {__version__}")
        return 0
    from flowcabal_tui.cli.dispatch import dispatch

    return dispatch(given)
