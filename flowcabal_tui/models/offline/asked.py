"""A request as it is read: its task, its labelled parts, the language of the book, and the names that it lists."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.offline.reading import PERSON, Name, is_chinese, with_short_forms
from flowcabal_tui.models.offline.words import Words, words_of

_TAG: Final = re.compile(r'<(/?)([a-z][a-z0-9-]*)((?: [a-z]+="[^"<>]*")*)>')
_ATTRIBUTE: Final = re.compile(r' ([a-z]+)="([^"<>]*)"')
_NOTE: Final = re.compile(r"- ([^:：()（）\n]{1,40})(?: ?[(（](?:also |又称)([^)）\n]*)[)）])?(?:[:：] ?(.*))?")
_FOUND: Final = "<findings "
_MAY_CHANGE: Final = re.compile(r"^(\d+)\. “", re.MULTILINE)
ITEM: Final = re.compile(r"^[^\S\n]*(?:\d{1,2}[.、)）]|[-*])\s*(.+)$", re.MULTILINE)
PARAGRAPH: Final = '<paragraph n="'


@dataclass(frozen=True, slots=True)
class Labelled:
    """A part of a request: the text between its tags, unescaped and without the tags inside it."""

    key: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)


def labelled_parts(prompt: str) -> Iterator[Labelled]:
    """The parts of a prompt in the order of their ends. Texts of the book are escaped: every tag is the program's."""
    opened: dict[str, re.Match[str]] = {}
    for tag in _TAG.finditer(prompt):
        if not tag[1]:
            opened.setdefault(tag[2], tag)
        elif start := opened.pop(tag[2], None):
            text = html.unescape(_TAG.sub("", prompt[start.end() : tag.start()]))
            attributes = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(start[3])}
            yield Labelled(tag[2], text.strip("\n"), attributes)


@dataclass(frozen=True)
class Asked:
    """A request. A retry is the request before it, its answer (`draft`), and what is wrong with that (`feedback`).

    Of a mend `numbers` are the paragraphs that may change.
    """

    request: ModelRequest
    draft: str = ""
    feedback: str = ""
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, request: ModelRequest) -> Asked:
        """Reads the messages of a request."""
        *before, last = request.messages
        if not before or before[-1].role != "assistant" or not last.content.startswith("<feedback "):
            return cls(request)
        feedback = next((part.text for part in labelled_parts(last.content) if part.key == "feedback"), "")
        order = last.content.partition("</feedback>")[2]
        numbers = tuple(map(int, _MAY_CHANGE.findall(order))) if PARAGRAPH in order else ()
        return cls(replace(request, messages=tuple(before[:-1])), before[-1].content, feedback, numbers)

    @property
    def is_retry(self) -> bool:
        return bool(self.feedback)

    @cached_property
    def prompt(self) -> str:
        return "\n\n".join(each.content for each in self.request.messages if each.role != "assistant")

    @cached_property
    def whole(self) -> str:
        """All texts without their tags."""
        return html.unescape(_TAG.sub("", self.prompt))

    @cached_property
    def parts(self) -> tuple[Labelled, ...]:
        return tuple(labelled_parts(self.prompt))

    def all(self, key: str) -> list[Labelled]:
        """The parts with this key."""
        return [part for part in self.parts if part.key == key]

    def part(self, key: str) -> str:
        """The text of the part with this key; "" without one."""
        return "\n\n".join(part.text for part in self.all(key))

    @property
    def chapter(self) -> str:
        """The chapter that an agent's question is about."""
        return self.part("chapter").strip("\n") or self.part("draft")

    @property
    def task(self) -> str:
        """The task in the prompt; else the purpose of an agent's request; "" for a prompt of one's own."""
        purpose = self.request.purpose
        return self.part("task").strip() or (purpose if "." in purpose else "")

    @cached_property
    def seed(self) -> int:
        """Changes with every word of the prompt but for what rules found, which this model does not mend."""
        before, tag, rest = self.prompt.partition(_FOUND)
        if tag:
            before = before.rstrip("\n").rpartition("\n\n")[0]  # the order before the part
        return int(digest(before + rest.partition("</findings>")[2] if tag else before)[:16], 16)

    @cached_property
    def chinese(self) -> bool:
        """True when the book is in Chinese."""
        language = self.part("language").strip()
        return language.startswith("zh") if language else is_chinese(self.whole)

    @property
    def words(self) -> Words:
        return words_of(self.chinese)

    @property
    def limit(self) -> int:
        """The tokens of a summary."""
        return int(self.part("limit").strip() or "50")

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The names that are listed: `kind: name | alias`, or notes of the cast; and those of a plan and of beats."""
        found: dict[str, Name] = {}
        for line in self.part("names").splitlines():
            kind, _colon, forms = line.partition(":")
            if names := tuple(form.strip() for form in forms.split("|") if form.strip()):
                found[names[0]] = Name(kind.strip(), names)
        for line in f"{self.part('cast')}\n{self.part('besides')}".splitlines():
            if note := _NOTE.fullmatch(line):
                found.setdefault(note[1].strip(), self._noted(note[1].strip(), note[2] or "", note[3] or ""))
        cast = " , ".join(self.words.pattern("cast").findall(self.part("plan")))
        told = self.words.pattern("unlisted").finditer(f"{self.part('beats')}\n{self.part('plan')}")
        for name in (*re.split(" *[,，、] *", cast.strip()), *(match[0] for match in told)):
            if name and name.split()[0].lower() not in self.words.lists["common"]:
                found.setdefault(name, Name(PERSON, (name,)))
        listed = tuple(found.values())
        return listed if self.chinese else with_short_forms(listed)

    @property
    def places(self) -> list[Name]:
        return [name for name in self.names if name.kind == "location"]

    def _noted(self, name: str, aliases: str, note: str) -> Name:
        """A name from `- Tobias Crane (also Crane, Mr Crane): Master of the Heron.`"""
        words = self.words
        is_person = words.pattern("fullname").match(name) or words.pattern("human").search(note)
        is_place = words.pattern("place", name).search(self.whole)
        acts = words.pattern("acts", name).search(self.whole)  # weaker: a sound comes from a place, too
        return Name(
            PERSON if is_person else "location" if is_place else PERSON if acts else "",
            tuple(dict.fromkeys([name, *filter(None, re.split("、|, ", aliases))])),
        )

    @cached_property
    def dead(self) -> frozenset[str]:
        """The people whose notes in the cast call them dead."""
        notes = (_NOTE.fullmatch(line) for line in self.part("cast").splitlines())
        return frozenset(note[1].strip() for note in notes if note and self.words.pattern("dead").search(note[3] or ""))
