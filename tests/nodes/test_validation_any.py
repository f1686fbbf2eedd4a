"""Whatever a document holds, validation and its fixes answer with findings, in bounded time, and leave it as it is."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.fixes import fixed
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.nodes.validation import check_document, validate
from tests.effort import effort

IDS = st.sampled_from(["a", "b", "c", "plan", "a.b", "x/y", "章", "", "l", "a" * 90, "\x1b[2J", "result_of"])
NAMES = st.sampled_from(["a", "b", "c", "plan", "章", "l"])
PATHS = st.sampled_from(
    [
        *(
            "result_of.a.text",
            "result_of.b",
            "result_of.c.items[0].x",
            "result_of.",
            "result_of",
            "a.text",
            "loop.item.x",
        ),
        *(
            "input.x",
            "state.y",
            "item",
            "chapter.title",
            "chapter.nothing",
            "[0]",
            "a..b",
            "result_of.plan.label",
            "x" * 999,
        ),
        *("result_of['a']['text']", "{{result_of.a.text}}", "${result_of.b}", "{{ }}", "{{a", "result_of.章.text"),
    ]
)
WORDS = st.one_of(PATHS, PATHS.map(lambda path: f"say {{{{{path}}}}} now"), st.text(max_size=12), IDS)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), WORDS)
AGGREGATES = st.sampled_from(
    ["identity", "count", "count_if", "join", "format_join", "filter_map", "pipeline", "sum", ""]
)
BINDINGS = st.fixed_dictionaries(
    {"__from__": st.one_of(WORDS, st.lists(WORDS, max_size=2), SCALARS)},
    optional={"__agg__": AGGREGATES, "field": SCALARS, "op": SCALARS, "value": SCALARS, "steps": st.lists(st.just({}))},
)
LEAVES = st.one_of(SCALARS, BINDINGS)
KEYS = st.sampled_from(
    sorted({name for kind in kinds().values() for name in kind.params.model_fields} | {"nodes", "edges", "id", "exit"})
)
BLOCKS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"kind": st.just("text"), "text": WORDS}),
        st.fixed_dictionaries({"kind": st.just("virtual"), "node": NAMES}, optional={"frozen": WORDS}),
        st.fixed_dictionaries({"kind": st.just("inquiry"), "question": WORDS}),
        SCALARS,
    ),
    max_size=2,
)
TREES = st.recursive(
    st.one_of(LEAVES, BLOCKS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYS, IDS), inner, max_size=3)),
    max_leaves=8,
)
CONDITIONS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(
            ["equals", "greater_than", "multi_band", "expression", "regex_match", "between", "wierd"]
        )
    },
    optional={
        "source": LEAVES,
        "field": WORDS,
        "value": LEAVES,
        "threshold": LEAVES,
        "expression": WORDS,
        "pattern": WORDS,
        "bands": st.just([{"label": "low", "max": 3}]),
    },
)


def nodes(kind: st.SearchStrategy[str], params: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.fixed_dictionaries({"id": NAMES, "kind": kind, "params": params})


def edges() -> st.SearchStrategy[object]:
    named = st.sampled_from(["true", "false", "low", "tru", None])
    return st.lists(
        st.fixed_dictionaries({"source": NAMES, "target": NAMES}, optional={"condition": named}), max_size=4
    )


def graphs(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.fixed_dictionaries({"nodes": st.lists(inner, min_size=1, max_size=4)}, optional={"edges": edges()})


PROMPTS = st.fixed_dictionaries({"prompt": BLOCKS}, optional={"system": BLOCKS})
ITEMS = st.fixed_dictionaries({"source": LEAVES}, optional={"from_field": WORDS})
ACTIONS = st.fixed_dictionaries({"action": st.just("send"), "params": st.dictionaries(KEYS, TREES, max_size=3)})
CALLS = st.fixed_dictionaries({"ref": st.sampled_from(["w", "w@1", "other"]), "inputs": st.dictionaries(IDS, LEAVES)})
POLISH = st.fixed_dictionaries(
    {"criticise": PROMPTS, "revise": PROMPTS, "start": BLOCKS}, optional={"until": CONDITIONS}
)
CHOICE = st.fixed_dictionaries({"write": PROMPTS, "rounds": st.integers(1, 5)}, optional={"next": BLOCKS})
ANY = st.fixed_dictionaries(
    {"id": IDS, "kind": st.sampled_from([*kinds(), "promt", ""]), "params": st.dictionaries(KEYS, TREES, max_size=4)}
)
SIMPLE = st.one_of(
    nodes(st.just("condition"), CONDITIONS),
    nodes(st.just("prompt"), PROMPTS),
    nodes(st.sampled_from(["map", "merge", "state_read"]), ITEMS),
    nodes(st.just("action"), ACTIONS),
    nodes(st.just("subflow"), CALLS),
    nodes(st.just("recursive"), POLISH),
    nodes(st.just("evolution"), CHOICE),
    st.one_of(nodes(st.just("prompt"), PROMPTS), nodes(st.just("condition"), CONDITIONS), ANY),
)
LOOPS = st.builds(
    lambda params, kind, name: {"id": name, "kind": kind, "params": params},
    st.one_of(
        st.fixed_dictionaries(
            {"body": graphs(SIMPLE), "source": LEAVES},
            optional={
                "item": IDS,
                "mode": st.sampled_from(["while", "for_each"]),
                "condition": CONDITIONS,
                "accumulator": st.fixed_dictionaries(
                    {}, optional={"set": TREES, "compute": st.just({"n": "loop.x +"})}
                ),
                "exports": st.just(
                    {
                        "items": {"from_node": "a", "fields": ["x"]},
                        "aggregates": [{"name": "n", "kind": "sum", "source": "b.x"}],
                    }
                ),
            },
        ),
        st.fixed_dictionaries({"branches": st.dictionaries(IDS, graphs(SIMPLE), min_size=1, max_size=2)}),
    ),
    st.sampled_from(["loop", "parallel"]),
    NAMES,
)
DOCUMENTS = st.builds(
    lambda nodes, edges, entry: {"id": "w", "nodes": nodes, "edges": edges, **entry},
    st.lists(st.one_of(SIMPLE, LOOPS), max_size=6),
    edges(),
    st.one_of(st.just({}), st.fixed_dictionaries({"entry": IDS}), TREES.map(lambda tree: {"more": tree})),
)


@dataclass(frozen=True)
class Send:
    """An action that wants numbers and texts."""

    arg_schema: dict[str, Any] = field(
        default_factory=lambda: {
            "type": "object",
            "properties": {"source": {"type": "string"}, "value": {"type": "array", "items": {"type": "number"}}},
            "required": ["source"],
        }
    )
    output_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {"x": {}}})
    enabled: bool = True


SEND = Send()


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.one_of(DOCUMENTS, DOCUMENTS, DOCUMENTS, TREES))
def test_any_document_gives_findings_and_stays_as_it_is(document):
    before = copy.deepcopy(document)
    with effort(2_000_000):
        findings = check_document(document, actions={"send": SEND})
    assert repr(document) == repr(before)
    assert [finding for finding in findings if finding.code == "CHECK_FAILED"] == []
    assert len(set(findings)) == len(findings)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(DOCUMENTS)
@example({"id": "w", "nodes": [{"id": "a", "kind": "parallel", "params": {"branches": {"\x1b[2J": {
    "nodes": [{"id": "a", "kind": "condition", "params": {"kind": "equals"}}],
    "edges": [{"source": "a", "target": "a"}],
}}}}], "edges": []})  # fmt: skip
def test_fixing_never_adds_an_error_of_the_same_kind_and_is_done_at_once(document):
    found = check_document(document)
    if any(finding.code == "INVALID_SCHEMA" for finding in found):
        return
    workflow = Workflow.model_validate(document)
    changed, applied = fixed(workflow, found)
    assert set(applied) <= set(found)
    assert (changed == workflow) is (not applied)
    left = validate(changed)
    assert not set(applied) & set(left), "what was carried out is no longer found"
