"""Opens the project of a writing command, with the user's answer about trust."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from flowcabal_tui.cli.terminal import say
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.trust.service import not_confirmed


async def opened(arguments: Namespace, *, uses_models: bool = False, **how: Any) -> Project:
    """The project; `--trust` confirms it for this process. A restricted one can be edited, and a note is printed.

    With `uses_models`, it must be confirmed. Raises ProjectNotConfirmed, with all requests of the project, and the
    errors of `Project.open`; then nothing is open.
    """
    folder: Path = arguments.project
    project = await Project.open(folder, trust=getattr(arguments, "trust", False), **how)
    if project.info.trust != "restricted":
        return project
    try:
        if uses_models:
            raise not_confirmed((await project.models.trust()).asked)
    except BaseException:  # refused or interrupted, nothing stays open
        await project.close()
        raise
    if not project.info.read_only:
        words = _("the project is restricted, so its background work waits: see `flowcabal-tui trust {folder}`.")
        say(_("note: {text}").format(text=words.format(folder=folder)), file=sys.stderr)
    return project
