"""`trust`: the requests of a project, and the user's answer; also lists the requests of imported documents."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable

from flowcabal_tui.cli.terminal import say, say_json
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import ProjectNotConfirmed, SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.trust import TrustItem, TrustRequest, TrustView
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.models import ConfirmTrust
from flowcabal_tui.settings.project_file import load_project
from flowcabal_tui.settings.trust import TrustRecord

STATES = {
    "trusted": mark("Trusted: all of this is confirmed."),
    "changed": mark("Changed: new items are held back until you confirm them."),
    "restricted": mark("Restricted: you have not confirmed this folder. You can read, edit, search and export."),
}


async def trust(arguments: Namespace) -> int:
    """Shows the requests of the project; with `--yes` confirms them, with `--revoke` deletes every answer.

    Returns the code of ProjectNotConfirmed while an item waits for an answer.
    """
    if arguments.revoke:
        return _revoked(arguments)
    async with await Project.open(arguments.project, read_only=True) as project:
        view = await project.models.trust()
        if arguments.yes:
            await project.carry_out(ConfirmTrust(tuple(item.digest for item in view.asked.items)))
            view = await project.models.trust()
    _print(view, as_json=arguments.json)
    if arguments.yes and view.problem:
        raise SettingsError(
            _("Your answer could not be recorded."),
            view.problem,
            _("Free space or correct the permissions of your state and settings folders; see `config path`."),
        )
    return 0 if view.state == "trusted" else ProjectNotConfirmed.exit_code


def _revoked(arguments: Namespace) -> int:
    try:
        record = TrustRecord.of(arguments.project.expanduser(), load_project(arguments.project).project.id)
        gone = record.forget()
    except OSError as error:
        raise SettingsError(_("Your answers could not be deleted."), os_reason(error)) from error
    say(_("Your answers were deleted: the folder opens restricted.") if gone else _("There was no answer to delete."))
    say(_("Keys stay bound to their hosts until you remove them from key_hosts in your config.toml."))
    return 0


def _print(view: TrustView, *, as_json: bool) -> None:
    if as_json:
        say_json(to_plain(view), indent=2)
        return
    say(_(STATES[view.state]))
    if view.asked.items:
        say(_("It asks for:"))
        _lines(view.asked)
    if view.confirmed.items:
        say(_("You have confirmed:"))
        _lines(view.confirmed)
    if not (view.asked.items or view.confirmed.items):
        say(_("It contains nothing that sends text, spends money or runs commands. Confirm it once to work in it."))


def _lines(request: TrustRequest) -> None:
    for line in request.lines():
        say(f"  {line}")


def print_brought(items: Iterable[TrustItem]) -> None:
    """Lists on standard error the parts of a document or backup that send, spend or run; nothing if there are none."""
    request = TrustRequest.of(items)
    if request.items:
        say(_("It contains:"), file=sys.stderr)
        for line in request.lines():
            say(f"  {line}", file=sys.stderr)
