"""References inside a prompt: which nodes it needs, and filling in `{{...}}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Block, TextBlock, VirtualBlock
from flowcabal_tui.locale import _

BINDING: Final = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
_RESULT: Final = re.compile(r"result_of\.(.+?)(?:\.text)?$")
RUN_VALUES: Final = (
    "chapter.title",
    "chapter.number",
    "chapter.volume",
    "project.name",
    "project.language",
    "project.author",
)


def bindings(text: str) -> tuple[str, ...]:
    """The paths between double braces, in order."""
    return tuple(BINDING.findall(text))


def node_of(path: str) -> NodeId | None:
    """The node that a path such as `result_of.plan.text` reads; None for other paths."""
    match = _RESULT.match(path)
    return NodeId(match[1]) if match else None


def references(blocks: Iterable[Block]) -> tuple[NodeId, ...]:
    """The nodes whose live output the blocks need, without doubles, in order of appearance."""
    found: dict[NodeId, None] = {}
    for block in blocks:
        if isinstance(block, VirtualBlock) and block.frozen is None:
            found[block.node] = None
        elif isinstance(block, TextBlock):
            found |= {node: None for path in bindings(block.text) if (node := node_of(path))}
    return tuple(found)


def fill(text: str, values: Mapping[str, str], results: Mapping[NodeId, str]) -> str:
    """`text` with every `{{path}}` replaced; inserted text is never read as a binding again.

    Raises WorkflowError naming the path and the available names.
    """

    def value(match: re.Match[str]) -> str:
        path = match[1]
        if path in values:
            return values[path]
        if (node := node_of(path)) is not None and node in results:
            return results[node]
        raise WorkflowError(
            _("The prompt asks for {path}, which is not there.").format(path="{{" + path + "}}"),
            _("Available: {names}").format(
                names=", ".join([*sorted(values), *(f"result_of.{node}.text" for node in sorted(results))])
            ),
            _("Say for which chapter the workflow runs (--chapter N), give the value, or correct the prompt."),
        )

    return BINDING.sub(value, text)
