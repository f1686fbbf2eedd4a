"""Actions out of JSON files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.actions.errors import ActionError, ActionFileError, UnknownAction
from flowcabal_tui.actions.registry import Action, ActionRegistry
from flowcabal_tui.actions.values import LARGEST

COUNT = {
    "action_id": "text.count.v1",
    "description": "Counts the words of a chapter.",
    "arg_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def written(folder: Path, content: Any, name: str = "actions.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def refusal(*paths: Path) -> ActionFileError:
    with pytest.raises(ActionFileError) as caught:
        ActionRegistry.load(paths)
    return caught.value


def test_an_action_is_read_with_all_that_it_says(tmp_path: Path) -> None:
    full = {
        **COUNT,
        "name": "数字数",
        "domain": "text",
        "tags": ["count", "字数"],
        "output_schema": {"type": "object"},
        "enabled": False,
        "tool_name": "count",
        "requires_approval": True,
        "allowed_roles": ["editor"],
        "command": "wc",
    }
    action = ActionRegistry.load([written(tmp_path, [full])]).get("text.count.v1")
    assert action.model_dump(exclude_none=True) == {**full, "tags": ("count", "字数"), "allowed_roles": ("editor",)}
    assert action.title == "数字数"


def test_params_schema_is_another_name_of_arg_schema(tmp_path: Path) -> None:
    other = {"params_schema" if key == "arg_schema" else key: value for key, value in COUNT.items()}
    assert ActionRegistry.load([written(tmp_path, [other])]).all() == (Action.model_validate(COUNT),)


def test_a_folder_is_read_by_file_names_without_its_simulations(tmp_path: Path) -> None:
    written(tmp_path, [{**COUNT, "action_id": "b"}], "two/hr.json")
    written(tmp_path, {**COUNT, "action_id": "a"}, "one.json")
    written(tmp_path, {"a": {"result": 1}}, "simulation_data.json")
    assert [action.action_id for action in ActionRegistry.load([tmp_path]).all()] == ["a", "b"]


def test_malformed_json_is_refused_with_line_and_column(tmp_path: Path) -> None:
    path = written(tmp_path, '[\n  {"action_id": "a",}\n]')
    error = refusal(path)
    assert str(path) in error.title and "line 2, column 21" in error.detail and error.exit_code == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"action_id": None}, "action_id must be text"),
        ({"description": ...}, "description is missing"),
        ({"arg_schema": ...}, "arg_schema is missing"),
        ({"arg_schema": []}, "arg_schema must be an object"),
        ({"arg_schema": {"type": "strng"}}, "arg_schema is not a JSON Schema"),
        ({"requires_approval": "yes"}, "requires_approval must be true or false"),
        ({"requires_approval": 1}, "requires_approval must be true or false"),
        ({"allowed_roles": "editor"}, "allowed_roles must be a list"),
        ({"allowed_roles": [1]}, "allowed_roles.0 must be text"),
        ({"require_approval": True}, "require_approval is unknown. Did you mean requires_approval?"),
        ({"command": "a", "function": "b"}, "only one is allowed"),
    ],
)
def test_an_entry_that_cannot_be_used_is_named_with_its_fault(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    entry = {key: value for key, value in {**COUNT, **change}.items() if value is not ...}
    detail = refusal(written(tmp_path, [{**COUNT, "action_id": "good"}, entry])).detail
    assert "actions.json, entry 2" in detail and words in detail


def test_all_faults_are_told_at_once_and_many_are_counted(tmp_path: Path) -> None:
    detail = refusal(written(tmp_path, ["text", *[{**COUNT, "enabled": 0, "action_id": f"a{n}"} for n in range(20)]]))
    lines = detail.detail.splitlines()
    assert len(lines) == 13 and lines[0].endswith("an action must be an object") and lines[-1] == "and 9 more"


def test_an_id_that_stands_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    detail = refusal(written(tmp_path, [COUNT], "one.json"), written(tmp_path, [COUNT], "two.json")).detail
    assert "two.json, entry 1" in detail and "one.json, entry 1" in detail


def test_absent_and_undecodable_and_bottomless_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'["\xe9"]')
    assert "Cannot read" in refusal(tmp_path / "nowhere.json").title
    assert "Cannot read" in refusal(tmp_path / "latin.json").title
    assert "nested too deeply" in refusal(written(tmp_path, "[" * 200_000)).title
    os.truncate(tmp_path / "latin.json", LARGEST + 1)
    assert "larger than" in refusal(tmp_path / "latin.json").detail


def test_text_of_a_file_is_cleaned(tmp_path: Path) -> None:
    path = written(tmp_path, [{**COUNT, "name": "\x1b[31mred\x1b[0m\u202e"}])
    assert ActionRegistry.load([path]).all()[0].name == "red"


def test_an_unknown_action_names_the_closest() -> None:
    registry = ActionRegistry([Action.model_validate(COUNT)])
    with pytest.raises(UnknownAction, match=r"no action text\.cuont\.v1") as caught:
        registry.get("text.cuont.v1")
    assert caught.value.advice == "Did you mean text.count.v1?"
    with pytest.raises(UnknownAction) as caught:
        registry.get("?")
    assert "text.count" not in str(caught.value)


def test_a_role_sees_what_it_may_use_and_is_switched_on() -> None:
    registry = ActionRegistry(
        Action.model_validate({**COUNT, "action_id": name, "allowed_roles": roles, "enabled": enabled})
        for name, roles, enabled in (
            ("all", [], True),
            ("editors", ["editor"], True),
            ("authors", ["author", "editor"], True),
            ("off", [], False),
        )
    )
    assert [action.action_id for action in registry.for_role("author")] == ["all", "authors"]
    assert [action.action_id for action in registry.for_role("")] == ["all"]
    assert len(registry.all()) == 4


def installed(folder: Path, name: str, module: str, entries: str) -> None:
    """Lays a distribution into `folder` as pip would."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[flowcabal_tui.actions]\n{entries}\n")
    (folder / f"{name}_functions.py").write_text(module)


def test_a_plugin_brings_functions_and_its_faults_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(
        tmp_path,
        "counting",
        "LIMIT = 3\ndef count(params):\n    return len(params)\n",
        "plugin_count = counting_functions:count\nplugin_limit = counting_functions:LIMIT\n"
        "plugin_gone = counting_functions:gone\nplugin_twice = counting_functions:count",
    )
    installed(tmp_path, "other", "def count(params): ...\n", "plugin_twice = other_functions:count")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = ActionRegistry()
    count = registry.function("plugin_count")
    assert count is not None and count({"a": 1}) == 1 and registry.function("other") is None
    for name, words in (
        ("plugin_limit", "counting_functions:LIMIT is not a function"),
        ("plugin_gone", "AttributeError"),
        ("plugin_twice", "counting, other"),
    ):
        with pytest.raises(ActionError, match=words):
            registry.function(name)
    sys.modules.pop("counting_functions", None)
