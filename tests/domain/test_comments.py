"""Comments of a document find the places of their quotations."""

from __future__ import annotations

from flowcabal_tui.domain.comments import Comment, placed
from flowcabal_tui.domain.ids import ChapterId

ONE, TWO = ChapterId("one"), ChapterId("two")
TEXTS = ((ONE, "alpha beta gamma"), (TWO, "beta delta"))


def found(*quotations: str) -> list[tuple[ChapterId, int, bool]]:
    comments = [Comment(ONE, "?", "question", words) for words in quotations]
    return [(each.chapter, each.start, each.lost) for each in placed(comments, TEXTS)]


def test_a_comment_is_at_the_next_place_of_its_quotation():
    assert found("beta", "beta delta", "delta") == [(ONE, 6, False), (TWO, 0, False), (TWO, 5, False)]


def test_a_quotation_before_the_previous_one_is_found_too():
    assert found("gamma", "alpha") == [(ONE, 11, False), (ONE, 0, False)]


def test_a_quotation_that_no_chapter_contains_is_lost():
    assert found("beta", "omega") == [(ONE, 6, False), (ONE, 0, True)]
