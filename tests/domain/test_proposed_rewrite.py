"""A rewritten passage is compared paragraph by paragraph, and any choice of its changes can be put in."""

from __future__ import annotations

import random

from flowcabal_tui.domain.proposed_rewrite import paragraph_changes, pieces, with_changes

OLD = "One.\n\nTwo.\n\nThree.\n\nFour.\n"


def applied(old: str, new: str, *accepted: int) -> str:
    changes = paragraph_changes(old, new)
    return with_changes(old, changes, accepted or range(len(changes)))


def test_each_paragraph_is_a_change_of_its_own() -> None:
    new = OLD.replace("Two.", "2.").replace("Three.", "3.")
    assert [(OLD[each.start : each.end], each.after) for each in paragraph_changes(OLD, new)] == [
        ("Two.", "2."),
        ("Three.", "3."),
    ]
    assert applied(OLD, new, 1) == OLD.replace("Three.", "3.")


def test_blank_lines_of_the_model_do_not_count() -> None:
    assert paragraph_changes(OLD, "One.\nTwo.\nThree.\nFour.") == ()
    assert applied(OLD, "One.\nTwo.\nNew.\nThree.\nFour.") == OLD.replace("Two.\n\n", "Two.\n\nNew.\n\n")
    assert applied("一。\n二。\n", "一。\n\n新。\n\n二。") == "一。\n新。\n二。\n"


def test_paragraphs_come_go_split_and_join() -> None:
    for new in (
        "One.\n\nThree.\n\nFour.\n",
        "Two.\n\nThree.\n\nFour.\n",
        "One.\n\nTwo.\n\nThree.\n",
        "Zero.\n\n" + OLD,
        OLD + "\nFive.\n",
        "One.\n\nTwo and three.\n\nFour.\n",
        "One.\n\nTwo\n\nhalves.\n\nThree.\n\nFour.\n",
        "",
    ):
        assert applied(OLD, new).split() == new.split(), new


def test_all_accepted_are_the_models_paragraphs_and_none_is_the_old_text() -> None:
    dice = random.Random(3)
    for _round in range(300):
        old = "\n\n".join(dice.choices("abcdefg", k=dice.randint(1, 8)))
        new = "\n\n".join(dice.choices(["abcdefg xyz", *"abcdefgxyz"], k=dice.randint(0, 8)))
        changes = paragraph_changes(old, new)
        assert with_changes(old, changes, range(len(changes))).split() == new.split(), (old, new)
        assert with_changes(old, changes, ()) == old


def test_a_paragraph_that_was_split_leaves_its_neighbours_changes_of_their_own() -> None:
    old = "The rain fell all day.\n\nMara went out and Tom stayed in.\n\nThe lamp burned low."
    new = "The rain fell all night.\n\nMara went out.\n\nTom stayed in.\n\nThe lamp burned bright."
    changes = paragraph_changes(old, new)
    assert (changes[0].after, changes[-1].after) == ("The rain fell all night.", "The lamp burned bright.")
    assert with_changes(old, changes, range(len(changes))) == new
    assert with_changes(old, changes, (0,)) == old.replace("day", "night")


def test_a_long_text_is_cut_at_ends_of_lines() -> None:
    text = "雨停了。\n" * 1_000
    cut = pieces(text, 300)
    assert "".join(text[start:end] for start, end in cut) == text
    assert all(end - start <= 300 and text[end - 1] == "\n" for start, end in cut)
    assert pieces("x" * 900, 300) == ((0, 900),)
