"""`validate`: lines, codes and exit codes; documents of every form; hostile ones; and what `--fix` writes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call
from tests.effort import effort

SOUND = {"id": "w", "nodes": [{"id": "plan", "params": {"prompt": [{"kind": "text", "text": "写一章。"}]}}]}
SLIP = {
    "id": "w",
    "nodes": [
        *SOUND["nodes"],
        {"id": "b", "params": {"prompt": [{"kind": "text", "text": "{{result_of.plna.text}}"}]}},
    ],
}
VELVETFLOW = {
    "workflow_name": "Notify",
    "description": "",
    "nodes": [
        {"id": "a", "type": "action", "action_id": "mail.send", "params": {"to": "x"}},
        {"id": "b", "type": "action", "action_id": "mail.send", "params": {"to": {"__from__": "result_of.a.id"}}},
    ],
}
SMARTTAVERN = {
    "id": "main",
    "version": 1,
    "entry": "root",
    "nodes": [
        {"id": "root", "type": "Sequence", "children": ["m"]},
        {"id": "m", "type": "Map", "params": {"set": {"a": "b"}}},
    ],
}
FLOWCABAL = {"name": "t", "nodes": [{"id": "1", "label": "A", "systemPrompt": [], "userPrompt": []}]}
ACTIONS = [
    {
        "action_id": "mail.send",
        "description": "sends",
        "arg_schema": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
        "output_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
    }
]


@pytest.fixture
def put(tmp_path: Path):
    """Writes a document to a file and gives its path."""

    def put(content: Any, name: str = "w.json") -> Path:
        file = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        file.write_text(text, encoding="utf-8")
        return file

    return put


def test_a_valid_document_exits_with_0(call: Call, put) -> None:
    checked = call("validate", put(SOUND))
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.strip()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"id": "风"}'.encode("gb18030"), "Its text is not UTF-8."),
        (b'{"id": ' + b"[" * 200_000, "It is too large or nested too deeply."),
    ],
)
def test_a_document_that_cannot_be_read_is_2_and_says_why(
    call: Call, tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "odd.json"
    file.write_bytes(content)
    refused = call("validate", file)
    assert refused.code == 2
    assert said in refused.err


def test_findings_are_numbered_lines_with_code_node_and_field(call: Call, put) -> None:
    checked = call("validate", put(SLIP))
    assert checked.code == 1
    assert checked.out.startswith("1. [MISSING_REFERENCE] (node=b, field=prompt[0].text) ")
    assert "result_of.plan.text" in checked.out.splitlines()[1]


def test_warnings_alone_let_a_workflow_run(call: Call, put) -> None:
    document = SOUND | {"nodes": [*SOUND["nodes"], {**SOUND["nodes"][0], "id": "z"}]}
    edge = {"source": "plan", "target": "z"}
    checked = call("validate", put(document | {"edges": [edge, edge]}))
    assert checked.code == 0
    assert "[DOUBLE_EDGE]" in checked.out


def test_findings_as_json(call: Call, put) -> None:
    told = json.loads(call("validate", put(SLIP), "--json").out)
    assert (told["valid"], told["dialect"]) == (False, "ours")
    assert told["findings"][0]["code"] == "MISSING_REFERENCE"


@pytest.mark.parametrize(
    ("document", "dialect"),
    [(SOUND, "ours"), (VELVETFLOW, "velvetflow"), (SMARTTAVERN, "smarttavern"), (FLOWCABAL, "flowcabal")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_documents_of_every_system_are_recognised(call: Call, put, document, dialect) -> None:
    assert json.loads(call("validate", put(document), "--json").out)["dialect"] == dialect


def test_yaml_is_read_and_its_truth_values_are_branches(call: Call, put) -> None:
    text = (
        "id: w\nnodes:\n- {id: c, kind: condition, params: {kind: not_empty, source: input.x}}\n"
        "- id: a\n  params: {prompt: [{kind: text, text: 12:30}]}\nedges:\n- {source: c, target: a, condition: true}\n"
    )
    checked = call("validate", put(text, "w.yaml"))
    assert checked.code in (0, 1)
    assert "UNKNOWN_BRANCH" not in checked.out and "Traceback" not in checked.err


def test_a_registry_of_actions_is_checked_against(call: Call, put) -> None:
    file, registry = put(VELVETFLOW), put(ACTIONS, "actions.json")
    assert call("validate", file, "--actions", registry).code == 0
    other = put([ACTIONS[0] | {"action_id": "mail.post"}], "others.json")
    assert "[UNKNOWN_ACTION_ID]" in call("validate", file, "--actions", other).out
    assert call("validate", file, "--actions", put("[", "broken.json")).code == 2


def test_the_normal_form_goes_to_standard_output_alone(call: Call, put) -> None:
    shown = call("validate", put(VELVETFLOW), "--print-normalized")
    assert [node["kind"] for node in json.loads(shown.out)["nodes"]] == ["action", "action"]
    assert "Notify" in shown.out and shown.err


def test_a_fix_is_shown_and_written_only_when_asked(call: Call, put) -> None:
    file = put(SLIP)
    before = file.read_text(encoding="utf-8")
    shown = call("validate", file, "--fix")
    assert shown.code == 0
    assert '-            "text": "{{result_of.plna.text}}"' in shown.out
    assert '+            "text": "{{result_of.plan.text}}"' in shown.out
    assert file.read_text(encoding="utf-8") == before
    assert call("validate", file, "--fix", "--write").code == 0
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["nodes"][1]["params"]["prompt"][0]["text"] == "{{result_of.plan.text}}"
    assert set(written) == {"id", "nodes"}, "nothing that was not there is added"
    assert "写一章" in file.read_text(encoding="utf-8")


def test_yaml_is_not_written_over(call: Call, put) -> None:
    text = "# my notes\nid: w\nnodes:\n- {id: a, kind: promt, params: {prompt: [{kind: text, text: x}]}}\n"
    file = put(text, "w.yaml")
    tried = call("validate", file, "--fix", "--write")
    assert tried.code == 2 and "convert" in tried.err
    assert file.read_text(encoding="utf-8") == text


def test_all_mistakes_of_a_flowcabal_document_are_told_at_once(call: Call, put) -> None:
    nodes = [
        {"id": "1", "label": "A", "systemPrompt": 7},
        {"id": "2", "systemPrompt": [{"kind": "ref"}], "userPrompt": []},
    ]
    checked = call("validate", put(json.dumps({"nodes": nodes}), "w.json"), "--json")
    assert checked.code == 1
    assert [one["field"] for one in json.loads(checked.out)["findings"]] == [
        "name",
        "nodes[0].systemPrompt",
        "nodes[0].userPrompt",
        "nodes[1].label",
        "nodes[1].systemPrompt[0].nodeId",
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("w.json", '{\n "id": "w",\n "nodes": [{"id": "a" "kind": 1}]\n}', "line 3, column 23"),
        ("w.json", "", "not an object"),
        ("w.json", "[1]", "not an object"),
        ("w.json", '{"id": "w"}', "no list of nodes"),
        ("w.json", '{"id": "w", "nodes": [], "nodes": [{"id": "a"}]}', "twice"),
        ("w.json", '{"id": "w", "nodes": [{"id": "a", "params": {"x": NaN}}]}', "number"),
        ("w.json", '{"id": "w", "nodes": ' + "[" * 5000 + "]" * 5000 + "}", "too deep"),
        ("w.json", '{"id": "w", "nodes": [{"id": "a", "params": {"x": ' + "9" * 5000 + "}}]}", "too many digits"),
        ("w.yaml", "id: w\nnodes:\n  - id: a\n   kind: b\n", "line 4, column 4"),
        ("w.yaml", "id: w\nnodes: [!!python/object/apply:os.system ['true']]\n", "line 2"),
    ],
    ids=["json", "empty", "list", "no nodes", "doubled", "nan", "deep", "digits", "yaml", "yaml object"],
)
def test_what_cannot_be_read_is_2_and_says_where(call: Call, put, name, text, said) -> None:
    checked = call("validate", put(text, name))
    assert checked.code == 2
    assert said in checked.err and name in checked.err
    assert "Traceback" not in checked.err


def bomb(line: str) -> str:
    """Nine levels, each nine times what is below."""
    letters = "abcdefghi"
    rows = [line.format(name=name, below=",".join([f"*{below}"] * 9)) for below, name in pairwise(letters)]
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("million.json", '{"id":"w","nodes":[' + ",".join(['{"id":"a"}'] * 1_000_000) + "]}"),
        ("large.json", '{"id":"w","nodes":[],"description":"' + "x" * 49_000_000 + '"}'),
        ("aliases.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\n" + bomb("{name}: &{name} [{below}]") + "\nid: w\nnodes: *i\n"),
        ("merges.yaml", "a: &a {x: 1}\n" + bomb("{name}: &{name} {{<<: [{below}]}}") + "\nid: w\nnodes: []\n"),
    ],
    ids=["million nodes", "large file", "aliases", "merges"],
)
def test_what_would_fill_the_memory_is_refused_at_once(call: Call, put, name, text) -> None:
    file = put(text, name)
    with effort(5_000_000):
        checked = call("validate", file)
    assert checked.code == 2 and name in checked.err and "Traceback" not in checked.err


def test_control_characters_of_a_document_are_never_printed(call: Call, put) -> None:
    checked = call("validate", put({"id": "w", "nodes": [{"id": "a\x1b[2J", "kind": "x\x1b]0;title\x07\ny"}]}))
    assert checked.code == 1
    assert "\x1b" not in checked.out and "\x07" not in checked.out


def test_a_workflow_of_a_project_is_checked_with_those_that_it_calls(demo: Path, call: Call) -> None:
    assert call("validate", demo, "chapter").code == 0
    unknown = call("validate", demo, "nothing")
    assert unknown.code in (1, 2) and "Traceback" not in unknown.err
    assert call("validate", demo).code == 2, "which of its workflows?"
