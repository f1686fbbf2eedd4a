"""Passages between quotation marks."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.domain.text import unbroken


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("陆铁山死了。", "“陆铁山死了。”"),
        ("“这件事急不得。”", "“‘这件事急不得。’”"),
        ("沈砚之道：“若是天边压着一线红，今夜便不能下山。", "“沈砚之道：‘若是天边压着一线红，今夜便不能下山。’”"),
        ("今夜便不能下山。”他说。", "“‘今夜便不能下山。’他说。”"),
        ("她说：“他叫我‘小七’。”", "“她说：‘他叫我“小七”。’”"),
        ('他说"好"。', "“他说‘好’。”"),
        ("“Don’t,” she said.", "“‘Don’t,’ she said.”"),
    ],
)
def test_the_marks_of_a_quoted_passage_are_single_and_in_pairs(passage: str, expected: str):
    assert quoted(passage) == expected


def test_lines_are_joined_without_a_blank_between_chinese_sentences():
    assert unbroken("胜了韩厉。\n苏晚棠没有答话。\n“走。”") == "胜了韩厉。苏晚棠没有答话。“走。”"
    assert unbroken("“Go.”\n“No.”") == "“Go.” “No.”"
