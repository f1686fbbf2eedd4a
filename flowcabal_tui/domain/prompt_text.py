"""References inside a prompt: the nodes it needs, and the values for `{{...}}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import readable
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.paths import look_up, parse
from flowcabal_tui.domain.paths import node_of as named_by
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.workflow import Block, TextBlock, VirtualBlock

BINDING: Final = late(r"\{\{\s*([^{}\s]+)\s*\}\}")
_RESULT: Final = late(r"result_of\.(.+?)(?:\.text)?$")
RUN_VALUES: Final = (
    "chapter.title",
    "chapter.label",
    "chapter.number",
    "chapter.volume",
    "chapter.length",
    "chapter.style",
    "chapter.text",
    "project.name",
    "project.language",
    "project.author",
)


def chapter_values(chapter: Chapter, language: str) -> dict[str, str]:
    """The values of `{{chapter.title}}` and similar paths; `label` is `Chapter 4: title`.

    `length`, `style` and `text` are empty: runs read them from the book (`agents/context/expects.py`).
    """
    label = chapter_label(chapter.position, chapter.title, language)
    known = {"title": chapter.title, "label": label, "number": str(chapter.position), "volume": chapter.volume}
    return known | {"length": "", "style": "", "text": ""}


def bindings(text: str) -> tuple[str, ...]:
    """The paths between double braces, in order."""
    return tuple(BINDING.findall(text))


def node_of(path: str) -> NodeId | None:
    """The node that a path such as `result_of.plan.text` reads; None for other paths."""
    match = _RESULT.match(path)
    return NodeId(match[1]) if match else None


def references(blocks: Iterable[Block], known: Collection[NodeId] = ()) -> tuple[NodeId, ...]:
    """The nodes whose live output the blocks need, without duplicates, in order of appearance.

    `known` is for ids with dots: `result_of.act.one.title` reads a field of the node `act` unless it holds `act.one`.
    """
    found: dict[NodeId, None] = {}
    for block in blocks:
        if isinstance(block, VirtualBlock) and block.frozen is None:
            found[block.node] = None
        elif isinstance(block, TextBlock):
            found |= {node: None for path in bindings(block.text) if (node := _read_by(path, known))}
    return tuple(found)


def _read_by(path: str, known: Collection[NodeId]) -> NodeId | None:
    try:
        named = named_by(parse(path), known)
    except BindingError:
        return node_of(path)
    return named[0] if named else None


def block_paths(blocks: Iterable[Block]) -> tuple[str, ...]:
    """Every path between double braces in the blocks."""
    return tuple(path for block in blocks if isinstance(block, TextBlock) for path in bindings(block.text))


def fill(text: str, names: Mapping[str, Any], text_of: Callable[[NodeId], str | None]) -> str:
    """`text` with every `{{path}}` replaced; inserted text is never parsed for bindings again.

    `result_of.NODE` and `result_of.NODE.text` give the node's text; any other path is looked up in `names`. Raises
    BindingError with the path and the available names.
    """

    def value(match: re.Match[str]) -> str:
        node = node_of(match[1])
        known = None if node is None else text_of(node)
        return readable(look_up(match[1], names)) if known is None else known

    return BINDING.sub(value, text)
