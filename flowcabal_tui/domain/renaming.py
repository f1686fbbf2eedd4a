"""Replaces paths in the expressions of conditions."""

from __future__ import annotations

import ast
import json
import keyword
from collections.abc import Callable

from flowcabal_tui.domain.expressions import parsed, placed_chains
from flowcabal_tui.domain.paths import Part


def renamed(expression: str, rename: Callable[[tuple[Part, ...]], tuple[Part, ...]]) -> str:
    """The expression with `rename` applied to the parts of every path that it reads. Raises ExpressionError."""
    tree = parsed(expression)
    text = expression.strip().encode()
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    found = [(node, parts) for node, parts in placed_chains(tree) if parts[0] not in own]
    for node, parts in sorted(found, key=lambda one: (one[0].lineno, one[0].col_offset), reverse=True):
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        text = text[:start] + written(rename(parts)).encode() + text[end:]
    return text.decode()


def written(parts: tuple[Part, ...]) -> str:
    """A path as an expression writes it: keys that are not identifiers are in brackets."""
    text = str(parts[0])
    for part in parts[1:]:
        plain = isinstance(part, str) and part.isidentifier() and not keyword.iskeyword(part)
        text += f".{part}" if plain and not str(part).startswith("_") else f"[{json.dumps(part, ensure_ascii=False)}]"
    return text
