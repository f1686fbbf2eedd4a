from __future__ import annotations

import pytest

from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.protocol.book import WriteChapter
from flowcabal_tui.protocol.runs import NodeStreaming, RunWorkflow
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_the_fake_project_holds_a_review_whose_quotations_are_where_they_say(language: str) -> None:
    bench = FakeProject(language)
    (question,) = await bench.runs.questions()
    view = await bench.runs.node(question.run, question.node)
    finding = view.attempts[-1].evaluation.findings[0]  # type: ignore[union-attr]  # the fake always has one
    assert view.attempts[-1].text[finding.draft.start : finding.draft.end] == finding.draft.text
    source = await bench.memory.source(finding.source.uri, finding.source.start, finding.source.end)
    assert source.text[source.start : source.end] == finding.source.text


async def test_a_run_of_the_fake_streams_its_nodes_piece_by_piece() -> None:
    bench = FakeProject("zh")
    bench.send(RunWorkflow(RunRequest("chapter@1", books.chapter_id(4))))
    events = [event for _tick in range(100) for event in bench.take()]
    streamed = "".join(event.chunk for event in events if isinstance(event, NodeStreaming))
    assert streamed == books.ZH.plan + books.ZH.first_draft + books.ZH.second_draft


async def test_writing_a_chapter_of_the_fake_makes_a_version() -> None:
    bench = FakeProject()
    await bench.carry_out(WriteChapter(books.chapter_id(1), "New."))
    assert await bench.book.chapter_text(books.chapter_id(1)) == "New."
    assert [item.version for item in await bench.book.chapter_versions(books.chapter_id(1))] == [2, 1]
