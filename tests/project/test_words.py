"""The words of the domain in the language of the screen."""

from __future__ import annotations

from decimal import Decimal

import pytest

from flowcabal_tui.domain.context import Intent
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.headings.assigning import assigned
from flowcabal_tui.headings.outline import read_outline
from flowcabal_tui.locale import use_language
from flowcabal_tui.project.words import belongs, inner_title, money, scene_words, unsaved_words


@pytest.mark.parametrize(("language", "joint"), [("en", ", "), ("zh", "、")])
def test_names_in_a_row_are_joined_as_the_language_joins_them(language: str, joint: str) -> None:
    use_language(language)
    assert scene_words(Intent(entities=("宝玉", "黛玉")))["who"] == f"宝玉{joint}黛玉"
    chapters = [Chapter(ChapterId(name), at, name) for at, name in enumerate(("雨", "雪"), start=1)]
    assert f"1 雨{joint}2 雪" in unsaved_words(chapters)
    book = assigned(read_outline("第一至二章 冬\n冷。\n"), chapters)
    assert belongs(book.placed[1], {each.id: each.title for each in chapters}) == f"雨{joint}雪"


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("0.056284", "CNY", "¥0.06"),
        ("0.00204", "USD", "$0.0021"),
        ("0", "USD", "$0.00"),
        ("1234.5", "EUR", "€1,234.50"),
        ("3", "CHF", "3.00 CHF"),
        ("3", "", "3.00"),
    ],
)
def test_money_has_its_sign_and_is_rounded_up(amount: str, currency: str, shown: str) -> None:
    assert money(Decimal(amount), currency) == shown


def test_an_unknown_amount_of_money_is_unknown() -> None:
    assert money(None, "USD") == "unknown"


def test_nodes_that_only_a_run_knows_have_titles_of_the_screen() -> None:
    use_language("en")
    titles = {
        path: inner_title(NodeId(f"openings/1/{path}")) for path in ("candidate-3", "sift", "candidate-x", "other")
    }
    assert titles == {
        "candidate-3": "candidate 3", "sift": "sifting", "candidate-x": "candidate-x", "other": "other"
    }  # fmt: skip
