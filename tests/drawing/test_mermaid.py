from __future__ import annotations

import re

from flowcabal_tui.drawing.mermaid import mermaid
from flowcabal_tui.drawing.values import Drawing, DrawnEdge, DrawnNode
from tests.drawing.drawings import hostile_drawing, random_drawing

LABEL = r'"[^"<>`\[\]{}]*(?:<br/>[^"<>`\[\]{}]*)*"'
STATEMENT = re.compile(
    rf"flowchart TD|\s+n\d+\[{LABEL}\]|\s+subgraph n\d+\[{LABEL}\]|\s+end|\s+n\d+_self\(\(\" \"\)\)"
    rf"|\s+n\d+(_self)? -->(\|{LABEL}\|)? n\d+(_self)?"
)


def strange(text: str) -> list[str]:
    return [line for line in text.splitlines() if not STATEMENT.fullmatch(line)]


def test_nodes_frames_and_labelled_edges() -> None:
    drawing = Drawing(
        (DrawnNode("起", "开始", "prompt"), DrawnNode("环", "循环"), DrawnNode("内", "批评", group="环")),
        (DrawnEdge("起", "环", "是"), DrawnEdge("环", "内")),
    )
    assert mermaid(drawing).splitlines() == [
        "flowchart TD",
        '  n0["开始<br/>#40;prompt#41;"]',
        '  subgraph n1["循环"]',
        '    n1_self((" "))',
        '    n2["批评"]',
        "  end",
        '  n0 -->|"是"| n1',
        "  n1_self --> n2",
    ]


def test_every_node_and_edge_is_there() -> None:
    drawing = random_drawing(9, 60, frames=True, circles=True)
    text = mermaid(drawing)
    assert not strange(text)
    assert text.count(" -->") == len(drawing.edges)
    assert len(re.findall(r"n\d+\[", text)) == len(drawing.nodes)
    assert text.count("subgraph") == len(re.findall(r"^\s+end$", text, re.MULTILINE)) == len(drawing.groups)


def test_hostile_text_is_only_labels() -> None:
    assert not strange(mermaid(hostile_drawing()))
