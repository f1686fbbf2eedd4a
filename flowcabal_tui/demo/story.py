"""The story records of the sample novel, by chapter."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from flowcabal_tui.demo import book_language, sample
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId, Relation, StoryRecord

NEW = RecordId("")


def sample_story(language: str, chapters: Sequence[Chapter]) -> tuple[StoryRecord, ...]:
    """The records for the sample's chapters, which were imported as `chapters`; they have no ids yet."""
    return _Notes(language, chapters).records()


class _Notes:
    def __init__(self, language: str, chapters: Sequence[Chapter]) -> None:
        novel = sample(language)
        sheet = files("flowcabal_tui.demo") / book_language(language) / "story.toml"
        self._sheet: dict[str, list[dict[str, Any]]] = tomllib.loads(sheet.read_text(encoding="utf-8"))
        self._ids = [chapter.id for chapter in chapters]
        self._texts = [chapter.text for chapter in novel.chapters]
        self._names = {entity.name: entity.id for entity in novel.entities}

    def records(self) -> tuple[StoryRecord, ...]:
        return (
            *map(self._relation, self._sheet["relation"]),
            *map(self._fact, self._sheet["fact"]),
            *map(self._promise, self._sheet["promise"]),
            *map(self._moment, self._sheet["moment"]),
        )

    def _relation(self, row: dict[str, Any]) -> Relation:
        ends = self._names[row["source"]], self._names[row["target"]]
        return Relation(NEW, *ends, row["kind"], since=self._chapter(row["chapter"]), evidence=self._evidence(row))

    def _fact(self, row: dict[str, Any]) -> Fact:
        knowers = tuple(
            Knower(self._names[name], self._chapter(number) if number else None)
            for name, number in row.get("known_by", ())
        )
        return Fact(
            NEW,
            row["text"],
            self._about(row["about"]),
            row.get("attribute", ""),
            self._chapter(row["chapter"]),
            secret=row.get("secret", False),
            known_by=knowers,
            evidence=self._evidence(row),
        )

    def _promise(self, row: dict[str, Any]) -> Promise:
        first, last = row.get("due", (0, 0))
        paid = row.get("paid")
        return Promise(
            NEW,
            row["text"],
            self._chapter(row["chapter"]),
            first,
            last,
            self._chapter(paid) if paid else None,
            about=self._about(row["about"]),
            evidence=self._evidence(row),
            payment=self._quoted(paid, row["payment"]) if paid else (),
        )

    def _moment(self, row: dict[str, Any]) -> Moment:
        chapter, about = self._chapter(row["chapter"]), self._about(row["about"])
        return Moment(NEW, row["text"], chapter, row["when"], row.get("order"), about, self._evidence(row))

    def _chapter(self, number: int) -> ChapterId:
        return self._ids[number - 1]

    def _about(self, names: Iterable[str]) -> tuple[EntityId, ...]:
        return tuple(self._names[name] for name in names)

    def _evidence(self, row: dict[str, Any]) -> tuple[Evidence, ...]:
        return self._quoted(row["chapter"], row["quote"])

    def _quoted(self, number: int, quote: str) -> tuple[Evidence, ...]:
        start = self._texts[number - 1].index(quote)
        return (Evidence(quote, self._chapter(number), start, start + len(quote)),)
