"""Each rule of proofing marks what it is for, and leaves what is right alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.proofing import ON_REQUEST, PROOF_RULES, ProofMark, ProofRule
from flowcabal_tui.proofing import echoes
from flowcabal_tui.proofing.echoes import is_verse
from flowcabal_tui.proofing.lists import wrong_words
from flowcabal_tui.proofing.rules import proof, proof_chapters, rules_for


def marked(text: str, rule: ProofRule, language: str = "zh") -> list[tuple[str, str]]:
    return [(mark.words, mark.suggestion) for mark in proof(text, language, [rule])]


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("half-width", "她走了,他没有。(真的)", [(",", "，"), ("(", "（"), (")", "）")]),
        ("half-width", "3.14，Anna, Bob 说：“好。”第1.5节", []),
        ("half-width", '他走了...!她说"好"?他点头。', [("!", "！"), ("?", "？")]),
        (
            "half-width",
            '真的？!是他!?他说(Tom)在,"好."',
            [("!", "！"), ("!", "！"), ("?", "？"), ("(", "（"), (")", "）"), (",", "，"), (".", "。")],
        ),
        ("doubled-marks", "走了。。他说，，好、，——是…", [("。。", "。"), ("，，", "，"), ("、，", "，"), ("…", "……")]),
        ("doubled-marks", "等等...好—吧--", [("...", "……"), ("—", "——"), ("--", "——")]),
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


def repeated(*chapters: str, language: str = "zh") -> dict[int, tuple[ProofMark, ...]]:
    texts = dict(enumerate(chapters, 1))
    return proof_chapters(texts, tuple(texts), language, ["repeats"])


def test_a_long_phrase_of_another_chapter_is_a_repeat_and_formulae_and_verse_are_none():
    phrase = "月光照在她空空的袖口上，像一层薄薄的霜"
    marks = repeated(f"后来，{phrase}。她没有说话。", f"那天夜里，{phrase}。", "别的话。")
    assert [[(mark.words, mark.also) for mark in marks[n]] for n in marks] == [
        [(f"，{phrase}。", n)] for n in (2, 1)
    ] + [[]]
    assert not any(repeated(*[f"话说，{phrase}。"] * 6).values())
    verse = "白日依山尽，黄河入海流，欲穷千里目，更上一层楼。"
    assert is_verse(verse) and not any(repeated(verse, verse).values())


def test_a_long_phrase_that_comes_twice_in_a_chapter_is_marked_at_its_second_place():
    line = "The lamp over the ferry landing had gone out again before anybody saw it.\n"
    (mark,) = repeated(f"{line}Nothing.\n{line}", "Other.", language="en")[1]
    assert (mark.start, mark.also) == (len(f"{line}Nothing.\n"), 0)


def test_each_chapter_is_read_three_times_however_many_there_are(monkeypatch: pytest.MonkeyPatch):
    read, starts = [], echoes._starts
    monkeypatch.setattr(echoes, "_starts", lambda text, *size, **how: read.append(text) or starts(text, *size, **how))
    repeated(*(f"第{n}章的开头没有别的章节里有的话。" for n in range(40)))
    assert len(read) == 3 * 40


def test_few_phrases_are_compared_at_a_time_and_none_is_missed(monkeypatch: pytest.MonkeyPatch):
    chapters = [f"她在第{n}个渡口看见同一盏灯笼照着同一条船。" for n in range(3)]
    at_once = repeated(*chapters)
    monkeypatch.setattr(echoes, "_AT_ONCE", 5)
    assert repeated(*chapters) == at_once and at_once[3]


@given(st.text(st.sampled_from('她说的地得“”"‘，。,. \n…—ab…!！(（'), max_size=200), st.sampled_from(["zh", "en"]))
def test_marks_are_spans_of_the_text_in_order(text: str, language: str):
    marks = proof_chapters({1: text, 2: text[::-1]}, (1,), language, rules_for(language))[1]
    assert all(text[mark.start : mark.end] == mark.words and mark.words for mark in marks)
    assert [mark.start for mark in marks] == sorted(mark.start for mark in marks)
    assert {mark.rule for mark in marks} <= set(PROOF_RULES) and set(PROOF_RULES) >= ON_REQUEST


def test_the_quote_that_is_not_closed_is_marked_and_not_the_next_one():
    for language, text, unclosed in (
        ("en", "“Hello, he said.\n\nThen he said “Bye.”", [0]),
        ("en", "“Go. “Now,” he said.", [0]),
        ("en", "“One.\n\n“Two,” she said.", []),
        ("en", "“He said ‘I like “Lear” best’ to me.”", []),
        ("en", "“One.”\n\n“Two, she said.\n\nShe left.\n\n“Three.”", [8]),
        ("zh", "他看了《红楼梦。\n“好。”", [3]),
        ("zh", "他说：“走。\n她没有动。\n“好。”", [3]),
        ("zh", "“一。\n“二。”他走了。", []),
        ("zh", "他说（见《三国）。", [4]),
    ):
        found = [mark.start for mark in proof(text, language, ["quotes"])]
        assert found == unclosed, text


def test_a_letter_that_becomes_two_in_lower_case_moves_no_mark():
    (mark,) = proof("İİİİ said he could of gone.", "en", ["wrong-words"])
    assert (mark.words, mark.start) == ("could of", 13)


@pytest.mark.parametrize("name", ["zh_wrong.tsv", "en_wrong.tsv"])
def test_no_right_form_of_a_list_is_a_wrong_one(name: str):
    automaton = wrong_words(name)
    for wrong, right in automaton.values():
        assert right and right != wrong
        assert not list(automaton.iter(right)), right
