from __future__ import annotations

from flowcabal_tui.agents.context.borders import around, excerpt

BEFORE, AFTER = "天色已晚，众人散去。", "各自安歇，一夜无话。"


def told(text: str, passage: str, *names: str) -> str:
    start = text.index(passage)
    span = around(text, start, start + len(passage), names)
    return text[span.start : span.end]


def test_what_follows_a_name_at_the_end_is_told_to_the_end_of_its_sentence() -> None:
    text = f"{BEFORE}{AFTER}忽见老周走来。他手里提着灯。{BEFORE}{AFTER}"
    assert told(text, f"{BEFORE}{AFTER}忽见老周", "老周") == f"{BEFORE}{AFTER}忽见老周走来。他手里提着灯。"


def test_what_comes_before_a_name_at_the_beginning_is_told_too() -> None:
    text = f"{AFTER}一盏灯从远处来了。老周提着它。{BEFORE}{AFTER}"
    assert told(text, f"老周提着它。{BEFORE}{AFTER}", "老周") == f"一盏灯从远处来了。老周提着它。{BEFORE}{AFTER}"


def test_a_name_in_the_middle_and_no_name_at_all_widen_nothing() -> None:
    text = f"{AFTER}{BEFORE}老周来了。{AFTER}{BEFORE}"
    assert told(text, f"{BEFORE}老周来了。{AFTER}", "老周", "苏九") == f"{BEFORE}老周来了。{AFTER}"
    assert told(text, f"{BEFORE}老周来了。{AFTER}", "苏九") == f"{BEFORE}老周来了。{AFTER}"


def test_another_paragraph_is_left_out() -> None:
    text = f"{AFTER}\n{BEFORE}老周\n{AFTER}"
    assert told(text, f"{BEFORE}老周", "老周") == f"{BEFORE}老周"
    assert told(text, f"{BEFORE}老周\n", "老周") == f"{BEFORE}老周\n"
    assert told(f"{AFTER}\n老周提灯。{BEFORE}", f"老周提灯。{BEFORE}", "老周") == f"老周提灯。{BEFORE}"


def test_a_text_without_sentences_is_widened_by_what_is_wanted_alone() -> None:
    text = f"{'灯' * 500}老周{'火' * 500}"
    assert told(text, f"{'灯' * 28}老周", "老周") == f"{'灯' * 28}老周{'火' * 10}"
    assert told(text, f"老周{'火' * 28}", "老周") == f"{'灯' * 10}老周{'火' * 28}"


def test_english_sentences_end_with_a_full_stop_and_a_space() -> None:
    text = "It rained. The lamp went out at 3.30 that night. Old Zhou came in. He said nothing. All slept."
    found = told(text, "It rained. The lamp went out at 3.30 that night. Old Zhou", "Old Zhou")
    assert found == "It rained. The lamp went out at 3.30 that night. Old Zhou came in. He said nothing. "


def test_an_english_sentence_goes_on_to_the_end_of_its_paragraph_and_a_word_to_its_last_letter() -> None:
    text = "It rained. “I should not be surprised,” said Old Zhou, “if she were dead.”\nAll slept."
    found = told(text, "It rained. “I should not be surprised,” said Old Zhou", "Old Zhou")
    assert found == "It rained. “I should not be surprised,” said Old Zhou, “if she were dead.”"
    text = f"It rained hard, said Old Zhou, {'and remembered ' * 9}nothing."
    assert told(text, "It rained hard, said Old Zhou", "Old Zhou") == "It rained hard, said Old Zhou, and remembered"


def kept(text: str, *found: tuple[float, str]) -> str:
    span = excerpt(text, 0, len(text), [(weight, (name,)) for weight, name in found])
    return text[span.start : span.end]


def test_paragraphs_at_the_ends_without_a_weighty_name_are_left_out() -> None:
    text = f"{BEFORE}\n\n老周来了。{AFTER}\n\n{AFTER}林远不语。\n\n苏九走了。"
    assert kept(text, (5.0, "老周")) == f"老周来了。{AFTER}"
    assert kept(text, (5.0, "老周"), (3.0, "林远")) == f"老周来了。{AFTER}\n\n{AFTER}林远不语。"
    assert kept(text, (5.0, "老周"), (1.0, "苏九")) == f"老周来了。{AFTER}", "the light one keeps no paragraph"


def test_of_a_long_paragraph_two_thirds_around_the_heaviest_name_stay() -> None:
    text = f"{AFTER}{BEFORE}老周提着灯。{BEFORE}{AFTER}{BEFORE}{AFTER}{BEFORE}"
    assert kept(text, (5.0, "老周")) == f"{AFTER}{BEFORE}老周提着灯。{BEFORE}{AFTER}{BEFORE}"


def test_less_of_it_stays_where_space_is_short() -> None:
    text = f"{AFTER}{BEFORE}老周提着灯。{BEFORE}{AFTER}{BEFORE}{AFTER}{BEFORE}"
    span = excerpt(text, 0, len(text), [(5.0, ("老周",))], briefly=True)
    assert text[span.start : span.end] == f"{AFTER}{BEFORE}老周提着灯。{BEFORE}{AFTER}"


def test_what_nothing_weighty_found_is_whole() -> None:
    assert kept(f"{BEFORE}\n{AFTER}") == f"{BEFORE}\n{AFTER}"
    assert kept(f"{BEFORE}\n{AFTER}", (1.0, "老周")) == f"{BEFORE}\n{AFTER}"


def test_a_title_is_not_torn_from_its_name() -> None:
    text = (
        "He looked and looked about him until both of his eyes were sore from it. Everything that met Mr. Vane was "
        "black, from the door to the river."
    )
    span = excerpt(text, 0, len(text), [(1.0, ("sore",))])
    assert text[span.start : span.end] == text
