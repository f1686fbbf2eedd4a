from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.drawing.rails_text import rails_text, reading_order
from flowcabal_tui.drawing.values import Drawing, DrawnEdge, DrawnNode
from tests.drawing.drawings import hostile_drawing, random_drawing

NOVEL = Drawing(
    (
        DrawnNode("merge", "定稿"),
        DrawnNode("plan", "大纲", "prompt", ("model: qwen",)),
        DrawnNode("loop", "修订", "loop"),
        DrawnNode("a", "批评", group="loop"),
        DrawnNode("b", "改写", group="loop"),
    ),
    (
        DrawnEdge("plan", "loop", "是"),
        DrawnEdge("a", "b"),
        DrawnEdge("loop", "merge"),
        DrawnEdge("merge", "plan"),
        DrawnEdge("plan", "merge"),
    ),
)


def test_sources_come_first_frames_before_their_bodies_and_circles_are_named() -> None:
    one_way = Drawing(NOVEL.nodes, tuple(edge for edge in NOVEL.edges if edge != DrawnEdge("merge", "plan")))
    assert rails_text(one_way).splitlines() == [
        "● 大纲  [prompt]  model: qwen",
        "├─◆ 修订  [loop]  (是)",
        "│ ├─●   批评",
        "│ │ ●   改写",
        "●─┘ 定稿",
    ]
    assert "↑" in rails_text(NOVEL)


def test_plain_rails_are_ascii() -> None:
    drawing = Drawing(tuple(DrawnNode(node.id, node.id, group=node.group) for node in NOVEL.nodes), NOVEL.edges[1:])
    assert rails_text(drawing, plain=True).isascii()


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_every_node_has_one_line_after_all_its_sources(seed: int, count: int) -> None:
    drawing = random_drawing(seed, count)
    order = reading_order(drawing)
    assert sorted(order) == sorted(node.id for node in drawing.nodes)
    assert all(order.index(edge.source) < order.index(edge.target) for edge in drawing.edges)
    assert len(rails_text(drawing).splitlines()) == count


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_a_frame_is_followed_by_what_is_in_it(seed: int, count: int) -> None:
    drawing = random_drawing(seed, count, frames=True, circles=True)
    order, around = reading_order(drawing), drawing.paths()
    assert len(order) == count
    for frame in drawing.groups:
        start = order.index(frame)
        inside = [node for node, path in around.items() if frame in path]
        assert set(order[start : start + len(inside)]) == set(inside)


def test_hostile_text_cannot_reach_the_terminal() -> None:
    text = rails_text(hostile_drawing())
    assert len(text.splitlines()) == len(hostile_drawing().nodes)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
