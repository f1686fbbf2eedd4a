"""Whatever a text holds, rules end, and quote what is there."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.checking.rules.material import NarratedText
from flowcabal_tui.agents.checking.rules.registry import RULES, check
from tests.agents.rules.books import book

HOSTILE = {
    "one long sentence": "林远舟的眼睛是蓝的三十岁" * 4_000,
    "one long word": "a" * 50_000,
    "opening marks": "“" * 50_000,
    "names": "林远舟" * 15_000,
    "control sequences": "\x1b]0;x\x07\x9b31m林远舟道\x00\x00死了\x1b[0m" * 50,
    "half surrogates": "林远舟\ud800道\udfff He was \ud83d thirty years old" * 50,
    "numbers": "三十" * 20_000 + "7" * 5_000 + "岁",
    "line ends": "\n\r\n\x0b\u2028" * 5_000,
    "empty": "",
    "mixed marks": "\"“‘”'’" * 5_000,
}


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_to_its_end(language: str, name: str) -> None:
    text = HOSTILE[name]
    known = book(language, "林远舟死了。He was thirty years old.", text, people=["林远舟", "Tom Gray"])
    for finding in check(NarratedText(text, language), known):
        assert finding.draft.text == text[finding.draft.start : finding.draft.end]
    assert check(NarratedText("林远舟道：好。Tom Gray said no.", language), known) is not None


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_empty_book_has_nothing_to_compare_with(language: str) -> None:
    assert check(NarratedText("林远舟今年三十岁。Tom was thirty years old.", language), book(language)) == ()


def test_a_rule_that_is_off_finds_nothing() -> None:
    left = NarratedText("As an AI language model, I cannot go on.", "en")
    assert [each.rule for each in check(left, book("en"))] == ["leftovers"]
    assert check(left, book("en"), off=["leftovers"]) == ()


def test_names_of_rules_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
