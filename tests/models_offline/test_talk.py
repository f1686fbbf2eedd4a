"""The conversation without a model: edits in quotation marks, and sentences that an excerpt cuts."""

from __future__ import annotations

import json

import pytest

from flowcabal_tui.domain.model_calls import Message, ModelRequest, Tool, ToolCall
from flowcabal_tui.models.offline.talk import talk

EDITS = (Tool("propose_edit", "", {}),)


def answered(question: str, found: str, tools: tuple[Tool, ...] = ()) -> tuple[str, tuple[ToolCall, ...]]:
    """The answer after one search that found this text in chapter 2."""
    asked = Message("user", f"<task>conversation</task>\n<question>{question}</question>")
    searched = Message("assistant", "", tool_calls=(ToolCall("1", "search", "{}"),))
    hit = Message("tool", f'<found chapter="2" title="Rain">{found}</found>', tool_call_id="1")
    return talk(ModelRequest((asked, searched, hit), tools=tools))


@pytest.mark.parametrize(
    "question", ['Change "a dog" to "a cat".', "Change “a dog” to “a cat”.", "把「a dog」改成「a cat」"]
)
def test_two_quotations_are_an_edit_in_the_marks_of_any_keyboard(question: str) -> None:
    _text, (call,) = answered(question, "He had a dog.", EDITS)
    given = json.loads(call.arguments)
    assert (call.name, given["quotation"], given["replacement"]) == ("propose_edit", "a dog", "a cat")


def test_a_sentence_that_the_excerpt_cuts_is_not_an_answer() -> None:
    text, _calls = answered("Where is the dog?", "the dog had gone before. The dog is in the barn. The dog and")
    assert text.startswith("The dog is in the barn. [[2|") and "gone" not in text and "dog and" not in text
