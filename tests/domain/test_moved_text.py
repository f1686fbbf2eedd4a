"""A passage is found again after an edit: moved, reworded, or gone."""

from __future__ import annotations

import random

import pytest

from flowcabal_tui.domain.moved_text import MovedText

OLD = "The rain stopped.\n\nMara opened the green door and went in.\n\nNobody was there.\n\nThe lamp burned.\n"
WORDS = "Mara opened the green door and went in."
CHINESE = "雨停了。\n\n宝玉推开绿门，走了进去。\n\n屋里没有人。\n"


def moved(old: str, new: str, words: str) -> str | None:
    start = old.index(words)
    place = MovedText(old, new).place(start, start + len(words))
    return None if place is None else new[slice(*place)]


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (OLD, WORDS),
        ("A new first line.\n\n" + OLD, WORDS),
        (OLD.replace("The rain stopped.\n\n", ""), WORDS),
        (OLD.replace("Nobody was there.", "Everybody was there, and the dog."), WORDS),
        (f"{WORDS}\n\n{OLD.replace(WORDS, 'Somebody else came in first.')}", WORDS),
        (OLD.replace("green door", "red gate"), "Mara opened the red gate and went in."),
        (OLD.replace("stopped", "ended").replace("green door", "red gate"), "Mara opened the red gate and went in."),
        (OLD.replace(WORDS, f"“Well.” {WORDS} So."), WORDS),
        (OLD.replace(f"{WORDS}\n\n", ""), None),
        (OLD.replace(WORDS, "Quite another thing happened at sea."), None),
        ("", None),
    ],
)
def test_a_passage_is_followed(new: str, found: str | None) -> None:
    assert moved(OLD, new, WORDS) == found


def test_a_chinese_passage_is_followed() -> None:
    assert moved(CHINESE, CHINESE.replace("绿门", "红门"), "宝玉推开绿门，走了进去。") == "宝玉推开红门，走了进去。"
    assert moved(CHINESE, CHINESE.replace("雨停了。", "雪也停了。"), "绿门") == "绿门"
    assert moved(CHINESE, "雨停了。\n\n屋里没有人。\n", "宝玉推开绿门，走了进去。") is None


def test_words_that_occur_often_stay_in_their_place() -> None:
    old = "He sat.\n\nHe stood.\n\nHe sat.\n\nHe left.\n"
    last = old.rindex("He sat.")
    new = old.replace("He stood.", "He jumped up and shouted.")
    start, _end = MovedText(old, new).place(last, last + 7) or (-1, -1)
    assert start == new.rindex("He sat.")
    gone = "He sat.\n\nHe stood.\n\nRain.\n\nHe left.\n"
    assert MovedText(old, gone).place(last, last + 7) is None, "the other one is not the one that was meant"


def test_whatever_the_edit_a_place_is_in_the_text() -> None:
    dice = random.Random(7)
    lines = [f"Line {n} of the {word}." for n, word in enumerate(["sea", "sky", "bell", "door", "rope", "lamp"] * 4)]
    for _round in range(300):
        old = "\n".join(dice.choices(lines, k=dice.randint(1, 12)))
        new = "\n".join(dice.choices(lines, k=dice.randint(0, 12)))
        start = dice.randrange(len(old))
        end = dice.randint(start + 1, len(old))
        place = MovedText(old, new).place(start, end)
        assert place is None or (0 <= place[0] < place[1] <= len(new))


def test_a_chapter_without_a_line_end_is_followed() -> None:
    old = "雨" * 400_000 + "宝玉来了。" + "雪" * 400_000
    assert moved(old, f"开头。{old[:-3]}", "宝玉来了。") == "宝玉来了。"
