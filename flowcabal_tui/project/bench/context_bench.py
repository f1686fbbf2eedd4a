"""The context benchmark: imports novels like the product, and sends queries through its Context agent."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final, Literal

from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.gather import Finder
from flowcabal_tui.agents.context.shares import SHARES
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.context import BudgetClass, ContextSource
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ManuscriptError, ProjectReadOnly
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.text import digest, slug
from flowcabal_tui.domain.workflow import Node, PromptParams, TextBlock, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.chapters import language_of
from flowcabal_tui.models.registry import make_embedder
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.bench.bench_memory import KeptVectors, NamelessMemory, PassageVectors
from flowcabal_tui.project.create import create_project
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import ImportManuscript
from flowcabal_tui.settings.paths import cache_folder
from flowcabal_tui.store import Store

COUNTED_AS: Final = "qwen"
"""The vocabulary by which the benchmark counts tokens."""
Only = Literal["lexical", "structural", "vectors"]
_WRITTEN: Final = "bench-written"
"""The chapters are in the book; an interrupted import goes on with their index."""
_READY: Final = "bench-ready"
_NODE: Final = Node(id=NodeId("bench"))
_WORKFLOW: Final = Workflow(id="bench", nodes=(_NODE,))


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """The query, without its labels. `now` is the chapter to write."""

    id: str
    language: str
    novel: str
    now: int
    text: str


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """The settings of the contexts. `only`: "lexical": no entity is known; "vectors": those of an embedder are used
    too.

    The embedder is the offline one, or that of `embedding`, whose vectors are stored beside the imported novel.
    """

    budget: int = 25_000
    without: Collection[BudgetClass] = ()
    only: Only = "structural"
    embedding: Endpoint | None = None


@dataclass(frozen=True, slots=True)
class BenchAnswer:
    """One query's line of the run file, the tokens and sources of the receipt, and the seconds that it took."""

    id: str
    items: tuple[dict[str, Any], ...]
    tokens: int
    seconds: float
    sources: tuple[ContextSource, ...] = ()

    @property
    def line(self) -> str:
        return json.dumps({"id": self.id, "items": self.items}, ensure_ascii=False)


def read_queries(file: Path) -> tuple[BenchQuery, ...]:
    """The queries of a JSON-lines file. Raises ManuscriptError when it cannot be read as such."""
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        return tuple(BenchQuery(row["id"], row["lang"], row["novel"], int(row["now"]), row["text"]) for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManuscriptError(_("These are not queries: {file}").format(file=file.name), str(error)) from error


@dataclass(frozen=True, slots=True)
class BenchBook:
    """An imported novel: its project, and the number of chapters of other novels before its own."""

    folder: Path
    fillers: int = 0


async def imported(novel: Path, language: str, chapters: int = 0, *, fresh: bool = False) -> BenchBook:
    """A project with a novel, its index complete, in the user's cache folder; made once. Raises ManuscriptError.

    `chapters` is the number of chapters of the whole: other novels in the same language are put before it, repeated if
    necessary.
    """
    own, name = _files(novel), novel.name
    fillers = _fillers(novel, language, chapters - len(own))
    content = digest("\0".join(digest(file.read_text(encoding="utf-8")) for file in (*fillers, *own)))
    folder = cache_folder() / "bench" / f"{slug(name)}-{content[:12]}"
    book = BenchBook(folder, len(fillers))
    if (folder / _READY).exists() and not fresh:
        await _upgrade(folder, language)
        return book
    if fresh or not (folder / _WRITTEN).exists():
        shutil.rmtree(folder, ignore_errors=True)
        await create_project(folder, name=name, language=language)
    async with await Project.open(folder, knowledge=False) as project:
        if not (folder / _WRITTEN).exists():
            await _write(project, (*fillers, *own))
            (folder / _WRITTEN).touch()
        await project.memory.settled(but="check")  # which no benchmark looks at
    (folder / _READY).touch()
    return book


async def _write(project: Project, files: Sequence[Path]) -> None:
    with TemporaryDirectory() as joined:
        for number, file in enumerate(files, start=1):
            shutil.copyfile(file, Path(joined) / f"{number:05}.txt")
        await project.carry_out(ImportManuscript(joined))


async def _upgrade(folder: Path, language: str) -> None:
    """Upgrades the database of a novel that an older version of the program imported."""
    try:
        store = await Store.open(folder, read_only=True, clock=lambda: datetime.now(UTC), language=language)
    except ProjectReadOnly:
        project = await Project.open(folder, knowledge=False)
        await project.close()
    else:
        await store.close()


def chapter_lengths(novel: Path) -> dict[int, int]:
    """Characters of each chapter of a novel's folder, by number."""
    return {number: len(file.read_text(encoding="utf-8")) for number, file in enumerate(_files(novel), start=1)}


def _files(novel: Path) -> list[Path]:
    files = sorted(novel.glob("*.txt")) if novel.is_dir() else []
    if not files:
        raise ManuscriptError(_("No novel in this folder: {name}").format(name=novel.name))
    return files


def _fillers(novel: Path, language: str, wanted: int) -> list[Path]:
    """`wanted` chapters of the other novels in that language, in the order of their names, repeated as needed."""
    if wanted <= 0:
        return []
    others = [_files(each) for each in sorted(novel.parent.iterdir()) if each.is_dir() and each != novel]
    same = [files for files in others if language_of(files[0].read_text(encoding="utf-8")) == language[:2]]
    if not same:
        raise ManuscriptError(_("No other novel in this language: {name}").format(name=novel.parent.name))
    return list(islice(cycle(chain.from_iterable(same)), wanted))


async def answers(
    book: BenchBook,
    queries: Sequence[BenchQuery],
    settings: BenchSettings,
    language: str,
    finder: Finder | None = None,
) -> AsyncIterator[BenchAnswer]:
    """The contexts for the queries of one imported novel, as a run of the product assembles them.

    `finder` replaces the knowledge server.
    """
    store = await Store.open(book.folder, read_only=True, clock=lambda: datetime.now(UTC), language=language)
    embedder = make_embedder(settings.embedding, None) if settings.embedding else None
    try:
        chapters = {chapter.position: chapter.id for chapter in await store.book.chapters()}
        numbers = {chapter: at - book.fillers for at, chapter in chapters.items() if at > book.fillers}
        generation = await store.memory.generation()
        memory = NamelessMemory(store.memory) if settings.only == "lexical" else store.memory
        vectors = None
        if settings.only == "vectors":
            kept = KeptVectors(embedder, book.folder) if embedder else None
            vectors = PassageVectors(await store.memory.view(None, generation), kept)
            await vectors.read()
        agent = ContextAgent(
            memory,
            TokenEstimator(COUNTED_AS),
            settings.budget,
            finder=vectors or finder,
            shares={name: share for name, share in SHARES.items() if name not in settings.without},
        )
        for query in queries:
            chapter = chapters.get(query.now + book.fillers)
            start = perf_counter()
            injection = await agent.assemble(_WORKFLOW, _NODE, _params(query), query.text, chapter, generation, ())
            seconds = perf_counter() - start
            view = await store.memory.view(chapter, generation)
            ranked = sorted(injection.receipt.sources, key=lambda source: source.rank)
            items = [await _item(source, numbers, view) for source in ranked if _chapter(source) in numbers]
            yield BenchAnswer(query.id, tuple(items), injection.receipt.used, seconds, tuple(ranked))
    finally:
        if embedder is not None:
            await embedder.aclose()
        await store.close()


def _params(query: BenchQuery) -> PromptParams:
    return PromptParams(prompt=(TextBlock(text=query.text),))


def _chapter(source: ContextSource) -> ChapterId:
    return ChapterId(source.uri.removeprefix("manuscript/"))


async def _item(source: ContextSource, numbers: Mapping[ChapterId, int], view: MemoryView) -> dict[str, Any]:
    """A source in the form of the run file: a passage by its offsets, a summary with its text."""
    item: dict[str, Any] = {"chapter": numbers[_chapter(source)], "tokens": source.tokens}
    if source.level == "L2" and source.start >= 0:
        return item | {"start": source.start, "end": source.end}
    state = await view.derived(source.uri, source.level)
    return item | {"text": state.text if state else ""}
