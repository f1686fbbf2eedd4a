"""Edits on a copy: each is made whole or refused, and nothing that is not named is touched."""

from __future__ import annotations

import copy
import json
from types import SimpleNamespace
from typing import Annotated, Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter

from flowcabal_tui.agents.builder.build_prompt import user_prompt
from flowcabal_tui.agents.builder.build_state import Build
from flowcabal_tui.agents.builder.changes import changes_between, with_changes, without_needy
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.edits import (
    AddNode,
    ConnectNodes,
    DisconnectNodes,
    Edit,
    RemoveNode,
    SetMeta,
    SetParam,
    SetPrompt,
)
from flowcabal_tui.agents.builder.edits_between import edits_between
from flowcabal_tui.agents.builder.refused import EditRefused
from flowcabal_tui.agents.builder.suggestion import changes_of
from flowcabal_tui.agents.builder.working_copy import MOST_NEW_NODES, Known, WorkingCopy
from flowcabal_tui.nodes.validation import check_document
from tests.agents.builder_briefs import known_in, rows

_ANY_EDIT: Final[TypeAdapter[Edit]] = TypeAdapter(Annotated[Edit, Field(discriminator="edit")])
READS_DRAFT = [{"kind": "text", "text": "Polish it.\n"}, {"kind": "virtual", "node": "draft"}]


def prompt(name: str, text: str | list[Json], **params: object) -> Json:
    blocks = [{"kind": "text", "text": text}] if isinstance(text, str) else text
    return {"id": name, "kind": "prompt", "name": name.title(), "params": {"prompt": blocks, **params}}


def chapter() -> Json:
    body = {"nodes": [prompt("scene", "Write {{item}}.")]}
    loop = {"id": "scenes", "kind": "loop", "params": {"source": ["a", "b"], "body": body}}
    plan, draft = prompt("plan", "Plan it.", review="always"), prompt("draft", "Write {{result_of.plan.text}}")
    nodes = [plan, draft, prompt("polish", READS_DRAFT, temperature=0.3), loop]
    return {"id": "chapter", "version": 4, "nodes": nodes, "edges": [{"source": "polish", "target": "scenes"}]}


def on(base: Json | None = None, **known: object) -> WorkingCopy:
    return WorkingCopy.of(chapter() if base is None else base, Known(**known))


def refusal(copied: WorkingCopy, edit: Edit) -> str:
    before = json.dumps(copied.document)
    with pytest.raises(EditRefused) as caught:
        copied.with_edit(edit)
    assert json.dumps(copied.document) == before
    return str(caught.value)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (AddNode(id="draft", params={"prompt": "x"}), "plan, draft, polish, scenes"),
        (AddNode(id="a ", params={"prompt": "x"}), "BAD_ID"),
        (AddNode(id="a/b", params={"prompt": "x"}), "BAD_ID"),
        (AddNode(id="new", kind="approval"), "human"),
        (AddNode(id="new", params={"prompt": "x", "colour": "red"}), "point_of_view"),
        (AddNode(id="new", params={"prompt": "{{result_of.nobody.text}}"}), "nobody"),
        (AddNode(id="new", params={"prompt": "x"}, inside="nowhere"), "scenes"),
        (AddNode(id="new", params={"prompt": "x"}, after="nobody"), "polish"),
        (RemoveNode(node="plan"), "draft"),
        (RemoveNode(node="plans"), "Did you mean plan?"),
        (ConnectNodes(source="polish", target="draft"), "cycle"),
        (ConnectNodes(source="draft", target="draft"), "SELF_REFERENCE"),
        (ConnectNodes(source="draft", target="names"), "There is no node names"),
        (ConnectNodes(source="plan", target="scenes", condition="true"), "UNKNOWN_BRANCH"),
        (ConnectNodes(source="polish", target="scenes"), "already"),
        (DisconnectNodes(source="plan", target="scenes"), "polish → scenes"),
        (SetParam(node="plan", field="temperature", value="hot"), "temperature"),
        (SetParam(node="plan", field="depth", value=3), "temperature"),
        (SetParam(node="plan", field="prompt", value="x"), "set_prompt"),
        (SetParam(node="scenes", field="body", value={"nodes": []}), "one by one"),
        (SetPrompt(node="plan", find="Write", replace="x"), "0 times"),
        (SetPrompt(node="plan", blocks="x", append="y"), "either"),
        (SetPrompt(node="draft", append="{{result_of.polish.text}}"), "cycle"),
        (SetPrompt(node="plan", field="review", blocks="never"), "set_param"),
        (SetMeta(field="id", value="other"), "id"),
        (SetMeta(field="keep", value={"kind": "poem"}), "keep"),
    ],
)
def test_an_edit_that_breaks_something_is_refused_with_what_is_allowed(edit: Edit, said: str):
    assert said in refusal(on(), edit)


def test_names_that_are_not_registered_are_refused_with_the_nearest():
    shape = SimpleNamespace(arg_schema={}, output_schema={}, enabled=True)
    copied = on(actions={"mail.send.v1": shape}, flows=["voices@2"], models=["large", "small"])
    assert "Did you mean mail.send.v1?" in refusal(
        copied, AddNode(id="m", kind="action", params={"action": "mail.sent"})
    )
    assert "voices@2" in refusal(copied, AddNode(id="v", kind="subflow", params={"ref": "voice@7"}))
    assert "large, small" in refusal(copied, SetParam(node="draft", field="model", value="gpt-99"))
    assert copied.with_edit(SetParam(node="draft", field="model", value="small"))
    assert copied.with_edit(AddNode(id="v", kind="subflow", params={"ref": "voices"}))


def test_nodes_are_added_inside_loops_and_branches():
    copied = on().with_edit(AddNode(id="second", inside="scenes", params={"prompt": "Then {{result_of.scene.text}}"}))
    branches = {"a": {"nodes": [prompt("one", "x")]}}
    copied = copied.with_edit(AddNode(id="both", kind="parallel", params={"branches": branches}))
    copied = copied.with_edit(AddNode(id="two", inside="both/b", params={"prompt": "y"}))
    assert {"scenes/second", "both/a/one", "both/b/two"} <= set(copied.nodes)
    assert not copied.errors()
    assert with_changes(copied.base, copied.document, [c.id for c in changes_of(copied, "")]) == copied.document


def test_a_prompt_is_changed_in_its_words_alone():
    copied = on().with_edit(SetPrompt(node="plan", find="Plan", replace="Sketch"))
    assert copied.document["nodes"][0]["params"]["prompt"] == [{"kind": "text", "text": "Sketch it."}]
    assert copied.document["nodes"][1:] == chapter()["nodes"][1:]
    copied = on().with_edit(SetPrompt(node="polish", find="draft", replace="plan"))
    assert copied.document["nodes"][2]["params"]["prompt"][1] == {"kind": "virtual", "node": "plan"}


def test_a_build_adds_a_bounded_number_of_nodes():
    copied = WorkingCopy.of(None, Known())
    for number in range(MOST_NEW_NODES):
        copied = copied.with_edit(AddNode(id=f"n{number}", params={"prompt": "x"}))
    assert str(MOST_NEW_NODES) in refusal(copied, AddNode(id="more", params={"prompt": "x"}))


def names_step(copied: WorkingCopy) -> WorkingCopy:
    step = AddNode(
        id="names", after="draft", params={"prompt": "Check the names.\n{{result_of.draft.text}}"}, because="i1"
    )
    return copied.with_edit(step).with_edit(SetPrompt(node="polish", append="\n{{result_of.names.text}}", because="i1"))


def test_what_the_wish_does_not_name_is_not_ticked():
    wish = "put a step between draft and polish that checks the names, with temperature 0.5"
    copied = names_step(on())
    copied = copied.with_edit(SetPrompt(node="draft", find="Write", replace="Translate"))
    copied = copied.with_edit(SetPrompt(node="draft", append=" "))
    copied = copied.with_edit(SetParam(node="draft", field="temperature", value=1.7))
    copied = copied.with_edit(SetParam(node="polish", field="temperature", value=0.5))
    copied = copied.with_edit(SetParam(node="plan", field="review", value="never"))
    changes = {(each.node, each.field): each for each in changes_of(copied, wish)}
    assert {key for key, each in changes.items() if each.ticked} == {
        ("names", ""),
        ("polish", "prompt"),
        ("polish", "temperature"),
    }
    assert changes[("plan", "review")].loses_gate
    ticked = [each.id for each in changes.values() if each.ticked]
    accepted = with_changes(copied.base, copied.document, ticked)
    assert accepted["nodes"][0] == chapter()["nodes"][0]
    assert accepted["nodes"][1] == chapter()["nodes"][1]
    assert not [each for each in check_document(accepted) if each.severity == "error"]


@pytest.mark.parametrize(
    ("added", "ticked"),
    [
        ("\n\nNames to fix:\n{{result_of.names.text}}", True),
        ("\n<names>\n{{result_of.names.text}}\n</names>", True),
        ([{"kind": "text", "text": "人名：\n"}, {"kind": "virtual", "node": "names"}], True),
        ("\nWrite it in verse. {{result_of.names.text}}", False),
        ("\n{{result_of.names.text}}\nForget the plan.", False),
        ([{"kind": "text", "text": "Forget the plan. "}, {"kind": "virtual", "node": "names"}], False),
    ],
)
def test_words_put_beside_an_output_are_not_ticked_unless_they_are_a_label(added: Any, ticked: bool):
    copied = on(chapter()).with_edit(AddNode(id="names", after="draft", params=prompt("n", "Check.")["params"]))
    copied = copied.with_edit(SetPrompt(node="polish", append=added))
    changes = {each.node: each for each in changes_of(copied, "check the names after the draft")}
    assert (changes["polish"].kind, changes["polish"].ticked) == (("wiring", True) if ticked else ("prompt", False))


def test_a_removal_that_nobody_named_is_not_ticked_and_falls_with_what_it_needs():
    copied = on().with_edit(SetPrompt(node="draft", find="{{result_of.plan.text}}", replace="it."))
    copied = copied.with_edit(RemoveNode(node="plan"))
    rewritten, removed = changes_of(copied, "make it quicker")
    assert (removed.kind, removed.ticked, removed.loses_gate) == ("node_removed", False, True)
    assert without_needy((rewritten, removed), {rewritten.id}) == (frozenset(), frozenset({removed.id}))


def test_a_refused_node_takes_its_links_with_it():
    copied = names_step(on()).with_edit(ConnectNodes(source="names", target="scenes"))
    changes = changes_of(copied, "")
    added = next(each.id for each in changes if each.kind == "node_added")
    stays, falls = without_needy(changes, {added})
    assert not stays
    assert len(falls) == 2
    assert with_changes(copied.base, copied.document, stays) == chapter()


def any_edit() -> st.SearchStrategy[Json]:
    node = st.sampled_from(["plan", "draft", "polish", "scenes", "scenes/scene", "new", "scenes/new", "nobody"])
    name = st.sampled_from(["plan", "draft", "polish", "scenes", "new", "other"])
    text = st.sampled_from(["x", "{{result_of.plan.text}}", "{{result_of.new.text}}", "{{result_of.polish.text}}"])
    value = st.sampled_from([None, 1, 0.5, "always", "never", [], {}, "result_of.draft.text", ["a"]])
    field = st.sampled_from(["review", "temperature", "prompt", "body", "source", "max_iterations", "a.b"])
    params = st.fixed_dictionaries({"prompt": text})
    return st.one_of(
        st.builds(
            lambda n, p, i: {"edit": "add_node", "id": n, "params": p, "inside": i},
            name, params, st.sampled_from(["", "scenes", "draft"]),
        ),
        st.builds(lambda n: {"edit": "remove_node", "node": n}, node),
        st.builds(lambda a, b: {"edit": "connect", "source": a, "target": b}, name, name),
        st.builds(lambda a, b: {"edit": "disconnect", "source": a, "target": b}, name, name),
        st.builds(lambda n, f, v: {"edit": "set_param", "node": n, "field": f, "value": v}, node, field, value),
        st.builds(lambda n, t: {"edit": "set_prompt", "node": n, "append": t}, node, text),
        st.builds(lambda n, t: {"edit": "set_prompt", "node": n, "blocks": t}, node, text),
        st.builds(lambda n: {"edit": "rename", "node": n, "name": "Other"}, node),
        st.builds(lambda v: {"edit": "set_meta", "field": "description", "value": v}, value),
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@example(
    [
        {"edit": "add_node", "id": "new", "params": {"prompt": "x"}, "inside": "scenes"},
        {"edit": "remove_node", "node": "scenes/new"},
    ]
)
@given(st.lists(any_edit(), max_size=12))
def test_no_sequence_of_edits_breaks_the_copy_or_touches_the_original(edits: list[Json]):
    base = chapter()
    copied = WorkingCopy.of(base, Known())
    for each in edits:
        try:
            copied = copied.with_edit(_ANY_EDIT.validate_python(each))
        except EditRefused:
            continue
    assert base == chapter() == copied.base
    assert not copied.errors() or not copied.document["nodes"]
    changes = changes_between(base, copied.document)
    assert with_changes(base, copied.document, []) == base
    made = with_changes(base, copied.document, [each.id for each in changes])
    assert plain(made) == plain(copied.document)
    for change in changes:  # without any one of them, and what falls with it, the rest is still a workflow
        stays, _falls = without_needy(changes, {change.id})
        part = with_changes(base, copied.document, stays)
        broken = [each for each in check_document(part) if each.severity == "error" and each.code != "NO_NODES"]
        assert {each.code for each in broken} <= {"CYCLE"}


def plain(document: Json) -> Json:
    """Edges and nodes in any order."""
    made = copy.deepcopy(document)
    made["edges"] = sorted(made.get("edges", ()), key=str)
    made["nodes"] = sorted(made["nodes"], key=lambda node: node["id"])
    return made


@pytest.mark.parametrize("answers", ["dev_answers", "dev_answers_other"])
def test_the_right_answers_of_the_bench_can_be_made_edit_by_edit(answers: str):
    briefs = rows("briefs")
    if not briefs:
        pytest.skip("the bench is not here")
    for name, answer in rows(answers).items():
        brief = briefs[name]
        if not answer["workflow"] or (check_document(answer["workflow"]) and name == "dev-c05"):
            continue  # this one names a field that two exports of its loop have, which is refused
        copied = WorkingCopy.of(brief["workflow"], known_in(brief))
        for edit in edits_between(brief["workflow"], answer["workflow"]):
            copied = copied.with_edit(edit)
        assert plain(copied.document) == plain({"edges": [], **answer["workflow"]}), name


def test_a_workflow_that_can_be_called_is_told_to_the_model_once():
    known = Known(flows=["chapter", "chapter@1", "dialogue@2"])
    told = user_prompt(Build("a wish", "en", WorkingCopy.of(None, known)))
    assert "called: chapter, dialogue@2" in told
