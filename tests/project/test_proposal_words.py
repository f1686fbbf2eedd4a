"""The words of proposals: parts of a line, and the state of an edit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import Difference, Origin, Proposal, ProposalPlace, Reason, TextEdit
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.locale import use_language
from flowcabal_tui.project.proposal_words import joined, reason_words, state_words

EDIT = Proposal(
    "edit",
    ProposalPlace(ChapterId("c1")),
    "",
    Difference(TextEdit("e1", ChapterId("c1"), "a", "b")),
    Reason("worded", ""),
    Origin("agent", "conversation"),
)


@pytest.mark.parametrize(
    ("language", "parts", "line"),
    [
        ("zh", ("她等着。", "此前：雾散了。", "字数更少"), "她等着。此前：雾散了。字数更少"),
        ("zh", ("她说：“走吧！”", "", "此前：无"), "她说：“走吧！”此前：无"),
        ("zh", ("第 2 章", "标题"), "第 2 章；标题"),
        ("en", ("She waits.", "Previously: fog."), "She waits. Previously: fog."),
        ("en", ("“Go!”", "shorter"), "“Go!” shorter"),
        ("en", ("a build", "3 changes"), "a build; 3 changes"),
        ("en", (), ""),
    ],
)
def test_no_semicolon_comes_after_a_sentence(language: str, parts: tuple[str, ...], line: str) -> None:
    use_language(language)
    assert joined(*parts) == line


def test_an_edit_is_accepted_and_a_fact_is_confirmed() -> None:
    use_language("zh")
    fact = replace(EDIT, kind="fact", difference=Difference(Fact(RecordId("f1"), "words")))
    assert state_words(replace(EDIT, state="confirmed")) == "已采纳"
    assert state_words(replace(EDIT, state="dropped")) == "已拒绝"
    assert state_words(replace(EDIT, state="corrected")) == "改写后已采纳"
    assert state_words(replace(fact, state="confirmed")) == "已确认"
    assert state_words(EDIT) == state_words(fact) == "等你决定"


def test_a_speech_in_a_quotation_has_single_marks_and_an_end() -> None:
    use_language("zh")
    assert reason_words(Reason("unquoted", "她说：“走罢。")).endswith("“她说：‘走罢。’”")
