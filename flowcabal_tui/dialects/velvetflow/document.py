"""Reads VelvetFlow's JSON; refuses invalid or too large text with a reason."""

from __future__ import annotations

import json
from typing import Any, Final

from flowcabal_tui.dialects import reading
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.locale import _

MAX_BYTES: Final = 10_000_000
MAX_NODES: Final = 20_000
Document = dict[str, Any]
BRANCHES: Final = {"true": "true_to_node", "false": "false_to_node"}
"""The field of a condition that names the next node, by the answer."""
_LISTS: Final = ("nodes", "sub_graph_nodes")


def load(source: str | bytes | Any) -> Document:
    """A document from JSON text or from JSON values, its texts cleaned. Raises DialectError.

    Values are copied, never changed.
    """
    text = _text(source)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size >= MAX_BYTES:
        raise DialectError(
            _("The document is too large."),
            _("{n} bytes; less than {most} are read.").format(n=size, most=MAX_BYTES),
            _("A workflow has at most {n} nodes; keep long texts in files.").format(n=MAX_NODES),
        )
    document = reading.load(text)
    if not isinstance(document, dict) or "nodes" not in document:
        raise DialectError(_("A workflow is an object with nodes."), "", _("Give the document a list of nodes."))
    if (count := _nodes_in(document)) > MAX_NODES:
        raise DialectError(
            _("The workflow has too many nodes to run."),
            _("{n} nodes; at most {most} can run.").format(n=count, most=MAX_NODES),
            _("Repeat nodes with a loop, or split the workflow."),
        )
    return document


def _text(source: str | bytes | Any) -> str:
    try:
        if isinstance(source, bytes):
            return source.decode("utf-8-sig")
        return source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)
    except UnicodeDecodeError as error:
        raise DialectError(_("The document is not UTF-8 text."), str(error)) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise DialectError(_("The document contains values that JSON cannot represent."), str(error)) from error


def _nodes_in(document: Document) -> int:
    """The number of entries in lists of nodes, at any depth."""
    count, waiting = 0, [document]
    while waiting:
        for key, value in waiting.pop().items():
            if key in _LISTS and isinstance(value, list):
                count += len(value)
            waiting += [value] if isinstance(value, dict) else []
            waiting += [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return count
