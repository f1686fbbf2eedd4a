"""What an edit takes out of a text, and where else the book says the same of the same."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.impact.moving import early_uses
from flowcabal_tui.agents.impact.statements import lost_statements, same_places
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity

MAUD, TOM = (Entity(EntityId(name.lower()), "character", name) for name in ("Maud", "Tom"))
ZHOU = Entity(EntityId("zhou"), "character", "周平")
BEFORE = "Maud was thirty-four years old. She lived by the river with her brother Tom."


@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace("old.", "old;"),
        BEFORE.replace(" by", "  by"),
        "She lived by the river with her brother Tom. Maud was thirty-four years old.",
        BEFORE + " The wind rose.",
    ],
)
def test_a_text_with_the_same_statements_has_lost_none(after: str) -> None:
    assert lost_statements(BEFORE, after, (MAUD, TOM), "en") == ()


def test_a_changed_age_is_found_where_the_same_person_has_it() -> None:
    (lost,) = lost_statements(BEFORE, BEFORE.replace("thirty-four", "twenty-nine"), (MAUD, TOM), "en")
    assert lost.instead is not None and lost.instead.words == "twenty-nine"
    texts = [
        "Maud counted thirty-four sheep. Tom was thirty-four years old.",
        "The wind rose. At the age of thirty-four, Maud had never seen the sea.",
        "Maud said she was 34 years old, and no day older.",
    ]
    found = same_places([lost], texts, (MAUD, TOM), "en")
    assert {(each.text, each.value.words) for each in found} == {(1, "thirty-four"), (2, "34")}


def test_a_changed_age_is_found_in_chinese() -> None:
    before = "周平今年三十四岁，住在江边。"
    (lost,) = lost_statements(before, before.replace("三十四", "二十九"), (ZHOU,), "zh")
    (place,) = same_places([lost], ["周平数了三十四只羊。", "那一年周平三十四岁，还没有见过海。"], (ZHOU,), "zh")
    assert (place.text, place.value.words, place.named) == (1, "三十四", True)


def test_a_text_that_tells_of_the_change_is_not_listed() -> None:
    (lost,) = lost_statements(BEFORE, BEFORE.replace("thirty-four", "twenty-nine"), (MAUD,), "en")
    text = "Maud said she was thirty-four years old, but she was twenty-nine years old."
    assert same_places([lost], [text], (MAUD,), "en") == ()


def test_who_is_first_named_in_a_chapter_is_used_too_early_where_it_comes_later() -> None:
    texts = ["Tom slept.", "Maud came. Tom woke.", "Then Maud left."]
    (use,) = early_uses(texts, [2], [1], 1, (MAUD, TOM), "en")
    assert (use.text, use.introduced, use.about) == (2, 1, MAUD.id)
    assert texts[1][use.source.start : use.source.end] == "Maud came."


def test_a_number_of_other_things_comes_after_one_that_stands_alone() -> None:
    lost = lost_statements("Maud was thirty-four years old.", "Maud was twenty-nine years old.", [MAUD], "en")
    texts = [
        "Maud counted thirty-four sheep, and none was two years old.",
        "They asked how old Maud was in years, and it was thirty-four.",
        "At thirty-four years of age Maud had never owned a horse.",
    ]
    assert [place.text for place in same_places(lost, texts, [MAUD], "en")] == [2, 1, 0]


@pytest.mark.parametrize(
    ("language", "told", "used"),
    [
        ("en", "Maud laid the green astrolabe on the table.", (
            "It rained. Maud, who had come late that night with all his mules and a cook, and had eaten, slept.",
            "Maud slept.")),
        ("zh", "石敬仁把碧纹罗盘摆在案上。", (
            "当夜雨大，众人都在店中，石敬仁与客人说了半日闲话，又饮了几杯酒才睡。", "石敬仁睡了。")),
    ],
)  # fmt: skip
def test_a_sentence_that_is_mostly_about_it_comes_before_one_that_names_it_in_passing(language, told, used) -> None:
    somebody = Entity(EntityId("a"), "character", "Maud" if language == "en" else "石敬仁")
    uses = early_uses(["Nothing.", told, *used], [2, 3], [1], 1, [somebody], language)
    assert [use.text for use in uses] == [3, 2]
