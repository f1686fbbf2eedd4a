"""Answers that do not keep to their schema, made from the schema of every structured question."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from flowcabal_tui.agents.comparing.seams import SeamChanges
from flowcabal_tui.agents.context.scene_question import SceneAnswer
from flowcabal_tui.agents.impact.patching import PlacePatch
from flowcabal_tui.agents.shapes.claims import Claims, Readings
from flowcabal_tui.agents.shapes.curation import KeepAnswer, Line, Overview, ProfileAnswer, ProfilesAnswer
from flowcabal_tui.agents.shapes.story import LONGEST_NAME, StoryAnswer
from flowcabal_tui.domain.answer_schema import StructuredAnswer, answer_schema
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import StructuredMode
from flowcabal_tui.domain.providers import Provider
from flowcabal_tui.models.salvage import read_text
from tests.faultserver import FaultServer
from tests.models.calls import REQUEST
from tests.models.conftest import MakeModel

SHAPES: tuple[type[BaseModel], ...] = (
    Claims, Readings, StoryAnswer, Overview, ProfileAnswer, ProfilesAnswer, KeepAnswer, Line, SceneAnswer, PlacePatch,
    SeamChanges,
)  # fmt: skip
MODES: tuple[StructuredMode, ...] = ("tool", "native", "prompted")
OTHERS: tuple[Any, ...] = (None, 7, "words", [], {}, [3], [[]], {"error": "busy"})


def example(annotation: Any, name: str, number: int) -> Any:
    """A value of a field, told apart by `number`."""
    if get_origin(annotation) is Annotated:
        return example(get_args(annotation)[0], name, number)
    if get_origin(annotation) is list:
        return [example(get_args(annotation)[0], name, number + each) for each in (1, 2)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {
            key: example(field.annotation, key, number)
            for key, field in annotation.model_fields.items()
            if key != "unread"
        }
    if get_args(annotation):
        return get_args(annotation)[0]
    return {bool: True, float: 0.5, int: number}.get(annotation, f"{name} {number}")


def good(shape: type[BaseModel]) -> dict[str, Any]:
    found: dict[str, Any] = example(shape, "", 0)
    return found


def lists_of(value: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: part for name, part in value.items() if isinstance(part, list)}


def required(shape: type[BaseModel]) -> list[str]:
    return [name for name, field in shape.model_fields.items() if field.is_required()]


def wrong(shape: type[BaseModel]) -> Iterator[tuple[str, str, dict[str, list[Any]]]]:
    """(what is wrong, the text, the items that are still whole in it by their list)."""
    whole = good(shape)
    for key in whole:
        others = {name: items for name, items in lists_of(whole).items() if name != key}
        yield f"{key} dropped", json.dumps({k: v for k, v in whole.items() if k != key}), others
        renamed = {(f"the_{k}_list" if k == key else k): v for k, v in whole.items()}
        yield f"{key} renamed", json.dumps(renamed), others
        for other in (each for each in OTHERS if each != [] or not isinstance(whole[key], list)):
            yield f"{key} is {other}", json.dumps({**whole, key: other}), others
    for key, items in lists_of(whole).items():
        for part in items[0] if isinstance(items[0], dict) else ():
            rest = {**lists_of(whole), key: items[1:]}
            first = {k: v for k, v in items[0].items() if k != part}
            yield f"{key}.{part} dropped", json.dumps({**whole, key: [first, *items[1:]]}), rest
            for other in OTHERS:
                spoilt = {**items[0], part: other}
                yield f"{key}.{part} is {other}", json.dumps({**whole, key: [spoilt, *items[1:]]}), rest
    text = json.dumps(whole)
    everything = lists_of(whole)
    yield "nested", json.dumps({"answer": whole}), everything
    yield "nested twice", json.dumps({"result": {"answer": whole}}), everything
    yield "in a list", json.dumps([whole]), everything
    yield "a text", json.dumps(text), everything
    yield "with prose", f"Here is {{the answer}}:\n{text}\nI hope that {{it}} helps.", everything
    for key, items in everything.items():
        one_list = list(everything) == [key] and required(shape) == [key]
        yield f"bare {key}", json.dumps(items), {key: items} if one_list else {}
        yield f"one of {key}", json.dumps(items[0]), {key: items[:1]} if one_list else {}
    for broken in ("{}", "[]", "null", "7", "I found nothing.", '{"error": {"message": "busy", "code": 1}}', "{the}"):
        yield broken, broken, {}
    for tenth in range(1, 10):
        yield f"cut at {tenth}/10", text[: len(text) * tenth // 10], {}


def judge(shape: type[BaseModel], what: str, value: BaseModel, items: dict[str, list[Any]]) -> None:
    """Nothing that is missing passes for nothing found, and no whole item is lost."""
    said, unread = value.model_dump(mode="json"), getattr(value, "unread", ())
    places = {place.partition("[")[0] for place in unread}
    for name in required(shape):
        if isinstance(said[name], list):
            assert said[name] or name in places, (what, name)
        elif not what.startswith(f"{name} is "):
            assert said[name] == good(shape)[name] or name in places, (what, name)
    for name, whole in items.items():
        for item in whole:
            assert item in said[name], (what, name)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_whole_answer_is_read_whole(shape: type[BaseModel]) -> None:
    found, problem = read_text(json.dumps(good(shape)), shape, cut=False)
    assert found is not None and problem == "" and found.unread == ()
    assert found.as_shape(shape) == shape.model_validate(good(shape))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_wrong_answer_passes_and_no_whole_item_is_lost(shape: type[BaseModel]) -> None:
    for what, text, items in wrong(shape):
        found, _problem = read_text(text, shape, cut=False)
        value = found.as_shape(shape) if found is not None else None
        if value is not None:
            judge(shape, what, value, items)
        elif issubclass(shape, StructuredAnswer):
            assert not any(items.values()) or not any(name in items for name in required(shape)), what


def said(mode: StructuredMode, text: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": "give_answer", "arguments": text}]} if mode == "tool" else {"content": text}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [Claims, Readings, StoryAnswer, SceneAnswer], ids=lambda shape: shape.__name__)
async def test_no_wrong_answer_passes_over_the_wire(
    server: FaultServer, make: MakeModel, provider: Provider, mode: StructuredMode, shape: type[StructuredAnswer]
) -> None:
    """Every eighth answer: all of them are read above."""
    read, refused = 0, set[ModelFault]()
    for what, text, items in islice(wrong(shape), 0, None, 8):
        model = make(provider, structured=mode)
        server.push(*[said(mode, text)] * 3)
        try:
            value, answer = await model.structured(REQUEST, shape)
        except ModelError as error:
            refused.add(error.fault)
        else:
            judge(shape, what, value, items)
            assert answer.whole is not bool(value.unread)
            read += 1
        server.clear()
    assert read and refused == {ModelFault.SCHEMA}


async def test_unread_parts_are_asked_for_again_and_joined(server: FaultServer, make: MakeModel) -> None:
    whole = good(StoryAnswer)
    first = {**{name: part for name, part in whole.items() if name != "facts"}, "moments": [{"when": "?"}]}
    rest = {name: [] for name in lists_of(whole)} | {"facts": whole["facts"], "moments": whole["moments"]}
    server.push(said("tool", json.dumps(first)), said("tool", json.dumps(rest)))
    value, answer = await make("openai", structured="tool").structured(REQUEST, StoryAnswer)
    assert value == StoryAnswer.model_validate(whole) and answer.whole
    asked = json.dumps(server.log[1]["body"]["messages"])
    assert "moments[0], facts" in asked and "Give only them again" in asked


async def test_a_cut_answer_goes_on_in_smaller_parts(server: FaultServer, make: MakeModel) -> None:
    whole = good(Readings)
    text = json.dumps(whole)
    second = json.dumps({"readings": whole["readings"][1:]})
    server.push({"content": text[: len(text) * 6 // 10], "finish": "length"}, {"content": second})
    value, answer = await make("openai", structured="prompted").structured(REQUEST, Readings)
    assert value == Readings.model_validate(whole) and answer.whole
    asked = json.dumps(server.log[1]["body"]["messages"])
    assert "cut off at its length limit" in asked and "at most 1 more in each list" in asked


async def test_a_server_that_enforces_the_schema_is_asked_with_a_schema_of_what_is_missing(
    server: FaultServer, make: MakeModel
) -> None:
    """With the whole schema it would begin with the first list again, and be cut off there again."""
    whole = good(StoryAnswer)
    text = json.dumps({"entities": whole["entities"], "relations": whole["relations"]})
    rest = {name: part for name, part in whole.items() if name != "entities"}
    server.push({"content": text[:-40], "finish": "length"}, {"content": json.dumps(rest)})
    value, answer = await make("openai", structured="native").structured(REQUEST, StoryAnswer)
    assert answer.whole and value.entities == StoryAnswer.model_validate(whole).entities
    assert value.facts == StoryAnswer.model_validate(whole).facts
    first, second = [entry["body"]["response_format"]["json_schema"]["schema"] for entry in server.log]
    assert "entities" in first["properties"] and "NamedThing" in first["$defs"]
    assert second["required"] == list(second["properties"])
    assert second["required"][:2] == ["relations", "facts"]
    assert {part["maxItems"] for part in second["properties"].values() if part["type"] == "array"} == {1}
    assert "SaidFact" in second["$defs"] and "NamedThing" not in second["$defs"]


def test_names_have_a_longest_length_in_the_schema_and_a_longer_one_is_still_read() -> None:
    """A small model repeats a name until its answer is cut; a server that keeps the schema ends it."""
    things = answer_schema(StoryAnswer)["$defs"]
    named, fact = things["NamedThing"]["properties"], things["SaidFact"]["properties"]
    assert named["name"]["maxLength"] == named["aliases"]["items"]["maxLength"] == LONGEST_NAME
    assert fact["about"]["items"] == {"type": "string", "maxLength": LONGEST_NAME}
    whole = good(StoryAnswer)
    whole["entities"][0]["name"] = "Squeers" * 50
    found, problem = read_text(json.dumps(whole), StoryAnswer, cut=False)
    assert found is not None and not problem


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_each_text_has_a_longest_length_in_the_schema_and_a_longer_one_is_still_read(shape: type[BaseModel]) -> None:
    """A small model repeats a sentence as well as a name."""
    free = [part for part in _strings(answer_schema(shape)) if "enum" not in part and "maxLength" not in part]
    assert not free or shape is SceneAnswer  # the items of one of its lists are names
    whole = _lengthened(good(shape))
    assert shape.model_validate(whole)


_LONG = frozenset({"quote", "sentence", "draft_quote", "source_quote", "detail", "text"})


def _strings(schema: Any) -> list[dict[str, Any]]:
    parts = schema if isinstance(schema, list) else list(schema.values()) if isinstance(schema, dict) else []
    own = [schema] if isinstance(schema, dict) and schema.get("type") == "string" else []
    return own + [found for part in parts for found in _strings(part)]


def _lengthened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: part * 99 if name in _LONG else _lengthened(part) for name, part in value.items()}
    return [_lengthened(part) for part in value] if isinstance(value, list) else value


async def test_an_error_in_a_repair_loses_nothing_that_was_read(server: FaultServer, make: MakeModel) -> None:
    whole = good(Readings)
    server.push(said("tool", json.dumps({"readings": [whole["readings"][0], {"angle": "echoes"}]})), {"status": 401})
    value, answer = await make("openai", structured="tool").structured(REQUEST, Readings)
    assert [each.draft_quote for each in value.readings] == [whole["readings"][0]["draft_quote"]]
    assert value.unread == ("readings[1]",) and not answer.whole
