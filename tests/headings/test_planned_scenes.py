"""The outline's words for a chapter as planned scenes with their lines, and the scenes of the text they belong to."""

from __future__ import annotations

import pytest

from flowcabal_tui.headings.planned_scenes import matched, planned_scenes
from flowcabal_tui.headings.scenes import scenes


def shown(body: str) -> list[tuple[str, int, tuple[str, ...]]]:
    return [(each.title, each.number, each.lines) for each in planned_scenes(body)]


def test_lines_without_headings_or_numbers_are_of_the_whole_chapter() -> None:
    assert shown("- Maud lands.\n\n  * She finds the lamp.\n- [x] 她走了。\nA plain line.") == [
        ("", 0, ("Maud lands.", "She finds the lamp.", "她走了。", "A plain line."))
    ]
    assert shown("  \n") == [] and shown("1914. The war begins.\nMaud lands.")[0][1] == 0


def test_smaller_headings_are_scenes_and_lines_above_them_the_chapters_own() -> None:
    assert shown("- It rains.\n#### The lamp\n- Maud lands.\n#### 灯\n1. 她走了。\n2. 灯灭了。") == [
        ("", 0, ("It rains.",)),
        ("The lamp", 1, ("Maud lands.",)),
        ("灯", 2, ("1. 她走了。", "2. 灯灭了。")),
    ]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("1. Maud lands.\n   - by boat\n2. The lamp.", [("Maud lands.", "by boat"), ("The lamp.",)]),
        ("Scene 1: Maud lands.\nScene 2: The lamp.", [("Maud lands.",), ("The lamp.",)]),
        ("第一场：她来了。\n第二场 灯灭了。", [("她来了。",), ("灯灭了。",)]),
        ("1、她来了。\n2、灯灭了。", [("她来了。",), ("灯灭了。",)]),
    ],
)
def test_lines_that_count_from_one_are_scenes(body: str, lines: list[tuple[str, ...]]) -> None:
    assert [(each.number, each.lines) for each in planned_scenes(body)] == [*enumerate(lines, 1)]


def test_scenes_are_matched_by_title_then_by_their_order() -> None:
    plan = planned_scenes("#### One\n- a\n#### The lamp\n- b\n#### Three\n- c")
    text = "Rain.\n\n*** The lamp ***\n\nA lamp."
    assert matched(plan, scenes(text)) == (1, 2, 0), "the lamp is the second scene, the third is not written yet"
    assert matched(plan, scenes("*** The lamp ***\n\nA lamp.\n\n***\n\nRain.")) == (0, 1, 0), "its scene is taken"


def test_a_text_of_one_scene_or_of_more_than_planned_is_compared_as_a_whole() -> None:
    plan = planned_scenes("1. a\n2. b")
    assert matched(plan, scenes("Rain.")) == (0, 0)
    assert matched(plan, scenes("a\n\n***\n\nb")) == (1, 2)
    assert matched(plan, scenes("a\n\n***\n\nb\n\n***\n\nc")) == (0, 0)
