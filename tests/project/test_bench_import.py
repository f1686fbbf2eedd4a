"""The novels of the benchmarks are imported once; an interrupted import goes on where it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.project.bench.context_bench import imported
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import ImportManuscript


async def test_an_import_that_was_interrupted_goes_on_with_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    novel = tmp_path / "novels" / "ferry"
    novel.mkdir(parents=True)
    for number in (1, 2, 3):
        (novel / f"{number:03}.txt").write_text(f"林远第{number}次过河，沈青在岸上等他。\n" * 8, "utf-8")
    folder = (await imported(novel, "zh")).folder
    (folder / "bench-ready").unlink()  # as if it had ended in between
    carried: list[ImportManuscript] = []

    async def carry_out(_project: Project, command: ImportManuscript) -> str:
        carried.append(command)
        return ""

    monkeypatch.setattr(Project, "carry_out", carry_out)
    assert (await imported(novel, "zh")).folder == folder
    assert carried == [] and (folder / "bench-ready").exists()
