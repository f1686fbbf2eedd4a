"""Work in a process of its own speaks the writer's language, and comes after the screen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import use_language
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.project.workshop import Workshop


async def test_errors_of_the_helper_process_follow_the_language_of_the_screen(tmp_path: Path) -> None:
    workshop = Workshop()
    empty = tmp_path / "小说.txt"
    empty.write_bytes(b"")
    try:
        for language, words in (("zh", "文件是空的"), ("en", "The file is empty")):
            use_language(language)
            with pytest.raises(ManuscriptError, match=words):
                await workshop.do(read_manuscript, empty)
    finally:
        use_language("en")
        await workshop.close()


async def test_the_helper_process_lets_the_screen_go_first() -> None:
    workshop = Workshop()
    try:
        assert await workshop.do(os.nice, 0) == min(os.nice(0) + 10, 19)
    finally:
        await workshop.close()
