"""Reference books beside the book: in no context by default, in an answer when the question names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.book import ImportManuscript, RemoveReference
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import Case, change, make_one, opened, write_chapters

TIDES = {
    "Chapter 1 Tides": "Spring tides follow the full moon by a day and a half.",
    "Chapter 2": "Neap tides are low.",
}


async def with_tides(folder: Path) -> Path:
    await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))
    texts = write_chapters(folder.parent / "tides", TIDES)
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(texts), reference="Book of Tides"))
        assert [chapter.title for chapter in await case.project.book.chapters()] == ["The Glove"]
    return folder


async def sources(case: Case, question: str = "") -> set[str]:
    """What would go into a prompt about tides, with an inquiry in it."""
    asked = [{"kind": "inquiry", "question": question}] if question else []
    workflow = Workflow.model_validate(
        {
            "id": "tide",
            "nodes": [
                {
                    "id": "draft",
                    "kind": "prompt",
                    "params": {"prompt": [{"kind": "text", "text": "The spring tides at the full moon."}, *asked]},
                }
            ],
        }
    )
    await case.project.carry_out(SaveWorkflow(workflow))
    receipt = await case.project.runs.preview_context(RunRequest("tide", await case.chapter(1)), NodeId("draft"))
    return {source.uri for source in receipt.sources}


async def test_a_context_reads_no_reference_book_unless_the_project_says_so(folder: Path) -> None:
    await with_tides(folder)
    async with opened(folder) as case:
        assert not any(uri.startswith("reference/") for uri in await sources(case))
    change(folder, "agents", references=True)
    async with opened(folder) as case:
        assert any(uri.startswith("reference/") for uri in await sources(case))


async def test_an_inquiry_reads_the_reference_book_that_it_names(folder: Path) -> None:
    await with_tides(folder)
    async with opened(folder) as case:
        assert not any(uri.startswith("reference/") for uri in await sources(case, "When are spring tides?"))
        named = await sources(case, "When are spring tides, by the Book of Tides?")
        first = min(uri for uri in named if uri.startswith("reference/"))
        assert "full moon" in (await case.project.memory.source(first)).text


async def test_a_removed_reference_book_is_gone(folder: Path) -> None:
    await with_tides(folder)
    async with opened(folder) as case:
        (book,) = await case.project.book.references()
        assert [title for _n, title, _volume in await case.project.book.reference_parts(book.id)] == list(TIDES)
        assert [hit.title for hit in await case.project.book.search_references("neap")] == ["Chapter 2"]
        await case.project.carry_out(RemoveReference(book.id))
        assert await case.project.book.references() == ()
        with pytest.raises(RunError):
            await case.project.carry_out(RemoveReference(book.id))
