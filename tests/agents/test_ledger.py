"""The books of the ledger: what is charged, given up, put back, and what the receipt says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.agents.context.budget import Ledger
from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.tokens import CountedTokens
from flowcabal_tui.domain.context import BudgetClass
from tests.agents.fakes import FakeTokens
from tests.agents.test_budget import SENTENCES, TEXT, JoinedTokens, ledger, passage


def line(uri: str, name: BudgetClass, length: int, rank: int = 0) -> ContextText:
    return ContextText(uri, "", "", "L2", name, "山" * length, line=True, rank=rank)


def used(ledger: Ledger) -> dict[BudgetClass, int]:
    return {each.budget_class: each.used for each in ledger.classes()}


@pytest.mark.parametrize(("spent", "fits"), [(100, True), (300, False)])
def test_what_a_charged_class_left_or_overspent_is_the_next_one_s(spent: int, fits: bool) -> None:
    booked = ledger(1_000, {"inquiry": 0.2, "facts": 0.1, "far": 0.1})
    booked.charge("inquiry", spent)
    booked.fill("facts", [line("facts/1", "facts", 120)])
    assert used(booked)["inquiry"] == spent
    assert [source.uri for source in booked.sources()] == (["facts/1"] if fits else [])


def test_two_charges_of_a_class_are_one_sum_and_it_is_not_filled_any_more() -> None:
    booked = ledger(1_000, {"inquiry": 0.5})
    before = booked.left
    booked.charge("inquiry", 100)
    booked.charge("inquiry", 50)
    booked.fill("inquiry", [line("x", "inquiry", 10)])
    assert used(booked) == {"inquiry": 150} and booked.left == before - 150
    assert booked.sources() == ()


def test_what_a_class_left_is_the_next_one_s_and_no_more() -> None:
    booked = ledger(1_000, {"facts": 0.2, "far": 0.1})
    booked.fill("facts", [line("facts/1", "facts", 50)])
    left = 300 - used(booked)["facts"]
    frame = used(booked)["facts"] - 50
    booked.fill("far", [line("far/1", "far", left - frame + 1), line("far/2", "far", left - 2 * frame)])
    assert [source.uri for source in booked.sources()] == ["facts/1", "far/2"]


def test_answers_to_inquiries_count_in_the_whole_budget() -> None:
    joined = Ledger(600, CountedTokens(JoinedTokens()), "zh", {"inquiry": 0.3, "far": 0.7})
    joined.charge("inquiry", 150)
    joined.fill("far", [passage(0, 120, at, f"manuscript/c{at}") for at in range(3)])
    assert joined.measure(*joined.render()) + 150 <= 600


@pytest.mark.parametrize("inquiries", [0, 50])
def test_the_whole_budget_is_used_to_its_last_token_and_not_beyond(inquiries: int) -> None:
    def rendered(budget: int) -> tuple[int, int]:
        joined = Ledger(budget, CountedTokens(JoinedTokens()), "zh", {"inquiry": 0.0, "far": 1.0})
        joined.charge("inquiry", inquiries)
        joined.fill("far", [passage(0, 120, at, f"manuscript/c{at}") for at in range(3)])
        return joined.measure(*joined.render()) + inquiries, len(joined.sources())

    exact, count = rendered(2_000)
    assert count == 3
    assert rendered(exact) == (exact, 3)
    spent, fewer = rendered(exact - 1)
    assert spent < exact and fewer == 2


def test_a_text_of_all_tokens_that_are_left_goes_in_and_one_of_more_does_not() -> None:
    roomy = ledger(1_000)
    frame = 1_000 - roomy.left
    roomy.fill("far", [passage(0, 120, 0)])
    exact = frame + roomy.sources()[0].tokens
    for budget, fits in ((exact, True), (exact - 1, False)):
        tight = ledger(budget)
        tight.fill("far", [passage(0, 120, 0)])
        assert len(tight.sources()) == fits


def test_a_text_is_shortened_further_when_its_tokens_exceed_the_estimate() -> None:
    """The prompt has `&lt;` for each `<`, which the estimate does not count."""
    text = "他说<<<<<<<<好。" * 40
    tight = ledger(337)
    space = tight.left
    tight.fill("far", [replace(passage(0, 0, 0), text=text, end=len(text), cuttable=True)])
    (source,) = tight.sources()
    assert 0 < source.end < len(text) and text[source.end - 1] == "。"
    assert source.tokens == used(tight)["far"] <= space


def test_a_larger_budget_is_named_as_the_cure_only_where_space_was_missing() -> None:
    joined = Ledger(600, CountedTokens(JoinedTokens()), "zh", {"far": 1.0})
    joined.fill("far", [passage(0, 120, at, f"manuscript/c{at}") for at in range(3)])
    assert not joined.leaves_out
    joined.render()
    assert joined.leaves_out, "it fitted text by text, but not as a whole"

    closed = ledger(300)
    closed.close()
    closed.add([passage(0, 390, 0)])
    assert closed.leaves_out, "it came after the stable texts"

    shared = ledger(300)
    shared.fill("far", [passage(0, 390, 0)])
    shared.spend_rest()
    assert shared.leaves_out, "it is larger than the share of its class"

    twice = ledger(1_000)
    twice.fill("far", [passage(0, 120, 0), passage(0, 120, 1)])
    twice.spend_rest()
    assert [(each.uri, each.rule) for each in twice.dropped()[0]] == [("manuscript/c1", "already included")]
    assert not twice.leaves_out


def test_what_is_given_up_gives_its_tokens_back_and_the_last_taken_goes_first() -> None:
    joined = Ledger(600, CountedTokens(JoinedTokens()), "zh", {"far": 1.0})
    joined.fill("far", [passage(0, 120, at, f"manuscript/c{at}") for at in range(3)])
    taken = {source.uri: source.tokens for source in joined.sources()}
    before = used(joined)["far"]
    joined.render()
    gone = {uri: tokens for uri, tokens in taken.items() if uri not in {each.uri for each in joined.sources()}}
    assert list(gone) == list(taken)[-len(gone) :]
    assert used(joined)["far"] == before - sum(gone.values()) == sum(each.tokens for each in joined.sources())


def test_the_reserve_is_used_only_behind_the_stable_texts() -> None:
    held = Ledger(1_000, CountedTokens(FakeTokens()), "zh", {"far": 1.0}, reserve=0.5)
    held.fill("far", [passage(0, 300, 0), passage(0, 390, 1, "manuscript/c2")])
    assert [source.uri for source in held.sources()] == ["manuscript/c1"]
    assert held.measure(*held.render()) <= 500
    held.close()
    held.add([passage(0, 390, 1, "manuscript/c2")])
    assert [source.uri for source in held.sources()] == ["manuscript/c1", "manuscript/c2"]
    assert held.measure(*held.render()) <= 1_000


@pytest.mark.parametrize("is_there", [True, False])
def test_an_introduction_goes_when_nothing_that_it_introduces_went_in(is_there: bool) -> None:
    roomy = ledger(1_000, {"far": 0.5, "summaries": 0.5})
    notice = replace(line("reference/1", "far", 20), introduces="reference/1/")
    roomy.fill("far", [notice, line("reference/1/part" if is_there else "reference/2/part", "far", 20)])
    roomy.fill("summaries", [line("reference/1/summary", "summaries", 20)])
    roomy.render()
    assert ("reference/1" in {each.uri for each in roomy.sources()}) == is_there
    gone = [(each.uri, each.rule) for each in roomy.dropped()[0]]
    assert gone == ([] if is_there else [("reference/1", "nothing that it introduces was included")])


def test_the_receipt_names_each_source_and_ranks_what_always_goes_in_first() -> None:
    roomy = ledger(1_000, {"facts": 0.3, "far": 0.5})
    fact = replace(line("facts/1", "facts", 10, rank=9), reason="named in the plan", label="A promise")
    near, far = (replace(passage(0, 90, rank, f"manuscript/c{rank}"), title=f"Chapter {rank}") for rank in (1, 2))
    roomy.fill("facts", [fact])
    roomy.fill("far", [far, near])
    told = {each.uri: (each.reason, each.title, each.rank, each.kept, each.of) for each in roomy.sources()}
    assert told == {
        "facts/1": ("named in the plan", "A promise", 1, 0, 0),
        "manuscript/c1": ("", "Chapter 1", 2, 0, 0),
        "manuscript/c2": ("", "Chapter 2", 3, 0, 0),
    }


def test_what_was_dropped_is_listed_with_its_class_and_the_rest_is_counted() -> None:
    tight = ledger(300, {"facts": 0.1})
    for at in range(85):
        tight.drop(replace(line(f"facts/{at}", "facts", 7), label="A promise"), "too long")
    listed, more = tight.dropped()
    assert (len(listed), more) == (80, 5)
    first = listed[0]
    assert (first.uri, first.rule, first.tokens) == ("facts/0", "too long", FakeTokens().count("山" * 7))
    assert (first.budget_class, first.title) == ("facts", "A promise")


def test_a_text_that_was_shortened_says_so_and_why() -> None:
    tight = ledger(330, {"far": 1.0})
    whole = replace(passage(0, 0, 0), text=SENTENCES, end=len(SENTENCES), cuttable=True, reason="named")
    tight.fill("far", [whole])
    (source,) = tight.sources()
    assert source.reason == "named; shortened to fit" and source.start == 0
    assert (source.kept, source.of) == (source.end, len(SENTENCES))
    assert "篇幅所限" in tight.render()[1]


def test_what_cannot_be_shortened_enough_waits_and_leaves_nothing_behind() -> None:
    tight = ledger(110, {"far": 0.3})
    tight.fill("far", [replace(passage(0, 390, 0), cuttable=True)])
    tight.spend_rest()
    assert tight.sources() == () and used(tight) == {"far": 0}
    assert [each.rule for each in tight.dropped()[0]] == ["over the share of its class"]


def test_a_lower_level_stays_where_the_whole_has_no_room_and_gives_way_where_it_has() -> None:
    small = ContextText("profiles/a", "", "", "L0", "profiles", TEXT[:40])
    whole = replace(small, level="L1", text=TEXT[:300], smaller=small)
    for budget, level in ((300, "L0"), (1_000, "L1")):
        booked = ledger(budget, {"profiles": 0.45 if level == "L0" else 0.2})
        booked.fill("profiles", [whole])
        assert [each.level for each in booked.sources()] == ["L0"]
        lower = used(booked)["profiles"]
        booked.spend_rest()
        (source,) = booked.sources()
        assert source.level == level
        assert used(booked)["profiles"] == source.tokens and (source.tokens > lower) == (level == "L1")
        rules = [each.rule for each in booked.dropped()[0]]
        assert rules == (["a lower level was chosen: over the share of its class"] if level == "L0" else [])
        assert booked.measure(*booked.render()) <= budget
