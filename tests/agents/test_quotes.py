from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.agents.checking import quotes
from flowcabal_tui.agents.checking.quotes import VerbatimText

TEXT = "林远说道：“左臂  的伤，\n还没好。”  She said, 'the bridge (of stone) fell'."


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("左臂的伤,还没好", "左臂  的伤，\n还没好"),
        ("“左臂的伤，还没好。”", "左臂  的伤，\n还没好。"),
        ("the  bridge (of stone) fell", "the bridge (of stone) fell"),
        ("…左臂的伤…", "左臂  的伤"),
        ("said, &quot;the bridge", "said, 'the bridge"),
    ],
)
def test_spaces_quotation_marks_and_width_do_not_count(quote: str, words: str) -> None:
    text = VerbatimText(TEXT)
    span = text.find(quote)
    assert span is not None
    assert text.words(span) == words


@pytest.mark.parametrize("quote", ["右臂的伤", "", "“”", "的", "she", "The Bridge (of stone) fell"])
def test_what_does_not_stand_there_is_not_found(quote: str) -> None:
    assert VerbatimText(TEXT).find(quote) is None


@given(st.text(max_size=80), st.integers(0, 80), st.integers(8, 30))
def test_offsets_are_those_of_the_text_itself(text: str, start: int, length: int) -> None:
    found = VerbatimText(text).find(text[start : start + length])
    if found is not None:
        words = text[found.start : found.end]
        assert VerbatimText(words).find(text[start : start + length]) is not None


def test_a_character_is_folded_once_however_long_the_texts_are():
    quotes._folded.cache_clear()
    for _text in range(3):
        VerbatimText("雨 “Rain”。\n" * 1_000)
    assert quotes._folded.cache_info().misses == len(set("雨 “Rain”。\n"))
