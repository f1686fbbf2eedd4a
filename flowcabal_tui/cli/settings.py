"""`doctor`, `models` and `config`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from flowcabal_tui.cli.terminal import say, say_json
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.models.discover import discover
from flowcabal_tui.project.doctor import DoctorFinding, examine, fetch_vocabulary
from flowcabal_tui.project.trust.service import renew_models
from flowcabal_tui.settings.paths import locations
from flowcabal_tui.settings.project_file import OFFLINE, ProjectSettings, change_project, load_project
from flowcabal_tui.settings.screen import load_screen


async def doctor(arguments: Namespace) -> int:
    """Examines models, keys, knowledge server, terminal and disk; returns 1 if a required part fails."""
    if arguments.fetch_vocabulary:
        if arguments.project is None:
            raise SettingsError(_("Name the project whose writing model's tokens are to be counted."))
        say(await fetch_vocabulary(arguments.project), file=sys.stderr)
    found = (*await examine(arguments.project, trust=arguments.trust), *_own_keys())
    if arguments.json:
        say_json([asdict(item) for item in found], indent=2)
    else:
        for item in found:
            say(item.mark, _("{place}: {problem}").format(place=item.subject, problem=item.message))
            if item.advice:
                say(f"    {item.advice}")
    return 1 if any(item.outcome == "failed" for item in found) else 0


def _own_keys() -> Iterator[DoctorFinding]:
    """The errors in `[keys]` of the user settings."""
    if screen := load_screen():
        from flowcabal_tui.tui.app.keymap import key_problems  # loads the screen

        for words in key_problems(screen.keys) if screen.keys else ():
            yield DoctorFinding(_("keys of the screen"), "note", clean_line(words))


async def models(arguments: Namespace) -> int:
    """Shows the models of a project and those found on this machine; `--use N` selects one, which confirms its use."""
    settings = load_project(arguments.project)
    found = await discover(os.environ)
    if arguments.offline or arguments.use is not None:
        if arguments.offline:
            models: dict[str, object] = {"user": OFFLINE, "agent": OFFLINE, "embedding": None, "more": {}}
        elif 1 <= arguments.use <= len(found):
            model = found[arguments.use - 1].endpoint
            models = {"user": model, "agent": model}
        else:
            raise SettingsError(
                _("There is no proposal {n}.").format(n=arguments.use), _("{n} were found.").format(n=len(found))
            )
        try:
            settings = change_project(arguments.project, lambda now: _with_models(now, models))
        except OSError as error:
            raise SettingsError(
                _("The settings could not be saved."), os_reason(error), _("Nothing was changed.")
            ) from error
        renew_models(arguments.project.expanduser(), settings)
    if arguments.json:
        say_json({"models": settings.models.model_dump(mode="json"), "found": [to_plain(p) for p in found]})
        return 0
    for role in ("user", "agent", "embedding"):
        set_model = settings.models.of(role)
        say(
            f"{role}: {set_model.provider} {set_model.model} {set_model.base_url}"
            if set_model
            else f"{role}: " + _("not set")
        )
    for name, further in settings.models.more.items():
        say(f"more.{clean_line(name)}: {further.provider} {further.model} {further.base_url}")
    for number, proposal in enumerate(found, 1):
        say(_("found {n}: {label}").format(n=number, label=proposal.name))
    if found and settings.models.user is None:
        say(_("Choose one with --use N. A hosted model costs money, and your manuscript is sent to its provider."))
    return 0


def _with_models(settings: ProjectSettings, models: Mapping[str, Any]) -> ProjectSettings:
    return settings.model_copy(update={"models": settings.models.model_copy(update=models)})


async def config(arguments: Namespace) -> int:
    """Prints paths, or the keys of the screen."""
    if arguments.what == "path":
        for name, path in locations():
            say(f"{name}\t{path}")
    else:
        from flowcabal_tui.tui.app.keys_page import keys_page

        say(keys_page())
    return 0
