"""Places of converted parts in the original document, so that findings refer to that document."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from flowcabal_tui.dialects.report import ConversionNote, Level
from flowcabal_tui.domain.workflow import Problem

_EDGE: Final = re.compile(r"^(?P<edge>(?:.*\.)?edges\[\d+\])(?P<rest>.*)$")
_ENDS: Final = {".source": ".from", ".target": ".to"}
Severity = Literal["error", "warning"]
Fields = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    fields: tuple[tuple[str, str], ...]
    """Prefixes of our fields with theirs, the longest first."""


@dataclass
class Places:
    """Maps the paths of nodes and edges in the converted workflow to their places in the original document."""

    nodes: dict[str, _Node] = field(default_factory=dict)
    edges: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    """Paths of nodes that replace unreadable ones: their findings do not concern the document."""

    def node(self, path: str, name: str, fields: Fields = ()) -> None:
        """Records that the node `name` of the document was converted to the node at `path`."""
        given = sorted(fields, key=lambda pair: -len(pair[0]))
        self.nodes[path] = _Node(name, tuple(given))

    def in_document(self, finding: Problem) -> Problem | None:
        """The finding with node and field of the document; None for a finding that concerns only our form."""
        if any(finding.node == path or finding.node.startswith(f"{path}/") for path in self.broken):
            return None
        if (match := _EDGE.match(finding.field)) and (finding.node, match["edge"]) in self.edges:
            node, place = self.edges[finding.node, match["edge"]]
            rest = _ENDS.get(match["rest"], match["rest"]) if "edges[" in place else ""
            return finding.model_copy(update={"node": node, "field": place + rest})
        known = self.nodes.get(finding.node)
        if known is None:
            return finding
        return finding.model_copy(update={"node": known.name, "field": _field(finding.field, known.fields)})


def _field(ours: str, fields: tuple[tuple[str, str], ...]) -> str:
    for prefix, theirs in fields:
        rest = ours.removeprefix(prefix)
        if ours.startswith(prefix) and (not rest or rest[0] in ".["):
            return theirs + rest if theirs else rest.removeprefix(".")
    return ours


@dataclass
class Telling:
    """The notes and findings of reading a document."""

    notes: list[ConversionNote]
    findings: list[Problem] = field(default_factory=list)
    fatal: list[Problem] = field(default_factory=list)
    """Findings that prevent a conversion."""
    names: dict[str, str] = field(default_factory=dict)
    """The id of the node at each place."""

    def note(self, level: Level, place: str, message: str) -> None:
        """Adds a note; a lost part is a finding as well, so that `validate` reports it like `convert`."""
        self.notes.append(ConversionNote(level, place, message))
        if level == "lost":
            self._add("NOT_CARRIED_OVER", place, message, "warning")

    def wrong(
        self,
        code: str,
        place: str,
        message: str,
        *,
        severity: Severity = "error",
        fatal: bool = False,
    ) -> None:
        """Adds a finding: a part that would not run as intended, or only with something that the document lacks."""
        if severity == "error":
            self.notes.append(ConversionNote("lost", place, message))
        finding = self._add(code, place, message, severity)
        if fatal:
            self.fatal.append(finding)

    def _add(self, code: str, place: str, message: str, severity: Severity) -> Problem:
        node, inside = self.at(place)
        finding = Problem(code=code, node=node, field=inside, message=message, severity=severity)
        self.findings.append(finding)
        return finding

    def at(self, place: str) -> tuple[str, str]:
        """The node at a place of the document, and the field in it as VelvetFlow names it."""
        start = place.rfind("nodes[")
        while start >= 0:
            end = place.find("]", start) + 1
            if (name := self.names.get(place[:end])) is not None:
                return name, place[end:].removeprefix(".").removeprefix("params.")
            start = place.rfind("nodes[", 0, start)
        return "", place
