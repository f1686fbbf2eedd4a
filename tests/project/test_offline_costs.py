"""Quotes of the embedded model: whatever a workflow does, nothing is asked and nothing is open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flowcabal_tui.demo import templates
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.examples import NAMES, example
from flowcabal_tui.project.words import spend_lines
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.project.case import opened


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_every_template_and_example_is_free_on_the_embedded_model(
    folder: Path, demos: dict[str, Path], language: str
) -> None:
    async with opened(shutil.copytree(demos[language], folder), trust=True) as case:
        names = [each.id for each in templates(language)]
        for name in NAMES:
            workflow = example(name, language)
            await case.project.carry_out(SaveWorkflow(workflow))
            names.append(workflow.id)
        chapter = await case.chapter(7)
        quotes = {name: await case.project.runs.quote(RunRequest(name, chapter)) for name in names}
    assert {name: quote.open_ends for name, quote in quotes.items() if not quote.is_free} == {}
    assert {line for quote in quotes.values() for line in spend_lines(quote)} == {"It is free."}
