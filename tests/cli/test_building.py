"""`build`, `update` and `decide`: a wish, a suggestion that waits, and one new version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint

NAMES_WISH = "Put a step between draft and polish that checks the names."


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


ADD = tool("add_node", id="names", after="draft", params={"prompt": "Check the names.\n{{result_of.draft.text}}"})
READ = tool("set_prompt", node="polish", append="\n{{result_of.names.text}}")
HOTTER = tool("set_param", node="draft", field="temperature", value=1.5)
END = (tool("check"), tool("finish", explanation="Checks the names."))


@pytest.fixture
def book(tmp_path: Path, call: Call) -> Path:
    folder = tmp_path / "book"
    assert call("new", folder, "--offline", "--language", "en").code == 0
    return folder


def workflows(call: Call, book: Path) -> list[str]:
    return [line.split("\t")[0] for line in call("workflows", book).out.splitlines()]


def document(call: Call, book: Path, reference: str) -> dict[str, Any]:
    listed: list[dict[str, Any]] = json.loads(call("workflows", book, "--json").out)
    return next(each for each in listed if each["id"] == reference)


def test_a_wish_waits_as_a_suggestion_until_it_is_accepted(book: Path, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "suggested.json"
    before = workflows(call, book)
    ended = call("build", book, "Plan it, show me the plan, then draft and polish it.", "-o", out)
    assert ended.code == 3, ended.err
    assert "build-1" in ended.out
    assert workflows(call, book) == before
    assert [node["id"] for node in json.loads(out.read_text("utf-8"))["nodes"]] == ["plan", "write", "polish"]
    assert call("decide", book, "build-1", "approve").code == 0
    assert "workflow@1" in workflows(call, book)
    assert call("decide", book, "build-1", "approve").code == 1
    assert call("decide", book, "build-1", "undo").code == 0
    assert workflows(call, book) == before, "what was new is gone again"


def test_a_question_is_answered_and_the_build_goes_on(book: Path, call: Call, tmp_path: Path) -> None:
    ended = call("build", book, "Do it properly this time.", "--offline", "-o", tmp_path / "out.json")
    assert ended.code == 3 and not (tmp_path / "out.json").exists(), "a question is no document"
    assert "?" in ended.out
    ended = call("decide", book, "build-1", "answer:Draft the chapter, then polish it.")
    assert ended.code == 3
    assert "polish" in ended.out


def test_an_update_is_one_version_and_is_taken_back(book: Path, call: Call) -> None:
    before = document(call, book, "chapter")
    ended = call("update", book, "chapter", NAMES_WISH)
    assert ended.code == 3
    assert "      + {{result_of.check.text}}" in ended.out, "what comes into a prompt of the writer"
    assert "      - " not in ended.out, "nothing goes from it"
    assert call("decide", book, "build-1", "approve").code == 0
    after = document(call, book, "chapter")
    assert (before["version"], after["version"]) == (1, 2)
    assert [node for node in after["nodes"] if node["id"] in ("plan", "draft")] == before["nodes"][:2]
    assert call("decide", book, "build-1", "undo").code == 0
    assert document(call, book, "chapter") == {**before, "version": 3}
    assert call("decide", book, "build-1", "undo").code == 1


def test_a_suggestion_is_accepted_by_ids_and_what_needs_another_change_is_left_out(book: Path, call: Call) -> None:
    before = document(call, book, "chapter")
    ended = call("update", book, "chapter", NAMES_WISH, "--json")
    (record,) = ended.told("build:record")
    ids = {each["node"]: each["id"] for each in record["changes"]}
    needy = next(each for each in record["changes"] if each["node"] == "polish")
    assert needy["needs"] == [next(number for node, number in ids.items() if node != "polish")]
    assert call("decide", book, "build-1", f"approve:{needy['id']}").code == 1, "alone it cannot be"
    assert call("decide", book, "build-1", "approve:c99").code == 2
    assert document(call, book, "chapter") == before
    assert call("decide", book, "build-1", f"approve:{needy['needs'][0]}").code == 0
    after = document(call, book, "chapter")
    assert [node for node in after["nodes"] if node["id"] in ("plan", "draft", "polish")] == before["nodes"]
    assert len(after["nodes"]) == len(before["nodes"]) + 1


def test_a_rejected_suggestion_changes_nothing(book: Path, call: Call) -> None:
    before = document(call, book, "chapter")
    call("update", book, "chapter", NAMES_WISH)
    assert call("decide", book, "build-1", "reject:not now").code == 0
    assert call("decide", book, "build-1", "approve").code == 1
    assert document(call, book, "chapter") == before


def test_a_workflow_that_changed_meanwhile_is_not_overwritten(book: Path, call: Call) -> None:
    call("update", book, "chapter", NAMES_WISH)
    call("update", book, "chapter", "Take out the polish.")
    assert call("decide", book, "build-2", "approve:all").code == 0
    ended = call("decide", book, "build-1", "approve")
    assert ended.code == 1
    assert "changed since" in ended.err
    assert len(document(call, book, "chapter")["nodes"]) == 2


def test_a_template_is_where_a_new_workflow_starts(book: Path, call: Call) -> None:
    ended = call("build", book, "Take out the polish.", "--template", "chapter", "--offline", "--json")
    assert ended.code == 3, ended.err
    (record,) = ended.told("build:record")
    assert [node["id"] for node in record["document"]["nodes"]] == ["plan", "draft"]
    assert call("decide", book, "build-1", "approve:all").code == 0
    assert len(document(call, book, "chapter")["nodes"]) == 3


def test_near_templates_are_named_and_one_that_does_the_wish_is_taken_as_it_is(book: Path, call: Call) -> None:
    wish = "Plan it, show me the plan, then draft and polish it."
    ended = call("build", book, wish, "--offline")
    assert "Similar templates: chapter (3 of 3 points)" in ended.out
    ended = call("build", book, wish, "--template", "chapter", "--offline", "--json")
    (record,) = ended.told("build:record")
    assert [node["id"] for node in record["document"]["nodes"]] == ["plan", "draft", "polish"]
    assert ended.code == 3 and all(each["ticked"] for each in record["changes"])
    assert "?" in call("build", book, "Do it better.", "--template", "chapter", "--offline").out


def test_a_model_builds_and_what_nobody_asked_for_is_not_taken(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    before = document(call, folder, "chapter")
    server.push({"tool_calls": [ADD, READ]}, {"tool_calls": [HOTTER, *END]})
    ended = call("update", folder, "chapter", NAMES_WISH, "--json", "--yes")
    assert ended.code == 3, ended.err
    assert len(ended.told("build:round")) == calls(server) == 2
    assert not [each for each in server.log if "tool_choice" in (each["body"] or {})], "no tool is forced on the model"
    first, second = ended.told("build:round")
    assert NAMES_WISH in first["request"] and "<workflow>" in first["request"] and second["request"] == ""
    assert [first["covered"], second["covered"]] == [[], []] and first["cost"] == "0"
    (record,) = ended.told("build:record")
    assert [(each["node"], each["ticked"]) for each in record["changes"]] == [
        ("draft", False),
        ("names", True),
        ("polish", True),
    ]
    assert document(call, folder, "chapter") == before
    assert call("decide", folder, "build-1", "approve").code == 0
    after = document(call, folder, "chapter")
    assert [node for node in after["nodes"] if node["id"] == "draft"] == before["nodes"][1:2]
    assert "names" in [node["id"] for node in after["nodes"]]
    costs = json.loads(call("status", folder, "--json").out)
    assert costs["totals"], "the calls are booked"


def test_equal_requests_are_paid_once(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    server.push({"tool_calls": [ADD, READ, *END]})
    assert call("update", folder, "chapter", NAMES_WISH, "--json", "--yes").code == 3
    again = call("update", folder, "chapter", NAMES_WISH, "--json", "--yes")
    assert again.code == 3
    assert calls(server) == 1
    assert again.told("build:record")[0]["tokens"] == 0


def test_a_build_that_fails_says_why_and_keeps_the_copy(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    before = document(call, folder, "chapter")
    server.push({"tool_calls": [ADD]}, {"status": 401})
    ended = call("update", folder, "chapter", NAMES_WISH, "--json", "--yes")
    assert ended.code == 1
    (record,) = ended.told("build:record")
    assert record["status"] == "stopped"
    assert "names" in [node["id"] for node in record["document"]["nodes"]]
    assert call("decide", folder, "build-1", "approve").code == 1
    assert document(call, folder, "chapter") == before


def test_a_paid_build_asks_for_its_price(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server, price_in=1, price_out=2)))
    ended = call("update", folder, "chapter", NAMES_WISH)
    assert ended.code == 1
    assert "Likely: 8 calls" in ended.err and "--yes" in ended.err
    assert calls(server) == 0
    assert call("builds", folder).out == ""


def test_builds_are_listed_by_state_and_shown_with_their_rounds(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    server.push({"tool_calls": [ADD, READ, *END]})
    call("update", folder, "chapter", NAMES_WISH, "--yes")
    call("build", folder, "Draft it.", "--offline")
    call("decide", folder, "build-2", "reject")
    assert call("builds", folder, "--state", "finished").out.startswith("build-1\tfinished\tchapter\t")
    (row,) = call("builds", folder, "--state", "rejected", "--json").messages
    assert (row["id"], row["state"]) == ("build-2", "rejected")
    shown = call("builds", folder, "build-1")
    assert shown.code == 0
    assert "✓ add_node" in shown.out and "[x] c1 + names" in shown.out


def test_a_reason_goes_back_by_a_key_word(book: Path, call: Call) -> None:
    call("build", book, "Draft it.", "--offline")
    ended = call("decide", book, "build-1", "revise:Then polish it.")
    assert ended.code == 3, ended.err
    assert "polish" in ended.out


def test_a_file_is_changed_and_comes_into_the_project_when_it_is_accepted(
    book: Path, call: Call, tmp_path: Path
) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({**document(call, book, "chapter"), "id": "mine"}), "utf-8")
    kept = file.read_bytes()
    assert call("update", book, file, NAMES_WISH, "--offline").code == 3
    assert "mine@1" not in workflows(call, book)
    assert call("decide", book, "build-1", "approve:all").code == 0
    assert "mine@1" in workflows(call, book)
    assert file.read_bytes() == kept


def test_a_build_is_purged(book: Path, call: Call) -> None:
    call("build", book, "Draft it, with the heron.", "--offline")
    assert "heron" in call("purge", book, "build-1", "--dry-run").out
    assert call("purge", book, "build-1", "--yes").code == 0
    assert call("builds", book).out == ""


def test_a_model_starts_from_an_example_and_it_is_accepted_as_a_new_workflow(
    project: Make, server: FaultServer, call: Call
) -> None:
    folder = project(both(endpoint(server)))
    before = workflows(call, folder)
    start, fewer = tool("start_from", template="five-openings"), tool("set_meta", field="name", value="My openings")
    server.push({"tool_calls": [start, fewer, *END]})
    ended = call("build", folder, "Five openings, mixed; I pick one.", "--yes", "--json")
    assert ended.code == 3, ended.err
    prompt = next(each for each in server.log if "messages" in (each["body"] or {}))["body"]["messages"][1]["content"]
    assert prompt.partition("nearest first:\n")[2].startswith("- five-openings")
    assert call("decide", folder, "build-1", "approve:all").code == 0
    assert {*workflows(call, folder)} - {*before} == {"workflow@1"}
