"""Results without the action."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.actions.errors import ActionFileError, SimulationError
from flowcabal_tui.actions.simulation import load_simulations, simulate

PARAMS = {"n": 3, "ok": True, "scenes": [{"title": "雨夜"}], "none": None, "name": "林"}


def given(template: Any, **entry: Any) -> dict[str, Any]:
    return {"a": {"result": template, **entry}}


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{n}}", 3),
        ("{{ ok }}", True),
        ("{{none}}", None),
        ("{{scenes}}", [{"title": "雨夜"}]),
        ("{{scenes[0].title}}", "雨夜"),
        ("第{{n}}章：{{name}}", "第3章：林"),
        ("{{n}}{{n}}", "33"),
        ({"count": "{{n}}", "list": ["{{name}}", 7, None]}, {"count": 3, "list": ["林", 7, None]}),
        ("{{gone|default('全部')}}", "全部"),
        ("{{gone | default(0.5)}}", 0.5),
        ("{{n|default(9)}}", 3),
        ("{{ }} { {n} } {{}}", "{{ }} { {n} } {{}}"),
    ],
)
def test_a_slot_keeps_its_type_when_it_is_the_whole_text(template: Any, value: Any) -> None:
    found = simulate("a", PARAMS, given(template))
    assert found == value and type(found) is type(value)


def test_params_lie_over_the_defaults() -> None:
    data = given(["{{n}}", "{{speed}}"], defaults={"n": 1, "speed": "slow"})
    assert simulate("a", {"n": 2}, data) == [2, "slow"]


def test_a_key_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(SimulationError, match="needs titel") as caught:
        simulate("a", {"title": "x", "n": 1}, given({"t": "The {{titel}}"}))
    assert caught.value.detail == "Given: n, title."
    with pytest.raises(SimulationError, match=r"needs scenes\[4\]"):
        simulate("a", PARAMS, given("{{scenes[4]}}"))


def test_an_action_without_a_template_says_that_it_was_simulated() -> None:
    answer = {"status": "simulated", "action_id": "a", "params_used": {"n": 1}}
    assert simulate("a", {"n": 1}, {}) == answer
    assert simulate("a", {}, {"a": {"defaults": {"n": 1}}}) == answer


def test_as_in_the_original_everything_becomes_text_and_the_unknown_stays() -> None:
    template = {"n": "{{n}}", "ok": "{{ok}}", "none": "{{none}}", "gone": "{{gone}}", "list": "{{scenes}}", "x": 1}
    assert simulate("a", PARAMS, given(template), strings=True) == {
        "n": "3",
        "ok": "True",
        "none": "None",
        "gone": "{{gone}}",
        "list": "[{'title': '雨夜'}]",
        "x": 1,
    }


def test_a_value_that_looks_like_a_slot_is_not_filled_again() -> None:
    assert simulate("a", {"x": "{{y}}", "y": "secret"}, given("<{{x}}>")) == "<{{y}}>"


def test_what_a_simulation_gives_can_be_changed_without_changing_the_params() -> None:
    params: dict[str, Any] = {"list": [1]}
    simulate("a", params, given("{{list}}")).append(2)
    simulate("a", params, {})["params_used"]["list"].append(2)
    assert params == {"list": [1]}


def test_templates_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "simulation_data.json"
    path.write_text(json.dumps(given("{{n}}")), encoding="utf-8")
    assert simulate("a", {"n": 4}, load_simulations(path)) == 4


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"a": }', "line 1, column 7"),
        ("[]", "must contain an object"),
        ('{"b": []}', "b: it must be an object"),
        ('{"a": {"defaults": [1]}}', "a: it must be"),
        ('{"a": {"result": NaN}}', "NaN"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "simulation_data.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ActionFileError) as caught:
        load_simulations(path)
    assert words in str(caught.value)
