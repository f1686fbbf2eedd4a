"""The outline of a book is written without a chapter in view."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from flowcabal_tui.settings.project_file import OFFLINE
from tests.project.case import both, make, make_demo, opened


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("make_book", [partial(make, models=both(OFFLINE)), make_demo], ids=["empty", "demo"])
async def test_an_outline_is_written_for_the_whole_book_and_kept_as_its_outline(
    folder: Path, make_book, language: str
) -> None:
    await make_book(folder, language=language)
    async with opened(folder) as case:
        run = await case.run("outline")
        text = (await case.view(run, "outline")).attempts[-1].text
        assert text.strip()
        await case.keep(run, "outline")
        assert await case.project.book.meta("outline") == text
