"""What the questions about one chapter share, so that a provider's cache of prompts holds the chapter once."""

from __future__ import annotations

from typing import Any

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.curation.story import StoryReader
from flowcabal_tui.agents.curation.story_goal import StoryGoal
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.run import ANGLES
from flowcabal_tui.domain.workflow import Node, PromptParams
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, as_checker, person

TEXT = "清晨，林远到了白鹭渡。老周有五只船，正在补船，见他来，放下了锤子。"
HOSTED = Endpoint(model="writer", base_url="https://models.example/v1")
NODE = Node(id=NodeId("polish"), name="润色")
KINDS = ("entities", "relations", "facts", "promises", "moments", "sequels", "findings")


async def questions(endpoint: Endpoint, *, checks: bool = True) -> list[ModelRequest]:
    """Those of a check of the second chapter, if there is one, and of its reading when it is kept."""
    people = (person("林远"), person("老周"))
    book = FakeBook(
        [("旧事", "林远离了家。老周在白鹭渡，三只船都破了，没有人补船。"), ("渡口", TEXT)],
        people,
        meta=(("world-rules", "渡船逢五才开。"),),
    )
    model = FakeModel(as_checker(lambda request: dict[str, Any].fromkeys(KINDS, [])), endpoint)
    paid = PaidOnce(model, FakeAnswers())
    params = PromptParams(angles=ANGLES)
    monitor = Monitor(book, lambda: paid, FakeTokens()) if checks else None
    if monitor is not None:
        await monitor.evaluate(NODE, params, TEXT, ChapterId("c2"), Generation(1), 1)
    goal = StoryGoal(book.chapters()[1], TEXT, people, book.before(2))
    await StoryReader(Curator(lambda: paid, FakeTokens(), monitor=monitor)).read(goal)
    return model.requests


def beginning(request: ModelRequest) -> tuple[object, ...]:
    """What a provider compares, to the end of the chapter."""
    system, user = request.messages
    return request.tools, system, user.content.partition("</draft>")[0]


async def test_a_check_and_the_reading_share_tools_system_text_and_chapter() -> None:
    first, second, reading = await questions(HOSTED)
    assert beginning(first) == beginning(second) == beginning(reading)
    assert str(beginning(reading)[-1]).endswith(f"{TEXT}\n")
    assert (bool(first.messages[1].stable), reading.messages[1].stable) == (True, ())
    assert [each.tool_choice for each in (first, second, reading)] == ["give_findings", "give_findings", "give_story"]
    assert {tool.name for tool in reading.tools} == {
        "give_findings",
        "give_profiles",
        "give_readings",
        "give_story",
    }


async def test_a_small_window_is_not_filled_with_tools_that_are_not_needed() -> None:
    for each in await questions(HOSTED.model_copy(update={"context_window": 8_192})):
        assert not each.tools and not each.tool_choice


async def test_a_reading_without_a_check_sends_no_tools_of_a_check() -> None:
    (reading,) = await questions(HOSTED, checks=False)
    assert ({tool.name for tool in reading.tools}, reading.tool_choice) == (
        {"give_story", "give_profiles"},
        "give_story",
    )


async def test_a_tool_defines_each_part_where_it_stands_and_keeps_its_limits() -> None:
    (reading,) = await questions(HOSTED, checks=False)
    story = next(tool.parameters for tool in reading.tools if tool.name == "give_story")
    assert "$ref" not in str(story) and "additionalProperties" not in str(story)
    fact = story["properties"]["facts"]["items"]
    assert fact["required"] == list(fact["properties"]) and fact["properties"]["quote"]["maxLength"] == 400
