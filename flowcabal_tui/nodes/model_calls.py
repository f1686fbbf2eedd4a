"""The calls of models that nodes declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.workflow import ModelCall, Node
from flowcabal_tui.nodes.graph import all_nodes, kind_and_params
from flowcabal_tui.nodes.registry import kind_named


def model_calls(nodes: Iterable[Node]) -> Iterator[ModelCall]:
    """The calls of the nodes and those nested in them, as far as they can be read."""
    for node in all_nodes(nodes):
        try:
            kind, params = kind_and_params(node)
        except WorkflowError:  # validation reports it
            continue
        yield from kind.model_calls(params)


def call_fields(name: str) -> dict[str, type[ModelCall]]:
    """The parameters of a kind that hold a call, with the class of each; "" for parameters that are a call themselves.

    Empty for an unknown kind.
    """
    if (kind := kind_named(name)) is None:
        return {}
    annotations = {"": kind.params, **{field: each.annotation for field, each in kind.params.model_fields.items()}}
    return {
        field: form
        for field, annotation in annotations.items()
        for form in (annotation, *get_args(annotation))
        if isinstance(form, type) and issubclass(form, ModelCall)
    }
