"""Drawings for tests: random ones from a seed, and texts that mean harm."""

from __future__ import annotations

import random
from typing import Final

from flowcabal_tui.drawing.values import Drawing, DrawnEdge, DrawnNode

HOSTILE: Final = (
    "<script>alert(1)</script>",
    ']]> <![CDATA[ "]',
    "\"quotes\" 'single' `ticks`",
    'a"] --> b["x',
    "one\ntwo\r\nthree",
    "\x1b[31mred\x1b[0m \x00\x07 \ufffe \ud800 \u202eback",
    "end",
    "&lt; &#x26; #quot; %%{init: {}}%%",
    "click n0 href 'javascript:alert(1)'",
)


def random_drawing(seed: int, count: int, *, frames: bool = False, circles: bool = False) -> Drawing:
    """A drawing of `count` nodes; with frames some stand in others, with circles some arrows run back."""
    chance = random.Random(seed)
    nodes = []
    for at in range(count):
        group = f"n{chance.randrange(at)}" if frames and at and chance.random() < 0.4 else None
        lines = tuple("输入：值" * chance.randrange(1, 4) for _ in range(chance.randrange(4)))
        nodes.append(DrawnNode(f"n{at}", chance.choice(["第一章", "Draft", "逐场修订：茶馆"]), "prompt", lines, group))
    edges = []
    for at in range(1, count):
        for _ in range(chance.randrange(4)):
            other = chance.randrange(count) if circles else chance.randrange(at)
            edges.append(DrawnEdge(f"n{other}", f"n{at}", chance.choice(["", "", "true", "否"])))
    return Drawing(tuple(nodes), tuple(dict.fromkeys(edges)))


def hostile_drawing() -> Drawing:
    """Every hostile text as id, title, kind, line and label, in a frame and outside."""
    outer = tuple(DrawnNode(f"o{text}", text, text, (text,)) for text in HOSTILE)
    inner = tuple(DrawnNode(f"i{text}", text, text, (text,), f"o{text}") for text in HOSTILE)
    return Drawing(
        (*outer, *inner, DrawnNode("last", "last")), tuple(DrawnEdge(node.id, "last", node.title) for node in inner)
    )
