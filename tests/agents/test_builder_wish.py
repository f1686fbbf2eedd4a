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


@pytest.mark.parametrize(
    ("language", "wish", "named"),
    [
        ("zh", "写初稿，毒舌的读者提意见，改三轮，最后校对错别字。", ("最后校对错别字",)),
        ("zh", "写初稿，我琢磨琢磨再润色。", ("我琢磨琢磨再润色",)),
        ("en", "Draft it, then polish it while I listen.", ("polish it while I listen",)),
        ("en", "Draft it twice, blind, and revise it.", ("blind",)),
        ("en", "I want a plan, then a draft, and show me the draft.", ()),
    ],
)
def test_a_step_a_mark_and_a_part_of_the_writer_that_end_in_nothing_are_named(
    language: str, wish: str, named: tuple[str, ...]
) -> None:
    made = form(wish, language)
    assert made.steps and made.unread == named


def test_a_change_that_ends_in_nothing_is_named() -> None:
    made = form("润色不要了，换成找一个人专挑语病", "zh", ("draft", "润色"))
    assert [each.change for each in made.alterations] == ["remove"]
    assert made.unread == ("换成找一个人专挑语病",)


@pytest.mark.parametrize(
    ("language", "wish", "steps", "text"),
    [
        (
            "en",
            "Translate this chapter into French, then check the dates.",
            ["translate", "check", "revise"],
            "French",
        ),
        ("zh", "把这一章译成英文，再润色。", ["translate", "polish"], "英文"),
        ("zh", "把这一章改写成剧本，再查称呼。", ["do", "check", "revise"], "剧本"),
        ("en", "Polish this chapter.", ["polish"], ""),
    ],
)
def test_steps_on_the_text_that_is_there_read_it_and_write_no_draft_first(
    language: str, wish: str, steps: list[str], text: str
) -> None:
    made = form(wish, language)
    assert made.existing and [step.does for step in made.steps] == steps
    assert made.keep == ("note" if text else "chapter"), "another text does not take the place of the chapter"
    nodes = build_by_form(made, WorkingCopy.of(None, Known()), language).copied.document["nodes"]
    first = str(nodes[0]["params"]["prompt"])
    assert "{{chapter.text}}" in first and (not text or f"{text}{'。' if language == 'zh' else '.'}" in first)
    assert "{{chapter.text}}" in str(nodes[-1]["params"]["prompt"]), "a check of a translation sees the original too"


def test_a_wish_for_a_new_text_does_not_read_the_one_that_is_there() -> None:
    for wish in ("Plan it, draft it, polish it.", "Polish it until it shines.", "Plan this chapter, then polish it."):
        assert not form(wish).existing and form(wish).steps[-2].does == "write"


def test_titles_are_candidates_that_are_kept_as_a_note() -> None:
    made = form("先给我五个书名挑。", "zh")
    assert [(step.does, step.id, step.number) for step in made.steps] == [("candidates", "titles", 5)]
    assert made.keep == "note" and form("《雪线》：先列提纲，再写初稿。", "zh").keep == "chapter"


def test_a_pause_before_the_next_one_is_within_the_loop() -> None:
    (plan, loop) = form("七首诗一首一首来，先列提纲，写完我点头了再写下一首。", "zh").steps
    assert not plan.pause and not loop.pause and loop.steps[0].pause


def test_a_word_beside_another_step_is_no_subject_of_a_check() -> None:
    (plan, _write, check, _revise) = form("先列出线索清单，再写，再查时间。", "zh").steps
    assert (plan.does, check.about) == ("plan", "时间顺序")


@pytest.mark.parametrize(("wish", "language"), [("Plan it, then draft it.", "zh"), ("先列提纲，再写初稿。", "en")])
def test_a_wish_in_another_language_than_the_book_is_read(wish: str, language: str) -> None:
    made = form(wish, language)
    assert [step.does for step in made.steps] == ["plan", "write"] and not made.unread
