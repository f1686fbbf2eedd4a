"""What is found in a wish by its vocabulary: numbers in words, temperatures, what a check looks at."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType, SimpleNamespace

import pytest

from flowcabal_tui.agents.builder.form_builder import build_by_form, unread_note
from flowcabal_tui.agents.builder.form_words import form_of
from flowcabal_tui.agents.builder.forms import Form, Step
from flowcabal_tui.agents.builder.request_words import BuildRequest
from flowcabal_tui.agents.builder.words import words
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from tests.test_patterns import growth


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
    assert [each.value for each in BuildRequest(text, language).numbers] == values


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
    assert BuildRequest(text, "zh" if "温" in text else "en").temperature == value


def test_a_check_looks_at_the_words_behind_it_where_the_vocabulary_has_none():
    assert BuildRequest("Then a step that looks for loose threads and lists them.", "en").abouts() == ["loose threads"]
    assert BuildRequest("一个查潮汐，一个查人物说话。", "zh").abouts() == ["潮汐", "人物说话像不像本人"]
    assert BuildRequest("一个盯灯塔有没有亮，一个盯潮汐对不对。", "zh").abouts() == ["灯塔有没有亮", "潮汐对不对"]
    assert BuildRequest("Check the names.", "en").abouts() == ["names"]
    assert BuildRequest("Then check, and show me the list.", "en").abouts() == []
    assert BuildRequest("一个专查时间对不上的地方。", "zh").abouts() == ["时间顺序"], "one subject, not two"


def test_every_chapter_is_no_loop_and_every_scene_is():
    def kinds(wish: str) -> list[str]:
        return [step.does for step in form_of(wish, WorkingCopy.of(None, Known()), "en").steps]

    assert kinds("For each chapter plan it, then draft it.") == ["plan", "write"]
    assert kinds("Plan the scenes, then draft each scene.") == ["plan", "each"]


def test_a_before_belongs_to_the_word_beside_it():
    plan, polish = form("Plan it, and before it is polished let me read the draft.").steps[0::2]
    assert not plan.pause and not polish.pause
    (plan, write, polish) = form("先列提纲，再写初稿，润色之前让我读一遍，然后润色。", "zh").steps
    assert [step.pause for step in (plan, write, polish)] == [False, True, False]


def test_what_is_missing_is_named_in_the_words_of_the_wish_and_a_quotation_is_no_wish():
    assert form("写完给编辑发条短信。", "zh").missing == ("发条短信",)
    made = form('Ask me whether it should be "comic" or "cruel", and write that.')
    assert not made.missing and [each.label for each in made.steps[0].choices] == ["comic", "cruel"]


def test_a_plan_that_was_named_last_is_what_the_writer_waits_for():
    steps = form("提纲、初稿、润色。提纲写好让我看看。", "zh").steps
    assert [step.pause for step in steps] == [True, False, False]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_no_pattern_of_the_vocabulary_is_slow(language):
    tables = words(language, "vocabulary")
    listed = [form for table in tables["forms"].values() for forms in table.values() for form in forms]
    patterns = map(re.compile, (*listed, *tables["eyes"], tables["person"], tables["thing"]))
    assert [each.pattern for each in patterns if growth(each) > 2] == []


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


@pytest.mark.parametrize(
    ("language", "wish", "number", "thing"),
    [
        ("zh", "先让模型列十个情节转折，我挑一个，再照它写。", 10, "情节转折"),
        ("en", "Give me ten plot turns, I pick one, and then draft it.", 10, "plot turns"),
    ],
)
def test_things_that_are_counted_and_picked_from_are_no_drafts(
    language: str, wish: str, number: int, thing: str
) -> None:
    made = form(wish, language)
    ideas, write = made.steps
    assert (ideas.does, ideas.number, ideas.name, write.does) == ("candidates", number, thing, "write")
    assert made.keep == "chapter" and not made.unread
    first, second = build_by_form(made, WorkingCopy.of(None, Known()), language).copied.document["nodes"]
    assert thing in str(first["params"]["write"]) and first["id"] in str(second["params"]["prompt"])


def test_what_is_picked_without_a_number_is_named() -> None:
    made = form("先想几个情节转折，我挑一个，再写初稿。", "zh")
    assert [step.does for step in made.steps] == ["write"] and "我挑一个" in made.unread


def test_ideas_alone_are_kept_as_a_note() -> None:
    made = form("Give me six twists; I pick one.")
    assert [step.id for step in made.steps] == ["ideas"] and made.keep == "note" and not made.existing


@pytest.mark.parametrize(
    ("language", "wish", "who"),
    [
        ("en", "Two critics, one cruel and one kind, read the draft; then rewrite it.", ["cruel", "kind"]),
        ("zh", "写初稿，来两个评论家，一个毒舌一个温和，再重写。", ["毒舌", "温和"]),
        ("en", "Draft it. Three critics read it; then revise it.", ["", "", ""]),
    ],
)
def test_several_critics_are_as_many_readers(language: str, wish: str, who: list[str]) -> None:
    made = form(wish, language)
    (together,) = [step for step in made.steps if step.does == "together"]
    assert [step.name for step in together.steps] == who and "improve" not in {step.does for step in made.steps}
    assert made.steps[-1].does == "revise"
    nodes = build_by_form(made, WorkingCopy.of(None, Known()), language).copied.document["nodes"]
    assert all(each in str(nodes[1]["params"]["branches"]) for each in who)


def test_people_of_the_story_are_no_readers() -> None:
    made = form("Two people meet in the first scene. Draft it, then check the names.")
    assert "together" not in {step.does for step in made.steps}


@pytest.mark.parametrize(
    ("language", "wish", "named"),
    [
        ("en", "Jot down what happens in the chapter, then draft it.", "Jot down what happens in the chapter"),
        ("zh", "动笔之前排一排这章有哪几件事，再写初稿。", "动笔之前排一排这章有哪几件事"),
        ("en", "Draft it, then let me fiddle with that list and polish it.", ""),
    ],
)
def test_a_clause_that_only_names_the_chapter_is_not_understood(language: str, wish: str, named: str) -> None:
    made = form(wish, language)
    assert made.unread == ((named,) if named else ())
    assert named or made.steps[0].pause, "what the writer changes waits for them"


def test_a_word_between_a_number_and_its_unit_is_no_unit() -> None:
    (together, revise) = form("写初稿，请三位审稿人看，一位查年代，一位查地名，一位查称谓，改一遍。", "zh").steps[1:]
    assert (len(together.steps), revise.does) == (3, "revise"), "no three rounds"


def test_endings_stand_behind_a_draft() -> None:
    made = form("Offer me seven last lines; I pick one, which replaces the ending of the draft.")
    assert [step.does for step in made.steps] == ["write", "candidates"]


def test_a_step_that_the_workflow_has_is_not_inserted_again() -> None:
    wish = "在计划后面加一道，专看计划和大纲有没有冲突。"
    (changed,) = form(wish, "zh", ("计划", "初稿")).alterations
    assert changed.step and (changed.node, changed.step.does) == ("计划", "check"), "the plan is its subject"
    (changed,) = form("初稿不到 3000 字就扩写一遍。", "zh", ("初稿",)).alterations
    assert changed.step and changed.step.does == "expand"


def test_each_candidate_is_told_to_differ() -> None:
    made = form("给我六个不同的开头，我挑一个，再写下去。", "zh")
    first = build_by_form(made, WorkingCopy.of(None, Known()), "zh").copied.document["nodes"][0]
    told = [each["instruction"] for each in first["params"]["variations"]]
    assert len(set(told)) == 6 and first["params"]["rounds"] == 1
    assert "<task>draft</task>" in str(first["params"]["write"]), "the built-in model must know that it writes"


ACTIONS = {
    name: SimpleNamespace(arg_schema={}, output_schema={}, enabled=True)
    for name in ("ops.create_incident.v1", "mail.send_email.v1")
}


def ungated(steps: tuple[Step, ...]) -> Iterator[str]:
    """The actions that run without an approval."""
    for step in steps:
        yield from [step.action] if step.does == "action" else [] if step.does == "approve" else ungated(step.steps)


@pytest.mark.parametrize(
    ("language", "wish", "free"),
    [
        ("zh", "建一张工单，我先瞅瞅。", []),
        ("zh", "先开工单再发邮件，可别瞒着我就发出去。", []),
        ("zh", "发邮件给组长，审批通过后才发。", []),
        ("zh", "建工单。邮件要等我开了口再发。", ["ops.create_incident.v1"]),
        ("zh", "任何东西出去都得我点头：建工单，最后发邮件。", []),
        ("zh", "我确认以后建工单。最后发邮件记一笔。", ["mail.send_email.v1"]),
        ("en", "Open a ticket, but I'd rather eyeball it beforehand.", []),
        ("en", "Open a ticket and email the desk; nothing leaves without yours truly and me knowing.", []),
        ("en", "Email the desk, pending sign-off.", []),
        ("en", "Open a ticket. Email the desk after I have had my say on the email.", ["ops.create_incident.v1"]),
        ("en", "Nothing goes out unless I okay it: open a ticket. At the end email the desk.", []),
        ("en", "Open a ticket once I approve. At the end email the desk.", ["mail.send_email.v1"]),
        ("en", "Open a ticket and email the desk.", ["ops.create_incident.v1", "mail.send_email.v1"]),
    ],
)
def test_an_action_runs_after_the_approval_that_the_wish_speaks_of(language: str, wish: str, free: list[str]) -> None:
    made = form_of(wish, WorkingCopy.of(None, Known(actions=ACTIONS)), language)
    built = build_by_form(made, WorkingCopy.of(None, Known(actions=ACTIONS)), language)
    assert made.steps and not built.question and list(ungated(made.steps)) == free


def test_a_pause_that_a_change_lacks_is_named() -> None:
    made = form("Take out the polish, and ask me before anything is kept.", nodes=("draft", "polish"))
    assert [each.change for each in made.alterations] == ["remove"] and "ask me before anything is kept" in made.unread


def instructions(language: str, wish: str) -> int:
    """The instructions of the interpreter that a request takes."""
    counted = 0

    def count(frame: FrameType, event: str, _argument: object) -> Callable[..., object]:
        nonlocal counted
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        counted += event == "opcode"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        form(wish, language)
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize(
    ("language", "wish"),
    [
        ("zh", "先列提纲给我看，再写初稿，超过三千字就删，不到就扩写，三个人查称呼。"),
        ("en", "Plan it, show me the list, draft it, cut it over 3,000 words, and three critics check the names. "),
        ("zh", "超过三千"),
        ("zh", "写初稿给我看。"),
        ("zh", "润色之前，"),
        ("zh", "超过维基文件夹重写"),
        ("en", "I "),
    ],
)
def test_the_time_grows_with_the_length_of_the_request(language: str, wish: str) -> None:
    form(wish, language)
    long = wish * (4000 // len(wish))
    assert instructions(language, long[:2000]) < 2.8 * instructions(language, long[:1000])


@pytest.mark.parametrize(
    ("language", "wish", "steps"),
    [
        ("zh", "初稿超了九千字，就砍。", ["write", "measure"]),
        ("zh", "不到四千字就补写，别的一律直接润色。", ["write", "measure"]),
        ("zh", "我要三个不一样的初稿，我选一份，再润色。", ["candidates", "polish"]),
        ("zh", "现成的那章，称呼对不对查一遍，再删短。", ["check", "revise", "cut"]),
        ("zh", "写初稿，查称呼，再润色。", ["write", "check", "polish"]),
        ("zh", "写一章，主角查案到半夜。", ["write"]),
        ("en", "One version through Ann's eyes and one from Bob's, then weave them.", ["together", "do"]),
    ],
)
def test_classes_of_wording_are_read(language: str, wish: str, steps: list[str]) -> None:
    assert [step.does for step in form(wish, language).steps] == steps


def test_a_pause_in_the_clause_of_a_node_comes_after_that_node() -> None:
    made = form("计划和初稿之间，要个人工环节：计划出来让我改。", "zh", ("计划", "初稿"))
    assert [(each.change, each.node) for each in made.alterations] == [("pause", "计划")]


def test_several_words_of_a_prompt_are_replaced_at_once() -> None:
    document = {"id": "w", "nodes": [{"id": "draft", "params": {"prompt": "a grey dog and a tall man"}}]}
    wish = 'Change "grey dog" to "black cat" and "tall man" to "small boy".'
    made = form_of(wish, WorkingCopy.of(document, Known()), "en")
    assert [(each.find, each.to) for each in made.alterations] == [("grey dog", "black cat"), ("tall man", "small boy")]
