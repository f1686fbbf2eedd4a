"""Forms become workflows by rule: filled in by hand, or from a wish by a vocabulary."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from flowcabal_tui.agents.builder.checks import check
from flowcabal_tui.agents.builder.document import Json, all_found
from flowcabal_tui.agents.builder.form_builder import Built, build_by_form
from flowcabal_tui.agents.builder.form_words import form_of
from flowcabal_tui.agents.builder.forms import Form, Verb
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.project.builder.simulated_runs import SimulatedRuns
from tests.agents.builder_briefs import known_in, rows

FORMS = Path(__file__).parents[1] / "bench" / "builder" / "dev_forms.jsonl"
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


def shape(output: Json, **fields: str) -> SimpleNamespace:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    arguments = {"type": "object", "properties": properties, "required": list(fields)}
    return SimpleNamespace(arg_schema=arguments, output_schema=output, enabled=True, description="")


ROWS = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "score": {"type": "number"}},
            },
        }
    },
}
KNOWN = Known(
    actions={"hr.fetch_rows.v1": shape(ROWS), "ops.open_ticket.v1": shape({}, title="string")},
    flows=["voices@2"],
    models=["large"],
    flow_inputs={"voices@2": ("text",)},
)


def built(language: str, base: Json | None = None, known: Known = KNOWN, /, **form: object) -> Built:
    copied = WorkingCopy.of(base, known, language=language)
    return build_by_form(Form.model_validate(form), copied, language)


async def passing(made: Built) -> Json:
    """The document, which has passed all checks."""
    assert made.question == ""
    report = await check(made.copied, made.items, SimulatedRuns(made.copied.known))
    assert report.passed, report.problems
    return made.copied.document


def kinds(document: Json) -> list[str]:
    return [each.node["kind"] for each in all_found(document)]


WRITE = {"does": "write"}
CHECKS = {"does": "together", "steps": [{"does": "check", "about": "time"}, {"does": "check"}]}
FETCH = {"does": "action", "action": "hr.fetch_rows.v1"}
TICKETS = {"does": "each", "steps": [{"does": "action", "action": "ops.open_ticket.v1"}]}
ROUNDS = {"does": "candidates", "number": 3, "rounds": 2, "variations": ["a", "b"]}
STEPS: dict[str, tuple[list[Json], list[str]]] = {
    "plan": ([{"does": "plan"}, WRITE], ["prompt", "prompt"]),
    "write": ([WRITE], ["prompt"]),
    "polish": ([WRITE, {"does": "polish", "angles": ["timeline"]}], ["prompt", "prompt"]),
    "revise": ([WRITE, {"does": "check"}, {"does": "revise"}], ["prompt"] * 3),
    "check": ([WRITE, {"does": "check", "about": "names"}, {"does": "polish"}], ["prompt"] * 3),
    "cut": ([WRITE, {"does": "cut"}], ["prompt", "prompt"]),
    "expand": ([WRITE, {"does": "expand", "model": "large"}], ["prompt", "prompt"]),
    "translate": ([WRITE, {"does": "translate"}], ["prompt", "prompt"]),
    "summarise": ([WRITE, {"does": "summarise"}], ["prompt", "prompt"]),
    "do": ([WRITE, {"does": "do", "text": "Age it."}], ["prompt", "prompt"]),
    "candidates": ([ROUNDS, WRITE], ["evolution", "prompt"]),
    "improve": ([{"does": "improve", "rounds": 2}], ["recursive"]),
    "each": (
        [{"does": "plan"}, {"does": "each", "steps": [WRITE]}],
        ["prompt", "split", "filter", "loop", "end", "prompt"],
    ),
    "together": ([WRITE, CHECKS, {"does": "revise"}], ["prompt", "parallel", "prompt", "prompt", "prompt"]),
    "choose": (
        [
            {"does": "choose", "choices": [{"label": name, "steps": [WRITE]} for name in ("sun", "rain", "fog")]},
            {"does": "polish"},
        ],
        ["human", "condition", "prompt", "condition", "prompt", "prompt", "merge", "prompt"],
    ),
    "measure": (
        [WRITE, {"does": "measure", "shorter_than": 900, "then": [{"does": "expand"}]}, {"does": "polish"}],
        ["prompt", "condition", "prompt", "merge", "prompt"],
    ),
    "ask": ([{"does": "ask", "text": "Whose chapter?"}, WRITE], ["human", "prompt"]),
    "look": ([WRITE, {"does": "look"}, {"does": "polish"}], ["prompt", "human", "prompt"]),
    "approve": (
        [WRITE, {"does": "approve", "steps": [{"does": "polish"}]}],
        ["prompt", "human", "condition", "prompt"],
    ),
    "count": ([WRITE, {"does": "count", "key": "day"}], ["state_read", "prompt", "state_write"]),
    "remember": (
        [WRITE, {"does": "summarise"}, {"does": "remember", "key": "sum"}],
        ["state_read", "prompt", "prompt", "state_write"],
    ),
    "workflow": ([WRITE, {"does": "workflow", "workflow": "voices@2"}], ["prompt", "subflow"]),
    "action": ([FETCH, TICKETS], ["action", "loop", "action"]),
    "filter": (
        [FETCH, {"does": "filter", "field": "score", "above": 37.5}, {"does": "approve", "steps": [TICKETS]}],
        ["action", "filter", "human", "condition", "loop", "action"],
    ),
}


@LANGUAGES
@pytest.mark.parametrize("verb", STEPS)
async def test_each_verb_makes_nodes_that_pass_all_checks(language: str, verb: str):
    steps, expected = STEPS[verb]
    assert kinds(await passing(built(language, steps=steps))) == expected


def test_every_verb_is_tried():
    verbs = {value for part in Verb.__args__ for value in part.__args__}
    assert verbs == set(STEPS)


def test_what_the_form_cannot_say_is_asked():
    assert "chapter" in built("en").question
    assert "post to my readers" in built("en", missing=["post to my readers"], steps=[WRITE]).question
    assert "approval" in built("en", pause=["none", "each"], steps=[WRITE]).question
    assert "hr.fetch_rows.v1" in built("en", steps=[{"does": "action", "text": "send a pigeon"}]).question
    assert "voices@2" in built("zh", steps=[{"does": "workflow", "workflow": "dialog"}]).question
    assert "哪一步" in built("zh", chapter(), alterations=[{"change": "remove", "node": "none"}]).question
    refused = built("en", steps=[{"does": "write", "model": "gpt-99"}]).question
    assert "gpt-99" in refused
    assert refused.count("?") <= 3


def prompt(name: str, text: str, **params: object) -> Json:
    return {"id": name, "kind": "prompt", "name": name.title(), "params": {"prompt": text_blocks(text), **params}}


def text_blocks(text: str) -> list[Json]:
    return [{"kind": "text", "text": text}]


def chapter() -> Json:
    polish = prompt("polish", "Polish this.\n")
    polish["params"]["prompt"].append({"kind": "virtual", "node": "draft", "part": "draft"})
    nodes = [prompt("plan", "Plan five beats."), prompt("draft", "Write {{result_of.plan.text}}"), polish]
    return {"id": "chapter", "version": 2, "language": "en", "nodes": nodes, "edges": []}


EXPAND = {"does": "expand"}
CHECK_NAMES = {"does": "check", "about": "names"}
ALTERED: list[tuple[Json, list[str]]] = [
    ({"change": "insert", "node": "draft", "before": "polish", "step": CHECK_NAMES}, ["plan", "draft"]),
    ({"change": "insert", "node": "draft", "step": EXPAND}, ["plan", "draft"]),
    (
        {"change": "insert", "before": "polish", "step": EXPAND, "when": "shorter_than", "length": 900},
        ["plan", "draft"],
    ),
    ({"change": "insert", "node": "plan", "step": {"does": "look"}, "also": False}, ["plan", "polish"]),
    ({"change": "remove", "node": "draft"}, ["plan"]),
    ({"change": "replace", "node": "plan", "find": "five", "to": "three"}, ["draft", "polish"]),
    ({"change": "append", "node": "plan", "to": " Be brief."}, ["draft", "polish"]),
    ({"change": "set", "node": "draft", "field": "temperature", "to": 0.4}, ["plan", "polish"]),
    ({"change": "pause", "before": "polish"}, ["plan", "polish"]),
    ({"change": "rename", "node": "plan", "to": "Beats"}, ["draft", "polish"]),
    ({"change": "keep", "to": "scene"}, ["plan", "draft", "polish"]),
]


@pytest.mark.parametrize(("alteration", "untouched"), ALTERED, ids=[each["change"] for each, _names in ALTERED])
async def test_an_alteration_leaves_what_it_does_not_name_byte_for_byte(alteration: Json, untouched: list[str]):
    document = await passing(built("en", chapter(), alterations=[alteration]))
    before = {node["id"]: json.dumps(node) for node in chapter()["nodes"]}
    after = {node["id"]: json.dumps(node) for node in document["nodes"]}
    assert document != chapter()
    assert {name for name in before if after.get(name) == before[name]} == set(untouched)


SHOWN_STATES = [
    (
        "zh",
        "写番外：先想好大纲，我看过再写，写完检查错别字，再润色，存成一场戏。",
        ["plan", "write", "check", "polish"],
    ),
    ("en", "Give me three versions of it, anonymous, and I choose one. Then polish it.", ["candidates", "polish"]),
    ("en", "Plan it, then draft it scene by scene, four at a time side by side.", ["plan", "each"]),
    ("zh", "写一章，超过 8000 字就缩短，否则直接润色。", ["write", "measure"]),
    ("en", "Write it, then let a critic go over it and revise it, up to four rounds.", ["write", "improve"]),
    ("zh", "问我要写“雨夜”还是“晴天”，我选一个，按我选的写。", ["choose"]),
    ("zh", "从林黛玉的视角写一场戏，先列计划。", ["plan", "write"]),
    ("zh", "先写大纲，存成大纲，不用写正文。", ["plan"]),
    ("en", "Write it, check names and contradictions, and revise.", ["write", "together", "revise"]),
    ("zh", "写完初稿，拟三个不一样的结尾由我挑，再润色。", ["write", "candidates", "polish"]),
    ("en", "Draft it, then write three endings for it.", ["write", "candidates"]),
    ("en", "List the scenes, one a line, then write three at a time.", ["plan", "each"]),
]


@pytest.mark.parametrize(("language", "wish", "verbs"), SHOWN_STATES)
async def test_a_wish_fills_the_form(language: str, wish: str, verbs: list[str]):
    copied = WorkingCopy.of(None, Known(actions={}, flows=[], models=[]), language=language)
    form = form_of(wish, copied, language)
    assert [step.does for step in form.steps] == verbs
    await passing(build_by_form(form, copied, language))


def test_a_step_runs_on_the_model_that_is_named_beside_it():
    copied = WorkingCopy.of(None, Known(models=["gpt-4", "small-1"]), language="en")
    form = form_of("Draft it with GPT-4 and polish it on small-1.", copied, "en")
    assert [(step.does, step.model) for step in form.steps] == [("write", "gpt-4"), ("polish", "small-1")]


def test_a_pause_is_at_what_the_writer_wants_to_see():
    copied = WorkingCopy.of(None, Known(), language="en")
    form = form_of("Plan it, draft it and polish it. Let me see the plan first.", copied, "en")
    assert [(step.does, step.pause) for step in form.steps] == [("plan", True), ("write", False), ("polish", False)]


def test_a_node_is_meant_by_the_word_in_its_chinese_name():
    base = {**chapter(), "language": "zh"}
    base["nodes"][0]["name"] = "列提纲"
    form = form_of("提纲列好以后先停住，我改一改。", WorkingCopy.of(base, Known(), language="zh"), "zh")
    assert [(each.change, each.node) for each in form.alterations] == [("pause", "plan")]


async def test_a_chosen_ending_is_put_to_the_text_that_it_ends():
    steps = [{"does": "write"}, {"does": "candidates", "id": "endings", "about": "the ending"}]
    document = await passing(built("en", steps=steps))
    assert kinds(document) == ["prompt", "evolution", "prompt"]
    assert {"draft", "ending"} <= set(re.findall("draft|ending", json.dumps(document["nodes"][2])))
    assert {block.get("node") for block in document["nodes"][2]["params"]["prompt"]} >= {"write", "endings"}


SEVERAL: list[tuple[str, list[Json]]] = [
    (
        "The draft may run on small-1, at a temperature of 0.4.",
        [
            {"change": "set", "node": "draft", "field": "model", "to": "small-1"},
            {"change": "set", "node": "draft", "field": "temperature", "to": 0.4},
        ],
    ),
    ("Stop asking me after the plan.", [{"change": "set", "node": "plan", "field": "review", "to": "never"}]),
    ("The draft is no good, so get rid of it. From now on polish the plan.", [{"change": "remove", "node": "draft"}]),
    (
        "Have someone check the names in the plan, and let the polish see the list.",
        [{"change": "insert", "node": "plan", "before": "polish", "step": {"does": "check", "about": "names"}}],
    ),
]


@pytest.mark.parametrize(("wish", "alterations"), SEVERAL)
async def test_a_wish_for_changes_fills_the_form(wish: str, alterations: list[Json]):
    base = chapter()
    base["nodes"][0]["params"]["review"] = "always"
    copied = WorkingCopy.of(base, Known(actions={}, flows=[], models=["small-1"]), language="en")
    form = form_of(wish, copied, "en")
    assert [each.model_dump(exclude_defaults=True) for each in form.alterations] == alterations
    await passing(build_by_form(form, copied, "en"))


@pytest.mark.parametrize(
    "wish",
    [
        "弄得好一点。",
        "每天早上自动写一章。",
        "写完一章，投给杂志社。",
        "写完算好稿费，记到账本里。",
        "让豆包写初稿，DeepSeek 润色。",
        "Make it properly this time.",
        "Make a cover illustration.",
        "Draft it with GPT-4.",
        "Draft it, then run it through Grammarly.",
        "Write it, then typeset it.",
    ],
)
def test_a_wish_that_the_form_cannot_hold_becomes_a_question(wish: str):
    copied = WorkingCopy.of(None, Known(actions={}, flows=[], models=[]))
    made = build_by_form(form_of(wish, copied, "zh" if wish[0] > "z" else "en"), copied, "en")
    assert made.question
    assert made.copied.nodes == ()


def test_filled_forms_answer_the_briefs_of_the_bench():
    briefs = rows("briefs")
    if not briefs:
        pytest.skip("the bench is not here")
    forms = {row["id"]: row["form"] for row in map(json.loads, FORMS.read_text("utf-8").splitlines())}
    assert set(forms) == set(briefs)
    asked = {name for name, brief in briefs.items() if made_of(brief, forms[name]).question}
    assert asked == {name for name, brief in briefs.items() if brief["task"] == "ask"}


def made_of(brief: Json, form: Json) -> Built:
    return built(brief["lang"], brief["workflow"], known_in(brief), **form)
