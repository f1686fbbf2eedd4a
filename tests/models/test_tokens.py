"""The estimate, and what it learns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.model_calls import Message, ModelRequest, Usage
from flowcabal_tui.models.tokens import Calibration, TokenEstimator
from tests.effort import effort

CHINESE = "夜色落在长街上，灯火一点一点亮起来。少年推开茶馆的门，听见雨声。“你来了？”老人说。\n" * 80
ENGLISH = 'The old ferry had gone at 3.14 when she came down. "Nobody," he said, "will answer." '
CHAPTER = ModelRequest((Message("user", CHINESE),))


def test_nothing_is_no_tokens_and_more_text_is_more_tokens() -> None:
    counter = TokenEstimator()
    assert counter.count("") == 0
    assert counter.count("雨") < counter.count("雨声") < counter.count("雨声。 and rain")


@pytest.mark.parametrize(
    ("model", "tokens"), [("deepseek-chat", 0.7), ("qwen-plus", 0.7), ("gpt-4o-mini", 0.87), ("house-model", 1.2)]
)
def test_a_family_starts_with_its_own_tokens_a_character(model: str, tokens: float) -> None:
    assert TokenEstimator(model).count("雨" * 1000) == round(1000 * tokens)


def test_english_prose_is_about_four_characters_a_token() -> None:
    prose = "The old ferry had already gone when she came down to the water, and nobody answered her call. " * 30
    assert 3.2 < len(prose) / TokenEstimator("gpt-4o").count(prose) < 5.2


def test_usage_brings_the_estimate_within_five_percent_in_five_calls() -> None:
    counter = TokenEstimator("house-model")
    assert abs(counter.count_request(CHAPTER) - 2000) > 400
    for tokens in (1850, 2150, 1900, 2100, 2000):
        counter.learn(CHAPTER, Usage(tokens))
    assert abs(counter.count_request(CHAPTER) - 2000) < 100


def test_one_odd_usage_among_many_moves_the_estimate_by_a_fifth() -> None:
    counter = TokenEstimator("house-model")
    for tokens in (*[2000] * 9, 3000):
        counter.learn(CHAPTER, Usage(tokens))
    assert abs(counter.count_request(CHAPTER) - 2200) < 10


def test_a_calibration_goes_on_where_it_stopped() -> None:
    first = TokenEstimator("house-model")
    first.learn(CHAPTER, Usage(2000))
    second = TokenEstimator("house-model", first.calibration)
    assert second.count(CHINESE) == first.count(CHINESE)
    assert second.calibration.samples == 1


@pytest.mark.parametrize("usage", [Usage(), Usage(10), Usage(0)])
def test_a_usage_that_says_nothing_teaches_nothing(usage: Usage) -> None:
    counter = TokenEstimator()
    counter.learn(CHAPTER, usage)
    assert counter.calibration == Calibration()


def test_an_absurd_usage_moves_the_estimate_only_so_far() -> None:
    counter = TokenEstimator()
    counter.learn(CHAPTER, Usage(10**9))
    assert counter.calibration.factor <= 4


@pytest.mark.parametrize("factor", [1e-9, -1.0, 0, 1e300, float("nan"), float("inf"), "1", None, True])
def test_a_stored_factor_that_nothing_was_learned_to_does_not_make_a_quote(factor: object) -> None:
    assert Calibration.stored({"factor": factor, "samples": 5}).factor == 1
    assert Calibration.stored({"factor": 1.5, "samples": -1}) == Calibration()
    assert Calibration.stored({"factor": 1.5, "samples": 5}) == Calibration(1.5, 5)


@given(st.text(alphabet="雨声。！”，.!? abc3\n", max_size=200), st.integers(0, 60), st.floats(0.3, 3))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, tokens: int, factor: float) -> None:
    counter = TokenEstimator("", Calibration(factor, 1))
    cut = counter.truncate(text, tokens)
    assert text.startswith(cut)
    assert counter.count(cut) <= tokens
    assert cut == text or counter.count(text) >= tokens - 1


@pytest.mark.parametrize("text", [CHINESE, ENGLISH * 40])
def test_a_text_is_cut_at_the_end_of_a_sentence(text: str) -> None:
    counter = TokenEstimator()
    for tokens in range(60, 300, 7):
        cut = counter.truncate(text, tokens)
        assert cut.rstrip('”"')[-1] in "。？\n.,"
        assert not cut.endswith("3.")
        assert counter.count(cut) > tokens - 60


def test_a_sentence_too_long_is_cut_within() -> None:
    assert TokenEstimator("deepseek").truncate("雨" * 10_000, 70) == "雨" * 100


def test_counting_takes_as_many_calls_for_a_chapter_as_for_a_sentence() -> None:
    counter = TokenEstimator()
    with effort(100):
        counter.count(CHINESE[:3000])


def test_an_earlier_answer_counts_as_it_is_sent_with_the_question() -> None:
    counter, earlier = TokenEstimator(), '{"facts": ["It rained."]}'
    more = counter.count_request(replace(CHAPTER, earlier=earlier)) - counter.count_request(CHAPTER)
    assert abs(more - counter.count(earlier)) <= 1
