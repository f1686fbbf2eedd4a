"""The question whether a skeleton covers the request, and its answer."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow.document import Document

MOST_POINTS: Final = 20
_FENCE: Final = re.compile(r"\A\s*```\w{0,10}\s*(.*?)\s*```\s*\Z", re.DOTALL)


def coverage_request(wish: str, document: Document) -> str:
    """The text of the question: the wish and the workflow, without its edges."""
    shown = {key: value for key, value in document.items() if key != "edges"}
    return json.dumps({"nl_requirement": wish, "workflow": shown}, ensure_ascii=False)


def read_coverage(text: str) -> Document:
    """The answer; one that cannot be read covers nothing and names nothing."""
    fenced = _FENCE.match(text)
    try:
        value: Any = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    return {"is_covered": False, "missing_points": [], "analysis": ""}


def missing_points(coverage: Document) -> list[str]:
    """The points of an answer, as far as they are texts."""
    points = coverage.get("missing_points")
    return [each for each in points if isinstance(each, str)][:MOST_POINTS] if isinstance(points, list) else []
