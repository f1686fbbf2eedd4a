"""The conversation without a model: it searches the book and answers with a sentence that it found, and its place."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.model_calls import ModelRequest, ToolCall
from flowcabal_tui.models.offline.parsed_request import LabelledRequest
from flowcabal_tui.models.offline.reading import lines, nearest, terms

_TASK: Final = "<task>conversation</task>"
_QUOTED: Final = re.compile(r'[“「『"]([^“”「」『』"\n]{1,200})[”」』"]')
_ENDS: Final = '.!?。！？…”」』’"'
_LONGEST: Final = 200
_MOST_SEARCHES: Final = 6


def is_talk(request: ModelRequest) -> bool:
    """True for a question of the conversation."""
    return any(_TASK in each.content for each in request.messages if each.role == "user")


def talk(request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
    """A few searches, then at most two sentences that share the rarest words with the question.

    Two quoted texts in the question are an edit: the second replaces the first.
    """
    at = max(at for at, each in enumerate(request.messages) if _TASK in each.content)
    parsed, later = LabelledRequest(replace(request, messages=request.messages[at:])), request.messages[at + 1 :]
    question, calls = parsed.part("question"), [call for each in later for call in each.tool_calls]
    found, quoted, phrases = parsed.all("found"), _QUOTED.findall(question), parsed.words.phrases
    if len(quoted) > 1 and found and any(tool.name == "propose_edit" for tool in request.tools):
        if any(call.name == "propose_edit" for call in calls):
            begins = {each.content.partition(" ")[0] for each in later if each.role == "tool"}
            return phrases["unsaid" if "Refused:" in begins else "applied" if "Done." in begins else "proposed"], ()
        words = {"quotation": quoted[0], "replacement": quoted[1], "reason": question[:_LONGEST]}
        return "", (_call("propose_edit", len(calls), chapter=int(found[0]["chapter"]), **words),)
    if not calls and (wanted := quoted[:1] or _sought(parsed)):
        return "", tuple(_call("search", at, words=words) for at, words in enumerate(wanted))
    unique = {line.text: line for part in found for line in lines(part["text"], source=part["chapter"])}.values()
    # No excerpt cuts a sentence that begins and ends like one.
    whole = [one for one in unique if one.text[1:] and not "a" <= one.text[0] <= "z" and one.text[-1] in _ENDS]
    best = nearest(whole or [*unique], question)
    bare = ((line.text.replace("[", "").replace("]", ""), line.source) for line in best)
    return " ".join(f"{text} [[{chapter}|{text[:_LONGEST]}]]" for text, chapter in bare) or phrases["unsaid"], ()


def _sought(request: LabelledRequest) -> list[str]:
    """The searches for a question: its first name with each of its longest words; then these words, then the names."""
    question = request.part("question")
    names = [form for name in request.names for form in name.names if form in question]
    question_terms = {term for line in request.sentences(question) for term in terms(line.masked)}
    words = sorted(question_terms, key=lambda word: (-len(word), word))[: _MOST_SEARCHES // 2]
    return [*(f"{name} {word}" for name in names[:1] for word in words), *words, *names][:_MOST_SEARCHES]


def _call(tool: str, number: int, **arguments: object) -> ToolCall:
    return ToolCall(f"offline_{number}", tool, json.dumps(arguments, ensure_ascii=False))
