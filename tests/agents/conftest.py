"""Novels of the laboratory are used where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

NOVELS = Path(__file__).parents[3] / "shared" / "bench" / "context" / "novels"


@pytest.fixture(scope="session")
def hongloumeng() -> list[str]:
    folder = NOVELS / "hongloumeng"
    if not folder.is_dir():
        pytest.skip("the novels of the laboratory are not here")
    return [file.read_text(encoding="utf-8").rstrip("\n") for file in sorted(folder.glob("*.txt"))[:80]]
