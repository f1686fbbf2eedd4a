"""A drawing as SVG: plain shapes and text, without scripts, style sheets or external resources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final
from zlib import crc32

from flowcabal_tui.drawing.layout import (
    KIND_HEIGHT,
    KIND_SIZE,
    LABEL_SIZE,
    LINE_HEIGHT,
    LINE_SIZE,
    PADDING,
    TITLE_HEIGHT,
    TITLE_SIZE,
    lay_out,
    shown,
    shown_label,
)
from flowcabal_tui.drawing.text_width import one_line, text_width
from flowcabal_tui.drawing.values import Box, Drawing, Layout, Point, Route

FONTS: Final = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "PingFang SC", "Microsoft YaHei", "Hiragino Sans GB",
    "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "SimHei", "Heiti SC", "Arial", "Helvetica",
    "DejaVu Sans", "Liberation Sans", "sans-serif",
)  # fmt: skip
"""Fonts with Chinese come first: a renderer that falls back by run, not by character, then has both scripts."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a picture; a node's kind chooses one of `kinds`."""

    page: str
    box: str
    border: str
    text: str
    faint: str
    line: str
    missing: str
    frames: tuple[str, str]
    kinds: tuple[str, ...]


LIGHT: Final = Theme(
    "#ffffff", "#ffffff", "#94a3b8", "#0f172a", "#475569", "#64748b", "#b91c1c", ("#f1f5f9", "#e2e8f0"),
    ("#2563eb", "#047857", "#b45309", "#7c3aed", "#be123c", "#0e7490", "#4d7c0f", "#a21caf"),
)  # fmt: skip
DARK: Final = Theme(
    "#0f172a", "#1e293b", "#64748b", "#f1f5f9", "#b6c2d2", "#94a3b8", "#fca5a5", ("#172033", "#1d2940"),
    ("#60a5fa", "#34d399", "#fbbf24", "#a78bfa", "#fb7185", "#22d3ee", "#a3e635", "#e879f9"),
)  # fmt: skip


def svg(drawing: Drawing, *, dark: bool = False) -> str:
    """The picture as an SVG document."""
    return svg_of(lay_out(drawing), DARK if dark else LIGHT)


def svg_of(layout: Layout, theme: Theme) -> str:
    """A layout as an SVG document: frames first, then arrows, labels, boxes and the headers of frames."""
    width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
    frames = [box for box in layout.boxes if box.is_frame]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{escape(", ".join(FONTS))}">',
        f'<defs><marker id="head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5Z" fill="{theme.line}"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="{theme.page}"/>',
        *(_frame(box, theme) for box in frames),
        f'<g fill="none" stroke="{theme.line}" stroke-width="1.4">',
        *(_arrow(route) for route in layout.routes),
        "</g>",
        *dict.fromkeys(_label(route, theme) for route in layout.routes if route.label_at),
        *(part for box in layout.boxes for part in _box(box, theme)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def kind_colour(kind: str, theme: Theme) -> str:
    """The colour of a kind, the same in every picture."""
    return theme.kinds[crc32(kind.encode("utf-8", "replace")) % len(theme.kinds)]


def _frame(box: Box, theme: Theme) -> str:
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="8" '
        f'fill="{theme.frames[box.depth % 2]}" stroke="{theme.border}" stroke-width="1.2"/>'
    )


def _arrow(route: Route) -> str:
    name = " → ".join(part for part in (route.edge.source, shown_label(route.edge), route.edge.target) if part)
    return f'<path d="{_path(route.points)}" marker-end="url(#head)"><title>{_safe(name)}</title></path>'


def _path(points: Sequence[Point]) -> str:
    """The SVG path: straight for vertical and horizontal steps, otherwise a curve with vertical ends."""
    parts = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1 or y0 == y1:
            parts.append(f"L{x1:g} {y1:g}")
        else:
            middle = (y0 + y1) / 2
            parts.append(f"C{x0:g} {middle:g} {x1:g} {middle:g} {x1:g} {y1:g}")
    return "".join(parts)


def _label(route: Route, theme: Theme) -> str:
    label = shown_label(route.edge)
    x, y = route.label_at or (0.0, 0.0)
    width = text_width(label, LABEL_SIZE) + 8
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - 9:.1f}" width="{width:.1f}" height="18" rx="4" fill="{theme.page}" '
        f'stroke="{theme.border}" stroke-width="0.6"/>' + _text(x, y + 4, LABEL_SIZE, theme.faint, label, middle=True)
    )


def _box(box: Box, theme: Theme) -> Iterator[str]:
    """A box, or the head of a frame."""
    title, kind, lines = shown(box.node)
    height = box.header or box.height
    colour = theme.missing if box.node.missing else kind_colour(box.node.kind, theme)
    dashes = f'stroke="{theme.missing}" stroke-dasharray="5 3"' if box.node.missing else f'stroke="{theme.border}"'
    yield (
        f"<g><title>{_safe(' · '.join(filter(None, (box.node.title, box.node.kind, box.node.id))))}</title>"
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{height:.1f}" rx="6" '
        f'fill="{theme.box}" {dashes} stroke-width="1.2"/>'
        f'<rect x="{box.x:.1f}" y="{box.y + 3:.1f}" width="4" height="{height - 6:.1f}" rx="2" fill="{colour}"/>'
    )
    left, y = box.x + PADDING + 3, box.y + PADDING / 2
    yield _text(left, y + 15, TITLE_SIZE, theme.text, title, bold=True)
    y += TITLE_HEIGHT
    if kind:
        yield _text(left, y + 11, KIND_SIZE, colour, kind)
        y += KIND_HEIGHT
    for line in lines:
        yield _text(left, y + 12, LINE_SIZE, theme.faint, line)
        y += LINE_HEIGHT
    yield "</g>"


def _text(x: float, y: float, size: float, fill: str, text: str, *, bold: bool = False, middle: bool = False) -> str:
    extra = ' font-weight="bold"' * bold + ' text-anchor="middle"' * middle
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}"{extra}>{_safe(text)}</text>'


def _safe(text: str) -> str:
    return escape(one_line(text), quote=True)
