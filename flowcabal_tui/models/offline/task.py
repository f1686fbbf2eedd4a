"""What a prompt asks for: the task, the language, and the texts between its tags."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Final

from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.prompt_parts import Part, read_parts, words_of
from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.offline.reading import (
    PERSON,
    SURNAME_FIRST,
    Name,
    full_names,
    is_chinese,
    parse_names,
    with_short_forms,
)

_TASK: Final = re.compile(r"<task>\s*([a-z0-9_.]+)\s*</task>")
_SOURCE: Final = re.compile(
    r'<source id="([^"]*)"(?: title="([^"]*)")?[^<>]*>((?:(?!<source id=").)*?)</source>', re.DOTALL
)
_FEEDBACK: Final = re.compile(r"(?<!\n)\n*<feedback>\n?(.*)</feedback>\s*\Z", re.DOTALL)
_CAST: Final = re.compile(r"^(?:Cast|出场)\s*[:：]\s*(.+)$", re.MULTILINE)
_NOTE: Final = re.compile(r"^- ([^:：\n]{1,40})[:：] ?(.*)$")
ITEM: Final = re.compile(r"^[^\S\n]*(?:\d{1,2}[.、)）]|[-*])\s*(.+)$", re.MULTILINE)
_ALIAS_EN: Final = re.compile(r"(?:the )?[A-Z]\w*\.?(?: [A-Z]\w*)*|the \w+(?: [a-z]+)?")
_ALIAS_ZH: Final = re.compile("[\u4e00-\u9fff·]{1,6}")
_ACTS_ZH: Final = "(?:说|道|问|笑|用|提着|拿|念|喊)"
_PERSON_ZH: Final = re.compile("岁|孩|父|母|丈夫|妻|师|姑娘|老人|兄|弟|姐|妹")
_DEAD: Final = re.compile(r"\b(?:drowned|died|dead|killed|buried)\b|淹死|死了|去世|病故|遇难", re.IGNORECASE)
_PLACE_ZH: Final = "(?:在|到|往|去|沿着|回){}|{}(?:里|上|的地窖|那边)"
_PLACE_EN: Final = r"\b(?:in|at|to|from|along|of|into|near) {}\b"


@dataclass(frozen=True, slots=True)
class Source:
    """A text that may be quoted; unescaped."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Task:
    """A prompt, read. `name` is "" when it carries no task."""

    name: str
    system: str
    user: str

    @classmethod
    def of(cls, request: ModelRequest) -> Task:
        """Reads the messages of a request."""
        user = _joined(request.messages, "user")
        found = _TASK.search(user)
        return cls(found[1] if found else "", _joined(request.messages, "system"), user)

    @property
    def of_agent(self) -> bool:
        """Agents' tasks have two-part names; what stands in their tags is escaped."""
        return "." in self.name

    @cached_property
    def feedback(self) -> str:
        """What was wrong with the attempt before; "" in the first."""
        found = _FEEDBACK.search(self.user)
        return html.unescape(found[1]).strip() if found else ""

    @cached_property
    def wish(self) -> str:
        """The user message without the feedback."""
        return _FEEDBACK.sub("", self.user)

    @property
    def whole(self) -> str:
        """System and user text without tags and labels, and without the feedback."""
        return words_of(f"{self.system}\n{self.wish}")

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The labelled parts by key."""
        return {part.key: part for part in read_parts(f"{self.system}\n{self.wish}")}

    def part(self, key: str) -> str:
        """The text of a labelled part; "" if there is none."""
        return self.parts[key].whole if key in self.parts else ""

    @cached_property
    def seed(self) -> int:
        """Changes with every word of the prompt but the feedback's."""
        return int(digest(self.whole)[:16], 16)

    @cached_property
    def chinese(self) -> bool:
        """The language of the book."""
        if language := self.tag("language"):
            return language.startswith("zh")
        return is_chinese(self.wish)

    def tag(self, name: str) -> str:
        """The text of the first such tag, "" if there is none."""
        if not self.of_agent:
            return self.part(name)
        found = re.search(rf"<{name}(?: [^>]*)?>(.*?)</{name}>", self.wish, re.DOTALL)
        if found is None:
            return ""
        return html.unescape(found[1]).strip("\n")

    @property
    def chapter(self) -> str:
        """The chapter that an agent's task is about; older prompts have it in a tag of its own."""
        return self.tag("chapter") or self.tag("draft")

    def attribute(self, tag: str, name: str) -> str:
        """An attribute of the first such tag."""
        found = re.search(rf'<{tag}[^>]* {name}="([^"]*)"', self.wish)
        return html.unescape(found[1]) if found else ""

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        return tuple(
            Source(html.unescape(id_), html.unescape(title), html.unescape(text).strip("\n"))
            for id_, title, text in _SOURCE.findall(self.wish)
        )

    @cached_property
    def dead(self) -> frozenset[str]:
        """Those of whom the notes say that they are dead."""
        notes = (_NOTE.match(line) for line in self.part("cast").splitlines())
        return frozenset(note[1].strip() for note in notes if note and _DEAD.search(note[2]))

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """Listed names; in a node's prompt, those of its cast line and of the notes that were put in."""
        if self.of_agent:
            return with_short_forms(parse_names(self.tag("names")))
        found = {name.chief: name for name in _noted(self.part("cast"), self.whole, self.chinese)}
        cast = [n.strip() for line in _CAST.findall(self.whole) for n in re.split("[,，、]", line)]
        named = (
            () if self.chinese else full_names("\n".join(ITEM.findall(f"{self.part('outline')}\n{self.part('plan')}")))
        )
        for person in [*cast, *named]:
            if person:
                found.setdefault(person, Name(PERSON, (person,)))
        return with_short_forms(found.values())


def _joined(messages: Sequence[Message], role: str) -> str:
    return "\n\n".join(message.content for message in messages if message.role == role)


def _noted(notes: str, text: str, chinese: bool) -> list[Name]:
    """The names in the notes that the Context agent puts in: `- Tobias Crane: Crane, Tobias Master of the Heron.`"""
    found: list[Name] = []
    for line in notes.splitlines():
        if note := _NOTE.match(line):
            chief = note[1].strip()
            chunks = [chunk.partition(" ")[0] if chinese else chunk for chunk in note[2].split(", ")]
            short = takewhile(_ALIAS_ZH.fullmatch if chinese else _ALIAS_EN.fullmatch, chunks)
            found.append(Name(_kind(chief, note[2], text, chinese), tuple(dict.fromkeys([chief, *short]))))
    return found


def _kind(name: str, note: str, text: str, chinese: bool) -> str:
    """A person has a full name or acts, a place is gone to; "" for anything else."""
    escaped = re.escape(name)
    if chinese:
        if SURNAME_FIRST.match(name) or _PERSON_ZH.search(note) or re.search(escaped + _ACTS_ZH, text):
            return PERSON
        return "location" if re.search(_PLACE_ZH.format(escaped, escaped), text) else ""
    if not name.startswith("the ") and " " in name:
        return PERSON
    return "location" if re.search(_PLACE_EN.format(escaped), text) else ""
