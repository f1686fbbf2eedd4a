"""Values out of models, whatever they wrap them in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from flowcabal_tui.domain.answer_schema import StructuredAnswer, tool_schema
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import StructuredMode, Tool
from flowcabal_tui.domain.providers import Provider
from flowcabal_tui.models.http_model import HttpModel
from flowcabal_tui.models.ladder import Ladder
from tests.faultserver import FaultServer
from tests.models.calls import REQUEST
from tests.models.conftest import MakeModel


class Finding(BaseModel):
    angle: Literal["time", "place"]
    quotes: list[str]
    sure: int


GOOD = {"angle": "time", "quotes": ["雨"], "sure": 3}
TEXT = json.dumps(GOOD, ensure_ascii=False)
MODES: tuple[StructuredMode, ...] = ("tool", "native", "prompted")


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> StructuredMode:
    chosen: StructuredMode = request.param
    return chosen


def said(mode: StructuredMode, text: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": "give_answer", "arguments": text}]} if mode == "tool" else {"content": text}


def tokens_in(server: FaultServer, requests: int | None = None) -> int:
    """What the server counts for its first `requests`; for all without."""
    return sum(len(json.dumps(entry["body"]["messages"], ensure_ascii=False)) for entry in server.log[:requests])


async def test_a_fitting_answer_takes_one_call(
    server: FaultServer, make: MakeModel, provider: Provider, mode: StructuredMode
) -> None:
    server.push(said(mode, TEXT))
    value, answer = await make(provider, structured=mode).structured(REQUEST, Finding)
    assert value == Finding(angle="time", quotes=["雨"], sure=3)
    assert json.loads(answer.text) == GOOD
    assert len(server.log) == 1


async def test_the_schema_is_sent_in_the_way_of_the_mode(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    for mode in MODES:
        server.push(said(mode, TEXT))
        await make(provider, structured=mode).structured(REQUEST, Finding)
    tool, native, prompted = (entry["body"] for entry in server.log)
    assert tool["tools"] and "give_answer" in json.dumps(tool["tool_choice"])
    assert '"sure"' in json.dumps(native["response_format" if provider == "openai" else "output_config"])
    assert '\\"sure\\"' in json.dumps(prompted["messages"]) and "tools" not in prompted


async def test_tools_that_questions_share_go_out_together_where_tools_are_used(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    shared = (Tool("give_other", "", {"type": "object"}), Tool("give_finding", "", tool_schema(Finding)))
    asked = replace(REQUEST, tools=shared, tool_choice="give_finding")
    for mode in MODES:
        server.push(said(mode, TEXT))
        await make(provider, structured=mode).structured(asked, Finding)
    tool, *others = (entry["body"] for entry in server.log)
    names = [each["function"]["name"] if provider == "openai" else each["name"] for each in tool["tools"]]
    assert names == ["give_other", "give_finding"]
    assert "give_finding" in json.dumps(tool["tool_choice"]) and '"title"' not in json.dumps(tool["tools"])
    assert not any("give_" in json.dumps(each) for each in others)


async def test_what_tells_a_model_nothing_is_not_sent(server: FaultServer, make: MakeModel, provider: Provider) -> None:
    class Part(BaseModel):
        """A note for those who read the code."""

        words: str = "default words"
        title: str = Field("", description="The heading.")

    class Whole(BaseModel):
        parts: list[Part]

    server.push(said("tool", '{"parts": []}'))
    await make(provider, structured="tool").structured(REQUEST, Whole)
    sent = json.dumps(server.log[0]["body"]["tools"])
    assert '"words"' in sent and '"title"' in sent and "The heading." in sent
    assert "those who read the code" not in sent and "default words" not in sent


async def test_two_repairs_tell_the_model_what_was_wrong(
    server: FaultServer, make: MakeModel, provider: Provider, mode: StructuredMode
) -> None:
    bad = json.dumps({"angle": "mood", "quotes": [], "sure": 1})
    server.push(said(mode, bad), said(mode, '{"angle": "time"'), said(mode, TEXT))
    value, answer = await make(provider, structured=mode).structured(REQUEST, Finding)
    assert value.sure == 3
    assert len(server.log) == 3
    assert "'time' or 'place'" in json.dumps(server.log[1]["body"]["messages"])
    assert answer.usage.input_tokens == tokens_in(server)


async def test_after_two_repairs_the_raw_text_is_given_up_for_reading(
    server: FaultServer, make: MakeModel, provider: Provider, mode: StructuredMode
) -> None:
    server.push(said(mode, '{"angle": "mood"}') | {"times": -1})
    with pytest.raises(ModelError) as caught:
        await make(provider, structured=mode).structured(REQUEST, Finding)
    assert caught.value.fault is ModelFault.SCHEMA
    assert caught.value.partial == '{"angle": "mood"}'
    assert len(server.log) == 3
    assert caught.value.usage is not None
    assert caught.value.usage.input_tokens == tokens_in(server)


async def test_an_error_after_misses_tells_what_the_misses_cost(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    server.push({"content": "no"}, {"content": ""}, {"status": 401})
    with pytest.raises(ModelError) as caught:
        await make(provider, structured="prompted").structured(REQUEST, Finding)
    assert caught.value.fault is ModelFault.AUTH
    assert caught.value.usage is not None
    assert caught.value.usage.input_tokens == tokens_in(server, 2)


async def test_an_error_before_any_answer_cost_nothing_that_is_known(server: FaultServer, model: HttpModel) -> None:
    server.push({"status": 401})
    with pytest.raises(ModelError) as caught:
        await model.structured(REQUEST, Finding)
    assert caught.value.usage is None


@pytest.mark.parametrize(
    "wrapped",
    [
        f"```json\n{TEXT}\n```",
        f"Here is {{the answer}}:\n{TEXT}\nI hope that it helps.",
        f"<think>maybe {{}} or {TEXT.replace('3', '9')}</think>{TEXT}",
        TEXT.replace('"雨"', '"雨\n"'),
        json.dumps(GOOD).replace("\\u96e8", "\\u96e8\\u001b[31m"),
    ],
)
async def test_fences_chatter_and_thoughts_around_an_answer_do_no_harm(
    server: FaultServer, make: MakeModel, provider: Provider, wrapped: str
) -> None:
    server.push({"content": wrapped})
    value, _answer = await make(provider, structured="prompted").structured(REQUEST, Finding)
    assert value.sure == 3
    assert value.quotes[0].strip() == "雨"
    assert len(server.log) == 1


async def test_what_lies_within_a_broken_object_is_not_taken_for_the_answer(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    server.push({"content": '{"outer": ' + TEXT}, {"content": TEXT, "finish": "length"}, {"content": "no"})
    value, _answer = await make(provider, structured="prompted").structured(REQUEST, Finding)
    assert value.sure == 3
    assert len(server.log) == 2


async def test_prose_instead_of_a_tool_call_is_repaired(server: FaultServer, model: HttpModel) -> None:
    server.push({"content": "I think it is the time."}, {"content": ""}, said("tool", TEXT))
    value, _answer = await model.structured(REQUEST, Finding)
    assert value.sure == 3


async def test_a_refused_mode_is_left_and_not_tried_again(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    model = make(provider, structured="tool")
    server.push({"status": 400}, {"status": 400}, {"content": TEXT}, {"content": TEXT})
    await model.structured(REQUEST, Finding)
    await model.structured(REQUEST, Finding)
    assert ["tools" in entry["body"] for entry in server.log] == [True, False, False, False]
    assert len(server.log) == 4


async def test_an_error_that_no_mode_cures_teaches_nothing(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    model = make(provider, structured="tool")
    server.push({"status": 404, "times": 3}, said("tool", TEXT))
    with pytest.raises(ModelError) as caught:
        await model.structured(REQUEST, Finding)
    assert caught.value.fault is ModelFault.NOT_FOUND
    await model.structured(REQUEST, Finding)
    assert "tools" in server.log[-1]["body"]


async def test_a_wrong_key_is_asked_once(server: FaultServer, model: HttpModel) -> None:
    server.push({"status": 401})
    with pytest.raises(ModelError) as caught:
        await model.structured(REQUEST, Finding)
    assert caught.value.fault is ModelFault.AUTH
    assert len(server.log) == 1


async def test_a_tool_that_is_ignored_is_left_for_the_schema_and_that_is_remembered(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    model = make(provider, base_url=f"{server.url}/v1" if provider == "openai" else server.url)
    model.ladder = Ladder(Endpoint(provider=provider, model="mock", base_url="https://models.example/v1"))
    server.push({"content": "It is the time, I think."}, {"content": TEXT}, {"content": TEXT})
    await model.structured(REQUEST, Finding)
    await model.structured(REQUEST, Finding)
    assert ["tools" in entry["body"] for entry in server.log] == [True, False, False]
    assert model.ladder.known == {"tool": False, "native": True}


async def test_a_schema_without_effect_is_left_for_words(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    model = make(provider, structured="native")
    server.push({"content": "The answer is:\n" + TEXT}, {"content": TEXT})
    await model.structured(REQUEST, Finding)
    await model.structured(REQUEST, Finding)
    assert model.ladder.mode == "prompted"
    assert "JSON Schema" in json.dumps(server.log[-1]["body"]["messages"])


async def test_a_mode_that_worked_before_stays_after_one_answer_in_prose(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    model = make(provider, structured="tool")
    server.push(said("tool", TEXT), {"content": "Sorry?"}, {"content": TEXT}, said("tool", TEXT))
    for _time in range(3):
        await model.structured(REQUEST, Finding)
    assert ["tools" in entry["body"] for entry in server.log] == [True, True, False, True]


async def test_a_cut_answer_proves_nothing_about_a_mode(server: FaultServer, make: MakeModel) -> None:
    model = make("openai", structured="tool")
    server.push({"content": "Well", "finish": "length"}, {"content": TEXT})
    await model.structured(REQUEST, Finding)
    assert "tool" not in model.ladder.known


def test_servers_on_this_machine_are_asked_with_a_schema_first() -> None:
    for address in ("http://127.0.0.1:8080/v1", "http://localhost:11434/v1", "http://[::1]:1234/v1"):
        assert Ladder(Endpoint(model="m", base_url=address)).mode == "native"
    for address in ("", "https://api.openai.com/v1", "http://127.0.0.1.example.org/v1"):
        assert Ladder(Endpoint(model="m", base_url=address)).mode == "tool"


def test_what_an_earlier_session_learned_holds_and_the_last_mode_always_stays() -> None:
    endpoint = Endpoint(model="m")
    assert Ladder(endpoint, {"tool": False}).modes == ("native", "prompted")
    assert Ladder(endpoint, {"tool": False, "native": False, "prompted": False, "other": True}).modes == ("prompted",)


async def test_the_schema_names_every_key_and_its_limits_where_the_provider_takes_them(
    server: FaultServer, make: MakeModel, provider: Provider
) -> None:
    class Some(BaseModel):
        words: list[str] = Field(default_factory=list, json_schema_extra={"maxItems": 3})
        maxItems: int = 0  # noqa: N815  # a property may have the name of a keyword

    for mode in ("tool", "native"):
        server.push(said(mode, '{"words": [], "maxItems": 1}'))
        await make(provider, structured=mode).structured(REQUEST, Some)
    tool, native = (json.dumps(entry["body"]) for entry in server.log)
    for sent in (tool, native):
        assert '"required": ["words", "maxItems"]' in sent and '"maxItems": {"type": "integer"}' in sent
    assert '"maxItems": 3' in tool
    assert ('"maxItems": 3' in native) is (provider == "openai")


async def test_an_answer_cut_off_within_its_first_item_is_asked_for_again_in_short(
    server: FaultServer, make: MakeModel, provider: Provider, mode: StructuredMode
) -> None:
    server.push(said(mode, '{"angle": "ti') | {"finish": "length"}, said(mode, TEXT))
    value, _answer = await make(provider, structured=mode).structured(REQUEST, Finding)
    assert value == Finding(angle="time", quotes=["雨"], sure=3)
    sent = json.dumps(server.log[-1]["body"], ensure_ascii=False)
    assert "cut off at its length limit" in sent and "at most 3 items in each list" in sent
    assert "did not fit" not in sent


class Reading(StructuredAnswer):
    facts: list[str]
    moments: list[str]
    vows: list[str]


async def test_of_an_earlier_answer_only_what_could_not_be_read_is_asked_for(
    server: FaultServer, make: MakeModel, provider: Provider, mode: StructuredMode
) -> None:
    unread = ("moments[1]", "vows")
    earlier = Reading(facts=["It rained."], moments=["at dusk"], vows=[], unread=unread).model_dump_json()
    server.push(said(mode, json.dumps({"facts": [], "moments": ["at dawn"], "vows": ["to come"]})))
    value, answer = await make(provider, structured=mode).structured(replace(REQUEST, earlier=earlier), Reading)
    assert value == Reading(facts=["It rained."], moments=["at dusk", "at dawn"], vows=["to come"]) and answer.whole
    (entry,) = server.log
    *_asked, shown, words = entry["body"]["messages"]
    assert "Still missing: moments[1], vows" in json.dumps(words)
    assert "It rained." in json.dumps(shown) and "[]" not in json.dumps(shown) and "unread" not in json.dumps(shown)
