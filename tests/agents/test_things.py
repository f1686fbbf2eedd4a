"""What a prompt's words name without being known as names: told by how their passages lie."""

from __future__ import annotations

from flowcabal_tui.agents.context.things import strings, things
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import PassagePlace

PASSAGES = tuple(PassagePlace(ChapterId(f"c{n // 10 + 1}"), n // 10 + 1, n % 10, 0, 300) for n in range(400))


def found(runs: tuple[str, ...], pairs: dict[str, set[int]], before: int = 41) -> list[str]:
    frozen = {pair: frozenset(at) for pair, at in pairs.items()}
    candidates = strings(runs, frozen) if runs else frozen
    return [each.text for each in things(candidates, frozen if runs else {}, PASSAGES, before)]


def test_what_stands_together_in_one_chapter_long_ago_is_a_thing() -> None:
    pairs = {"金麒": {31, 33}, "麒麟": {31, 33}, "麟落": set[int](), "说话": set(range(0, 400, 9))}
    assert found(("金麒麟落", "说话"), pairs) == ["金麒麟"]


def test_what_stood_once_and_what_is_scattered_are_none() -> None:
    assert found((), {"once": {12}, "scattered": set(range(0, 200, 11))}) == []


def test_characters_that_mostly_stand_apart_are_none() -> None:
    apart = {"先叫": {7, 8, *range(100, 118)}, "叫人": {7, 8, *range(200, 218)}}
    assert "先叫人" not in found(("先叫人",), apart)


def test_the_longer_absent_of_two_comes_first() -> None:
    assert found((), {"newer": {350, 351}, "older": {20, 21}}) == ["older", "newer"]


def test_a_piece_of_a_thing_is_not_another_one() -> None:
    pairs = {"太虚": {51, 52}, "虚幻": {51, 52}, "幻境": {51, 52}}
    assert found(("太虚幻境",), pairs) == ["太虚幻境"]
