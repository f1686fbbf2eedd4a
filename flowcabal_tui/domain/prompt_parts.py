"""Labelled parts of a prompt: material between tags. The instructions to the model are outside all parts.

A part is `<key label="...">`, its text on lines of its own, `</key>`. The key is for programs, the label, in the
language of the book, for the model. The text is escaped, so that no text of a book closes or opens a part.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, get_args

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.value_class import dataclass

PartKey = Literal[
    "style-guide", "world-rules", "notes", "style",
    "outline", "cast", "profiles", "facts", "untold", "summaries", "passages", "related", "last-meeting", "last-pages",
    "beats", "besides", "findings",
    "around", "novel", "chapter", "scene", "plan", "draft", "selection", "critique", "candidates",
    "feedback", "wish", "length", "notice",
]  # fmt: skip
LABELS: Final[Mapping[PartKey, tuple[str, str]]] = {
    "style-guide": ("文风指南", "Style guide"),
    "world-rules": ("世界规则", "World rules"),
    "notes": ("作者笔记", "The writer's notes"),
    "style": ("作者的文风", "The writer's style"),
    "outline": ("大纲", "Outline"),
    "cast": ("人物、地点与事物", "People, places and things"),
    "profiles": ("人物与事物档案（截至本章之前）", "Profiles, up to the chapters before"),
    "facts": ("此时的既定事实", "What is true at this point"),
    "untold": (
        "秘密：除非本章大纲写明，不得说破",
        "Secrets: reveal them only if the outline of this chapter does",
    ),
    "summaries": ("前文提要", "Summaries of the earlier chapters"),
    "passages": ("前文相关段落", "Passages from earlier chapters"),
    "related": ("前文相近内容", "Related material"),
    "last-meeting": ("人物上次同场", "When they last met"),
    "last-pages": ("紧接的前文，到上一场的结尾为止", "The pages directly before, up to the end of the last scene"),
    "beats": ("本章大纲", "The outline of this chapter"),
    "besides": ("另外涉及的人与事", "Further people and things"),
    "findings": ("按规则查出的问题", "Found by rule"),
    "around": ("选段前后的文字", "The text around the selection"),
    "novel": ("要写的小说", "The novel"),
    "chapter": ("要写的章节", "The chapter to write"),
    "scene": ("本场", "The scene"),
    "plan": ("本章计划", "Plan of the chapter"),
    "draft": ("文稿", "Draft"),
    "selection": ("选段", "Selection"),
    "critique": ("批评意见", "Critique"),
    "candidates": ("候选文稿", "Candidates"),
    "feedback": ("上一稿的问题", "Problems with the last attempt"),
    "wish": ("作者的要求", "The writer's wishes"),
    "length": ("本章篇幅", "Length of the chapter"),
    "notice": ("说明", "Notice"),
}
"""The labels in Chinese and in English, in the order of a prompt: long and stable parts first, the instruction and the
length last."""
PART_KEYS: Final[tuple[PartKey, ...]] = get_args(PartKey)
_ITEM: Final = "text"
_PART: Final = late(rf'<({"|".join(PART_KEYS)})(?: label="([^"<>]*)")?>\n?(.*?)\n?</\1>', re.DOTALL)
_ITEM_TAGS: Final = late(rf'<{_ITEM} title="([^"<>]*)">\n?(.*?)\n?</{_ITEM}>', re.DOTALL)
_NUMBERED: Final = late(r"第\s*[\d〇零一二三四五六七八九十百千两]+\s*[章回节節卷折]|chapter\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """One of several texts in a part, with a title that names its source."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a parsed prompt, unescaped. `text` is the text outside its items, `source` the part as written."""

    key: PartKey
    label: str
    text: str
    items: tuple[Item, ...] = ()
    source: str = ""

    @property
    def whole(self) -> str:
        """The texts of all items, then the text outside them."""
        return "\n\n".join(filter(None, (*(each.text for each in self.items), self.text)))


def escaped(text: str) -> str:
    """Escapes `text` so that it can neither open nor close a tag; `html.unescape` reverses it. Quotation marks stay."""
    return html.escape(text, quote=False)


def without_copied_escapes(answer: str, prompt: str) -> str:
    """The answer with the book's characters in place of escapes such as `&amp;`, which models copy from the prompt."""
    for escape, char in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        answer = answer.replace(escape, char) if escape in prompt else answer
    return answer


def in_attribute(text: str) -> str:
    """`text` on one line as the value of an attribute between double quotes."""
    return escaped(" ".join(text.split())).replace('"', "&quot;")


def in_language(words: tuple[str, str], language: str) -> str:
    """The Chinese words for a Chinese book, else the English ones."""
    return words[0 if language.startswith("zh") else 1]


def label_of(key: PartKey, language: str) -> str:
    """The label of a part in the language of the book."""
    return in_language(LABELS[key], language)


def chapter_label(number: int, title: str, language: str) -> str:
    """`Chapter 4: title` or `第4章 title`; the title alone where it has a number of its own or there is no number."""
    title = " ".join(title.split())
    if number <= 0 or _NUMBERED.match(title):
        return title
    if language.startswith("zh"):
        return f"第{number}章 {title}".rstrip()
    return f"Chapter {number}: {title}" if title else f"Chapter {number}"


def opening(key: PartKey, language: str) -> str:
    """The line that opens a part."""
    return f'<{key} label="{in_attribute(label_of(key, language))}">\n'


def closing(key: PartKey) -> str:
    """The line that closes a part, behind a line break."""
    return f"\n</{key}>"


def fenced(key: PartKey, text: str, language: str) -> str:
    """A part that holds `text`; "" for a blank text, so that an empty part leaves no label behind."""
    words = text.strip("\n")
    return f"{opening(key, language)}{escaped(words)}{closing(key)}" if words.strip() else ""


def fenced_item(title: str, text: str) -> str:
    """One of several texts of a part: `<text title="Chapter 4: ...">`."""
    return f'<{_ITEM} title="{in_attribute(title)}">\n{escaped(text.strip(chr(10)))}\n</{_ITEM}>'


def fenced_items(key: PartKey, items: Iterable[Item], language: str) -> str:
    """A part of several texts; "" without any."""
    texts = [fenced_item(item.title, item.text) for item in items if item.text.strip()]
    return f"{opening(key, language)}{chr(10).join(texts)}{closing(key)}" if texts else ""


def labelled(key: PartKey | None, text: str, language: str) -> str:
    """The text of a block: bare, or as a part followed by an empty line."""
    if key is None:
        return text
    return f"{part}\n\n" if (part := fenced(key, text, language)) else ""


def read_parts(prompt: str) -> tuple[Part, ...]:
    """The parts of a prompt, in order. A tag without a label counts too: older documents have `<plan>`, `<draft>`."""
    return tuple(_read(match) for match in _PART.finditer(prompt))


def words_of(prompt: str) -> str:
    """A prompt without tags and labels, and unescaped, as used to search the book."""

    def words(match: re.Match[str]) -> str:
        return _read(match).whole

    return _PART.sub(words, prompt)


def _read(match: re.Match[str]) -> Part:
    key, label, body = match[1], match[2] or "", match[3]
    items = tuple(Item(html.unescape(title), html.unescape(text)) for title, text in _ITEM_TAGS.findall(body))
    rest = _ITEM_TAGS.sub("", body).strip("\n")
    return Part(_KEYS[key], html.unescape(label), html.unescape(rest), items, match[0])


_KEYS: Final[Mapping[str, PartKey]] = {key: key for key in PART_KEYS}
