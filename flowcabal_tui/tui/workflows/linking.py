"""Connects two nodes: asks for the output and the kind of connection."""

from __future__ import annotations

from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.tui.editing.changes import (
    Link,
    bindable,
    block_fields,
    branches_of,
    connected,
    disconnected,
    links_into,
    possible_sources,
)
from flowcabal_tui.tui.editing.places import Graph, Spot, graph_at
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.words import NODE_KINDS, one_line

_NONE: Final = "none"


class Linking:
    """Asks for the source and the kind of connection; both are lists."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    async def connected(self, workflow: Workflow, spot: Spot) -> Graph | None:
        """The graph with one more connection; None when nothing was chosen."""
        graph = graph_at(workflow, spot.owners)
        target = graph.node(spot.node)
        sources = _sources(workflow, spot)
        if target is None or not sources:
            self._screen.notify(_("No other node can come before this one."), markup=False)
            return None
        rows = tuple((str(n), _source_words(node, is_beside)) for n, (node, is_beside) in enumerate(sources))
        title = _("What does {node} need?").format(node=one_line(target.title, 40))
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(title, rows))
        if chosen is None:
            return None
        source, is_beside = sources[int(chosen)]
        links = _possible_links(source, target, edges=is_beside and not spot.is_step)
        how: str | None = "0"
        if len(links) > 1:
            ways = tuple((str(n), link_words(link)) for n, link in enumerate(links))
            title = _("How is {source} used here?").format(source=one_line(source.title, 40))
            how = await self._screen.app.push_screen_wait(ChooseScreen(title, ways))
        return connected(graph, links[int(how)]) if how and links else None

    async def disconnected(self, workflow: Workflow, spot: Spot) -> Graph | None:
        """The graph without one connection; None when nothing was chosen."""
        graph = graph_at(workflow, spot.owners)
        links = links_into(graph, spot.node)
        if not links:
            self._screen.notify(
                _("This node is connected only through names between {{ and }} in its texts."), markup=False
            )
            return None
        rows = ((_NONE, _("none")), *((str(n), f"{link.source}: {link_words(link)}") for n, link in enumerate(links)))
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("Remove which connection?"), rows))
        return None if chosen in (None, _NONE) else disconnected(graph, links[int(chosen)])


def _sources(workflow: Workflow, spot: Spot) -> list[tuple[Node, bool]]:
    """The nodes that can come before, nearest first, each with whether it is in the same graph."""
    found: list[tuple[Node, bool]] = []
    if not spot.is_step:
        graph = graph_at(workflow, spot.owners)
        found = [(each, True) for each in possible_sources(workflow, graph, spot.node)]
    for depth in range(len(spot.owners) - 1, -1, -1):
        around = graph_at(workflow, spot.owners[:depth])
        owner: NodeId = spot.owners[depth][0]
        found += [(each, False) for each in possible_sources(workflow, around, owner)]
    return found


def _possible_links(source: Node, target: Node, *, edges: bool) -> list[Link]:
    """All ways in which one can come before the other, the likeliest first."""
    made = [Link(source.id, target.id, "block", field) for field in block_fields(target)]
    made += [Link(source.id, target.id, "text", field) for field in block_fields(target)]
    made += [Link(source.id, target.id, "field", field) for field in bindable(target)]
    branches = branches_of(source)
    by_edge = [Link(source.id, target.id, "edge", label) for label in (*branches, "")] if edges else []
    return [*by_edge, *made] if branches else [*made, *by_edge]


def _source_words(node: Node, is_beside: bool) -> tuple[str, ...]:
    return one_line(node.title, 60), _(NODE_KINDS.get(node.kind, node.kind)), "" if is_beside else _("from outside")


def link_words(link: Link) -> str:
    """The effect of a connection, in words."""
    match link.form:
        case "block":
            return _("its text becomes a block at the end of `{field}`").format(field=link.place)
        case "text":
            name = f"{{{{result_of.{link.source}}}}}"
            return _("the text {name} at the end of `{field}`").format(name=name, field=link.place)
        case "field":
            return _("its output becomes `{field}`").format(field=link.place)
        case _ if link.place:
            return _("only when it takes the branch `{label}`").format(label=link.place)
        case _:
            return _("order only: run after it")
