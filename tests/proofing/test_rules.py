"""Each rule of proofing marks what it is for, and leaves what is right alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.proofing import ON_REQUEST, PROOF_RULES, ProofRule
from flowcabal_tui.proofing.echoes import is_verse
from flowcabal_tui.proofing.lists import wrong_words
from flowcabal_tui.proofing.rules import proof, rules_for


def marked(text: str, rule: ProofRule, language: str = "zh") -> list[tuple[str, str]]:
    return [(mark.words, mark.suggestion) for mark in proof(text, language, [rule])]


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("half-width", "她走了,他没有。(真的)", [(",", "，"), ("(", "（"), (")", "）")]),
        ("half-width", "3.14，Anna, Bob 说：“好。”第1.5节", []),
        ("doubled-marks", "走了。。他说，，好、，——是…", [("。。", "。"), ("，，", "，"), ("、，", "，"), ("…", "……")]),
        ("doubled-marks", "等等...好—吧", [("...", "……"), ("—", "——")]),
        ("doubled-marks", "什么？！真的……——好！！！", []),
        ("quotes", "他说：“走。她说：”好。”", [("”", "")]),
        ("quotes", "“一。\n\n“二。”他说‘三’。", []),
        ("quotes", '他说："走"。', [('"', ""), ('"', "")]),
        ("wrong-words", "他迫不急待，按耐不住。", [("迫不急待", "迫不及待"), ("按耐不住", "按捺不住")]),
        ("doubled-words", "他的的书，的确，的的确确", [("的的", "的")]),
        ("de", "他慢慢的走了，跑的很快。", [("的", "地"), ("的", "得")]),
        ("de", "慢慢地走，轻轻的风，他的很多书，跑得很快", []),
    ],
)
def test_chinese(rule: ProofRule, text: str, expected: list[tuple[str, str]]):
    assert marked(text, rule) == expected


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("doubled-marks", "No,, he said .\nWell.. go", [(",,", ","), (" .", "."), ("..", ".")]),
        ("doubled-marks", "Wait... what?! Mrs. K., etc., i.e. yes", []),
        ("quotes", "“Go. “Now,” he said.", [("“", "")]),
        ("quotes", "“One.\n\n“Two,” she said. ‘So’, it’s", []),
        ("quotes", "“Go,” he said. \"Now.\"", [('"', ""), ('"', "")]),
        ("doubled-words", "He saw the the door. He had had it. Very very good. John John", [("the the", "the")]),
        ("wrong-words", "Definately could of gone; he would of course.", [("Definately", "Definitely"),
                                                                            ("could of", "could have")]),
        ("wrong-words", "alottery, seperates-free", []),
    ],
)  # fmt: skip
def test_english(rule: ProofRule, text: str, expected: list[tuple[str, str]]):
    assert marked(text, rule, "en") == expected


def test_the_third_use_of_a_long_word_nearby_is_an_echo_unless_the_chapter_lives_on_it():
    near = "The shimmering sea. A shimmering sail. The shimmering end."
    assert marked(near, "echoes", "en") == [("shimmering", "")]
    assert marked(f"{near} {'and so on ' * 40} shimmering again", "echoes", "en") == []
    assert marked("Saltreach. To Saltreach. From Saltreach.", "echoes", "en") == [], "names come again"
    assert marked("她轻声叹息着走来，又轻声叹息着坐下，再轻声叹息着睡去。", "echoes")[0][0] in "轻声叹息着"


def test_a_long_phrase_of_another_chapter_is_a_repeat_and_formulae_and_verse_are_none():
    phrase = "月光照在她空空的袖口上，像一层薄薄的霜"
    others = [(2, f"那天夜里，{phrase}。"), (3, "别的话。")]
    (mark,) = proof(f"后来，{phrase}。她没有说话。", "zh", ["repeats"], others)
    assert (mark.words, mark.also) == (f"，{phrase}。", 2)
    formula = [(number, f"话说，{phrase}。") for number in range(2, 7)]
    assert proof(f"话说，{phrase}。", "zh", ["repeats"], formula) == ()
    verse = "白日依山尽，黄河入海流，欲穷千里目，更上一层楼。"
    assert is_verse(verse) and proof(verse, "zh", ["repeats"], [(2, verse)]) == ()


@given(st.text(st.sampled_from('她说的地得“”"‘，。,. \n…—ab…!！(（'), max_size=200), st.sampled_from(["zh", "en"]))
def test_marks_are_spans_of_the_text_in_order(text: str, language: str):
    marks = proof(text, language, rules_for(language), [(2, text[::-1])])
    assert all(text[mark.start : mark.end] == mark.words and mark.words for mark in marks)
    assert [mark.start for mark in marks] == sorted(mark.start for mark in marks)
    assert {mark.rule for mark in marks} <= set(PROOF_RULES) and set(PROOF_RULES) >= ON_REQUEST


@pytest.mark.parametrize("name", ["zh_wrong.tsv", "en_wrong.tsv"])
def test_no_right_form_of_a_list_is_a_wrong_one(name: str):
    automaton = wrong_words(name)
    for wrong, right in automaton.values():
        assert right and right != wrong
        assert not list(automaton.iter(right)), right
