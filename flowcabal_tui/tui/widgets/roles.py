"""Roles: the meanings of colours and signs on the screen. A theme gives each a colour; sign and weight work without
colour."""

from __future__ import annotations

from typing import Final, Literal

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import mark

Role = Literal[
    "text", "secondary", "focus", "key", "done", "waiting", "stale", "failed", "contradiction",
    "added", "removed", "quoted", "hand", "model", "rule",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RoleLook:
    """The look of a role without colour: a sign of one cell (with its ASCII form), or a weight, or both."""

    meaning: str
    sign: str = ""
    plain: str = ""
    weight: str = ""


ROLES: Final[dict[Role, RoleLook]] = {
    "text": RoleLook(mark("what is read")),
    "secondary": RoleLook(mark("what explains it: numbers, reasons, dates"), weight="not bold"),
    "focus": RoleLook(mark("the panel and the row that keys act on"), "▸", ">", "bold"),
    "key": RoleLook(mark("a key that can be pressed"), weight="bold"),
    "done": RoleLook(mark("done, kept, current"), "●", "*"),
    "waiting": RoleLook(mark("waiting for you"), "?", "?", "bold"),
    "stale": RoleLook(mark("out of date"), "◌", "~", "italic"),
    "failed": RoleLook(mark("failed or refused"), "✗", "!", "bold"),
    "contradiction": RoleLook(mark("a contradiction"), "≠", "!", "bold underline"),
    "added": RoleLook(mark("added"), "+", "+", "underline"),
    "removed": RoleLook(mark("removed"), "-", "-", "strike"),
    "quoted": RoleLook(mark("quoted from the book"), "▎", "|", "italic"),
    "hand": RoleLook(mark("written by hand"), "✎", "h"),
    "model": RoleLook(mark("written by a model"), "✦", "m"),
    "rule": RoleLook(mark("found by rule, without a model"), "§", "r"),
}
"""Signs are one cell wide in every terminal that shows East Asian ambiguous characters narrow."""


def role_style(role: Role) -> str:
    """The style of a piece of `Content`: weight and colour, such as `bold $role-failed`."""
    look = ROLES[role]
    return f"{look.weight if look.weight != 'not bold' else ''} $role-{role}".strip()


def role_sign(role: Role, *, plain: bool = False) -> str:
    """The sign of a role, "" if it has only a weight; `plain` is for terminals without UTF-8."""
    look = ROLES[role]
    return look.plain if plain else look.sign
