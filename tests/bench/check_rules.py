"""The checks that need no model, over untouched chapters of novels: alarms by rule, and milliseconds a chapter."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.registry import RULES, read
from flowcabal_tui.agents.names.names import discover
from flowcabal_tui.domain.text import han_count
from tests.agents.conftest import NOVELS
from tests.bench.report import Figure, Missing, percentile

_FIRST, _STEP = 10, 4
"""The first chapter that is checked, and the step to the next."""
_EACH, _ALL, _MILLISECONDS = 0.1, 0.3, 150.0


def measure() -> list[Figure]:
    """For each novel: alarms a chapter in all, those of the loudest rule, and the time of a chapter read before."""
    named = os.environ.get("FLOWCABAL_BENCH_CONTEXT")
    novels = Path(named) / "novels" if named else NOVELS
    if not novels.is_dir():
        raise Missing("the context benchmark is not here; name it with FLOWCABAL_BENCH_CONTEXT")
    return [figure for folder in sorted(novels.iterdir()) if folder.is_dir() for figure in _figures(folder)]


def _figures(folder: Path) -> Iterator[Figure]:
    texts = [file.read_text(encoding="utf-8").rstrip("\n") for file in sorted(folder.glob("*.txt"))]
    language = "zh" if han_count(texts[0]) > len(texts[0]) / 2 else "en"
    told = tuple(NarratedText(text, language, f"manuscript/{number}") for number, text in enumerate(texts, start=1))
    for chapter in told:
        read(chapter)
    whole = EarlierBook(language, told, discover(texts, language))
    alarms, seconds = Counter[str](), []
    checked = range(_FIRST, len(texts) + 1, _STEP)
    for now in checked:
        book, draft = (
            replace(whole, chapters=told[: now - 1], index=whole.names),
            NarratedText(texts[now - 1], language),
        )
        begun = time.process_time()
        for rule in RULES:
            if language in rule.languages:
                alarms[rule.name] += len(list(rule.find(draft, book)))
        seconds.append(time.process_time() - begun)
    loudest, most = max(alarms.items(), key=lambda each: each[1])
    for what, number, limit in ((f"loudest ({loudest})", most, _EACH), ("all rules", alarms.total(), _ALL)):
        rate = number / len(checked)
        yield Figure(f"{folder.name}: alarms a chapter, {what}", f"{rate:.3f}", f"<= {limit:g}", rate <= limit)
    half = percentile(seconds[1:], 0.5) * 1000
    yield Figure(
        f"{folder.name}: processor time a chapter", f"{half:,.0f} ms", f"<= {_MILLISECONDS:g} ms", half <= _MILLISECONDS
    )
