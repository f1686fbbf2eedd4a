"""Reading VelvetFlow's JSON: what is no JSON, too large or too deep is refused with a reason."""

from __future__ import annotations

import json
from typing import Any, Final

from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _

MAX_BYTES: Final = 10_000_000
MAX_NODES: Final = 20_000
MAX_DEPTH: Final = 100
"""Lists and objects inside each other."""
Document = dict[str, Any]
_LISTS: Final = ("nodes", "sub_graph_nodes")


def load(source: str | bytes | Any) -> Document:
    """A document from JSON text or from JSON values, its texts cleaned. Raises DialectError.

    Values are copied, never changed.
    """
    data = _parsed(source) if isinstance(source, (str, bytes)) else source
    if not isinstance(data, dict):
        raise DialectError(_("A workflow is an object with nodes."), "", _("Begin the document with {."))
    document = _cleaned(data, 0)
    if (count := _nodes_in(document)) > MAX_NODES:
        raise DialectError(
            _("The workflow has too many nodes to run."),
            _("{n} nodes; at most {most} can run.").format(n=count, most=MAX_NODES),
            _("Repeat nodes with a loop, or split the workflow."),
        )
    return dict(document)


def _parsed(source: str | bytes) -> Any:
    size = len(source) if isinstance(source, bytes) else len(source.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise DialectError(
            _("The document is too large."),
            _("{n} bytes; at most {most} are read.").format(n=size, most=MAX_BYTES),
            _("A document holds at most {n} nodes; keep long texts in files.").format(n=MAX_NODES),
        )
    try:
        text = source.decode("utf-8-sig") if isinstance(source, bytes) else source.removeprefix("\ufeff")
        return json.loads(text, parse_constant=_refused)
    except json.JSONDecodeError as error:
        raise DialectError(
            _("The document is not valid JSON."),
            error.msg,
            _("Correct it there and try again."),
            line=error.lineno,
            column=error.colno,
        ) from error
    except UnicodeDecodeError as error:
        raise DialectError(_("The document is not UTF-8 text."), str(error)) from error
    except RecursionError as error:
        raise _too_deep() from error


def _refused(constant: str) -> Any:
    raise DialectError(_("The document is not valid JSON."), _("{name} is no JSON value.").format(name=constant))


def _too_deep() -> DialectError:
    return DialectError(_("The document is nested too deep."), _("At most {n} levels are read.").format(n=MAX_DEPTH))


def _cleaned(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(inner, depth + 1) for inner in value]
    return value


def _nodes_in(document: Document) -> int:
    """How many entries stand in lists of nodes, at any depth."""
    count, waiting = 0, [document]
    while waiting:
        for key, value in waiting.pop().items():
            if key in _LISTS and isinstance(value, list):
                count += len(value)
            waiting += [value] if isinstance(value, dict) else []
            waiting += [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return count
