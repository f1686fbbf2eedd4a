"""Refused edits and their reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.nearest import nearest

_MOST_NAMES: Final = 40


class EditRefused(FlowCabalError):
    """An edit that cannot be made; the copy is unchanged. `detail` names the allowed values."""


def unknown(what: str, name: str, known: Iterable[str]) -> EditRefused:
    """The refusal of an unknown name, with the available ones."""
    names = list(dict.fromkeys(known))
    close = nearest(name, names)
    listed = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    return EditRefused(
        what,
        _("Allowed: {names}").format(names=listed or _("none")),
        _("Did you mean {near}?").format(near=close) if close else _("If none of them fits, ask the writer."),
    )
