"""Words with roles: the heading of a pane, and a sentence that names keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from textual.content import Content

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import FACTS_APART
from flowcabal_tui.tui.widgets.prose_wrap import wrap
from flowcabal_tui.tui.widgets.roles import Role, role_style

_KEY: Final = late(
    r"`([^`\n]{1,40})`|(?<![A-Za-z])((?:Shift\+|Ctrl\+)?F\d{1,2}|Ctrl\+[^\s,.;:，。；：、`]|Shift\+Delete)(?![A-Za-z0-9])"
)


def head_words(title: str, *facts: str | Content, role: Role = "secondary") -> Content:
    """The title of a pane in bold, then its facts; empty facts are left out. Styles inside a fact are kept."""
    styled = [Content.styled(title, f"bold {role_style('text')}")] if title else []
    shown = [words if isinstance(words, Content) else Content(words) for words in facts]
    styled += [words.stylize_before(role_style(role)) for words in shown if words]
    return Content(FACTS_APART).join(styled)


def facts_words(*facts: str) -> str:
    """Facts on one line with separators; empty ones are left out."""
    return FACTS_APART.join(each for each in facts if each)


def fold_facts(line: Content, width: int) -> Iterator[Content]:
    """Facts on as many lines of `width` cells as they need: a line ends between two of them, where they fit."""
    begin = end = 0
    for at in (*(found.start() for found in re.finditer(FACTS_APART, line.plain)), len(line)):
        if begin < end and line[begin:at].cell_length > width:
            yield line[begin:end]
            begin = end + len(FACTS_APART)
        end = at
    yield line[begin:]


def wrapped(line: Content, width: int) -> Iterator[Content]:
    """The rows of a line, with the line-break rules of Chinese."""
    start = 0
    for row in wrap(line.plain, width):
        yield line[start : start + len(row)].rstrip()
        start += len(row)


def key_words(words: str) -> Content:
    """A sentence with its keys in the key role, without the backticks around them."""
    return Content.assemble(*_key_parts(words))


def without_backticks(words: str) -> str:
    """The sentence without backticks, for a place that shows plain text."""
    return "".join(part if isinstance(part, str) else part[0] for part in _key_parts(words))


def _key_parts(words: str) -> Iterator[str | tuple[str, str]]:
    end = 0
    for found in _KEY.finditer(words):
        yield words[end : found.start()]
        yield found[1] or found[2], role_style("key")
        end = found.end()
    yield words[end:]
