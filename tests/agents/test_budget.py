"""What the ledger does with the budget that a class leaves, and with what is booked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from flowcabal_tui.agents.context import gather
from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.budget import Ledger
from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.context.intent import read_intent
from flowcabal_tui.agents.context.relevance import Relevance
from flowcabal_tui.agents.context.shares import SHARES
from flowcabal_tui.agents.tokens import CountedTokens
from flowcabal_tui.domain.context import BudgetClass
from tests.agents.fakes import FakeBook, FakeTokens
from tests.agents.test_context import CAST, FILLER, assemble, make_book

TEXT = "".join(chr(0x4E00 + at) for at in range(400))
"""A chapter in which every character tells where it is from."""

FOUND: tuple[BudgetClass, ...] = ("far", "summaries")


def ledger(budget: int, shares: Mapping[BudgetClass, float] | None = None) -> Ledger:
    return Ledger(budget, CountedTokens(FakeTokens()), "zh", shares or {"far": 1.0})


def passage(start: int, end: int, rank: int, uri: str = "manuscript/c1") -> ContextText:
    return ContextText(uri, "", "", "L2", "far", TEXT[start:end], 1, start, end, rank=rank)


def excerpt(start: int, end: int, of: tuple[int, int], rank: int, uri: str = "manuscript/c1") -> ContextText:
    return replace(passage(start, end, rank, uri), larger=passage(*of, rank, uri))


def spans(ledger: Ledger) -> set[tuple[int, int]]:
    return {(source.start, source.end) for source in ledger.sources()}


def test_an_excerpt_grows_back_to_its_passage_where_budget_is_left() -> None:
    roomy = ledger(1_000)
    roomy.fill("far", [excerpt(120, 180, (100, 200), 0), passage(300, 340, 1)])
    assert spans(roomy) == {(120, 180), (300, 340)}
    roomy.spend_rest()
    assert spans(roomy) == {(100, 200), (300, 340)}
    assert TEXT[100:200] in roomy.render()[1]
    assert roomy.measure(*roomy.render()) <= sum(each.used for each in roomy.classes()) + 60


def test_excerpts_grow_in_the_order_of_rank_as_long_as_there_is_room() -> None:
    tight = ledger(210)
    tight.fill("far", [excerpt(20, 60, (0, 100), 1), excerpt(220, 260, (200, 300), 0)])
    room = tight.left
    assert 60 <= room < 120
    tight.spend_rest()
    assert spans(tight) == {(20, 60), (200, 300)}


def test_what_was_refused_comes_before_the_rest_of_an_excerpt() -> None:
    tight = ledger(330)
    tight.fill("far", [excerpt(20, 60, (0, 160), 0), passage(200, 300, 1), passage(310, 390, 2)])
    tight.spend_rest()
    assert spans(tight) >= {(20, 60), (200, 300)}


def test_what_grows_stops_at_what_is_there_already() -> None:
    roomy = ledger(2_000)
    roomy.hold("manuscript/c1", 0, 110)
    roomy.fill("far", [excerpt(120, 180, (100, 260), 0), passage(200, 400, 1)])
    roomy.spend_rest()
    assert spans(roomy) == {(110, 200), (200, 400)}
    assert TEXT[110:200] in roomy.render()[1]


def test_two_excerpts_of_one_passage_grow_to_each_other_and_no_further() -> None:
    roomy = ledger(1_000)
    roomy.fill("far", [excerpt(120, 140, (100, 200), 0), excerpt(160, 180, (100, 200), 1)])
    roomy.spend_rest()
    assert spans(roomy) == {(100, 160), (160, 200)}
    assert roomy.render()[1].count(TEXT[130:135]) == 1


def test_what_the_notes_have_at_least_is_not_promised_to_the_other_classes_too() -> None:
    shares = {each.budget_class: each.share for each in ledger(12_500, SHARES).classes()}
    assert shares["meta"] == 2_000
    assert sum(shares.values()) <= 12_500


@pytest.mark.parametrize(("budget", "least"), [(12_500, 0.05), (25_000, 0.09)])
def test_summaries_have_their_share_however_many_passages_there_are(budget: int, least: float) -> None:
    full = ledger(budget, SHARES)
    lines = {
        name: [ContextText(f"{name}/{n}", "", "", "L2", name, "山" * 90, line=True) for n in range(400)]
        for name in FOUND
    }
    for name in SHARES:
        full.fill(name, lines.get(name, []))
    used = {each.budget_class: each.used for each in full.classes()}
    assert used["summaries"] >= least * budget


class RoundedTokens:
    """A quarter of a token a character, rounded up."""

    def count(self, text: str) -> int:
        return (len(text) + 3) // 4


def test_what_parts_lose_by_rounding_goes_to_what_was_refused() -> None:
    rounded = Ledger(400, CountedTokens(RoundedTokens()), "zh", {"facts": 1.0})
    rounded.fill("facts", [ContextText(f"facts/{n}", "", "", "L2", "facts", "山水", line=True) for n in range(600)])
    before = len(rounded.sources())
    rounded.spend_rest()
    assert len(rounded.sources()) > before + 10
    assert rounded.measure(*rounded.render()) <= 400


async def test_where_two_met_is_cut_to_what_is_told_of_them_and_grows_back() -> None:
    told = f"{FILLER}\n{FILLER}\n老周把船系好，林远上了岸。\n{FILLER}"
    book = FakeBook([("第1章", told), *((f"第{n}章", FILLER) for n in range(2, 8))], CAST)
    view = book.before(8)
    reading = read_intent("林远与老周。", "", CAST, "zh")
    met, *_same = await gather.last_meetings(await gather.read_book(view), reading, Relevance((), ()))
    assert met.text == "老周把船系好，林远上了岸。"
    assert told[met.start : met.end] == met.text
    assert met.larger is not None
    assert (met.larger.start, met.larger.end) == (0, len(told))
    sources = (await assemble(book, "林远与老周。", at=7)).receipt.sources
    assert (0, len(told)) in {(source.start, source.end) for source in sources if source.uri == "manuscript/c1"}


async def test_of_the_chapters_before_the_last_no_ending_is_cut_where_a_summary_tells_them() -> None:
    class Noted(FakeTokens):
        def __init__(self) -> None:
            super().__init__()
            self.texts: list[str] = []

        def count(self, text: str) -> int:
            self.texts.append(text)
            return super().count(text)

    book, counter = make_book(), Noted()
    await assemble(book, "林远。", agent=ContextAgent(book, counter, 4_000))
    assert book.texts[9][1] in counter.texts, "the last chapter is cut to its end"
    assert book.texts[8][1] not in counter.texts
    assert book.texts[7][1] not in counter.texts


class JoinedTokens:
    """A long text takes more than its parts."""

    def count(self, text: str) -> int:
        return len(text) + len(text) ** 2 // 2_000


def test_what_is_over_the_whole_budget_when_counted_together_is_written_down() -> None:
    joined = Ledger(600, CountedTokens(JoinedTokens()), "zh", {"far": 1.0})
    every = [passage(0, 120, at, f"manuscript/c{at}") for at in range(3)]
    joined.fill("far", every)
    taken = {source.uri for source in joined.sources()}
    _prefix, suffix = joined.render()
    gone = taken - {source.uri for source in joined.sources()}
    assert gone
    assert joined.measure("", suffix) <= 600
    written, _more = joined.dropped()
    assert {(each.uri, each.rule) for each in written} == {(uri, "over the whole budget") for uri in gone}


def test_what_does_not_fit_behind_the_stable_texts_is_written_down() -> None:
    tight = ledger(300)
    tight.close()
    tight.add([passage(0, 120, 0), passage(0, 390, 1, "manuscript/c2")])
    written, _more = tight.dropped()
    assert [(each.uri, each.rule) for each in written] == [("manuscript/c2", "over the whole budget")]


def test_a_part_that_was_cut_says_where_it_ends() -> None:
    sentences = "，".join(TEXT[at : at + 9] for at in range(0, 400, 9))
    tight = ledger(330)
    tight.fill("far", [replace(passage(0, 0, 0), text=sentences[40:], start=40, end=len(sentences), cuttable=True)])
    (source,) = tight.sources()
    shown = sentences[source.start : source.end]
    suffix = tight.render()[1]
    assert source.start == 40
    assert source.end < len(sentences)
    assert shown.strip() in suffix
    assert sentences[source.end : source.end + 4] not in suffix
    assert source.kept == len(shown)


def test_a_passage_ends_where_what_is_there_begins() -> None:
    roomy = ledger(1_000)
    roomy.hold("manuscript/c1", 150, 300)
    roomy.fill("far", [passage(0, 200, 0), passage(250, 400, 1)])
    assert spans(roomy) == {(0, 150), (300, 400)}
    suffix = roomy.render()[1]
    assert TEXT[0:150] in suffix
    assert TEXT[300:400] in suffix
    assert TEXT[149:152] not in suffix
    assert TEXT[298:302] not in suffix


SENTENCES = "".join(f"{TEXT[at : at + 9]}。" for at in range(0, 396, 9))
"""A chapter of 440 characters, in sentences of ten."""


def ending(start: int) -> ContextText:
    """The end of a chapter, which may begin earlier."""
    whole = ContextText("manuscript/c1", "", "", "L2", "near", SENTENCES, 1, 0, len(SENTENCES), of=len(SENTENCES))
    return replace(whole, text=SENTENCES[start:], start=start, cut="end", larger=whole)


@pytest.mark.parametrize(("budget", "whole"), [(380, False), (1_000, True)])
def test_the_last_pages_begin_earlier_where_budget_is_left(budget: int, whole: bool) -> None:
    roomy = ledger(budget, {"near": 0.4})
    roomy.fill("near", [ending(400)])
    assert spans(roomy) == {(400, 440)}
    roomy.spend_rest()
    (last,) = roomy.sources()
    assert last.end == 440 and (last.start == 0 if whole else 100 < last.start <= 250)
    assert (last.kept, last.of) == (440 - last.start, 440)
    text = roomy.render()[1]
    assert SENTENCES[last.start :] in text and ("篇幅所限" in text) == (not whole)
    assert roomy.measure(*roomy.render()) <= budget


def test_what_was_refused_comes_before_earlier_pages() -> None:
    tight = ledger(480, {"near": 0.3, "far": 0.1})
    tight.fill("near", [ending(400)])
    tight.fill("far", [passage(0, 180, 0, "manuscript/c2")])
    tight.spend_rest()
    assert ("manuscript/c2", 180) in {(source.uri, source.end) for source in tight.sources()}
    assert tight.measure(*tight.render()) <= 480


def found(start: int, end: int) -> ContextText:
    return ContextText("manuscript/c2", "", "", "L2", "knowledge", TEXT[start:end], 2, start, end)


SHARED: Mapping[BudgetClass, float] = {"profiles": 0.5, "knowledge": 0.1, "far": 0.3, "summaries": 0.1}


def used(ledger: Ledger) -> dict[str, int]:
    return {each.budget_class: each.used for each in ledger.classes()}


def test_what_was_left_goes_to_passages_of_the_words_before_places_near_in_meaning() -> None:
    tight = ledger(800, SHARED)
    tight.fill("profiles", [])
    tight.fill("knowledge", [found(0, 30), found(40, 140), found(150, 250)])
    assert 30 <= used(tight)["knowledge"] <= 80
    tight.fill("far", [passage(0, 200, 0), passage(210, 380, 1)])
    assert used(tight)["far"] >= 370


def test_what_the_passages_leave_goes_to_places_near_in_meaning_before_summaries() -> None:
    tight = ledger(800, SHARED)
    tight.fill("profiles", [])
    tight.fill("knowledge", [found(0, 30), found(40, 140), found(150, 250)])
    tight.fill("far", [passage(0, 40, 0)])
    assert used(tight)["knowledge"] >= 230


def told(text: str, uri: str = "manuscript/c1") -> ContextText:
    return ContextText(uri, "T", "why", "L1", "summaries", text, 1)


def test_a_sentence_of_a_summary_that_a_passage_holds_stands_once_and_its_tokens_are_not_spent() -> None:
    both = ledger(2_000, {"summaries": 0.5, "far": 0.5})
    both.fill("summaries", [told(f"{TEXT[110:130]}\n{TEXT[300:320]}"), told(TEXT[20:40], "manuscript/c2")])
    both.fill("far", [passage(100, 200, 0)])
    both.spend_rest()
    before = both.left
    both.close()
    suffix = both.render()[1]
    assert [suffix.count(TEXT[start : start + 20]) for start in (110, 300, 20)] == [1, 1, 1]
    summaries = {source.uri: source for source in both.sources() if source.budget_class == "summaries"}
    assert "without the sentences that are included elsewhere" in summaries["manuscript/c1"].reason
    assert summaries["manuscript/c2"].reason == "why"
    assert both.left == before
    assert both.measure(*both.render()) <= sum(each.used for each in both.classes()) + 60


def test_a_derived_text_keeps_the_sentences_that_nothing_stronger_has() -> None:
    """A passage precedes a summary, a summary a profile, and a profile what the knowledge server finds."""
    in_passage, first, second, third = TEXT[110:130], TEXT[300:320], TEXT[330:350], TEXT[360:380]
    both = ledger(2_000, {"knowledge": 0.2, "summaries": 0.3, "profiles": 0.2, "far": 0.3})
    profile = replace(told("", "profiles/a"), budget_class="profiles", text=f"{first}\n{third}")
    both.fill("profiles", [replace(profile, quoted=((1, first), (1, third)))])
    both.fill("knowledge", [replace(told(third, "profiles/b"), budget_class="knowledge", level="L0")])
    both.fill("summaries", [told("\n".join((in_passage, first, second)))])
    both.fill("far", [passage(100, 200, 0)])
    both.close()
    suffix = both.render()[1]
    assert [suffix.count(words) for words in (in_passage, first, second, third)] == [1, 1, 1, 1]
    assert f"摘自第1章：“{third}”" in suffix
    reasons = {source.uri: source.reason for source in both.sources()}
    assert all(reason.endswith("included elsewhere") for uri, reason in reasons.items() if uri == "profiles/a")
    (gone,) = both.dropped()[0]
    assert (gone.budget_class, gone.rule) == ("knowledge", "all its sentences are included elsewhere")


def test_a_summary_of_which_the_passages_hold_more_than_half_stays_whole() -> None:
    both = ledger(2_000, {"summaries": 0.5, "far": 0.5})
    both.fill("summaries", [told("\n".join((TEXT[110:130], TEXT[150:170], TEXT[300:320])))])
    both.fill("far", [passage(100, 200, 0)])
    both.close()
    suffix = both.render()[1]
    assert [suffix.count(TEXT[start : start + 20]) for start in (110, 150, 300)] == [2, 2, 1]


def test_a_chapter_whose_text_is_nearly_all_there_has_no_overview() -> None:
    for length, there in ((105, 0), (150, 1)):
        both = ledger(2_000, {"summaries": 0.5, "far": 0.5})
        both.fill("summaries", [told("雨下了一夜。")])
        both.fill("far", [replace(passage(0, 100, 0), of=length)])
        both.close()
        assert both.render()[1].count("雨下了一夜") == there
