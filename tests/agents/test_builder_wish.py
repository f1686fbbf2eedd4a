"""What is found in a wish by its vocabulary: numbers in words, temperatures, what a check looks at."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.builder.form_builder import build_by_form, unread_note
from flowcabal_tui.agents.builder.form_words import form_of
from flowcabal_tui.agents.builder.forms import Form
from flowcabal_tui.agents.builder.wish import Wish
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy


@pytest.mark.parametrize(
    ("language", "text", "values"),
    [
        ("zh", "四千字", [4000]),
        ("zh", "三千五百字", [3500]),
        ("zh", "一万二千", [12000]),
        ("zh", "二十章", [20]),
        ("zh", "2万字", [20000]),
        ("zh", "3 万字", [30000]),
        ("zh", "二十万字", [200000]),
        ("zh", "3千2百字", [3200]),
        ("zh", "十二场", [12]),
        ("zh", "三四步", [3, 4]),
        ("zh", "降一点，0.7 吧", [0.7]),
        ("en", "over 20,000 characters", [20000]),
        ("en", "three thousand words", [3000]),
        ("en", "3k words", [3000]),
        ("en", "3 kings", [3]),
        ("en", "two, or 2.5", [2, 2.5]),
    ],
)
def test_numbers_are_read_in_digits_and_in_words(language, text, values):
    assert [each.value for each in Wish(text, language).numbers] == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("temperature 0.8", 0.8),
        ("the temperature from 0.7 down to 0.4", 0.4),
        ("Lower the temperature of the polish to 0.2", 0.2),
        ("温度从 0.7 降到 0.4", 0.4),
        ("温度调到 0.6，写完", 0.6),
        ("it is 30 degrees", None),
    ],
)
def test_the_temperature_is_the_one_that_is_wanted(text, value):
    assert Wish(text, "zh" if "温" in text else "en").temperature == value


def test_a_check_looks_at_the_words_behind_it_where_the_vocabulary_has_none():
    assert Wish("Then a step that looks for loose threads and lists them.", "en").abouts() == ["loose threads"]
    assert Wish("一个查潮汐，一个查人物说话。", "zh").abouts() == ["潮汐", "人物说话像不像本人"]
    assert Wish("一个盯灯塔有没有亮，一个盯潮汐对不对。", "zh").abouts() == ["灯塔有没有亮", "潮汐对不对"]
    assert Wish("Check the names.", "en").abouts() == ["names"]
    assert Wish("Then check, and show me the list.", "en").abouts() == []
    assert Wish("一个专查时间对不上的地方。", "zh").abouts() == ["时间顺序"], "one subject, not two"


def test_every_chapter_is_no_loop_and_every_scene_is():
    def kinds(wish: str) -> list[str]:
        return [step.does for step in form_of(wish, WorkingCopy.of(None, Known()), "en").steps]

    assert kinds("For each chapter plan it, then draft it.") == ["plan", "write"]
    assert kinds("Plan the scenes, then draft each scene.") == ["plan", "each"]


def form(wish: str, language: str = "en", nodes: tuple[str, ...] = ()) -> Form:
    document = {"id": "w", "nodes": [{"id": each, "params": {}} for each in nodes]}
    return form_of(wish, WorkingCopy.of(document if nodes else None, Known(models=("small-model",))), language)


def test_parts_of_a_wish_without_a_known_word_are_named():
    assert form("Plan it, draft it, and stitch the lot together.").unread == ("stitch the lot together",)
    assert form("先列计划，再写初稿，意见拢到一处。", "zh").unread == ("意见拢到一处",)
    assert form("Plan the chapter, then draft it with small-model.").unread == ()
    assert form("Lower the temperature of the draft to 0.3.", nodes=("draft",)).unread == ()


def test_a_number_that_the_form_does_not_use_is_named_and_one_that_it_uses_is_not():
    wish = "Plan it, at most {n} lines, and draft each scene in turn; it should run to 8,000 words."
    assert form(wish.format(n="seven")).unread == ("it should run to 8,000 words",)
    assert form("初稿过了八千字就往短里收，再润色。", "zh").unread == ("初稿过了八千字就往短里收",)
    changed = form("Four candidates are too few: eight of them.", nodes=("candidates",))
    assert "Four candidates are too few" in changed.unread, "this workflow has no four"


def test_a_wish_that_is_mostly_not_understood_makes_nothing():
    lost = form("Once drafted, a sour old uncle has at it, somebody binds it in calf, and the village hears it.")
    assert not lost.steps and len(lost.unread) == 3
    built = build_by_form(lost, WorkingCopy.of(None, Known()), "en")
    assert "has at it" in built.question
    assert unread_note(lost) and not unread_note(form("Plan it, then draft it."))


def test_somebody_who_should_go_through_a_text_removes_nothing():
    changed = form(
        "Have somebody check the names after the draft; they should go through all of them.", nodes=("draft", "polish")
    )
    assert [each.change for each in changed.alterations] == ["insert"]


def test_openings_that_are_only_counted_are_candidates():
    (step,) = form("替我想四种收场。", "zh").steps
    assert (step.does, step.number) == ("candidates", 4)
