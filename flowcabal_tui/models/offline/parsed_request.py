"""Parses a request: its task, its labelled parts, the language of the book, and the names that it lists."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.text import digest, foreign_words, han_count
from flowcabal_tui.models.offline.reading import PERSON, ListedName, MaskedSentence, lines, terms
from flowcabal_tui.models.offline.words import words_of

_TAG: Final = re.compile(r'<(/?)([a-z][a-z0-9-]*)((?: [a-z]+="[^"<>]*")*)>')
_ATTRIBUTE: Final = re.compile(r' ([a-z]+)="([^"<>]*)"')
_NOTE: Final = re.compile(r"^- ([^:：()（）\n]{1,40})(?: ?[(（](?:also |又称)([^)）\n]*)[)）])?(?:[:：] ?(.*))?$", re.M)
_PASSAGE: Final = re.compile(r"^(p\d+) \[(\d+)(?:, ([^\]\n]*))?\] (.*)$", re.M)
_BY_RULE: Final = re.compile(r"^[^\n]+\n+<findings (?s:.*?)</findings>", re.M)
"""Findings, and the instruction before them."""
_MAY_CHANGE: Final = re.compile(r"^(\d+)\. “", re.M)


Labelled = defaultdict[str, str]
"""A part of a request: its `key`, the `text` between its tags (unescaped, without the tags inside it), its
attributes."""


def labelled_parts(prompt: str) -> Iterator[Labelled]:
    """The parts of a prompt in the order of their ends. Texts of the book are escaped: every tag is the program's."""
    opened: dict[str, re.Match[str]] = {}
    for tag in _TAG.finditer(prompt):
        if not tag[1]:
            opened.setdefault(tag[2], tag)
        elif start := opened.pop(tag[2], None):
            text = html.unescape(_TAG.sub("", prompt[start.end() : tag.start()])).strip("\n")
            attributes = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(start[3])}
            yield defaultdict(str, attributes, key=tag[2], text=text)


class LabelledRequest:
    """A parsed request. A retry consists of the previous request, its answer (`draft`), and the `feedback` on that.

    `numbers` are the paragraphs that may change in a partial rewrite; `words` the tables of the language of the book.
    """

    def __init__(self, request: ModelRequest) -> None:
        messages, last = list(request.messages), request.messages[-1].content
        self.draft, self.feedback, self.numbers = "", "", list[int]()
        if [each.role for each in messages[-2:-1]] == ["assistant"] and last.startswith("<feedback "):
            self.draft, self.feedback = messages[-2].content, next(labelled_parts(last))["text"]
            self.numbers = [int(number) for number in _MAY_CHANGE.findall(last.partition("</feedback>")[2])]
            del messages[-2:]
        self.prompt = "\n\n".join(each.content for each in messages if each.role != "assistant")
        self.parts = tuple(labelled_parts(self.prompt))
        language, is_chinese = self.part("language").strip(), han_count(self.prompt) > foreign_words(self.prompt)
        self.words = words_of(language.startswith("zh") if language else is_chinese)

    def all(self, key: str) -> list[Labelled]:
        """The parts with this key."""
        return [part for part in self.parts if part["key"] == key]

    def part(self, key: str) -> str:
        """The text of the parts with this key; "" without one."""
        return "\n\n".join(part["text"] for part in self.all(key))

    @property
    def task(self) -> str:
        """The task in the prompt; "candidates" with candidates, "" for a prompt of the user's own."""
        return self.part("task").strip() or ("candidates" if self.all("candidates") else "")

    @property
    def seed(self) -> int:
        """A seed that changes with every word of the prompt and of the feedback, apart from the findings of rules."""
        return int(digest(_BY_RULE.sub("", self.prompt) + self.feedback)[:16], 16)

    def sentences(self, text: str, title: str = "", source: str = "") -> list[MaskedSentence]:
        """The sentences of a text, with the names that the request lists."""
        return [*lines(text, self.names, title, source)]

    @cached_property
    def chapter(self) -> list[MaskedSentence]:
        """The sentences of the chapter in an agent's question."""
        return self.sentences(self.part("chapter").strip("\n") or self.part("draft"), source="chapter")

    @cached_property
    def sources(self) -> list[MaskedSentence]:
        """The sentences of the sources and of the passages under statements, in story order, with the ids of these."""
        given = [(each["text"], each["title"], each["id"]) for each in self.all("source")]
        passages = sorted(_PASSAGE.findall(self.part("statements")), key=lambda each: int(each[1]))
        given += [(f"[{about}] {text}" if about else text, "", id_) for id_, _chapter, about, text in passages]
        return [line for each in given for line in self.sentences(*each)]

    @cached_property
    def names(self) -> tuple[ListedName, ...]:
        """The listed names: `kind: name | alias`, or notes of the cast; and those of a plan and of beats."""
        words, listed = self.words, (line.partition(":") for line in self.part("names").splitlines())
        found = [ListedName(kind.strip(), _split(forms, r"\|")) for kind, _colon, forms in listed]
        for note in _NOTE.finditer(f"{self.part('cast')}\n{self.part('besides')}"):
            names = (note[1].strip(), *_split(note[2] or ""))
            is_dead = bool(words.patterns["dead"].search(note[3] or ""))
            found.append(ListedName(words.kind(names[0], f"{note[0]}\n{self.prompt}"), names, is_dead))
        for match in words.patterns["unlisted"].finditer(f"{self.part('beats')}\n{self.part('plan')}"):
            people = _split(match[0].removeprefix(words.phrases["cast"]))
            found += [ListedName(PERSON, (name,)) for name in people if terms(name.split()[0])]
        return tuple({name.chief: name for name in found[::-1] if name.names}.values())[::-1]


def _split(names: str, mark: str = "[,，、]") -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, re.split(mark, names))))
