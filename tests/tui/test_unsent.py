from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.ids import QuestionId
from flowcabal_tui.tui.decisions.typed_answer import Unsent
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject

REVIEW = books.review(books.EN)
INPUT = replace(REVIEW, id=QuestionId("q-input"), kind="input", attempts=())


async def test_what_was_typed_is_there_for_the_next_start() -> None:
    bench = FakeProject("en")
    typed = Unsent(bench.drafts)
    typed.remember((REVIEW.id, 1), "mine", "its")
    typed.remember((INPUT.id, 0), "my answer", "")
    await typed.save()
    later = Unsent(bench.drafts)
    await later.load((REVIEW, INPUT))
    assert later.text((REVIEW.id, 1), "its") == "mine"
    assert later.text((INPUT.id, 0), "") == "my answer"
    assert later.waits(REVIEW.id)


async def test_an_answer_and_a_text_as_it_was_are_forgotten_everywhere() -> None:
    bench = FakeProject("en")
    typed = Unsent(bench.drafts)
    typed.remember((REVIEW.id, 1), "mine", "its")
    typed.remember((INPUT.id, 0), "my answer", "")
    await typed.save()
    assert len(bench.drafts.fields) == 2
    typed.forget(REVIEW.id)
    typed.remember((INPUT.id, 0), "", "")
    await typed.save()
    assert bench.drafts.fields == {}
    assert not typed.waits(REVIEW.id)
    assert not typed.has((INPUT.id, 0))
