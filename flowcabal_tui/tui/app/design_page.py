"""The page docs/design-language.md: the roles with their signs, the contrasts of the themes, and the rules of lists."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.locale import _, use_language
from flowcabal_tui.tui.app.themes import (
    GROUNDS,
    OURS,
    SECONDARY_CONTRAST,
    TEXT_CONTRAST,
    Palette,
    pairs,
    read_palette,
    themes_folder,
)
from flowcabal_tui.tui.shared.words import STATES
from flowcabal_tui.tui.widgets.rail_graph import STATE_ROLES, STATE_SIGNS
from flowcabal_tui.tui.widgets.roles import ROLES

_START: Final = """# Design language

Made by `python -m flowcabal_tui.tui.app.design_page > docs/design-language.md`; a test holds it.

## Roles

A colour on the screen is never chosen by the code that draws: it names a role, and the theme gives the role a colour.
Each role has a sign or a weight besides, so that nothing is lost without colour.
"""
_THEMES: Final = f"""
## Themes

A theme is a TOML file with a table `[roles]` and, unless it uses the terminal's colours, a table `[grounds]`
(`background`, `surface`, `panel`, `cursor`, and `edge` for lines). Ours lie in `themes/`, yours in the folder `themes`
beside your `config.toml`; a file that changes is read again while the program runs. A theme may set only what differs:
the rest is that of `ink`, or of `paper` with `dark = false`.

A file is refused, by its name, for an unknown role or ground, for a value that is not a colour, and for a pair below
the limit: {TEXT_CONTRAST} for text on every ground that text lies on, {SECONDARY_CONTRAST} for secondary text. The last
good theme stays.

`ansi-dark` and `ansi-light` set `colours = "terminal"`: they name the 16 ANSI colours only (and `default`), set no
ground, never dim, and mark the row under the cursor by reversing it. With `NO_COLOR` the program uses them without
their colours.

The lowest contrast of each role over the four grounds:
"""
_RULES: Final = """
## Panels

- One panel has the keys. Its frame is heavy and in the focus role, and so is its title. The other frames are thin.
- `[4 Output]` in brackets is the pane that a panel shows; in another panel than the one in charge it is bold, not
  coloured.
- From top to bottom a pane has its title, what is in view, the rows, and what the row under the cursor says in full.
- The title is bold, and what is in view follows it in the same row, three blanks apart (`widgets.role_words`), without
  ` · `.
- The full text of the row under the cursor is beside the list, and below it where the page has less than 96
  columns (`widgets.list_detail`).
- A key that a sentence names has the key role, without backticks.
- Below 100 columns one pane fills the screen, without a frame; the names of all panes stand in the first row.

## Lists

- A list is made of columns (`widgets.column_rows`). Numbers are aligned to the right; a number that is not plain has
  the head of its column above it.
- Each column has a rank. Where cells are missing, the column of the highest rank is cut first, in its middle (`…`), and
  then left out. What names the row has rank 0 and is cut last, at its end. Widths are those of terminal cells, so
  Chinese and English stay aligned.
- No word is repeated in every row: a sign shows a usual state, and a word is added only to a state that asks for
  attention.
- A row never chains its parts with ` · `; every test that fills a list or a tree looks at its rows.
- The head of a class of rows is bold, in the colour of text: never dimmer than its rows.

## Status line

Its segments stand in the order of importance, each with its role: trust and reading only, what waits for you, what
runs, words today against the goal, tokens and money, the memory, the time of the last save, the offline model. Where
there is too little space, the least important go. What is merely absent is not named there.

## Empty lists and notices

- An empty list names the next key: "No chapters yet. `+` adds one."
- A notice has a row of its own above the status line, which begins with `»` (`>` in ASCII), a warning with `!`, on the
  ground `panel`, reversed in the terminal's colours. It covers neither a frame nor a line that is typed into, stays as
  long as reading takes, and is kept in the list of notices.

## Signs of states

| state | sign | in ASCII | role |
| --- | --- | --- | --- |
"""


def design_page() -> str:
    """The page, in English."""
    return "".join((_START, *_role_table(), _THEMES, *_contrast_table(), _RULES, *_state_table()))


def _role_table() -> Iterator[str]:
    yield "\n| role | says | sign | in ASCII | weight |\n| --- | --- | --- | --- | --- |\n"
    for role, look in ROLES.items():
        signs = [f"`{sign}`".replace("|", "\\|") if sign else "" for sign in (look.sign, look.plain)]
        yield f"| {role} | {_(look.meaning)} | {signs[0]} | {signs[1]} | {look.weight} |\n"


def _own_palettes() -> list[Palette]:
    every = [read_palette(themes_folder() / f"{name}.toml") for name in OURS]
    return [palette for palette in every if not palette.is_terminal]


def _contrast_table() -> Iterator[str]:
    palettes = _own_palettes()
    yield f"\n| role | {' | '.join(palette.name for palette in palettes)} |\n| --- |{' ---: |' * len(palettes)}\n"
    lowest: list[dict[str, float]] = []
    for palette in palettes:
        found: dict[str, float] = {}
        for role, _ground, ratio, _least in pairs(palette):
            found[role] = min(ratio, found.get(role, ratio))
        lowest.append(found)
    for role in ROLES:
        yield f"| {role} | {' | '.join(f'{found[role]:.1f}' for found in lowest)} |\n"
    yield f"\nGrounds: {', '.join(f'`{ground}`' for ground in GROUNDS)}.\n"


def _state_table() -> Iterator[str]:
    words = {str(state): _(word) for state, word in STATES.items()}
    for state, (sign, plain) in STATE_SIGNS.items():
        yield f"| {words.get(state, state)} | `{sign}` | `{plain}` | {STATE_ROLES.get(state, 'text')} |\n"


if __name__ == "__main__":
    use_language("en")
    sys.stdout.write(design_page())
