"""The prompts under `docs/prompts` are those that the program sends, and they read well."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from flowcabal_tui.domain.prompt_parts import read_parts
from tests.bench.written_prompts import FOLDER, LANGUAGES, TOLD, files, recorded

ALL = sorted(FOLDER.glob("*/*.md"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_files_are_what_the_program_sends(language: str) -> None:
    now = dict(files(asyncio.run(recorded(language))))
    there = {path.name: path.read_text(encoding="utf-8") for path in sorted((FOLDER / language).glob("*.md"))}
    stale = [name for name in {*now, *there} if now.get(name, "").rstrip() != there.get(name, "").rstrip()]
    assert not stale, "run `python -m tests.bench.written_prompts` and read the difference"


def test_there_is_a_file_for_each_prompt_in_each_language() -> None:
    assert len(ALL) == len(LANGUAGES) * len(TOLD)


@pytest.mark.parametrize("path", ALL, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_part_is_empty_and_no_placeholder_is_left(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\$\{\w+\}|\{\{[\w.]+\}\}", text)
    assert all(part.whole.strip() for part in read_parts(text))
