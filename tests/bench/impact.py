"""What depends on a change, in a novel of 120 chapters with planted places: found, ranked, applied, undone.

Planted are sentences of their own paragraphs about somebody, something and somewhere that the novel does not have, with
decoys beside them; they were written before anything was measured with them. FLOWCABAL_BENCH_CONTEXT names the folder
with the novels.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.impact import BookChange, ChapterChanged, ChapterMoved, Impact, Rename
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import ImportManuscript, WriteChapter
from flowcabal_tui.protocol.story import ApplyImpact, PutEntity, UndoDecision
from tests.agents.conftest import NOVELS
from tests.bench.projects import own_folders
from tests.bench.report import Figure, Missing, checked

CHAPTERS: Final = 120
MANY: Final = 1_000
PIECE: Final = 3_000
"""Characters of a chapter of the long book."""
SEED: Final = 13
AGE_TOLD, MOVED, TARGET = 12, 30, 60
_RECALL, _PRECISION, _SECONDS = 0.95, 0.5, 3.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """The planted sentences of a language. `{p}` is the place, `{a}` the person, `{b}` another, `{t}` the thing."""

    novel: str
    language: str
    heading: str
    place: str
    new_place: str
    person: str
    other: str
    thing: str
    renamed: Sequence[str]
    place_decoys: Sequence[str]
    told: str
    old_age: str
    new_age: str
    aged: Sequence[str]
    age_decoys: Sequence[str]
    first: str
    used: Sequence[str]
    comma: tuple[str, str]


EN: Final = Sheet(
    "don-quixote", "en", "Chapter {n}", "Brackwater", "Holmstead", "Ambrose Tull", "Giles Farrant",
    "the Hollin astrolabe",
    (
        "The road to {p} was under water again.", "They spoke of {p}'s bells, which nobody had heard.",
        "“From {p}?” he asked. “Nobody comes from {p}.”", "{p} lay two days behind them.",
        "A letter from {p} had come in the night.", "He had been born in {p}, and said so to everybody.",
    ),
    ("The brackwaters of the coast are salt.", "In Brackwater Lane a dog was barking.",
     "The water was brack and warm."),
    "{a} was thirty-four years old when he came to the inn, and looked older.", "thirty-four", "twenty-nine",
    (
        "At thirty-four years of age {a} had never owned a horse.",
        "{a} told them that he was thirty-four years old and had no wish to be older.",
        "“{a}?” said the host. “He is thirty-four years old if he is a day.”",
        "{a}, who was thirty-four years old, sat down by the fire.",
        "{a} laughed. He was thirty-four years old and still afraid of geese.",
        "They asked the age of {a}, and it was thirty-four.",
    ),
    (
        "{a} counted thirty-four sheep on the hill.", "{b} was thirty-four years old and drank.",
        "{a} had two brothers and a blind mare.", "Thirty-four years had passed since the siege.",
    ),
    "That evening {t}, a thing of green brass that nobody there had seen before, was laid upon the table.",
    (
        "He thought of {t} and could not sleep.", "Somebody had asked what became of {t}.",
        "“Sell {t},” she said, “and we shall eat.”", "{t} was wrapped in a shirt at the bottom of the sack.",
    ),
    (", and looked older", " and looked older"),
)  # fmt: skip
ZH: Final = Sheet(
    "sanguoyanyi", "zh", "第{n}回", "落雁矶", "栖凤台", "石敬仁", "尚可喜之", "碧纹罗盘",
    (
        "往{p}去的路又淹了。", "人人都说{p}的钟声，却无人听过。", "“可是从{p}来？”那人问道。", "{p}已在两日路程之外。",
        "夜里有一封书信自{p}送到。", "他生在{p}，逢人便说。",
    ),
    ("天边落雁成行，矶石上尽是水痕。", "那一带的矶头都叫雁矶。", "雁落沙洲，人归渡口。"),
    "{a}来投时年三十四岁，看去却更老些。", "三十四", "二十九",
    (
        "{a}年已三十四岁，从未有过自己的马。", "{a}自言三十四岁，不愿再老一岁。",
        "“{a}么？”店主人道，“他今年三十四岁了。”",
        "那{a}三十四岁，坐在火边不语。", "{a}大笑。他三十四岁了，仍怕村中的鹅。", "众人问{a}年纪，答曰三十四岁。",
    ),
    ("{a}在山上数得三十四只羊。", "{b}三十四岁，终日饮酒。", "{a}有两个兄弟、一匹瞎马。", "自那场围城，已过三十四年。"),
    "当晚，{t}摆在案上，青铜铸就，众人都不曾见过。",
    ("他想着{t}，一夜不曾合眼。", "有人问起{t}的下落。", "“卖了{t}，便有饭吃。”妇人道。", "{t}裹在衣里，压在囊底。"),
    ("，看去却", "看去却"),
)  # fmt: skip


class Book:
    """The novel with what was planted: the texts, and where the gold words are."""

    def __init__(self, sheet: Sheet, texts: Sequence[str]) -> None:
        self.sheet, self.texts = sheet, list(texts)
        self._chance = random.Random(SEED)
        self._gold: list[tuple[str, int, str]] = []
        """What it is gold for, the chapter, and the sentence."""
        chapters = range(1, len(self.texts) + 1)
        self._several(sheet.renamed * 6, chapters, "rename")
        self._several(sheet.place_decoys, chapters, "")
        self.plant(AGE_TOLD, sheet.told, "")
        self._several(sheet.aged * 2, range(AGE_TOLD + 1, len(self.texts) + 1), "age")
        self._several(sheet.age_decoys * 3, range(AGE_TOLD + 1, len(self.texts) + 1), "")
        self.plant(MOVED, sheet.first, "")
        self._several(sheet.used * 3, range(MOVED + 1, TARGET + 1), "move")
        self._several(sheet.used, range(TARGET + 1, len(self.texts) + 1), "")

    def _several(self, sentences: Sequence[str], chapters: Sequence[int], kind: str) -> None:
        for sentence in sentences:
            self.plant(self._chance.choice(chapters), sentence, kind)

    def plant(self, chapter: int, sentence: str, kind: str) -> None:
        """A paragraph of its own, at any border of paragraphs."""
        sheet = self.sheet
        thing = sheet.thing[:1].upper() + sheet.thing[1:] if sentence.startswith("{t}") else sheet.thing
        words = sentence.format(p=sheet.place, a=sheet.person, b=sheet.other, t=thing)
        parts = self.texts[chapter - 1].split("\n\n")
        parts.insert(self._chance.randint(1, len(parts)), words)
        self.texts[chapter - 1] = "\n\n".join(parts)
        if kind:
            self._gold.append((kind, chapter, words))

    def gold(self, kind: str) -> list[tuple[int, str]]:
        """Chapter and sentence of each place; one that holds the name twice, or was planted twice, is there twice."""
        places = [(chapter, words) for what, chapter, words in self._gold if what == kind]
        if kind == "rename":
            return [each for each in places for _time in range(each[1].count(self.sheet.place))]
        return places


def measure() -> Iterable[Figure]:
    """Both languages, then a long book."""
    named = os.environ.get("FLOWCABAL_BENCH_CONTEXT")
    novels = Path(named) / "novels" if named else NOVELS
    if not novels.is_dir():
        raise Missing("the context benchmark is not here; name it with FLOWCABAL_BENCH_CONTEXT")
    figures: list[Figure] = []
    for sheet in (EN, ZH):
        files = sorted((novels / sheet.novel).glob("*.txt"))[:CHAPTERS]
        texts = [file.read_text(encoding="utf-8").rstrip("\n") for file in files]
        with own_folders() as folder:
            figures += asyncio.run(_novel(folder, Book(sheet, texts)))
        with own_folders() as folder:
            figures.append(asyncio.run(_long(folder, sheet, texts)))
    return figures


async def _opened(folder: Path, sheet: Sheet, texts: Sequence[str]) -> Project:
    source = folder / "texts"
    source.mkdir()
    for number, text in enumerate(texts, 1):
        heading = sheet.heading.format(n=number)
        (source / f"{number:04}.txt").write_text(f"{heading}\n\n{text}\n", encoding="utf-8")
    await create_project(folder / "book", name="Bench", language=sheet.language)
    project = await Project.open(folder / "book", knowledge=False)
    await project.carry_out(ImportManuscript(str(source)))
    return project


async def _novel(folder: Path, book: Book) -> list[Figure]:
    sheet = book.sheet
    project = await _opened(folder, sheet, book.texts)
    try:
        for name, kind in ((sheet.place, "location"), (sheet.person, "character"), (sheet.other, "character")):
            entity = Entity(EntityId(f"e{len(name)}{kind[0]}{ord(name[0])}"), kind, name)  # type: ignore[arg-type]
            await project.carry_out(PutEntity(entity))
        chapters = [chapter.id for chapter in await project.book.chapters()]
        if len(chapters) != len(book.texts):
            raise RuntimeError(f"{len(chapters)} chapters were imported of {len(book.texts)}")
        rename = Rename(sheet.place, sheet.new_place)
        figures = [*await _asked(project, book, "rename", rename, chapters)]
        figures.append(await _undone(project, folder / "book", rename, f"{sheet.novel}, rename"))
        told = await project.book.chapter_text(chapters[AGE_TOLD - 1])
        await project.carry_out(WriteChapter(chapters[AGE_TOLD - 1], told.replace(*sheet.comma)))
        comma = await project.story.impact(ChapterChanged(chapters[AGE_TOLD - 1]))
        figures.append(
            Figure(f"{sheet.novel}: places after a changed comma", str(len(comma.rows)), "0", not comma.rows)
        )
        sentence = sheet.told.format(a=sheet.person)
        younger = told.replace(sentence, sentence.replace(sheet.old_age, sheet.new_age))
        await project.carry_out(WriteChapter(chapters[AGE_TOLD - 1], younger))
        change = ChapterChanged(chapters[AGE_TOLD - 1])
        figures += await _asked(project, book, "age", change, chapters)
        figures.append(await _undone(project, folder / "book", change, f"{sheet.novel}, age"))
        figures += await _asked(project, book, "move", ChapterMoved(chapters[MOVED - 1], TARGET), chapters)
    finally:
        await project.close()
    return figures


async def _asked(
    project: Project, book: Book, kind: str, change: BookChange, chapters: Sequence[ChapterId]
) -> Iterator[Figure]:
    begun = time.perf_counter()
    impact = await project.story.impact(change)
    seconds = time.perf_counter() - begun
    return _scored(impact, book, kind, chapters, seconds)


def _scored(impact: Impact, book: Book, kind: str, chapters: Sequence[ChapterId], seconds: float) -> Iterator[Figure]:
    """Recall, precision, and how much of the gold is among the first rows: as many as half of them, or as there is
    gold."""
    wanted, hits = book.gold(kind), list[int]()
    every = len(wanted)
    listed = [row for row in impact.rows if row.position]
    for at, row in enumerate(listed):
        place = row.proposal.place
        number = chapters.index(place.chapter) + 1 if place else 0
        same = next((each for each in wanted if each[0] == number and row.line.strip() == each[1].strip()), None)
        if same is not None:
            wanted.remove(same)
            hits.append(at)
    first = max(len(listed) / 2, len(hits))
    recall, precision = len(hits) / every, len(hits) / max(1, len(listed))
    early = sum(at < first for at in hits) / max(1, len(hits))
    name = f"{book.sheet.novel}, {kind}"
    yield Figure(f"{name}: recall of {every} places", f"{recall:.3f}", f">= {_RECALL}", recall >= _RECALL)
    yield Figure(
        f"{name}: gold of {len(listed)} listed", f"{precision:.3f}", f">= {_PRECISION}", precision >= _PRECISION
    )
    yield Figure(f"{name}: gold among the first", f"{early:.3f}", f">= {_RECALL}", early >= _RECALL)
    yield checked(f"{name}: all rows", seconds, _SECONDS, "s")


async def _undone(project: Project, folder: Path, change: BookChange, name: str) -> Figure:
    """Applies it and takes it back: is every byte as before?"""
    before = _stored(folder)
    impact = await project.story.impact(change)
    await project.carry_out(ApplyImpact(change, impact.digest))
    changed = sum(one != other for one, other in zip(before, _stored(folder), strict=True))
    await project.carry_out(UndoDecision())
    same = before == _stored(folder)
    return Figure(f"{name}: undone as before ({changed} rows were changed)", str(same), "True", same and changed > 0)


def _stored(folder: Path) -> list[tuple[object, ...]]:
    """The newest state of all that a writer has: texts by digest, titles, names, records."""
    newest = "SELECT {fields} FROM {table} AS at WHERE {order}=(SELECT max({order}) FROM {table} WHERE {key}=at.{key})"
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        rows: list[tuple[object, ...]] = []
        for fields, table, key, order in (
            ("subject, digest", "version", "subject", "number"),
            ("chapter, position, title, volume, deleted", "place", "chapter", "generation"),
            ("id, kind, name, aliases, note, by, removed", "entity", "id", "generation"),
            ("id, kind, body, chapter, source, by, removed", "record", "id", "generation"),
        ):
            question = newest.format(fields=fields, table=table, key=key, order=order)
            rows += sorted(database.execute(f"{question} ORDER BY {key}"))
        return rows


async def _long(folder: Path, sheet: Sheet, texts: Sequence[str]) -> Figure:
    """A rename in a book of many chapters, of which each names the place."""
    whole = "\n\n".join(texts)
    pieces = [whole[at : at + PIECE] for at in range(0, len(whole) - PIECE, PIECE)]
    sentences = [words.format(p=sheet.place) for words in sheet.renamed]
    chapters = [f"{pieces[n % len(pieces)]}\n\n{sentences[n % len(sentences)]}" for n in range(MANY)]
    project = await _opened(folder, sheet, chapters)
    try:
        begun = time.perf_counter()
        impact = await project.story.impact(Rename(sheet.place, sheet.new_place))
        seconds = time.perf_counter() - begun
    finally:
        await project.close()
    if impact.chapters != MANY:
        raise RuntimeError(f"{impact.chapters} chapters of {MANY} have a place")
    return checked(f"{sheet.novel}: first of {len(impact.rows)} rows in {MANY} chapters", seconds, _SECONDS, "s")
