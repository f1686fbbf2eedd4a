"""A beat counts as brought only with a quotation that is in the text, and nothing counts that cannot be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.agents.curation.beat_reader import (
    BeatAnswer,
    BeatAnswers,
    PlannedChapter,
    beat_advice,
    beat_questions,
)
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.domain.answer_schema import answer_schema
from flowcabal_tui.domain.beats import BeatAdvice
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.models.tokens import TokenEstimator

TEXT = "Maud lit the lamp. Vera fell ill at noon.\n\nNobody came down to the ferry.\n"
CHAPTER = PlannedChapter("Chapter 1", "en", TEXT, ("Maud lights the lamp.", "Vera <dies>.", "The ferry leaves."))
WIDE = Endpoint(provider="openai", model="m", base_url="http://127.0.0.1:9/v1")
BROUGHT, MISSING, UNKNOWN = "brought", "not found", "not checked"


def said(*rows: tuple[str, str, str]) -> BeatAnswers:
    return BeatAnswers(beats=[BeatAnswer(beat=beat, verdict=verdict, quote=quote) for beat, verdict, quote in rows])


def questions(chapter: PlannedChapter = CHAPTER, endpoint: Endpoint = WIDE):
    return beat_questions(PromptLibrary(), chapter, TokenEstimator(), endpoint)


def verdicts(*answers: BeatAnswers | None, chapter: PlannedChapter = CHAPTER, endpoint: Endpoint = WIDE) -> list[str]:
    asked = questions(chapter, endpoint)
    return [each.verdict for each in beat_advice(chapter, list(zip(asked, answers, strict=True)))]


def test_one_question_has_the_text_and_every_beat_with_the_texts_escaped() -> None:
    (question,) = questions()
    words = question.request.messages[-1].content
    assert "Nobody came down to the ferry." in words and '<beat id="b2">Vera &lt;dies&gt;.</beat>' in words
    assert question.beats == (0, 1, 2)
    rows = answer_schema(BeatAnswers)["properties"]["beats"]
    assert rows["maxItems"] == 40 and answer_schema(BeatAnswers)["required"] == ["beats"]
    assert answer_schema(BeatAnswers)["$defs"]["BeatAnswer"]["required"] == ["beat", "verdict", "quote"]


def test_many_beats_are_asked_about_in_several_questions() -> None:
    asked = questions(replace(CHAPTER, beats=tuple(f"Beat {n}." for n in range(50))))
    assert [len(each.beats) for each in asked] == [40, 10] and asked[1].beats[0] == 40


def test_a_quotation_of_the_text_is_the_proof_and_any_other_does_not_count() -> None:
    answer = said(("b1", "brought", "maud lit the lamp"), ("b2", "not_found", ""), ("b3", "brought", "The ferry left."))
    assert verdicts(answer) == [UNKNOWN, MISSING, UNKNOWN], "Other letters are another quotation."
    answer = said(("b1", "Brought", "Maud lit the lamp."), ("b2", "Not found", ""), ("b3", "brought", ""))
    (first, *_others) = beat_advice(CHAPTER, [(questions()[0], answer)])
    assert first == BeatAdvice("brought", Span(0, TEXT.index(".")))
    assert verdicts(answer) == [BROUGHT, MISSING, UNKNOWN]


def test_a_beat_without_a_readable_answer_was_not_checked() -> None:
    assert verdicts(None) == [UNKNOWN] * 3
    assert verdicts(said(("b1", "not_found", ""), ("b9", "not_found", ""))) == [MISSING, UNKNOWN, UNKNOWN]
    both = said(("b1", "not_found", ""), ("b1", "brought", "nowhere to be found"))
    assert verdicts(both)[0] == UNKNOWN


def test_words_that_are_given_for_three_beats_prove_none() -> None:
    quote = "Vera fell ill at noon."
    assert verdicts(said(*((f"b{n}", "brought", quote) for n in (1, 2, 3)))) == [UNKNOWN] * 3
    assert verdicts(said(("b1", "brought", quote), ("b2", "brought", quote)))[:2] == [BROUGHT, BROUGHT]


@pytest.mark.parametrize("last", [MISSING, UNKNOWN])
def test_a_beat_is_missing_only_where_every_part_of_a_long_text_says_so(last: str) -> None:
    chapter = replace(CHAPTER, text=TEXT * 60)
    small = WIDE.model_copy(update={"context_window": 2_000, "max_output": 400})
    count = len(questions(chapter, small))
    assert count > 1
    missing = said(*((f"b{n}", "not_found", "") for n in (1, 2, 3)))
    found = said(("b1", "brought", "Maud lit the lamp."), ("b2", "not_found", ""), ("b3", "not_found", ""))
    answers = [*[missing] * (count - 2), found, missing if last == MISSING else None]
    assert verdicts(*answers, chapter=chapter, endpoint=small) == [BROUGHT, last, last]
