"""Reasons of JSON errors in the user's language; those of Python's parser are English only."""

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
    """The parser's reason, without its place; an unknown reason keeps the parser's words."""
    return _(error.msg)
