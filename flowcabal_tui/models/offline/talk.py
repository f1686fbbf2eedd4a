"""The conversation without a model: it searches the book, and answers with a sentence that it found, and its place."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Final

from flowcabal_tui.domain.model_calls import ModelRequest, ToolCall
from flowcabal_tui.models.offline.reading import is_chinese, lines, terms
from flowcabal_tui.models.offline.words import words_of

_TASK: Final = "<task>conversation</task>"
_QUESTION: Final = re.compile(r"<question>\n([^\x00]*)\n</question>")
_NAMES: Final = re.compile(r"<names>\n([^<>]*)\n</names>")
_FOUND: Final = re.compile(r'<found chapter="(\d{1,6})" title="[^"<>]*">([^<>]*)</found>')
_QUOTED: Final = re.compile(r"[“「『]([^“”「」『』\n]{1,200})[”」』]")
_LONGEST: Final = 200
_TELLING: Final = 120
"""Characters: of two sentences the longer one tells more, up to these."""
_MOST_SEARCHES: Final = 3
Said = tuple[str, tuple[ToolCall, ...]]


def is_talk(request: ModelRequest) -> bool:
    """True for a question of the conversation."""
    return any(_TASK in each.content for each in request.messages if each.role == "user")


def talk(request: ModelRequest) -> Said:
    """A few searches, then the sentence that shares most with the question.

    Two quoted texts in the question are an edit: the second takes the place of the first.
    """
    at = max(at for at, each in enumerate(request.messages) if _TASK in each.content)
    asked, told = request.messages[at].content, request.messages[at + 1 :]
    match = _QUESTION.search(asked)
    question = html.unescape(match[1]) if match else ""
    found = [(int(number), html.unescape(line)) for each in told for number, line in _FOUND.findall(each.content)]
    calls = [call for each in told for call in each.tool_calls]
    quoted = _QUOTED.findall(question)
    if len(quoted) > 1 and found and any(tool.name == "propose_edit" for tool in request.tools):
        refused = any(each.role == "tool" and each.content.startswith("Refused") for each in told)
        return _edit(question, quoted, found[0][0], calls, "unsaid" if refused else "proposed")
    wanted = quoted[:1] or _sought(question, asked)
    if not found and len(calls) < min(len(wanted), _MOST_SEARCHES):
        return "", (_call("search", len(calls), words=wanted[len(calls)]),)
    return _answer(question, found), ()


def _edit(question: str, quoted: Sequence[str], chapter: int, calls: Sequence[ToolCall], ending: str) -> Said:
    if any(call.name == "propose_edit" for call in calls):
        return words_of(is_chinese(question)).said[ending], ()
    words = {"quotation": quoted[0], "replacement": quoted[1], "reason": question[:_LONGEST]}
    return "", (_call("propose_edit", len(calls), chapter=chapter, **words),)


def _sought(question: str, asked: str) -> list[str]:
    """The names of the question, then its longest words."""
    listed = _NAMES.search(asked)
    rows = [line.partition(":")[2].split("|") for line in listed[1].splitlines()] if listed else []
    names = [name.strip() for row in rows for name in row if name.strip() and name.strip() in question]
    words = sorted(terms(question, is_chinese(question)), key=lambda term: (-len(term), term))
    return list(dict.fromkeys((*names, *words)))


def _answer(question: str, found: Sequence[tuple[int, str]]) -> str:
    chinese = is_chinese(question)
    wanted = terms(question, chinese)
    sentences = [(number, line.text) for number, text in found for line in lines(text, (), chinese)]
    scores = [len(wanted & terms(sentence, chinese)) for _number, sentence in sentences]
    if not any(scores):
        return words_of(chinese).said["unsaid"]
    _score, _length, at = max((score, min(len(sentences[at][1]), _TELLING), -at) for at, score in enumerate(scores))
    number, sentence = sentences[-at]
    sentence = sentence.replace("[", "").replace("]", "")
    return f"{sentence} [[{number}|{sentence[:_LONGEST]}]]"


def _call(tool: str, number: int, **arguments: object) -> ToolCall:
    return ToolCall(f"offline_{number}", tool, json.dumps(arguments, ensure_ascii=False))
