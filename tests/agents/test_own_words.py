"""What of a prompt is looked up in the book."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.intent import read_intent
from flowcabal_tui.agents.context.own_words import before_the_text, own_words, sentences
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.prompt_parts import fenced
from flowcabal_tui.domain.workflow import InquiryBlock, PromptParams, TextBlock, VirtualBlock
from tests.agents.fakes import FakeTokens
from tests.agents.test_context import assemble, make_book

TEMPLATE = (
    TextBlock(
        text="《{{project.name}}》第 {{chapter.number}} 章：{{chapter.title}}\n\n按计划逐条写出山道。\n\n<plan>\n"
    ),
    VirtualBlock(node=NodeId("plan")),
    TextBlock(text="\n</plan>\n\n作者的要求：{{input.instruction}}"),
)
FIXED = frozenset(sentences(TEMPLATE))


def test_what_is_filled_into_a_template_is_left_and_its_own_sentences_are_not() -> None:
    prompt = "《白鹭》第 11 章：渡口\n\n按计划逐条写出山道。\n\n<plan>\n老周卖船。\n</plan>\n\n作者的要求：写铜铃"
    assert own_words(TEMPLATE, prompt, FIXED).split() == ["白鹭", "11", "：渡口", "。", "老周卖船。", "：写铜铃"]


def test_a_sentence_that_the_writer_changed_or_added_counts() -> None:
    changed = (TextBlock(text="按计划逐条写出渡口。作者的要求：{{input.instruction}}"), InquiryBlock(question="谁？"))
    assert own_words(changed, "按计划逐条写出渡口。作者的要求：铜铃", FIXED).split() == [
        "按计划逐条写出渡口。",
        "：铜铃",
    ]


def test_words_of_a_template_that_stand_in_what_is_filled_in_are_left() -> None:
    prompt = "《白鹭》第 11 章：渡口\n\n按计划逐条写出山道。\n\n<plan>\n按计划逐条写出山道。\n</plan>\n\n作者的要求："
    assert own_words(TEMPLATE, prompt, FIXED).count("按计划逐条写出山道") == 1


async def test_the_context_of_a_template_is_that_of_what_was_filled_in() -> None:
    book, asked = make_book(), "老周在白鹭渡看铜铃。"
    template = (TextBlock(text="按计划逐条写出山道上的风。\n{{input.instruction}}"),)
    agent = ContextAgent(book, FakeTokens(), 4_000, fixed=frozenset(sentences(template)))
    injection = await assemble(
        book, f"按计划逐条写出山道上的风。\n{asked}", agent=agent, params=PromptParams(prompt=template)
    )
    plain = await assemble(book, asked)
    assert injection.receipt.intent == plain.receipt.intent
    assert injection.user_suffix == plain.user_suffix
    with_all = await assemble(book, f"按计划逐条写出山道上的风。\n{asked}")
    assert "山道" in with_all.receipt.intent.terms


@pytest.mark.parametrize(
    ("prompt", "scene"),
    [
        ("Afterwards she walks toward the warm broad square.", "unknown"),
        ("They go to war in the morning.", "battle"),
        ("The wars of the north, and the fighting after.", "battle"),
        ("两人在渡口厮杀。", "battle"),
    ],
)
def test_a_kind_of_scene_is_told_by_whole_words(prompt: str, scene: str) -> None:
    assert read_intent(prompt, "", (), "en").intent.scene == scene


def test_how_a_text_is_to_be_is_not_looked_up() -> None:
    length = fenced("length", "About 700 words, as the writer wishes.", "en")
    style = fenced("style", "Ralph Nickleby was late and had no lamp.", "en")
    wish = fenced("wish", "Kate comes home.", "en")
    assert before_the_text(f"{style}{wish}{length}Write it.") == f"{wish}Write it."
