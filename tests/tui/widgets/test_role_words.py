"""The head of a pane and sentences that name keys."""

from __future__ import annotations

from flowcabal_tui.tui.widgets.role_words import facts_words, head_words, key_words, without_backticks


def test_a_head_has_its_title_in_bold_and_leaves_out_what_is_empty() -> None:
    head = head_words("1 Rain", "", "34 words")
    assert head.plain == "1 Rain   34 words"
    styles = [(head.plain[span.start : span.end], str(span.style)) for span in head.spans]
    assert [words for words, style in styles if "bold" in style and "not" not in style] == ["1 Rain"]
    assert head_words("", "34 words").plain == "34 words" and facts_words("a", "", "b") == "a   b"


def test_keys_have_their_style_in_place_of_backticks() -> None:
    words = key_words("Proposal: `a` accepts it, Ctrl+s saves, F8 waits; `flowcabal-tui doctor` looks.")
    assert words.plain == "Proposal: a accepts it, Ctrl+s saves, F8 waits; flowcabal-tui doctor looks."
    assert [words.plain[span.start : span.end] for span in words.spans] == ["a", "Ctrl+s", "F8", "flowcabal-tui doctor"]
    assert without_backticks("按 `+` 添加") == "按 + 添加"


def test_markup_and_a_single_backtick_stay_words() -> None:
    assert key_words("[red]`[/red] x").plain == "[red]`[/red] x"
    assert without_backticks("`" * 3) == "```"


def test_a_fact_keeps_the_styles_of_its_keys() -> None:
    head = head_words("8 new findings", key_words("1 folded: `f`"))
    assert head.plain == "8 new findings   1 folded: f"
    styled = [head.plain[span.start : span.end] for span in head.spans]
    assert styled[0] == "8 new findings" and "f" in styled
