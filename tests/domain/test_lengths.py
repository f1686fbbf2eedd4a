"""Lengths of texts as writers, platforms and Word count them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.lengths import TextLength, text_length
from flowcabal_tui.domain.text import word_count

SAID = "她说：“好的，Anna。”——雨停了……\n　　第2天"


@pytest.mark.parametrize(("how", "expected"), [("plain", 11), ("word", 11 + 9), ("platform", 9 + 4 + 1 + 9)])
def test_a_chinese_text_is_counted_in_three_ways(how, expected):
    assert text_length(SAID).count(how, chinese=True) == expected


@pytest.mark.parametrize(("how", "expected"), [("plain", 5), ("word", 4), ("platform", 5)])
def test_an_english_text_is_counted_in_words(how, expected):
    assert text_length("Well—known, she said: go.").count(how, chinese=False) == expected


TEXTS = st.text(st.sampled_from([*"她说雨a b2，。…—“”!' \n\t　"]), max_size=60)


@given(TEXTS, TEXTS)
def test_the_counts_of_lines_add_up_and_agree_with_the_stored_length(one: str, two: str):
    whole = text_length(f"{one}\n{two}")
    assert whole == text_length(one) + text_length(two)
    assert whole - text_length(two) == text_length(one)
    assert whole.count("plain", chinese=True) == word_count(f"{one}\n{two}")
    assert text_length("") == TextLength()
