"""Where sentences end."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.sentences import sentences, shortened, telling_sentences
from flowcabal_tui.models.tokens import TokenEstimator


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Good day, M. Morrel. Mrs. Dale met Dr. Hill.", ["Good day, M. Morrel.", "Mrs. Dale met Dr. Hill."]),
        ("J. R. Vane left. So did I. He ran.", ["J. R. Vane left.", "So did I.", "He ran."]),
        ("“It is late.” Capt. Gray rose.", ["“It is late.”", "Capt. Gray rose."]),
        ("潮退了。她说：“走吧。”灯灭了……", ["潮退了。", "她说：“走吧。”", "灯灭了……"]),
    ],
)
def test_titles_and_initials_end_no_sentence(text: str, wanted: list[str]) -> None:
    assert [text[span.start : span.end] for span in sentences(text)] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("“Are you ill?” demanded Mr. Vane. He sat.", ["“Are you ill?” demanded Mr. Vane.", "He sat."]),
        ('"Away!" cried she, and left. "Why?"', ['"Away!" cried she, and left.', '"Why?"']),
        ("‘Is it ‘so?’’ said Ann. Yes.", ["‘Is it ‘so?’’ said Ann.", "Yes."]),
        ("“Gone…” he said.", ["“Gone…” he said."]),
        ("“Fire!” — shouted Nan. All ran.", ["“Fire!” — shouted Nan.", "All ran."]),
        ("“Who is it?” He rose.", ["“Who is it?”", "He rose."]),
        ("“Who is it?”\nwho knows", ["“Who is it?”", "who knows"]),
        ("“走不走？”她问。“走！”", ["“走不走？”", "她问。", "“走！”"]),
    ],
)
def test_a_sentence_goes_on_behind_what_was_said_in_it(text: str, wanted: list[str]) -> None:
    assert [text[span.start : span.end] for span in sentences(text)] == wanted


def test_an_extract_may_end_behind_a_question_within_a_sentence() -> None:
    text = "“Are you ill, Ann?” demanded Mr. Vane of the woman. He sat down."
    extract = telling_sentences(text, (), 3)
    assert next(text[span.start : span.end] for span in extract) == "“Are you ill, Ann?”"


def test_an_extract_has_no_remainder_of_a_sentence_and_no_half_of_a_quotation() -> None:
    text = (
        "“Ah! Newman,” said Mr. Vane, looking up. “What has come, then?” inquired Mr. Vane, pausing. Noggs shook his "
        "head at Mr. Vane. “I have,” said Newman. “Children alive?” inquired Noggs, stepping up to Mr. Vane."
    )
    for most in (2, 3, 8):
        extract = [text[span.start : span.end] for span in telling_sentences(text, (), most)]
        assert not [piece for piece in extract if piece.startswith(("inquired", "Newman,”", "“Ah"))]
        assert all(piece.count("“") == piece.count("”") for piece in extract)


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("Nicholas obeyed. Ralph Nickleby read the letter to its end. Noggs waited at the door until dusk.", "obeyed"),
        ("魏长河没作声。沈素秋提着灯下到地窖里去了。顾婉清站在断墙上看着他们。", "没作声"),
    ],
)
def test_a_sentence_that_says_nothing_by_itself_is_no_extract_beside_others(text: str, left_out: str) -> None:
    assert left_out not in "".join(text[span.start : span.end] for span in telling_sentences(text, (), 3))
    alone = text[: sentences(text)[0].end]
    assert len(telling_sentences(alone, (), 3)) == 1, "it is all that there is"


def test_a_line_of_distant_sentences_has_no_blank_between_chinese_ones() -> None:
    assert shortened("胜了韩厉。\n苏晚棠没有答话。", 50, TokenEstimator()) == "胜了韩厉。苏晚棠没有答话。"
