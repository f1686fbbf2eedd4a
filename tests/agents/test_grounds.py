"""What a quotation must have to bear out a record: length, names near it, and a word in common."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.curation.grounds import Grounds, sums_up
from flowcabal_tui.domain.manuscript import Span
from tests.agents.fakes import person

ALICE, BERN = person("Alice"), person("Bern")
TEXT = (
    "Alice carried the brass bell down to the ferry.\n"
    "She said nothing of it for days.\n"
    "Bern had been waiting by the water since dawn."
)


def lack(quote: str, words: str, *about: str, all_named: bool = False) -> str | None:
    grounds, start = Grounds(TEXT, (ALICE, BERN), "en"), TEXT.index(quote)
    known = {"Alice": ALICE.id, "Bern": BERN.id}
    return grounds.lack(Span(start, start + len(quote)), words, [known[each] for each in about], all_named=all_named)


@pytest.mark.parametrize(
    ("quote", "words", "about", "lacks"),
    [
        ("the brass bell", "She has the bell.", ["Alice"], "short"),
        ("carried the brass bell", "She has the bell.", ["Alice"], None),
        ("carried the brass bell", "Alice carries a bell.", ["Alice"], None),
        ("carried the brass bell", "Alice keeps a secret.", ["Alice"], "unrelated"),
        ("carried the brass bell", "The bell is his.", ["Bern"], "unnamed"),
        ("carried the brass bell", "The bell is at the ferry.", [], None),
        ("She said nothing of it", "Alice said nothing.", ["Alice"], "unnamed"),
        ("waiting by the water since dawn", "Bern waited by the water.", ["Bern"], None),
        ("waiting by the water since dawn", "Bern", ["Bern"], None),
    ],
)
def test_a_fact_in_english(quote: str, words: str, about: list[str], lacks: str | None) -> None:
    assert lack(quote, words, *about) == lacks


def test_a_relation_needs_both_ends_near_and_a_name_in_its_quotation_is_enough() -> None:
    assert lack("Alice carried the brass bell", "enemies", "Alice", "Bern", all_named=True) == "unnamed"
    assert lack("Alice carried the brass bell", "enemies", "Alice", all_named=True) is None
    assert lack("carried the brass bell down", "enemies", "Alice", all_named=True) == "unrelated"
    whole = TEXT[TEXT.index("Alice") : TEXT.index("Bern") + 4]
    assert lack(whole, "enemies", "Alice", "Bern", all_named=True) is None


@pytest.mark.parametrize(
    ("line", "names", "tells"),
    [
        ("Alice leaves.", ["Alice"], True),
        ("The bell is carried away.", [], True),
        ("The bell is lost.", [], False),
        ("Bell.", [], True),
        ("Storms come.", [], False),
    ],
)
def test_a_line_sums_up_what_it_has_words_or_a_name_of(line: str, names: list[str], tells: bool) -> None:
    assert sums_up(line, TEXT, names, "en") == tells


@pytest.mark.parametrize(
    ("quote", "lacks"),
    [
        ("陆铁山死了。", None),
        ("陆铁山死了", None),
        ("陆铁山走", "short"),
        ("他也死了。", "short"),
        ("第三章陆铁山", "short"),
    ],
)
def test_a_whole_sentence_with_a_name_is_enough_however_short(quote: str, lacks: str | None) -> None:
    text, one = "第三章陆铁山\n“陆铁山死了。”他也死了。陆铁山走进来，坐下。", person("陆铁山")
    start = text.index(quote)
    words = quote.rstrip("。")
    assert Grounds(text, [one], "zh").lack(Span(start, start + len(quote)), words, [one.id], all_named=False) == lacks


def test_a_short_sentence_with_a_name_is_enough_in_english() -> None:
    text = "Alice died. He died."
    assert not Grounds(text, [ALICE], "en").is_short(Span(0, 11))
    assert Grounds(text, [ALICE], "en").is_short(Span(12, 20))
