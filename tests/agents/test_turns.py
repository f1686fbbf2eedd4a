from __future__ import annotations

from flowcabal_tui.agents.context.turns import by_turns

RARE, COMMON = 0, 1


def test_a_name_with_few_passages_comes_up_behind_many_of_another() -> None:
    scores = {at: 1.0 - at / 1_000 for at in range(60)} | {60: 0.8}
    parts = {at: {COMMON: 0.9} for at in range(60)} | {60: {RARE: 0.5}}
    found = by_turns([], scores, parts, [0.5, 0.9], 61)
    assert found[:8] == list(range(8))
    assert found.index(60) < 20


def test_with_one_name_the_order_is_that_of_the_scores() -> None:
    scores = {at: 1.0 - at / 1_000 for at in range(60)}
    assert by_turns([], scores, {at: {0: 0.1 + at % 7 / 10} for at in range(60)}, [1.0], 60) == list(range(60))


def test_names_that_always_stand_together_change_nothing() -> None:
    scores = {at: 1.0 - at / 1_000 for at in range(60)}
    assert by_turns([], scores, {at: {0: 0.4, 1: 0.2} for at in range(60)}, [2.0, 1.0], 60) == list(range(60))


def test_the_first_stay_in_front_once_each_and_count_as_told() -> None:
    scores = dict.fromkeys(range(30), 0.5) | {30: 0.6, 31: 0.58}
    parts = {at: {COMMON: 0.4} for at in range(31)} | {31: {RARE: 0.4}}
    found = by_turns([5, 3, 5, 4], scores, parts, [0.5, 0.5], 10)
    assert found[:4] == [5, 3, 4, 31]
    assert len(found) == len(set(found)) == 10


def test_turns_stop_at_the_limit() -> None:
    assert by_turns([1, 2, 3], {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, {}, [], 2) == [1, 2]
    assert by_turns([], {1: 1.0, 2: 2.0}, {}, [], 9) == [2, 1]
