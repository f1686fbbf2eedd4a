"""Passages between quotation marks, as messages and lists show them."""

from __future__ import annotations

from flowcabal_tui.domain.text import han_count


def quoted(passage: str) -> str:
    """The passage between double quotation marks."""
    return f"“{quotable(passage)}”"


def quotable(passage: str) -> str:
    """The passage as it is written between double quotation marks: its own double ones, also straight ones, are single.

    A speech whose beginning or end is outside the passage is opened or closed. In Chinese, single marks inside a speech
    become double; in English, most of them are apostrophes.
    """
    inner = {"‘": "“", "’": "”"} if han_count(passage) else {}
    written: list[str] = []
    is_open = False
    for char in passage:
        if char == "“" or (char == '"' and not is_open):
            written.append("‘")
            is_open = True
        elif char in '”"':
            if not is_open:
                written.insert(0, "‘")
            written.append("’")
            is_open = False
        else:
            written.append(inner.get(char, char) if is_open else char)
    return "".join([*written, "’"] if is_open else written)
