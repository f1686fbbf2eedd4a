"""Simulated runs that together take every branch of a workflow: conditions are forced, choices are picked in turn."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from flowcabal_tui.agents.builder.document import Json, all_found, found, graph_at, names_in, own_params
from flowcabal_tui.domain.workflow import Workflow

MOST_RUNS: Final = 24
"""Simulated runs of one check."""
_BANDED: Final = ("multi_band", "max_in_range")


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """The result of a simulated run: its state, how often each node completed by path, and the error, if any."""

    state: str
    completed: Mapping[str, int]
    trouble: str = ""


class Simulator(Protocol):
    """Runs a workflow with the offline model."""

    async def __call__(self, workflow: Workflow, picks: Mapping[str, int]) -> SimulatedRun:
        """Runs the workflow. `picks` maps paths of human nodes to the number of a choice (default: 1)."""

    async def price(self, workflow: Workflow) -> str:
        """The price of a real run in words; "" where it is free or unknown."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One run: labels that conditions are forced to, and choices."""

    labels: Mapping[str, str] = field(default_factory=dict)
    picks: Mapping[str, int] = field(default_factory=dict)


def variants(document: Json) -> tuple[Variant, ...]:
    """The runs that a check makes, the natural one first; at most MOST_RUNS."""
    made: list[Variant] = [Variant()]
    for place in all_found(document):
        params = own_params(place.node)
        way = _way(document, place.path)
        if place.node.get("kind") == "human":
            made += [
                Variant(way, {place.path: n}) for n in range(2 if not way else 1, len(params.get("choices", ())) + 1)
            ]
        elif place.node.get("kind") == "condition" and not _is_read(document, place.path):
            made += [Variant({**way, place.path: label}) for label in _labels(params)]
    return tuple(made[:MOST_RUNS])


def forced(document: Json, variant: Variant) -> Json:
    """The document with conditions that give the variant's labels."""
    if not variant.labels:
        return document
    made = copy.deepcopy(document)
    for path, label in variant.labels.items():
        place = found(made, path)
        if place is not None:
            place.node["params"] = _forced(place.node["params"], label)
    return made


def _forced(params: Json, label: str) -> Json:
    if params.get("kind") not in _BANDED:
        return {"kind": "expression", "expression": "1 == 1" if label == "true" else "1 == 0"}
    return {"kind": "multi_band", "source": _in_band(params.get("bands", ()), label), "bands": params.get("bands", ())}


def _in_band(bands: Sequence[Json], label: str) -> float | None:
    """A number for which the bands yield the label; None if there is none."""
    bounds = [float(each[key]) for each in bands for key in ("min", "max") if each.get(key) is not None]
    for number in (0.0, *(bound + step for bound in bounds for step in (-1.0, 0.0, 1.0))):
        holding = (each for each in bands if _holds(each, number))
        if str(next(holding, {"label": "false"}).get("label")) == label:
            return number
    return None


def _holds(band: Json, number: float) -> bool:
    low, high = band.get("min"), band.get("max")
    return (low is None or low <= number) and (high is None or number <= high)


def _labels(params: Json) -> tuple[str, ...]:
    if params.get("kind") not in _BANDED:
        return ("true", "false")
    bands = params.get("bands", ())
    labels = (*(str(band.get("label")) for band in bands), "false")
    return tuple(label for label in labels if _in_band(bands, label) is not None)


def _is_read(document: Json, path: str) -> bool:
    """True when a node reads the condition's output, so that the condition cannot be forced."""
    place = found(document, path)
    name = path.rpartition("/")[2]
    return place is not None and any(
        name in names_in(own_params(each), (name,)) for each in place.graph.get("nodes", ()) if each is not place.node
    )


def _way(document: Json, path: str) -> dict[str, str]:
    """The labels required on the path to a node."""
    labels: dict[str, str] = {}
    seen, waiting = {path}, [path]
    while waiting:
        for source, label in _before(document, waiting.pop()):
            if label:
                labels.setdefault(source, label)
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return labels


def _before(document: Json, path: str) -> Iterator[tuple[str, str]]:
    """The predecessors of a node: the nodes that it reads, the sources of its edges, the node that contains it."""
    inside, _slash, name = path.rpartition("/")
    graph = graph_at(document, inside)
    if graph is None:
        return
    prefix = f"{inside}/" if inside else ""
    ids = [node["id"] for node in graph.get("nodes", ())]
    node: Any = next((each for each in graph.get("nodes", ()) if each["id"] == name), {})
    for source in sorted(names_in(node.get("params"), ids) - {name}):
        yield prefix + source, ""
    for edge in graph.get("edges") or ():
        if edge["target"] == name:
            yield prefix + edge["source"], edge.get("condition") or ""
    if inside:
        yield (inside if found(document, inside) else inside.rpartition("/")[0]), ""
