"""What a rule mends without a model, and what it leaves to the writer."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.checking.rules.corrections import corrected
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.registry import check


def after(text: str, language: str = "en") -> str | None:
    """The text with all that the rules find in it mended; None where a mend is not known."""
    found = [each for each in check(NarratedText(text, language), EarlierBook(language, (), ()))
             if each.rule in ("leftovers", "quote-marks")]  # fmt: skip
    assert found, "the rules find something"
    for each in found:
        now = corrected(each.rule, text, each.draft.text)
        if now is None:
            return None
        text = now
    return text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It was **very** late.", "It was very late."),
        ("It was late.<br>The bell rang.", "It was late.The bell rang."),
        ("```\nIt was late.\n```", "It was late."),
        ("Here is the revised chapter:\n\nIt was late.", "It was late."),
        ("It was late.\n\nWord count: 1,204", "It was late."),
        ("It was late.\n\nI hope this revised version helps!\n\nThe bell rang.", "It was late.\n\nThe bell rang."),
        ("It was late.\nassistant: The bell rang.", "It was late.\nThe bell rang."),
        ("““Come in,” said Tobias.", "“Come in,” said Tobias."),
        ("“Come in,“ said Tobias.", "“Come in,” said Tobias."),
        (
            "It rang.\n\n”Come in,” said Tobias. “Sit.”\n\nHe sat.",
            "It rang.\n\n“Come in,” said Tobias. “Sit.”\n\nHe sat.",
        ),
    ],
)
def test_a_fault_with_one_reading_is_mended(text: str, wanted: str) -> None:
    assert after(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("以下是修改后的章节：\n\n雨停了。", "雨停了。"),
        ("雨停了。\n\n（全文字数：3021字）", "雨停了。"),
        ("雨停了。\n希望这一版符合您的要求。", "雨停了。"),
        ("雨**终于**停了。", "雨终于停了。"),
    ],
)
def test_a_fault_in_chinese_is_mended(text: str, wanted: str) -> None:
    assert after(text, "zh") == wanted


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("“Come in, said Tobias.", "en"),
        ("Come in,” said Tobias.", "en"),
        ("He met {{name}} at the ferry.", "en"),
        ("[TODO: the storm]", "en"),
        ("<think>She must leave.</think> She left.", "en"),
        ("As an AI, I cannot say. The bell rang.", "en"),
        ("It rained.\n\nAs an AI language model, I cannot describe the storm.\n\nHe slept.", "en"),
        ("雨停了。\n作为一个AI，我不能续写这一段。", "zh"),
        ("| --- | --- |", "en"),
        ("Here is the revised version: it was late, and the bell rang.", "en"),
        ("以下是修改后的版本：雨停了，他走了。", "zh"),
        ("【此处省略】他走了。", "zh"),
    ],
)
def test_what_has_several_readings_is_left_to_the_writer(text: str, language: str) -> None:
    assert after(text, language) is None


def test_another_rule_and_words_that_are_gone_have_no_mend() -> None:
    assert corrected("ages", "She was twelve.", "twelve") is None
    assert corrected("leftovers", "It was late.", "**very**") is None
    assert corrected("leftovers", "It was late.", "") is None
