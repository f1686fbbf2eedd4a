from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from flowcabal_tui.drawing.layout import shown, shown_label
from flowcabal_tui.drawing.svg import DARK, FONTS, LIGHT, Theme, svg
from flowcabal_tui.drawing.values import Drawing, DrawnEdge, DrawnNode
from tests.drawing.drawings import HOSTILE, hostile_drawing, random_drawing

NAME = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode())


def test_every_title_kind_line_and_label_is_in_it_and_one_path_for_each_edge() -> None:
    drawing = random_drawing(5, 30, frames=True)
    root = parsed(svg(drawing))
    texts = {text.text for text in root.iter(f"{NAME}text")}
    for node in drawing.nodes:
        title, kind, lines = shown(node)
        assert {title, kind, *lines} <= texts
    assert {shown_label(edge) for edge in drawing.edges if edge.label and edge.source != edge.target} <= texts
    heads = [path for path in root.iter(f"{NAME}path") if path.get("marker-end")]
    assert len(heads) == len(drawing.edges)


def test_hostile_text_is_only_text() -> None:
    picture = svg(hostile_drawing())
    root = parsed(picture)
    assert {element.tag.removeprefix(NAME) for element in root.iter()} == {
        "svg", "defs", "marker", "path", "rect", "g", "title", "text",
    }  # fmt: skip
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or "href" in name]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ufffe\ud800]", picture)
    assert sum(1 for text in root.iter(f"{NAME}text") if text.text == HOSTILE[0]) >= 2


def test_a_long_title_is_cropped_and_whole_in_the_tooltip() -> None:
    long = "写第三章的第一幕：主角与反派在茶馆第一次相遇并且互相试探对方的底细"
    root = parsed(svg(Drawing((DrawnNode("a", long, "prompt"),))))
    shown_text = next(text.text for text in root.iter(f"{NAME}text") if text.get("font-weight"))
    assert shown_text is not None and shown_text.endswith("…") and long.startswith(shown_text[:-1])
    assert f"{long} · prompt · a" in [title.text for title in root.iter(f"{NAME}title")]


def test_a_missing_node_is_dashed() -> None:
    assert "dasharray" in svg(Drawing((DrawnNode("a", "? a", missing=True),)))
    assert "dasharray" not in svg(Drawing((DrawnNode("a", "a"),)))


def test_light_and_dark_differ_in_colour_only() -> None:
    drawing = Drawing((DrawnNode("a", "a"), DrawnNode("b", "b")), (DrawnEdge("a", "b"),))
    light, dark = svg(drawing), svg(drawing, dark=True)
    assert LIGHT.page in light and DARK.page in dark
    assert re.sub("#[0-9a-f]{6}", "", light) == re.sub("#[0-9a-f]{6}", "", dark)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_all_text_can_be_read(theme: Theme) -> None:
    for colour in (theme.text, theme.faint, theme.missing, *theme.kinds):
        low, high = sorted((luminance(colour), luminance(theme.box)))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_chinese_fonts_stand_before_others() -> None:
    assert "font-family=" in svg(Drawing(())) and FONTS.index("Noto Sans CJK SC") < FONTS.index("DejaVu Sans")
