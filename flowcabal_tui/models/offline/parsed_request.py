"""Parses a request: its task, its labelled parts, the language of the book, and the names that it lists."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.text import digest, foreign_words, han_count
from flowcabal_tui.models.offline.reading import PERSON, ListedName, MaskedSentence, lines, terms
from flowcabal_tui.models.offline.words import LanguageTables, words_of

_TAG: Final = re.compile(r'<(/?)([a-z][a-z0-9-]*)((?: [a-z]+="[^"<>]*")*)>')
_ATTRIBUTE: Final = re.compile(r' ([a-z]+)="([^"<>]*)"')
_NOTE: Final = re.compile(r"^- ([^:：()（）\n]{1,40})(?: ?[(（](?:also |又称)([^)）\n]*)[)）])?(?:[:：] ?(.*))?$", re.M)
_PASSAGE: Final = re.compile(r"^(p\d+) \[(\d+)(?:, ([^\]\n]*))?\] (.*)$", re.M)
_COMMA: Final = "[,，、]"
_BY_RULE: Final = re.compile(r"^[^\n]+\n+<findings (?s:.*?)</findings>", re.M)
"""Findings, and the instruction before them."""
_MAY_CHANGE: Final = re.compile(r"^(\d+)\. “", re.M)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A part of a request: the text between its tags, unescaped and without the tags inside it."""

    key: str
    text: str
    attributes: Mapping[str, str]

    def __getitem__(self, attribute: str) -> str:
        return self.attributes.get(attribute, "")


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
class LabelledRequest:
    """A parsed request. A retry consists of the previous request, its answer (`draft`), and the `feedback` on that.

    `numbers` are the paragraphs that may change in a partial rewrite.
    """

    request: ModelRequest
    draft: str = ""
    feedback: str = ""
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, request: ModelRequest) -> LabelledRequest:
        """Reads the messages of a request."""
        *before, last = request.messages
        if not before or before[-1].role != "assistant" or not last.content.startswith("<feedback "):
            return cls(request)
        feedback = next(labelled_parts(last.content)).text
        numbers = tuple(map(int, _MAY_CHANGE.findall(last.content.partition("</feedback>")[2])))
        return cls(replace(request, messages=tuple(before[:-1])), before[-1].content, feedback, numbers)

    @cached_property
    def prompt(self) -> str:
        """The messages that ask."""
        return "\n\n".join(each.content for each in self.request.messages if each.role != "assistant")

    @cached_property
    def parts(self) -> tuple[Labelled, ...]:
        return tuple(labelled_parts(self.prompt))

    def all(self, key: str) -> list[Labelled]:
        """The parts with this key."""
        return [part for part in self.parts if part.key == key]

    def part(self, key: str) -> str:
        """The text of the parts with this key; "" without one."""
        return "\n\n".join(part.text for part in self.all(key))

    @property
    def task(self) -> str:
        """The task in the prompt; "candidates" with candidates, "" for a prompt of the user's own."""
        return self.part("task").strip() or ("candidates" if self.all("candidates") else "")

    @property
    def seed(self) -> int:
        """A seed that changes with every word of the prompt and of the feedback, apart from the findings of rules."""
        return int(digest(_BY_RULE.sub("", self.prompt) + self.feedback)[:16], 16)

    @cached_property
    def words(self) -> LanguageTables:
        """The tables of the language of the book."""
        language = self.part("language").strip()
        is_chinese = language.startswith("zh") if language else han_count(self.prompt) > foreign_words(self.prompt)
        return words_of(is_chinese)

    def sentences(self, text: str, title: str = "") -> list[MaskedSentence]:
        """The sentences of a text, with the names that the request lists."""
        return lines(text, self.names, title)

    @cached_property
    def chapter(self) -> list[MaskedSentence]:
        """The sentences of the chapter in an agent's question."""
        return self.sentences(self.part("chapter").strip("\n") or self.part("draft"))

    @cached_property
    def sources(self) -> dict[MaskedSentence, str]:
        """The sentences of the sources and of the passages under statements, in story order, with the ids of these."""
        given = [(each["id"], each.text, each["title"]) for each in self.all("source")]
        passages = sorted(_PASSAGE.findall(self.part("statements")), key=lambda each: int(each[1]))
        given += [(id_, f"[{about}] {text}" if about else text, "") for id_, _chapter, about, text in passages]
        return {line: id_ for id_, text, title in given for line in self.sentences(text, title)}

    @cached_property
    def names(self) -> tuple[ListedName, ...]:
        """The listed names: `kind: name | alias`, or notes of the cast; and those of a plan and of beats."""
        words, found = self.words, list[ListedName]()
        for kind, _colon, forms in (line.partition(":") for line in self.part("names").splitlines()):
            found.append(ListedName(kind.strip(), _split(r"\|", forms)))
        for note in _NOTE.finditer(f"{self.part('cast')}\n{self.part('besides')}"):
            names = (note[1].strip(), *_split(_COMMA, note[2] or ""))
            is_dead = bool(words.patterns["dead"].search(note[3] or ""))
            found.append(ListedName(words.kind(names[0], f"{note[0]}\n{self.prompt}"), names, is_dead))
        for match in words.patterns["unlisted"].finditer(f"{self.part('beats')}\n{self.part('plan')}"):
            listed = _split(_COMMA, match[0].removeprefix(words.said["cast"]))
            found += [ListedName(PERSON, (name,)) for name in listed if terms(name.split()[0])]
        return tuple({name.chief: name for name in found[::-1] if name.names}.values())[::-1]


def _split(mark: str, names: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, re.split(mark, names))))
