"""The outline of a book is written without a chapter in view."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from flowcabal_tui.settings.project_file import OFFLINE
from tests.project.desk import both, make, make_demo, opened


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("make_book", [partial(make, models=both(OFFLINE)), make_demo], ids=["empty", "demo"])
async def test_an_outline_is_written_for_the_whole_book_and_kept_as_its_outline(
    folder: Path, make_book, language: str
) -> None:
    await make_book(folder, language=language)
    async with opened(folder) as desk:
        run = await desk.run("outline")
        text = (await desk.view(run, "outline")).attempts[-1].text
        assert text.strip()
        await desk.keep(run, "outline")
        assert await desk.project.book.meta("outline") == text
