"""Questions that are too long for a model's window are asked in parts; what no part has read is not called read."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.curation.story import StoryReader, four_questions
from flowcabal_tui.agents.curation.story_goal import StoryGoal
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.parts import joined, parts_of, pieces
from flowcabal_tui.agents.prompt_library import SourceText, fenced_sources
from flowcabal_tui.agents.shapes.curation import ProfileAnswer
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId
from flowcabal_tui.domain.model_calls import ModelRequest, StructuredMode
from flowcabal_tui.domain.run import ANGLES
from flowcabal_tui.domain.workflow import Node, PromptParams
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, as_checker, person

ZH = "".join(f"第{n}夜，林远在渡口数到第{n}盏灯，然后把灯一盏一盏地吹灭了。\n" for n in range(200))
EN = "".join(f"On night {n} Ines counted lamp {n} at the ferry, and then she put them out.\n\n" for n in range(200))
LIN = person("林远", note="林远怕火。")
NOTHING: dict[str, Any] = {kind: [] for kind in ("entities", "relations", "facts", "promises", "moments", "sequels")}
WINDOW = 4_096


def paid(reply: Callable[[ModelRequest], Any], window: int | None = WINDOW) -> tuple[PaidOnce, FakeModel]:
    model = FakeModel(reply)
    model.endpoint = model.endpoint.model_copy(update={"context_window": window})
    return PaidOnce(model, FakeAnswers()), model


def inside(request: ModelRequest, tag: str) -> str:
    found = re.search(rf"<{tag}[^>]*>\n(.*?)\n</{tag}>", request.messages[1].content, re.DOTALL)
    return html.unescape(found[1]) if found else ""


def goal(text: str) -> StoryGoal:
    book = FakeBook([("渡口", "旧事。"), ("灯", text)], (LIN,))
    return StoryGoal(book.chapters()[1], text, (LIN,), book.before(2))


@pytest.mark.parametrize("text", [ZH, EN, "灯" * 500, "", "a" * 999])
def test_parts_lose_nothing_and_fit(text: str) -> None:
    found = pieces(text, 100, FakeTokens())
    assert "".join(found) == text
    assert all(FakeTokens().count(each) <= 100 for each in found)


def test_sources_are_parted_between_two_of_them() -> None:
    sources = [SourceText(f"s{n}", "manuscript/c1", "渡口", f"<source id=>\n第{n}盏灯") for n in range(9)]
    found = parts_of(fenced_sources(sources), 60, FakeTokens())
    assert len(found) > 2
    assert [n for each in found for n in re.findall(r'<source id="s(\d)"', each.text)] == list("012345678")


async def test_a_chapter_is_read_in_parts_that_fit_and_every_line_of_it_is_asked_about() -> None:
    def reply(request: ModelRequest) -> Any:
        line = inside(request, "draft").strip().splitlines()[0]
        said = {"sentence": line, "quote": line}
        return NOTHING | {"sentences": [said], "line": "林远吹灯。", "keeping": [{"question": "new", "passed": True}]}

    model, fake = paid(reply)
    story = StoryReader(Curator(lambda: model, FakeTokens()))
    found = await story.read(goal(ZH))
    assert len(fake.requests) > 1 and not found.unread
    assert found.reading.source == story.source(goal(ZH).chapter, ZH)
    told = "".join(inside(each, "draft") + "\n" for each in fake.requests)
    assert [line for line in ZH.splitlines() if line not in told] == []
    tokens = FakeTokens()
    assert all(sum(tokens.count(m.content) for m in each.messages) < WINDOW * 3 / 4 for each in fake.requests)
    answer = await story.answered(goal(ZH))
    assert len(answer.sentences) == len(fake.requests)  # what all parts said
    assert (answer.line, four_questions(answer)) == ("", ())  # nobody has read the whole: asked apart
    asked = len(fake.requests)
    await story.read(goal(ZH))
    assert len(fake.requests) == asked


@pytest.mark.parametrize("structured", [None, "native"])
async def test_a_schema_that_a_server_keeps_by_a_grammar_takes_no_room_in_the_window(
    structured: StructuredMode | None,
) -> None:
    asked = []
    for address in ("http://127.0.0.1:8080/v1", "https://models.example/v1"):
        model, fake = paid(lambda _request: NOTHING | {"sentences": []})
        fake.endpoint = fake.endpoint.model_copy(update={"base_url": address, "structured": structured})
        await StoryReader(Curator(lambda model=model: model, FakeTokens())).read(goal(ZH))
        asked.append(fake.requests)
    here, elsewhere = asked
    assert len(here) < len(elsewhere)
    assert all(sum(FakeTokens().count(m.content) for m in each.messages) < WINDOW * 3 / 4 for each in here)


async def test_a_chapter_of_which_one_part_failed_is_not_read_and_the_rest_is_not_paid_for_again() -> None:
    failing = True

    def reply(request: ModelRequest) -> Any:
        if failing and "第199夜" in inside(request, "draft"):
            return ModelError(ModelFault.SERVER, "broken")
        return NOTHING | {"sentences": []}

    model, fake = paid(reply)
    story = StoryReader(Curator(lambda: model, FakeTokens()))
    with pytest.raises(ModelError, match="broken"):
        await story.read(goal(ZH))
    tried, failing = len(fake.requests), False
    await story.read(goal(ZH))
    assert len(fake.requests) == tried + 1


async def test_a_model_that_refuses_a_question_for_its_length_gets_smaller_parts() -> None:
    def reply(request: ModelRequest) -> Any:
        if FakeTokens().count(request.messages[1].content) > 2_500:
            return ModelError(ModelFault.CONTEXT_LENGTH, "too long")
        return NOTHING | {"sentences": []}

    model, fake = paid(reply, None)
    await StoryReader(Curator(lambda: model, FakeTokens())).read(goal(ZH))
    assert len({each.messages[1].content for each in fake.requests}) == len(fake.requests) > 2


def test_what_only_a_reader_of_all_can_say_is_left_open() -> None:
    parts = [ProfileAnswer(summary="甲", sentences=[]), ProfileAnswer(summary="乙", sentences=[], unread=("x",))]
    assert joined(parts, ("summary",)).summary == "" and joined(parts, ()).unread == ("x",)
    assert joined(parts[:1], ("summary",)).summary == "甲"


async def evaluate(
    reply: Callable[[ModelRequest], Any], draft: str, window: int | None = WINDOW, rules: str = "点灯要付钱。"
) -> Any:
    model, fake = paid(as_checker(reply), window)
    book = FakeBook([("渡口", "林远怕火。他从不点灯。"), ("灯", "")], (LIN,), meta=(("world-rules", rules),))
    monitor = Monitor(book, lambda: model, FakeTokens())
    node, params = Node(id=NodeId("draft")), PromptParams(angles=ANGLES)
    return await monitor.evaluate(node, params, draft, ChapterId("c2"), Generation(1), 1), fake


async def test_a_draft_is_checked_in_parts_and_a_finding_has_its_place_in_the_whole() -> None:
    last = "第199夜，林远在渡口数到第199盏灯"

    def reply(request: ModelRequest) -> Any:
        wound = {"angle": "character_state", "draft_quote": last, "source_id": "s1", "source_quote": "林远怕火"}
        return {"findings": [wound] if last in inside(request, "draft") else []}

    evaluation, fake = await evaluate(reply, ZH)
    assert len({inside(each, "draft") for each in fake.requests}) > 1
    (finding,) = evaluation.findings
    assert ZH[finding.draft.start : finding.draft.end] == finding.draft.text == last
    told = "".join(inside(each, "draft") + "\n" for each in fake.requests)
    assert [line for line in ZH.splitlines() if line not in told] == []
    assert all(sum(FakeTokens().count(m.content) for m in each.messages) < WINDOW * 3 / 4 for each in fake.requests)


async def test_an_angle_of_which_one_part_was_not_read_did_not_pass() -> None:
    def reply(request: ModelRequest) -> Any:
        if "第199夜" in inside(request, "draft"):
            return ModelError(ModelFault.SERVER, "broken")
        return {"findings": []}

    evaluation, _fake = await evaluate(reply, ZH)
    assert {check.outcome for check in evaluation.checks} == {"not checked"}


@pytest.mark.parametrize("window", [None, 200_000])
@pytest.mark.parametrize(("rules", "questions"), [("点灯要付钱。", 2), ("", 1)])
async def test_in_a_large_window_a_draft_is_one_question_and_what_was_planned_another(
    window: int | None, rules: str, questions: int
) -> None:
    _evaluation, fake = await evaluate(lambda _request: {"findings": []}, ZH, window, rules)
    assert len(fake.requests) == questions and all(inside(each, "draft") == ZH for each in fake.requests)
