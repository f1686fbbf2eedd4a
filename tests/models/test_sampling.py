"""Parameters of sampling: set by the node, else by the endpoint; in both wire forms and in keys."""

from __future__ import annotations

from typing import Any

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.models.registry import make_model
from flowcabal_tui.nodes.kinds.prompt import KIND as PROMPT
from flowcabal_tui.runner.keys import request_key

GIVEN: dict[str, Any] = {
    "top_p": 0.9, "frequency_penalty": 0.5, "presence_penalty": -0.5, "stop": ("END", "\n\n"), "seed": 7,
}  # fmt: skip


def request(**params: Any) -> ModelRequest:
    return ModelRequest((Message("user", "Write."),), parameters=PromptParams(**params).sampling)


def endpoint(provider: str = "openai", **fields: Any) -> Endpoint:
    return Endpoint(provider=provider, model="m", base_url="http://127.0.0.1:9/v1", **fields)  # type: ignore[arg-type]  # a parametrised name


def body(asked: ModelRequest, at: Endpoint) -> dict[str, Any]:
    found: dict[str, Any] = make_model(at, "key").body(asked)
    return found


def test_a_node_sends_all_of_them():
    sent = body(request(**GIVEN), endpoint())
    assert {name: sent[name] for name in GIVEN} == GIVEN


def test_the_other_wire_form_gets_what_it_knows_by_its_names():
    sent = body(request(**GIVEN), endpoint("anthropic"))
    assert (sent["top_p"], sent["stop_sequences"]) == (0.9, ("END", "\n\n"))
    assert not {"stop", "seed", "frequency_penalty", "presence_penalty"} & set(sent)


def test_what_a_node_sets_wins_over_the_endpoint():
    at = endpoint(seed=1, top_p=0.5)
    assert {name: body(request(seed=2), at)[name] for name in ("seed", "top_p")} == {"seed": 2, "top_p": 0.5}


def test_another_value_is_another_request_and_none_is_the_request_of_before():
    keys = {request_key(PROMPT, request(**{name: value}), endpoint()) for name, value in GIVEN.items()}
    plain = request_key(PROMPT, request(), endpoint())
    assert len(keys | {plain}) == 6
    assert request_key(PROMPT, request(), endpoint(seed=3)) not in keys | {plain}
    assert request_key(PROMPT, request(), endpoint(seed=7)) == request_key(PROMPT, request(seed=7), endpoint())


def test_what_is_not_set_is_not_written():
    assert not set(GIVEN) & set(PromptParams().model_dump(mode="json"))
    assert PromptParams(seed=0).model_dump(mode="json")["seed"] == 0


WRONG: list[dict[str, Any]] = [
    {"top_p": 0}, {"top_p": 2}, {"frequency_penalty": 3}, {"stop": ("",)}, {"stop": tuple("12345")}, {"seed": -1},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_what_no_provider_takes_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PromptParams(**wrong)
