"""The conversation without a model: it searches the book, and answers with a sentence that it found, and its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.model_calls import ModelRequest, ToolCall
from flowcabal_tui.models.offline.asked import Asked, is_chinese
from flowcabal_tui.models.offline.reading import lines, nearest, terms
from flowcabal_tui.models.offline.words import words_of

_TASK: Final = "<task>conversation</task>"
_QUOTED: Final = re.compile(r"[“「『]([^“”「」『』\n]{1,200})[”」』]")
_LONGEST: Final = 200
_MOST_SEARCHES: Final = 6


def is_talk(request: ModelRequest) -> bool:
    """True for a question of the conversation."""
    return any(_TASK in each.content for each in request.messages if each.role == "user")


def talk(request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
    """A few searches, then the sentences, two at most, that share the rarest words with the question.

    Two quoted texts in the question are an edit: the second takes the place of the first.
    """
    at = max(at for at, each in enumerate(request.messages) if _TASK in each.content)
    asked, later = Asked(replace(request, messages=request.messages[at:])), request.messages[at + 1 :]
    question, calls = asked.part("question"), [call for each in later for call in each.tool_calls]
    found = [(part.attributes["chapter"], part.text) for part in asked.all("found")]
    quoted = _QUOTED.findall(question)
    phrases = words_of(is_chinese(question)).said
    if len(quoted) > 1 and found and any(tool.name == "propose_edit" for tool in request.tools):
        if any(call.name == "propose_edit" for call in calls):
            return phrases[_ending(each.content for each in later if each.role == "tool")], ()
        words = {"quotation": quoted[0], "replacement": quoted[1], "reason": question[:_LONGEST]}
        return "", (_call("propose_edit", len(calls), chapter=int(found[0][0]), **words),)
    wanted = quoted[:1] or _sought(question, [form for name in asked.names for form in name.names])
    if not calls and wanted:
        return "", tuple(_call("search", at, words=words) for at, words in enumerate(wanted))
    once = {line.text: (line, number) for number, text in found for line in lines(text)}
    whole = [line for text, (line, _at) in once.items() if not any(text in other for other in once if other != text)]
    near = nearest(whole, question)
    return " ".join(_cited(line.text, once[line.text][1]) for line in near) or phrases["unsaid"], ()


def _ending(answers: Iterable[str]) -> str:
    """The words about an edit, from the answers of the tools."""
    begins = [answer.split(maxsplit=1)[0] for answer in answers if answer]
    return "unsaid" if "Refused:" in begins else "applied" if "Done." in begins else "proposed"


def _cited(sentence: str, chapter: str) -> str:
    """The sentence with its place."""
    bare = sentence.replace("[", "").replace("]", "")
    return f"{bare} [[{chapter}|{bare[:_LONGEST]}]]"


def _sought(question: str, names: Sequence[str]) -> list[str]:
    """A name of the question with each of its other words, the longest first; then these words, and the names."""
    named = sorted((name for name in set(names) if name in question), key=lambda name: (-len(name), name))
    rest = question
    for name in named:
        rest = rest.replace(name, " ")
    words = sorted(terms(rest), key=lambda term: (-len(term), term))[: _MOST_SEARCHES // 2]
    pairs = [f"{name} {word}" for name in named[:1] for word in words]
    return list(dict.fromkeys((*pairs, *words, *named)))[:_MOST_SEARCHES]


def _call(tool: str, number: int, **arguments: object) -> ToolCall:
    return ToolCall(f"offline_{number}", tool, json.dumps(arguments, ensure_ascii=False))
