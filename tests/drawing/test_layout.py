from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.drawing.layout import lay_out
from flowcabal_tui.drawing.svg import svg
from flowcabal_tui.drawing.text_width import crop, text_width
from flowcabal_tui.drawing.values import Box, Drawing, DrawnEdge, DrawnNode, Layout, Point
from tests.drawing.drawings import random_drawing
from tests.effort import growth

ROOT = Path(__file__).parents[2]
seeds = st.integers(0, 100_000)


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def contains(frame: Box, inner: Box) -> bool:
    return (
        frame.x <= inner.x
        and inner.x + inner.width <= frame.x + frame.width
        and frame.y + frame.header <= inner.y
        and inner.y + inner.height <= frame.y + frame.height
    )


def along(points: tuple[Point, ...]) -> list[Point]:
    """Points on a route: its own, and four on each stretch as it is drawn."""
    found = list(points)
    for (x0, y0), (x1, y1) in pairwise(points):
        for t in (0.2, 0.4, 0.6, 0.8):
            bend = 3 * t * t - 2 * t * t * t
            y = y0 + (y1 - y0) * (1.5 * t * (1 - t) * (1 - t) + 1.5 * t * t * (1 - t) + t * t * t)
            found.append((x0 + (x1 - x0) * bend, y if x0 != x1 else y0 + (y1 - y0) * t))
    return found


def boxes_run_over(layout: Layout, every: int = 1) -> list[tuple[str, str, str]]:
    found = []
    for route in layout.routes[::every]:
        for box in layout.boxes:
            if not box.is_frame and box.node.id not in (route.edge.source, route.edge.target):
                inside = (
                    box.x + 0.5 < x < box.x + box.width - 0.5 and box.y + 0.5 < y < box.y + box.height - 0.5
                    for x, y in along(route.points)
                )
                if any(inside):
                    found.append((route.edge.source, route.edge.target, box.node.id))
    return found


@settings(deadline=None)
@given(seeds, st.integers(1, 60), st.booleans())
def test_boxes_never_overlap_and_no_arrow_runs_over_one(seed: int, count: int, circles: bool) -> None:
    layout = lay_out(random_drawing(seed, count, circles=circles))
    assert not [(a.node.id, b.node.id) for a, b in combinations(layout.boxes, 2) if overlap(a, b)]
    assert not boxes_run_over(layout)


@settings(deadline=None)
@given(seeds, st.integers(1, 40), st.booleans())
def test_frames_hold_what_is_theirs_and_nothing_else(seed: int, count: int, circles: bool) -> None:
    drawing = random_drawing(seed, count, frames=True, circles=circles)
    around = drawing.paths()
    for one, other in combinations(lay_out(drawing).boxes, 2):
        if one.node.id in around[other.node.id]:
            assert contains(one, other)
        else:
            assert not overlap(one, other)


@settings(deadline=None)
@given(seeds, st.integers(1, 40))
def test_every_node_and_edge_is_drawn_inside_the_picture(seed: int, count: int) -> None:
    drawing = random_drawing(seed, count, frames=True, circles=True)
    layout = lay_out(drawing)
    assert {box.node for box in layout.boxes} == set(drawing.nodes)
    assert tuple(route.edge for route in layout.routes) == drawing.edges
    for route in layout.routes:
        assert len(route.points) > 1
        assert all(0 <= x <= layout.width and 0 <= y <= layout.height for x, y in route.points)
        if route.edge.label and route.edge.source != route.edge.target:
            assert route.label_at is not None


@settings(deadline=None)
@given(seeds, st.integers(2, 40), st.booleans())
def test_an_arrow_begins_at_its_source_and_ends_at_its_target(seed: int, count: int, circles: bool) -> None:
    layout = lay_out(random_drawing(seed, count, frames=not circles, circles=circles))
    box = {box.node.id: box for box in layout.boxes}
    for route in layout.routes:
        for node, (x, y) in ((route.edge.source, route.points[0]), (route.edge.target, route.points[-1])):
            at = box[node]
            assert at.x - 1 <= x <= at.x + at.width + 1
            assert at.y - 1 <= y <= at.y + at.height + 1


def test_sources_stand_above_targets() -> None:
    layout = lay_out(random_drawing(3, 50))
    box = {box.node.id: box for box in layout.boxes}
    assert all(
        box[route.edge.source].y + box[route.edge.source].height < box[route.edge.target].y for route in layout.routes
    )


def test_five_hundred_nodes_stay_in_bounds_in_steps_that_grow_as_they_do() -> None:
    assert not boxes_run_over(lay_out(random_drawing(1, 500)), every=15)
    drawings = {size: random_drawing(1, size) for size in (125, 500)}
    assert growth(lambda size: lay_out(drawings[size]), 125) < 1.3


def test_a_fan_of_five_hundred_is_folded_into_rows() -> None:
    middle = [f"m{at}" for at in range(500)]
    layout = lay_out(
        Drawing(
            tuple(DrawnNode(name, "场景") for name in ("plan", *middle, "merge")),
            (*(DrawnEdge("plan", name) for name in middle), *(DrawnEdge(name, "merge") for name in middle)),
        )
    )
    assert layout.width < 10_000 and layout.height < 10_000
    assert not boxes_run_over(layout, every=40)


def test_the_same_drawing_is_the_same_picture_in_every_process() -> None:
    program = (
        "from tests.drawing.drawings import random_drawing\nfrom flowcabal_tui.drawing.svg import svg\n"
        "print(svg(random_drawing(7, 40, frames=True, circles=True)), end='')"
    )
    pictures = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        ).stdout.decode()
        for seed in ("1", "2")
    }
    assert pictures == {svg(random_drawing(7, 40, frames=True, circles=True))}


def test_a_drawing_that_cannot_be_is_refused() -> None:
    a, b = DrawnNode("a", "a"), DrawnNode("b", "b")
    with pytest.raises(ValueError, match="same id"):
        Drawing((a, a))
    with pytest.raises(ValueError, match="no such node"):
        Drawing((a, b), (DrawnEdge("a", "c"),))
    with pytest.raises(ValueError, match="contains itself"):
        Drawing((DrawnNode("a", "a", group="b"), DrawnNode("b", "b", group="a")))


def test_an_empty_drawing_is_an_empty_page() -> None:
    assert lay_out(Drawing(())).boxes == ()


def test_a_deep_nest_of_frames_is_drawn() -> None:
    nest = Drawing(tuple(DrawnNode(f"n{at}", "层", group=f"n{at - 1}" if at else None) for at in range(300)))
    assert len(lay_out(nest).boxes) == 300


def test_chinese_is_twice_as_wide_as_a_narrow_letter_and_marks_take_no_room() -> None:
    assert text_width("汉字", 10) == 20
    assert text_width("，", 10) == 10
    assert text_width("ab", 10) < 15
    assert text_width("e\u0301", 10) == text_width("e", 10)


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(20, 300))
def test_cropped_text_fits(text: str, width: int) -> None:
    cropped = crop(text, 12, width)
    assert text_width(cropped, 12) <= width
    assert cropped == text or cropped.endswith("…")
