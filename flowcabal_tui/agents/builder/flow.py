"""The graph made from a filled form, node by node: the outputs available at each point, and the ids in use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from flowcabal_tui.agents.builder.document import Json, text_block
from flowcabal_tui.agents.builder.working_copy import Known

_NOT_IN_ID: Final = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class ReadOutput:
    """An output that can be read. `node` is set where the whole output of a node is meant."""

    path: str
    part: str = "draft"
    node: str = ""
    name: str = ""

    @property
    def block(self) -> Json:
        """A prompt block that inserts it."""
        if self.node:
            return {"kind": "virtual", "part": self.part, "node": self.node}
        return text_block("{{" + self.path + "}}", self.part)


def of_node(name: str, part: str = "draft", called: str = "") -> ReadOutput:
    """The text output of a node."""
    return ReadOutput(f"result_of.{name}.text", part, name, called)


@dataclass(frozen=True, slots=True)
class Entries:
    """A list to iterate over: its path, and the fields of its entries."""

    path: str
    fields: tuple[str, ...] = ()


@dataclass
class There:
    """The outputs available to the next node. Bodies and branches begin with those of their surroundings."""

    plan: ReadOutput | None = None
    texts: tuple[ReadOutput, ...] = ()
    remarks: tuple[ReadOutput, ...] = ()
    answers: tuple[ReadOutput, ...] = ()
    states: tuple[tuple[str, str], ...] = ()
    """Keys of the story's memory with the paths of their values."""
    entries: Entries | None = None
    ways: tuple[ReadOutput, ...] = ()
    """The outputs of branches that exclude each other."""
    item: str = ""
    """The path of the item of the surrounding loop."""
    is_opening: bool = False
    """The text is only the beginning."""
    is_ending: bool = False
    """The last text is another ending of the one before it."""


@dataclass
class Flow:
    """A growing graph. `ids` are shared with the graphs around: an id is used once in a workflow."""

    language: str
    known: Known
    ids: set[str]
    nodes: list[Json] = field(default_factory=list)
    edges: list[Json] = field(default_factory=list)
    because: dict[str, str] = field(default_factory=dict)
    """The checklist step that each node serves."""
    there: There = field(default_factory=There)
    step: str = ""

    def inner(self) -> Flow:
        """A flow for an inner graph or a branch; it starts with the outputs available here."""
        return Flow(self.language, self.known, self.ids, there=replace(self.there), step=self.step)

    def add(self, kind: str, name: str, wished: str, params: Json) -> str:
        """Adds a node and returns its id."""
        made = self.free_id(wished or kind)
        self.nodes.append({"id": made, "kind": kind, "name": name, "params": params})
        self.because[made] = self.step
        return made

    def free_id(self, wished: str) -> str:
        """An unused id similar to the wanted one."""
        base = _NOT_IN_ID.sub("-", wished.strip().lower()).strip("-.")[:40] or "step"
        made, number = base, 2
        while made in self.ids:
            made, number = f"{base}-{number}", number + 1
        self.ids.add(made)
        return made

    def lead(self, source: str, label: str, targets: Iterable[str]) -> None:
        """Adds edges of a branch to the nodes with which it begins."""
        self.edges += [{"source": source, "target": each, "condition": label} for each in targets]

    def take(self, other: Flow) -> None:
        """Adds the nodes of a branch."""
        self.nodes += other.nodes
        self.edges += other.edges
        self.because |= other.because


def sentence(words: str, language: str) -> str:
    """The words with a full stop, unless they end with other punctuation."""
    is_open = words and words[-1].isalnum()
    return f"{words}{'。' if language == 'zh' else '.'}" if is_open else words


def begins(nodes: Sequence[Json], edges: Sequence[Json], reads: Mapping[str, frozenset[str]]) -> list[str]:
    """The nodes that depend on no other of these."""
    ids = {node["id"] for node in nodes}
    led = {edge["target"] for edge in edges if edge["source"] in ids}
    return [node["id"] for node in nodes if node["id"] not in led and not reads[node["id"]] & ids]


def filled(value: Any, slots: Mapping[str, Any]) -> Any:
    """A value with `{{text}}`, `{{items}}` and `{{count}}` replaced; alone they keep their type."""
    if isinstance(value, dict):
        return {key: filled(each, slots) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, slots) for each in value]
    if not isinstance(value, str):
        return value
    for name, slot in slots.items():
        mark = "{{" + name + "}}"
        if value.strip() == mark:
            return slot
        if isinstance(slot, str):
            value = value.replace(mark, "{{" + slot + "}}")
    return value
