"""Candidates beside the beats of a plan, the sources of a composed text, and its seams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.agents.comparing.alignment import aligned, beats_in, missing_beats, rows_of
from flowcabal_tui.agents.comparing.seams import (
    SeamChange,
    SeamChanges,
    hunks_of,
    seam_request,
    seams_of,
    with_hunks,
)
from flowcabal_tui.agents.comparing.sources import paragraph_sources
from flowcabal_tui.domain.comparison import Taken, paragraphs_of
from flowcabal_tui.domain.ids import Digest

PLAN = "Plan of the chapter:\n1. Nora opens the ledger.\n2. The bell rings at noon.\n3. Tobias leaves by the ferry."
TOLD = (
    "Nora lifted the cover of the ledger and read.\n\nThe names went on for pages.\n\n"
    "At noon the bell rang, and nobody had touched it.\n\nTobias went down to the ferry without a word."
)
PLAN_ZH = "- 沈青在码头等船\n- 阿远交出那封信\n- 两人在雨中分别"
TOLD_ZH = "雾里，沈青站在码头边等船。\n等了很久。\n阿远把那封信交到他手上。\n雨下起来，两人就在雨中分别了。"
A, B = Digest("a"), Digest("b")


@pytest.mark.parametrize(
    ("plan", "beats"),
    [
        (PLAN, ("Nora opens the ledger.", "The bell rings at noon.", "Tobias leaves by the ferry.")),
        (PLAN_ZH, ("沈青在码头等船", "阿远交出那封信", "两人在雨中分别")),
        ("一、起\n二、承\n（三）转", ("起", "承", "转")),
        ("First he comes.\n\nThen he goes.", ("First he comes.", "Then he goes.")),
        ("Only one thing happens.", ()),
        ("", ()),
    ],
)
def test_the_beats_of_a_plan_are_its_entries_or_its_paragraphs(plan: str, beats: tuple[str, ...]) -> None:
    assert beats_in(plan) == beats


@pytest.mark.parametrize(("plan", "told"), [(PLAN, TOLD), (PLAN_ZH, TOLD_ZH)])
def test_paragraphs_stand_beside_the_beat_whose_words_they_share(plan: str, told: str) -> None:
    assert aligned(beats_in(plan), paragraphs_of(told)) == (0, 0, 1, 2)
    (first, second, third) = rows_of(beats_in(plan), (told, paragraphs_of(told)[2]))
    assert [row.cells for row in (first, second, third)] == [((0, 1), ()), ((2,), (0,)), ((3,), ())]


@given(st.lists(st.text("abcde 甲乙丙", min_size=1, max_size=12), max_size=12), st.integers(2, 6))
def test_every_paragraph_has_one_row_and_their_order_stays(texts: list[str], count: int) -> None:
    beats = [f"beat {n} abcd" for n in range(count)]
    paragraphs = paragraphs_of("\n".join(texts))
    rows = aligned(beats, paragraphs)
    assert len(rows) == len(paragraphs)
    assert list(rows) == sorted(rows)
    for plan in (beats, []):
        found = [n for row in rows_of(plan, ("\n".join(paragraphs),)) for n in row.cells[0]]
        assert found == list(range(len(paragraphs)))


def test_without_beats_rows_are_groups_of_paragraphs() -> None:
    long, short = "\n".join(f"paragraph {n}" for n in range(9)), "only one"
    rows = rows_of((), (long, short))
    assert [row.cells[0] for row in rows] == [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    assert [n for row in rows for n in row.cells[1]] == [0]


def test_a_beat_is_missing_only_where_its_own_words_are_not_found() -> None:
    assert missing_beats(beats_in(PLAN), TOLD) == ()
    assert missing_beats(beats_in(PLAN), TOLD.replace("At noon the bell rang, and nobody had touched it.", "")) == (1,)
    assert missing_beats(beats_in(PLAN_ZH), "沈青在码头等船。两人在雨中分别。") == (1,)


def test_a_paragraph_of_a_result_is_traced_to_its_candidate_and_a_changed_one_too() -> None:
    candidates = {A: "Rain fell.\nHe ran to the old mill by the river.", B: "Rain fell.\nShe sang."}
    text = "Rain fell.\nHe ran to the old mill by the water.\nNobody knew why."
    first, second, third = paragraph_sources(text, candidates, (Taken(B, 0),))
    assert first and (first.taken, first.changed) == (Taken(B, 0), False), "of equal ones the one that was taken"
    assert second and (second.taken, second.changed) == (Taken(A, 1), True)
    assert third is None


def test_seams_lie_between_paragraphs_of_different_candidates() -> None:
    text = "One. Two.\n\nThree. Four.\n\nFive. Six."
    (seam,) = seams_of(text, (A, A, B))
    assert (text[slice(*seam.before)], text[slice(*seam.after)]) == ("Four.", "Five.")
    assert seams_of(text, (A, A, A)) == ()
    request = seam_request("One </draft>.\n\nTwo.", seams_of("One </draft>.\n\nTwo.", (A, B)), "en")
    assert request.messages[0].content.count("</draft>") == 1, "no text closes its part"


def test_only_sentences_at_a_seam_change_and_each_change_stands_alone() -> None:
    text = "One. Two.\n\nThree. Four."
    seams = seams_of(text, (A, B))
    answer = SeamChanges(
        seams=[
            SeamChange(seam=1, before="Two, then.", after="Three\x1b[31m at last."),
            SeamChange(seam=9, before="No seam.", after="None."),
        ]
    )
    first, second = hunks_of(text, seams, answer)
    assert with_hunks(text, [second]) == "One. Two.\n\nThree at last. Four."
    assert with_hunks(text, [first, second]) == "One. Two, then.\n\nThree at last. Four."
    assert with_hunks(text, []) == text
    with pytest.raises(ValueError, match="Two"):
        with_hunks("Another text.", [first])
    long = SeamChanges(seams=[SeamChange(seam=1, before="x" * 999, after="")])
    assert hunks_of(text, seams, long) == ()
