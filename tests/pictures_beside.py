"""Makes docs/images/before-after/*.svg again: `python -m tests.pictures_beside`.

The left half of each stays as it is: the screen of commit 319af3d. The right half is the present screen, in the size,
colours and language that the name of the file says: `<screen>-<language>-<width>-<colours>.svg`.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from pathlib import Path
from typing import Final

from flowcabal_tui.locale import use_language
from flowcabal_tui.project import create_demo
from flowcabal_tui.tui.app.themes import DEFAULT_THEME, LIGHT_THEME
from tests.pictures import IMAGES, NARROW, SCREENS, WIDE, studio
from tests.tui.waiting import settled

PAIRS: Final = IMAGES / "before-after"
THEMES: Final = {"dark": DEFAULT_THEME, "light": LIGHT_THEME, "none": ""}
SOUGHT: Final = {"en": "ferry", "zh": "灯楼"}
BETWEEN: Final = 12
_SVG: Final = re.compile(r"<svg .*?</svg>", re.DOTALL)
_SIZE: Final = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def beside(pair: str, screen: str) -> str:
    """The pair with `screen`, a whole picture, as its right half."""
    inner = _SVG.findall(pair[pair.index(">") + 1 :])[0]
    wide, high = map(float, _found(_SIZE, inner))
    width, height = map(float, _found(_SIZE, screen))
    names = re.findall(r"terminal-\d+(?=-matrix)", screen)[0]
    right = screen.replace(f"{names}-", "a-")
    place = f'<svg x="{wide + BETWEEN}" y="0" width="{width}" height="{height}"'
    right = re.sub(r'<svg (xml:space="preserve" )?', f'{place} xml:space="preserve" ', right, count=1)
    right = right.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    size = f'viewBox="0 0 {wide + BETWEEN + width} {max(high, height)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{inner}\n{right}\n</svg>\n'


def _found(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    found = pattern.search(text)
    assert found, pattern
    return found.groups()


async def take(pair: Path, taken: Path, books: Path) -> str:
    """Takes the screen that a pair shows."""
    name, language, width, colours = pair.stem.split("-")
    size = WIDE if width == "140" else NARROW
    os.environ.pop("NO_COLOR", None)
    if colours == "none":
        os.environ["NO_COLOR"] = "1"
    use_language(language)
    book = None if name == "home" else await create_demo(books / pair.stem, language)
    async with studio(taken, language, size, book) as at:
        await at.use_theme(THEMES[colours])
        if book is not None:
            await at.open()
            await at.draft()
            await at.press(*SCREENS[name])
            await settled(at.pilot)
        if name == "manuscript":
            await at.press("1", "g", "enter", "3")
        if name == "search":
            await at.press(*SOUGHT[language])
        await settled(at.pilot)
        at.save(pair.stem)
    return (taken / pair.name).read_text(encoding="utf-8")


async def take_all(books: Path) -> None:
    """Takes the right half of each pair."""
    for pair in sorted(PAIRS.glob("*.svg")):
        screen = await take(pair, books, books)
        pair.write_text(beside(pair.read_text(encoding="utf-8"), screen), encoding="utf-8")


def main() -> None:
    """Takes them in folders of their own."""
    with tempfile.TemporaryDirectory() as place:
        for name in ("CONFIG", "STATE", "CACHE", "DATA"):
            os.environ[f"FLOWCABAL_{name}_DIR"] = f"{place}/{name.lower()}"
        os.environ.pop("SSH_CONNECTION", None)
        asyncio.run(take_all(Path(place)))


if __name__ == "__main__":
    main()
