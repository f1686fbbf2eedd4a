"""The cells of a terminal: which signs it shows, and the widths of text, measured once per character."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rich.cells import cell_len, get_character_cell_size
from textual.app import App

TAB_CELLS: Final = 4
_JOINER: Final = "\u200d"
_EMOJI_STYLE: Final = "\ufe0f"
_BEFORE: Final = 3
"""The part of a row that may precede a marked place: one third."""


class _Widths(dict[str, int]):
    """Character -> cells, filled as characters are met (far quicker than the cached function)."""

    def __missing__(self, character: str) -> int:
        cells = TAB_CELLS if character == "\t" else get_character_cell_size(character)
        self[character] = cells
        return cells


WIDTHS: Final = _Widths()


def is_plain(app: App[Any]) -> bool:
    """True if the terminal is not in UTF-8: signs and lines are drawn in ASCII."""
    return not app.console.encoding.lower().startswith("utf")


def cell_width(text: str) -> int:
    """The number of terminal cells of `text` (a tab: 4)."""
    return cell_len(text) + TAB_CELLS * text.count("\t")


def padded(text: str, cells: int) -> str:
    """`text` padded with blanks to `cells` cells; longer text is unchanged."""
    return text + " " * (cells - cell_width(text))


def cell_widths(text: str) -> Iterator[int]:
    """The width that each character of `text` adds, so that the sum is Rich's `cell_len` (a tab: 4)."""
    if _JOINER in text or _EMOJI_STYLE in text:
        return _joined_widths(text)
    return map(WIDTHS.__getitem__, text)


def _joined_widths(text: str) -> Iterator[int]:
    """A joiner swallows the next character; a variation selector can widen the one before."""
    measured = ""
    joined = False
    for character in text:
        if joined:
            joined = False
            yield 0
        elif character == _JOINER:
            joined = True
            yield 0
        elif character == _EMOJI_STYLE:
            yield cell_len(measured + _EMOJI_STYLE) - WIDTHS[measured] if measured else 0
            measured = ""
        else:
            cells = WIDTHS[character]
            measured = character if cells and character != "\t" else measured
            yield cells


def crop(text: str, cells: int) -> str:
    """The longest start of `text` that fits in `cells`, with `…` in place of the rest."""
    if cells <= 0 or cell_len(text) <= cells:
        return text if cells > 0 else ""
    kept = 0
    used = 1
    for added in cell_widths(text):
        used += added
        if used > cells:
            break
        kept += 1
    return text[:kept] + "…"


def cut_before(line: str, first: int, cells: int) -> int:
    """The first character to display of a line, so that the one at `first` is within the first third of `cells`."""
    if cell_width(line) <= cells:
        return 0
    free, start = cells // _BEFORE, first
    while start > 0 and free >= WIDTHS[line[start - 1]]:
        start -= 1
        free -= WIDTHS[line[start]]
    return start if start > 1 else 0


def crop_middle(text: str, cells: int) -> str:
    """Like `crop`, but cut in the middle: the start and the end of `text` stay, the start twice as long."""
    if cell_len(text) <= cells or cells < 5:
        return crop(text, cells)
    end, used = len(text), 0
    widths = list(cell_widths(text))
    while used + widths[end - 1] <= (cells - 1) // 3:
        end -= 1
        used += widths[end]
    return crop(text, cells - used) + text[end:]
