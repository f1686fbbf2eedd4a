"""The writer's own editor: $VISUAL, $EDITOR, or the one in the settings."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.text import clean, slug
from flowcabal_tui.locale import _
from flowcabal_tui.system.processes import environment_without_secrets, find_program


def editor_command(setting: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The editor's command as words, the program by its path. Raises FlowCabalError when none can be started.

    A program in the current folder is ignored, since the folder may come from a stranger.
    """
    for candidate in (setting, environment.get("VISUAL", ""), environment.get("EDITOR", ""), "vi", "nano"):
        words = shlex.split(candidate)
        if words and (program := find_program(words[0], environment)):
            return [program, *words[1:]]
    raise FlowCabalError(
        _("No editor was found"),
        _("$VISUAL and $EDITOR are not set, or name a program that does not exist."),
        _("Set `editor` in the user settings, or edit here with F2."),
    )


async def edit_outside(app: App[Any], text: str, title: str, command: list[str]) -> str | None:
    """The text after the writer's editor has closed; None when it is unchanged or the editor failed.

    The child runs on the loop, so the engine's feed is not blocked; `batch_update` delays repaints, because a paint
    during `suspend` would fill the stopped writer's queue and block the loop for ever. Raises FlowCabalError when the
    terminal cannot be released.
    """
    with tempfile.TemporaryDirectory(prefix="flowcabal-") as folder:
        path = Path(folder) / f"{slug(title)}.md"
        path.write_text(text, encoding="utf-8")
        try:
            with app.batch_update(), app.suspend():
                ended = await _wait_for([*command, str(path)], folder)
        except SuspendNotSupported as error:
            raise FlowCabalError(_("An editor cannot run in this terminal"), str(error)) from error
        edited = clean(path.read_bytes().decode("utf-8", "replace"))
    app.refresh(layout=True)
    if ended != 0:
        raise FlowCabalError(
            _("The editor ended with an error ({code})").format(code=ended), _("The text here is unchanged.")
        )
    if edited == text or edited.removesuffix("\n") == text:
        return None
    return edited


async def _wait_for(command: list[str], folder: str) -> int:
    """Runs a program on our terminal in `folder` and gives its exit code. It sees no key."""
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, env=environment_without_secrets())
    return await process.wait()
