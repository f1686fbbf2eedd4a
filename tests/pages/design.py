"""The tables of docs/design-language.md: roles with their signs, contrasts of the themes, signs of states."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.locale import _, use_language
from flowcabal_tui.tui.app.themes import OURS, Palette, pairs, read_palette, themes_folder
from flowcabal_tui.tui.shared.words import STATES
from flowcabal_tui.tui.widgets.rail_graph import STATE_ROLES, STATE_SIGNS
from flowcabal_tui.tui.widgets.roles import ROLES

_TABLE: Final = late(r"(?m)(?:^\|.*\n)+")


def design_page(page: str) -> str:
    """The page with its tables made again: the roles, the contrasts of the themes, and the states."""
    tables = iter(("".join(_role_table()), "".join(_contrast_table()), "".join(_state_table())))
    return _TABLE.sub(lambda _found: next(tables), page)


def _role_table() -> Iterator[str]:
    yield "| role | says | sign | in ASCII | weight |\n| --- | --- | --- | --- | --- |\n"
    for role, look in ROLES.items():
        signs = [f"`{sign}`".replace("|", "\\|") if sign else "" for sign in (look.sign, look.plain)]
        yield f"| {role} | {_(look.meaning)} | {signs[0]} | {signs[1]} | {look.weight} |\n"


def _own_palettes() -> list[Palette]:
    every = [read_palette(themes_folder() / f"{name}.toml") for name in OURS]
    return [palette for palette in every if not palette.is_terminal]


def _contrast_table() -> Iterator[str]:
    palettes = _own_palettes()
    yield f"| role | {' | '.join(palette.name for palette in palettes)} |\n| --- |{' ---: |' * len(palettes)}\n"
    lowest: list[dict[str, float]] = []
    for palette in palettes:
        found: dict[str, float] = {}
        for role, _ground, ratio, _least in pairs(palette):
            found[role] = min(ratio, found.get(role, ratio))
        lowest.append(found)
    for role in ROLES:
        yield f"| {role} | {' | '.join(f'{found[role]:.1f}' for found in lowest)} |\n"


def _state_table() -> Iterator[str]:
    yield "| state | sign | in ASCII | role |\n| --- | --- | --- | --- |\n"
    words = {str(state): _(word) for state, word in STATES.items()}
    for state, (sign, plain) in STATE_SIGNS.items():
        yield f"| {words.get(state, state)} | `{sign}` | `{plain}` | {STATE_ROLES.get(state, 'text')} |\n"


if __name__ == "__main__":
    use_language("en")
    path = Path(sys.argv[1])
    path.write_text(design_page(path.read_text(encoding="utf-8")), encoding="utf-8")
