"""Texts that were made by rule say so, to the model and to the writer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.gather import Found
from flowcabal_tui.agents.context.shares import SHARES
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Derived, Evidence
from tests.agents.fakes import FakeBook, FakeTokens
from tests.agents.test_context import FakeFinder, assemble, derived, make_book


def by_rule(book: FakeBook) -> FakeBook:
    """The same book, all of whose summaries and profiles were made by rule."""
    book.derived = [replace(each, method="extract") for each in book.derived]
    return book


def without_passages(book: FakeBook) -> ContextAgent:
    """An agent that includes no passages, so that summaries repeat nothing."""
    shares = {name: share for name, share in SHARES.items() if name not in ("far", "last_meeting")}
    return ContextAgent(book, FakeTokens(), 20_000, shares=shares)


def profile(*said: tuple[int, str]) -> Derived:
    evidence = tuple(Evidence(words, ChapterId(f"c{n}"), 0, len(words)) for n, words in said)
    text = "\n".join(words for _n, words in said)
    state = derived("profiles/characters/e-林远", "L1", text, 9)
    return replace(state, method="extract", evidence=evidence)


async def test_a_profile_by_rule_says_which_chapter_says_each_sentence() -> None:
    book = make_book()
    book.derived = [each for each in book.derived if not each.uri.startswith("profiles/")]
    book.derived.append(profile((2, "林远那年五岁。"), (2, "林远怕水。"), (7, "林远过江。")))
    injection = await assemble(book, "林远与沈青。")
    assert "摘自第2章：“林远那年五岁。林远怕水。”\n摘自第7章：“林远过江。”" in injection.user_suffix
    (source,) = [each for each in injection.receipt.sources if each.budget_class == "profiles"]
    assert source.reason.endswith("quoted from the text, by rule")


async def test_a_quotation_that_begins_or_ends_with_a_mark_gets_no_second_one() -> None:
    book = make_book()
    book.derived = [each for each in book.derived if not each.uri.startswith("profiles/")]
    book.derived.append(profile((2, "“林远怕水。”沈青说。"), (7, "沈青说：“林远过江。”")))
    suffix = (await assemble(book, "林远与沈青。")).user_suffix
    assert "摘自第2章：“林远怕水。”沈青说。\n摘自第7章：沈青说：“林远过江。”" in suffix


@pytest.mark.parametrize(("method", "title"), [("model", "第9章（提要）"), ("extract", "第9章（原文摘句）")])
async def test_an_overview_beside_pages_is_called_one(method: str, title: str) -> None:
    book = make_book()
    overview = replace(derived("manuscript/c9", "L1", "林远渡过大江。", 9), method=method)
    book.derived = [*(each for each in book.derived if each.uri != "manuscript/c9"), overview]
    suffix = (await assemble(book, "林远与沈青。", agent=without_passages(book))).user_suffix
    pages = suffix.partition("<last-pages ")[2]
    assert f'<text title="{title}">\n林远渡过大江。' in pages


async def test_a_profile_of_a_model_is_told_as_it_is() -> None:
    injection = await assemble(make_book(), "林远与沈青。")
    assert "林远，旅人，走了10里，左臂有旧伤。" in injection.user_suffix
    assert "摘自" not in injection.user_suffix
    assert not [each for each in injection.receipt.sources if "by rule" in each.reason]


async def test_summaries_by_rule_say_once_that_they_are_quoted() -> None:
    book = by_rule(make_book())
    injection = await assemble(book, "林远与沈青。", agent=without_passages(book))
    assert injection.user_suffix.count("以下各章提要是原文摘句。") == 1
    reasons = {each.reason for each in injection.receipt.sources if each.uri.startswith("manuscript/")}
    assert "an earlier chapter that matters here, quoted from the text, by rule" in reasons


async def test_where_only_some_summaries_are_by_rule_each_of_them_says_so() -> None:
    book = make_book()
    first = next(each for each in book.derived if (each.uri, each.level) == ("manuscript/c5", "L1"))
    book.derived[book.derived.index(first)] = replace(first, method="extract")
    suffix = (await assemble(book, "林远与沈青。", agent=without_passages(book))).user_suffix
    assert suffix.count("（原文摘句）") == 1
    assert "以下各章提要" not in suffix


async def test_a_summary_by_rule_that_names_nobody_is_left_out_and_one_of_a_model_is_not() -> None:
    empty = "天黑了，风很大。"
    for method, there in (("extract", False), ("model", True)):
        book = make_book()
        book.derived = [
            replace(each, text=empty, method=method) if each.uri == "manuscript/c4" else each for each in book.derived
        ]
        injection = await assemble(book, "林远与沈青。", agent=without_passages(book))
        assert (empty in injection.user_suffix) is there


async def test_where_no_summary_goes_in_nothing_is_said_of_summaries() -> None:
    """In a short book the last chapters stand among the last pages already."""
    injection = await assemble(by_rule(make_book(4)), "林远与沈青。", budget=4_000, at=4)
    assert "以下各章提要" not in injection.user_suffix
    assert not [each for each in injection.receipt.sources if each.uri == "summaries/quoted"]
    assert [each.rule for each in injection.receipt.dropped if each.uri == "summaries/quoted"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("“林远怕水。", "“林远怕水。”"),
        ("林远怕水。”", "“林远怕水。”"),
        ("沈青说：“林远过江。", "沈青说：“林远过江。”"),
        ("「林远怕水。", "「林远怕水。」"),
        ("“林远怕水。”沈青说。", "“林远怕水。”沈青说。"),
        ("“It was him,” said 林远, “that came.", "“It was him,” said 林远, “that came.”"),
        ('"It was 林远.', '"It was 林远."'),
        ("I met 林远.", "“I met 林远.”"),
    ],
)
async def test_a_sentence_of_a_longer_speech_gets_the_mark_that_it_lacks(said: str, told: str) -> None:
    book = make_book()
    book.derived = [each for each in book.derived if not each.uri.startswith("profiles/")]
    book.derived.append(profile((2, said)))
    assert f"摘自第2章：{told}\n" in (await assemble(book, "林远与沈青。")).user_suffix


async def test_lines_of_a_summary_by_rule_get_the_marks_that_they_lack() -> None:
    book = make_book()
    text = "林远说：“走吧。\n天黑了。”"
    book.derived = [replace(each, text=text) if each.uri == "manuscript/c4" else each for each in book.derived]
    injection = await assemble(by_rule(book), "林远与沈青。", agent=without_passages(book))
    assert "林远说：“走吧。”\n“天黑了。”" in injection.user_suffix


async def test_what_the_knowledge_server_finds_says_which_chapter_it_is_quoted_from() -> None:
    book = make_book()
    state = replace(profile((2, "老周那年五岁。"), (7, "老周过江。")), uri="profiles/characters/e-老周")
    book.derived.append(state)
    hit = Found(state.uri, "老周", "老周那年五岁。", 0.9, "L1", 9)
    agent = ContextAgent(book, FakeTokens(), 4_000, finder=FakeFinder(hit))
    injection = await assemble(book, "林远。", agent=agent)
    assert "摘自第2章：“老周那年五岁。”" in injection.user_suffix and "老周过江" not in injection.user_suffix
    (source,) = [each for each in injection.receipt.sources if each.budget_class == "knowledge"]
    assert source.reason == "near in meaning (0.90), quoted from the text, by rule"
