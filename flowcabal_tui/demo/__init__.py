"""The contents shipped with the program: a sample novel and workflow templates, in English and in Chinese."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Literal

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.memory import META_NAMES, Entity, MetaName
from flowcabal_tui.domain.text import slug
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.manuscript.mirror import parse_mirror

BookLanguage = Literal["en", "zh"]
TEMPLATE_ORDER: Final = ("chapter", "quick-draft", "outline", "rewrite")


@dataclass(frozen=True, slots=True)
class Sample:
    """A short novel with its notes, up to the next chapter to write.

    `instruction` is the writer's instruction for that chapter. The outline's beats for it contradict one fact of an
    earlier chapter, so that the check has something to find.
    """

    language: BookLanguage
    title: str
    chapters: tuple[ImportedChapter, ...]
    meta: tuple[tuple[MetaName, str], ...]
    entities: tuple[Entity, ...]
    next_title: str
    instruction: str


def book_language(code: str) -> BookLanguage:
    """ "zh" for any Chinese language code, "en" for all others."""
    return "zh" if code.lower().startswith("zh") else "en"


def _folder(language: BookLanguage, name: str) -> list[Traversable]:
    return sorted((files("flowcabal_tui.demo") / language / name).iterdir(), key=lambda item: item.name)


@cache
def sample(language: str) -> Sample:
    """The sample novel in `language` (a code such as "zh_CN" or "en")."""
    code = book_language(language)
    root = files("flowcabal_tui.demo") / code
    sheet = tomllib.loads((root / "entities.toml").read_text(encoding="utf-8"))
    chapters = (parse_mirror(item.read_text(encoding="utf-8")) for item in _folder(code, "chapters"))
    notes = {item.name.removesuffix(".md"): item.read_text(encoding="utf-8") for item in _folder(code, "meta")}
    return Sample(
        language=code,
        title=sheet["title"],
        chapters=tuple(ImportedChapter(title, text, number=n) for n, (title, text) in enumerate(chapters, start=1)),
        meta=tuple((name, notes[name]) for name in META_NAMES if name in notes),
        entities=tuple(
            Entity(EntityId(slug(row["name"])), row["kind"], row["name"], tuple(row["aliases"]), row["note"])
            for row in sheet["entity"]
        ),
        next_title=sheet["next_chapter"],
        instruction=sheet["instruction"],
    )


@cache
def templates(language: str) -> tuple[Workflow, ...]:
    """The workflow templates with prompts in `language`; the one for a whole chapter is first."""
    documents = [
        Workflow.model_validate_json(item.read_text(encoding="utf-8"))
        for item in _folder(book_language(language), "templates")
    ]
    return tuple(sorted(documents, key=lambda document: TEMPLATE_ORDER.index(document.id)))
