from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.tui.widgets.prose_diff import STEPS, DiffKind, DiffPiece, hunks, prose_diff
from tests.effort import effort

TEXT = st.text(alphabet="雨门开了 ab.\n", max_size=60)


def written(old: str, new: str) -> str:
    marks = {DiffKind.EQUAL: "{}", DiffKind.DELETE: "[-{}-]", DiffKind.INSERT: "{{+{}+}}"}
    return "".join(marks[run.change].format(run.text) for run in prose_diff(old, new))


def chapter(chance: random.Random, length: int) -> str:
    signs = [chr(0x4E00 + number) for number in range(600)]
    return "\n".join("".join(chance.choices(signs, k=200)) for _ in range(length // 200))


@settings(max_examples=300)
@given(TEXT, TEXT)
def test_both_texts_can_be_read_from_the_runs(old: str, new: str) -> None:
    runs = prose_diff(old, new)
    assert "".join(run.text for run in runs if run.change is not DiffKind.INSERT) == old
    assert "".join(run.text for run in runs if run.change is not DiffKind.DELETE) == new
    assert all(run.text for run in runs)
    assert all(one.change is not other.change for one, other in pairwise(runs))
    assert [run for hunk in hunks(runs) for run in hunk.runs] == list(runs)
    assert all(one.is_change is not other.is_change for one, other in pairwise(hunks(runs)))


def test_chinese_is_compared_by_character_and_english_by_word() -> None:
    assert written("雨正落在院子里。", "雨还落在院子里。") == "雨[-正-]{+还+}落在院子里。"
    assert written("The quick brown fox ran.", "The slow brown fox ran.") == "The [-quick-]{+slow+} brown fox ran."


def test_a_paragraph_that_was_put_in_leaves_its_neighbours_alone() -> None:
    assert written("一段话。\n二段话。\n", "一段话。\n新的。\n二段话。\n") == "一段话。\n{+新的。\n+}二段话。\n"


def test_a_passage_with_little_in_common_is_replaced_in_one_piece() -> None:
    old, new = "她推开门走进院子里去了。", "The rain fell。"
    assert prose_diff(old, new) == (DiffPiece(DiffKind.DELETE, old), DiffPiece(DiffKind.INSERT, new))


def test_equal_texts_have_one_run_and_empty_ones_none() -> None:
    assert prose_diff("雨", "雨") == (DiffPiece(DiffKind.EQUAL, "雨"),)
    assert prose_diff("", "") == ()


def test_a_changed_chapter_is_compared_by_character_and_others_take_a_bounded_number_of_steps() -> None:
    chance = random.Random(5)
    old = chapter(chance, 20_000)
    edited = list(old)
    for _ in range(300):
        edited[chance.randrange(len(edited))] = "改"
    runs = prose_diff(old, "".join(edited))
    kept = sum(len(run.text) for run in runs if run.change is DiffKind.EQUAL)
    assert kept > 0.9 * len(old)
    for length in (20_000, 100_000, 400_000):
        one, other = chapter(chance, length), chapter(chance, length)
        with effort(10 * STEPS):
            prose_diff(one, other)
        with effort(10 * STEPS):
            prose_diff(one, one.replace("\n", ""))
