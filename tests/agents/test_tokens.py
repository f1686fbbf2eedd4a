"""Texts cut to a number of tokens end and begin at borders that a reader sees."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.tokens import cut
from flowcabal_tui.domain.manuscript import Span
from tests.agents.fakes import FakeTokens

SPEECH = (
    "“You never are surprised,” replied Newman, “that’s all.” Mr. Nickleby snatched the letter from his assistant, and "
    "fixing a cold look upon him, opened it. He read it, slowly."
)
LONG = "雨下了一夜。" + "林远把船系在渡口，沈青提着灯，" * 3 + "谁也没有说话。"


@pytest.mark.parametrize(("share", "begins"), [(0.84, "Mr. Nickleby snatched"), (0.18, "He read it")])
def test_the_end_of_a_text_begins_with_a_sentence(share: float, begins: str) -> None:
    tokens = int(FakeTokens().count(SPEECH) * share)
    span = cut(SPEECH, tokens, FakeTokens(), keep_end=True)
    assert SPEECH[span.start :].strip().startswith(begins)


def test_the_beginning_of_a_text_ends_with_a_sentence_or_with_a_clause_of_a_long_one() -> None:
    counter = FakeTokens()
    span = cut(SPEECH, counter.count(SPEECH) - 1, counter)
    assert SPEECH[: span.end].endswith("opened it.")
    span = cut(LONG, counter.count(LONG) // 2, counter)
    assert LONG[: span.end].endswith("，")


@pytest.mark.parametrize("keep_end", [False, True])
@pytest.mark.parametrize("text", [SPEECH, LONG, f"{LONG}{SPEECH}", f"{SPEECH} {LONG}"])
def test_a_part_never_has_more_tokens_than_it_may(text: str, keep_end: bool) -> None:
    counter = FakeTokens()
    whole = counter.count(text)
    for tokens in range(whole + 1):
        span = cut(text, tokens, counter, keep_end=keep_end)
        assert counter.count(text[span.start : span.end]) <= tokens
    assert span == Span(0, len(text)), "a text that fits is not cut"
