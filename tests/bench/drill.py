"""Drill-down over 30 dev queries: in how many receipts a chapter was opened from its L0 or L1.

The queries are spread evenly over the core kinds and novels of both languages; the summaries are made by rule.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flowcabal_tui.project.bench.context_bench import (
    BenchAnswer,
    BenchQuery,
    BenchSettings,
    answers,
    imported,
    read_queries,
)
from tests.bench.report import Figure, given

CORE: Final = ("summary", "callback", "continue", "relation")
OF_LANGUAGE: Final = 15
WANTED: Final = 20


def measure() -> list[Figure]:
    """How many of the 30, by language, and how many chapters a query."""
    bench = given("FLOWCABAL_BENCH_CONTEXT", "the context benchmark")
    opened = {language: [_opened(each) for each in asyncio.run(_asked(bench, language))] for language in ("zh", "en")}
    named = sum(bool(each) for found in opened.values() for each in found)
    return [*_by_language(opened), Figure("of 30 receipts", str(named), f">= {WANTED}", named >= WANTED)]


def _by_language(opened: dict[str, list[int]]) -> Iterator[Figure]:
    for language, found in opened.items():
        value = f"{sum(map(bool, found))} of {len(found)}; {sum(found) / len(found):.1f} chapters a query"
        yield Figure(f"{language}: receipts with a chapter opened from its L0 or L1", value)


def _opened(answer: BenchAnswer) -> int:
    return sum(source.reason.startswith("opened from its ") for source in answer.sources)


async def _asked(bench: Path, language: str) -> list[BenchAnswer]:
    file = bench / "queries" / f"dev.{language}.jsonl"
    kinds = {row["id"]: row["kind"] for row in map(json.loads, file.read_text("utf-8").splitlines())}
    core = [query for query in read_queries(file) if kinds[query.id] in CORE]
    spread = [core[at * len(core) // OF_LANGUAGE] for at in range(OF_LANGUAGE)]
    found: list[BenchAnswer] = []
    by_novel: dict[str, list[BenchQuery]] = {}
    for query in spread:
        by_novel.setdefault(query.novel, []).append(query)
    for novel, queries in by_novel.items():
        book = await imported(bench / "novels" / novel, language)
        found += [answer async for answer in answers(book, queries, BenchSettings(), language)]
    return found
