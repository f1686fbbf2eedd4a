"""Whatever a document holds, its values are read or refused with an error of ours, and never crash."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from flowcabal_tui.domain import binding_checks, bindings, condition_checks, conditions, expressions, paths, schemas
from flowcabal_tui.domain.aggregates import AGGREGATES, STEPS
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Problem

PIECES = (
    *("result_of", ".", "[", "]", "{{", "}}", "${", "}", "{", " ", "a", "节-点", "loop", "item", "0", "1", "-1", '"'),
    *(
        "'",
        "text",
        "__from__",
        '{"__from__":"a"}',
        "|",
        "(",
        ")",
        "**",
        "9",
        " if ",
        " for x in ",
        "lower",
        "__class__",
    ),
)
TEXT = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
KEYS = st.sampled_from(
    ("__from__", "__agg__", "field", "op", "value", "filter_field", "format", "sep", "steps", "cmp", "kind", "source")
)
MORE_KEYS = st.sampled_from(
    ("threshold", "bands", "pattern", "expression", "min", "max", "label", "order", "map_field")
)
WORDS = st.sampled_from((*AGGREGATES, *STEPS, *conditions.KINDS, "==", ">", "asc"))
VALUE = st.recursive(
    SCALAR | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | MORE_KEYS | TEXT, inner, max_size=5),
    max_leaves=12,
)
NAMES: dict[str, Any] = {
    "result_of": {"a": {"text": "x", "n": [1, {"item": 0}]}, "节-点": [{"a": 1}, {"text": None}]},
    "loop": {"item": {"a": [1]}, "index": 0},
    "item": {"a": [1]},
}
SCHEMAS = {NodeId("a"): {"properties": {"text": {"type": "string"}}}, NodeId("节-点"): None}


@settings(max_examples=300, deadline=None)
@given(VALUE)
def test_parameters(value: Any) -> None:
    found = binding_checks.check(value, SCHEMAS, roots={"loop": None, "item": None})
    assert all(finding.message for finding in found)
    bindings.references(value, tuple(SCHEMAS))
    with contextlib.suppress(FlowCabalError):
        bindings.resolve(value, NAMES)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS | MORE_KEYS, VALUE, max_size=6), WORDS)
def test_conditions(raw: dict[str, Any], kind: str) -> None:
    for condition in (raw, raw | {"kind": kind}):
        findings = conditions.check_shape(condition)
        conditions.paths_in(condition)
        with contextlib.suppress(FlowCabalError, ValidationError):
            conditions.check(conditions.Condition.model_validate(condition), NAMES)
        assert all(finding.field for finding in findings)


WORD = st.sampled_from(("a", "items", "object", "array", "string", "iterations", "exports", "#", "#/$defs/a"))
SCHEMA_KEYS = ("type", "properties", "items", "anyOf", "allOf", "$ref", "additionalProperties", "$defs")
SCHEMA = st.recursive(
    st.none() | st.booleans() | st.integers() | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(SCHEMA_KEYS) | WORD, inner, max_size=5),
    max_leaves=15,
)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from(SCHEMA_KEYS), SCHEMA, max_size=5), st.lists(WORD | st.integers(0, 1), max_size=4)
)
def test_schemas(schema: dict[str, Any], parts: list[str | int]) -> None:
    path = paths.shown(["result_of", "a", *parts])
    found = schemas.follow(path, {NodeId("a"): schema})
    if not isinstance(found, Problem):
        schemas.item_types(found)
    aggregate = {"__agg__": "count_if", "field": "a", "op": "==", "value": 1}
    binding_checks.check({"__from__": path, **aggregate}, {NodeId("a"): schema})
    condition = {"kind": "greater_than", "source": path, "field": "items", "threshold": 1}
    condition_checks.check(condition, {NodeId("a"): schema})


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_texts(text: str) -> None:
    with contextlib.suppress(FlowCabalError):
        assert paths.parse(str(paths.parse(text))) == paths.parse(text)
    for read in (expressions.evaluate, expressions.query):
        with contextlib.suppress(FlowCabalError):
            read(text, NAMES)
    expressions.paths_in(text)
