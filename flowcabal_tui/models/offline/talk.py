"""The conversation without a model: it searches the book, and answers with a sentence that it found, and its place."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.model_calls import ModelRequest, ToolCall
from flowcabal_tui.models.offline.asked import Asked
from flowcabal_tui.models.offline.reading import is_chinese, lines, nearest, terms
from flowcabal_tui.models.offline.words import words_of

_TASK: Final = "<task>conversation</task>"
_QUOTED: Final = re.compile(r"[“「『]([^“”「」『』\n]{1,200})[”」』]")
_LONGEST: Final = 200
_MOST_SEARCHES: Final = 3


def is_talk(request: ModelRequest) -> bool:
    """True for a question of the conversation."""
    return any(_TASK in each.content for each in request.messages if each.role == "user")


def talk(request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
    """A few searches, then the sentence that shares most with the question.

    Two quoted texts in the question are an edit: the second takes the place of the first.
    """
    at = max(at for at, each in enumerate(request.messages) if _TASK in each.content)
    asked, told = Asked(replace(request, messages=request.messages[at:])), request.messages[at + 1 :]
    question, calls = asked.part("question"), [call for each in told for call in each.tool_calls]
    found = [(part.attributes["chapter"], part.text) for part in asked.all("found")]
    quoted = _QUOTED.findall(question)
    said, chinese = words_of(is_chinese(question)).said, is_chinese(question)
    if len(quoted) > 1 and found and any(tool.name == "propose_edit" for tool in request.tools):
        if any(call.name == "propose_edit" for call in calls):
            refused = any(each.role == "tool" and each.content.startswith("Refused") for each in told)
            return said["unsaid" if refused else "proposed"], ()
        words = {"quotation": quoted[0], "replacement": quoted[1], "reason": question[:_LONGEST]}
        return "", (_call("propose_edit", len(calls), chapter=int(found[0][0]), **words),)
    named = [form for name in asked.names for form in name.names if form in question]
    longest = sorted(terms(question, chinese), key=lambda term: (-len(term), term))
    wanted = quoted[:1] or list(dict.fromkeys((*named, *longest)))
    if not found and len(calls) < min(len(wanted), _MOST_SEARCHES):
        return "", (_call("search", len(calls), words=wanted[len(calls)]),)
    sentences = {line: number for number, text in found for line in lines(text, (), chinese)}
    for line in nearest([*sentences], question, chinese)[:1]:
        bare = line.text.replace("[", "").replace("]", "")
        return f"{bare} [[{sentences[line]}|{bare[:_LONGEST]}]]", ()
    return said["unsaid"], ()


def _call(tool: str, number: int, **arguments: object) -> ToolCall:
    return ToolCall(f"offline_{number}", tool, json.dumps(arguments, ensure_ascii=False))
