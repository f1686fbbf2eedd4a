from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.curation.curator import L0_TOKENS, Curator
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.shapes.curation import QuotedSentence
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.model_calls import ModelRequest
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, as_checker, person

TEXT = (
    "清晨，林远到了白鹭渡。老周正在补船，见他来，放下了锤子。\n\n"
    "“铜铃你收好。”老周说，“北城的人也在找它。”林远把铜铃藏进怀里。\n\n"
    "午后下起了雨。沈青从山上下来，说桥已经断了。三人商量到天黑，决定明日坐船去北城。"
)
LIN = person("林远")
SHEN = person("沈青")
G = Generation(1)


def book(*texts: str) -> FakeBook:
    return FakeBook([(f"第{n}章", text) for n, text in enumerate(texts, start=1)], (LIN, SHEN), passage_size=40)


def curator(reply: Any, model: FakeModel | None = None, monitor: Monitor | None = None) -> Curator:
    paid = PaidOnce(model or FakeModel(lambda request: reply), FakeAnswers())
    return Curator(lambda: paid, FakeTokens(), monitor=monitor)


FIRST = book(TEXT).chapters()[0]
OVERVIEW = {
    "sentences": [
        {"sentence": "林远清晨到白鹭渡。", "quote": "清晨,林远到了白鹭渡"},
        {"sentence": "老周把铜铃交给林远。", "quote": "“铜铃你收好。”"},
        {"sentence": "沈青死了。", "quote": "沈青倒在雨里"},
        {"sentence": "桥断了，三人决定坐船。", "quote": "决定明日坐船去北城"},
    ]
}


async def test_every_sentence_of_an_overview_rests_on_the_chapter() -> None:
    made = await curator(OVERVIEW).l1(FIRST, TEXT, (LIN,), "zh", G)
    assert made.method == "model"
    assert made.text.splitlines() == ["林远清晨到白鹭渡。", "老周把铜铃交给林远。", "桥断了，三人决定坐船。"]
    words = [TEXT[each.start : each.end] for each in made.evidence]
    assert words == ["清晨，林远到了白鹭渡", "铜铃你收好。", "决定明日坐船去北城"]
    assert "\n".join(each.sentence for each in made.evidence) == made.text


async def test_a_sentence_that_a_model_repeats_is_once_in_the_overview() -> None:
    made = await curator({"sentences": OVERVIEW["sentences"] * 2}).l1(FIRST, TEXT, (LIN,), "zh", G)
    assert made.text.splitlines() == ["林远清晨到白鹭渡。", "老周把铜铃交给林远。", "桥断了，三人决定坐船。"]


@pytest.mark.parametrize("reply", [{"sentences": OVERVIEW["sentences"][1:3]}, {"sentences": []}])
async def test_with_too_little_evidence_the_overview_is_made_of_the_text_itself(reply: dict[str, Any]) -> None:
    made = await curator(reply).l1(FIRST, TEXT, (LIN, SHEN), "zh", G)
    assert made.method == "extract"
    assert len(made.evidence) >= 3
    assert all(each.sentence == TEXT[each.start : each.end] for each in made.evidence)


async def test_what_was_said_of_the_chapter_before_needs_no_question_where_it_has_enough_evidence() -> None:
    said = [QuotedSentence.model_validate(each) for each in OVERVIEW["sentences"]]
    model = FakeModel(lambda _request: OVERVIEW)
    made = await curator(None, model).l1(FIRST, TEXT, (LIN,), "zh", G, sentences=said)
    assert (made.method, len(made.evidence), model.requests) == ("model", 3, [])
    again = await curator(None, model).l1(FIRST, TEXT, (LIN,), "zh", G, sentences=said[1:3])
    assert (again.text, len(model.requests)) == (made.text, 1)


async def test_without_a_model_everything_is_made_by_rule() -> None:
    by_rule = Curator(None, FakeTokens())
    overview = await by_rule.l1(FIRST, TEXT, (LIN, SHEN), "zh", G)
    line = await by_rule.l0(FIRST, overview, (LIN,), "zh", G)
    assert (overview.method, line.method) == ("extract", "extract")
    assert line.text


@pytest.mark.parametrize(
    "sentence",
    [
        "林远到渡口。",
        "林远到渡口，" * 30,
        "很" * 300,
        "He came to the ferry and took the bell. " * 20,
        "\x1b[31m红\n字",
    ],
)
async def test_a_line_has_at_most_fifty_tokens(sentence: str) -> None:
    maker = curator({"sentence": sentence})
    overview = await Curator(None, FakeTokens()).l1(FIRST, TEXT, (LIN,), "zh", G)
    made = await maker.l0(FIRST, overview, (), "zh", G)
    assert 0 < FakeTokens().count(made.text) <= L0_TOKENS
    assert "\n" not in made.text
    assert "\x1b" not in made.text


async def test_an_empty_line_falls_back_to_the_overview() -> None:
    overview = await Curator(None, FakeTokens()).l1(FIRST, TEXT, (LIN,), "zh", G)
    made = await curator({"sentence": "  "}).l0(FIRST, overview, (), "zh", G)
    assert made.method == "extract"
    assert made.text[:5] == overview.text[:5]


@pytest.mark.parametrize(
    ("line", "overview", "cast", "language", "method"),
    [
        ("一个从未存在过的世界的幻想。", "林远清晨到白鹭渡。\n桥断了，三人决定坐船。", (LIN,), "zh", "extract"),
        ("林远踏上旅途。", "桥断了，三人决定坐船。", (LIN,), "zh", "model"),
        ("桥断以后他们改坐船去。", "桥断了，三人决定坐船。", (), "zh", "model"),
        ("A fantasy of a world that has never existed.", "The lamp went out.\nThe ferry sank.", (), "en", "extract"),
        ("The lamp fails and a ferry goes down.", "The lamp went out.\nThe ferry sank.", (), "en", "model"),
        ("Ines grieves.", "The lamp went out.\nThe ferry sank.", (person("Ines"),), "en", "model"),
    ],
)
async def test_a_line_that_has_neither_a_name_nor_words_of_the_overview_is_made_by_rule(
    line: str, overview: str, cast: tuple[Entity, ...], language: str, method: str
) -> None:
    made = await Curator(None, FakeTokens()).l1(FIRST, TEXT, (LIN,), "zh", G)
    made = replace(made, text=overview)
    asked = await curator({"sentence": line}).l0(FIRST, made, cast, language, G)
    model = FakeModel(lambda _request: {"sentence": ""})
    said = await curator(None, model).l0(FIRST, made, cast, language, G, line)
    assert model.requests == [], "a line that was said already is not asked for again"
    assert asked.method == said.method == method
    assert (asked.text == line) is (method == "model")


async def test_sources_change_with_their_text_and_nothing_else() -> None:
    maker = curator(OVERVIEW)
    made = await maker.l1(FIRST, TEXT, (LIN,), "zh", G)
    assert made.source == maker.l1_source(FIRST, TEXT)
    assert (await maker.l1(FIRST, TEXT, (LIN, SHEN), "zh", Generation(9))).source == made.source
    assert maker.l1_source(FIRST, TEXT + "。") != made.source
    assert Curator(None, FakeTokens()).l1_source(FIRST, TEXT) != made.source


def four_dimensions(request: ModelRequest) -> Any:
    if request.purpose == "curator.keep":
        good = {"passed": True, "detail": "好。"}
        return {"prevents_errors": good, "reusable": good, "self_contained": {"passed": False}, "new": good}
    return as_checker(lambda _request: {"findings": []})(request)


async def test_advice_on_what_is_kept_has_checks_and_four_dimensions() -> None:
    state = book(TEXT, "林远在北城醒来。")
    model = FakeModel(four_dimensions)
    paid = PaidOnce(model, FakeAnswers())
    maker = curator(None, model, Monitor(state, lambda: paid, FakeTokens()))
    advice = await maker.check_kept(ChapterId("c2"), "manuscript/c2", "第2章", "林远在北城醒来。", state.before(2))
    assert [check.outcome for check in advice.checks] == ["passed"] * 4
    assert {each.dimension: each.passed for each in advice.dimensions} == {
        "prevents_errors": True,
        "reusable": True,
        "self_contained": False,
        "new": True,
    }


async def test_of_a_long_text_the_advice_reads_sentences_from_all_parts() -> None:
    long = "".join(f"林远走了第{n}里路，天色未变。" for n in range(400))
    model = FakeModel(four_dimensions)
    await curator(None, model).check_kept(ChapterId("c2"), "manuscript/c2", "第2章", long, book(TEXT, long).before(2))
    (request,) = (each for each in model.requests if each.purpose == "curator.keep")
    assert "第0里路" in request.messages[1].content
    assert "第399里路" in request.messages[1].content
    assert FakeTokens().count(request.messages[1].content) < 1_500


async def test_advice_without_a_working_model_vetoes_nothing() -> None:
    state = book(TEXT, "林远在北城醒来。")
    maker = curator(ModelError(ModelFault.AUTH, "wrong key"))
    advice = await maker.check_kept(ChapterId("c2"), "manuscript/c2", "第2章", "林远。", state.before(2))
    assert {each.passed for each in advice.dimensions} == {None}
