"""Why a text is not JSON, in the user's words: those of the reader are English only."""

from __future__ import annotations

from json import JSONDecodeError

from flowcabal_tui.locale import _, mark

WORDS = (
    mark("Expecting value"),
    mark("Expecting property name enclosed in double quotes"),
    mark("Expecting ':' delimiter"),
    mark("Expecting ',' delimiter"),
    mark("Extra data"),
    mark("Unterminated string starting at"),
    mark("Invalid control character at"),
    mark("Invalid \\escape"),
    mark("Invalid \\uXXXX escape"),
    mark("Illegal trailing comma before end of object"),
    mark("Illegal trailing comma before end of array"),
)


def json_reason(error: JSONDecodeError) -> str:
    """What the reader met, without its place; what is not known here keeps the reader's words."""
    return _(error.msg)
