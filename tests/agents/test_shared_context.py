"""The nodes of a chapter share a context: what the plan calls for besides comes behind what all of them read."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.own_words import before_the_text, chapter_words
from flowcabal_tui.domain.context import About, Injection
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.prompt_parts import fenced, read_parts
from flowcabal_tui.domain.workflow import PromptParams
from tests.agents.fakes import FakeTokens
from tests.agents.test_context import assemble, make_book

CHAPTER = fenced("chapter", "《白鹭》\n第11章 渡口", "zh") + fenced("wish", "林远回到白鹭渡。", "zh")
PLAN = fenced("plan", "出场：林远、老周\n1. 老周说起铜铃。", "zh")


async def told(*parts: str) -> Injection:
    return await assemble(make_book(), "\n\n".join((CHAPTER, *parts)), budget=3_000, params=PromptParams())


async def test_all_nodes_of_a_chapter_begin_with_the_same_context() -> None:
    plan, draft = await told("Plan."), await told(PLAN, "Write.")
    polish = await told(PLAN, fenced("draft", "沈青忽然来了。", "zh"), "Polish.")
    assert plan.system_prefix == draft.system_prefix == polish.system_prefix
    assert draft.user_suffix[: draft.stable] == plan.user_suffix[: plan.stable] != ""
    assert polish.user_suffix == draft.user_suffix, "a draft looks nothing up that its plan did not"


async def test_what_only_the_plan_names_comes_behind_and_is_labelled() -> None:
    plan, draft = await told("Plan."), await told(PLAN, "Write.")
    assert "渡口的船夫" not in plan.user_suffix
    (besides,) = read_parts(draft.user_suffix[draft.stable :])
    assert besides.key == "besides"
    assert "老周：渡口的船夫。" in besides.text
    assert draft.receipt.used <= draft.receipt.budget
    uris = [(each.uri, each.start) for each in draft.receipt.sources]
    assert len(uris) == len(set(uris))


async def test_tokens_that_a_caller_adds_are_of_the_window_and_not_of_the_budget() -> None:
    prompt = "\n\n".join((CHAPTER, PLAN, "Write."))
    given = {"budget": 1_000, "params": PromptParams()}
    plain = await assemble(make_book(), prompt, **given)
    assert await assemble(make_book(), prompt, **given, about=About(added=400)) == plain


async def test_a_prompt_without_labelled_parts_has_one_context_and_the_whole_budget() -> None:
    injection = await assemble(make_book(), "林远与老周在白鹭渡说起铜铃。", budget=3_000)
    assert injection.stable == len(injection.user_suffix)
    assert all(part.key != "besides" for part in read_parts(injection.user_suffix))


def test_the_words_of_the_chapter_are_those_of_its_parts_alone() -> None:
    assert chapter_words(f"{CHAPTER}{PLAN}Write it.") == "林远回到白鹭渡。"
    assert chapter_words("Write it.") is None
    drafted = fenced("draft", "沈青来了。", "zh")
    assert before_the_text(f"{PLAN}{drafted}") == PLAN
    assert before_the_text(drafted) == drafted, "without a plan the draft says what it tells"


@pytest.mark.parametrize(("chapters", "is_shortened"), [(1, False), (12, True)])
async def test_a_small_window_is_told_of_only_where_it_leaves_something_out(chapters: int, is_shortened: bool) -> None:
    small = Endpoint(provider="openai", model="small", context_window=2_000)
    book = make_book(chapters)
    agent = ContextAgent(book, FakeTokens(), 25_000, endpoint=lambda _role: small)
    told = await assemble(book, "林远回到白鹭渡。", agent=agent, at=chapters + 1)
    notes = [note for note in told.receipt.notes if "2,000" in note]
    assert (bool(notes), "窗口较小" in told.user_suffix) == (is_shortened, is_shortened)
    assert told.receipt.budget < 2_000 and "林远" in told.user_suffix
