"""Counts what proofing by rule marks in published novels, and how long a chapter takes.

    python -m tests.bench.proofing FOLDER...

Each FOLDER holds a novel, one chapter a file. Published prose was proofed before: a rule that marks more than one place
a chapter there is not on by itself (`ON` in `flowcabal_tui/domain/proofing.py`).
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from flowcabal_tui.manuscript.chapters import language_of
from flowcabal_tui.proofing.rules import proof, rules_for


def main(folders: list[str]) -> None:
    """One line a novel: marks a chapter by rule; milliseconds for a chapter, without and with repeats."""
    for folder in map(Path, folders):
        texts = [path.read_text(encoding="utf-8").strip() for path in sorted(folder.glob("*.txt"))]
        language = language_of("\n".join(texts[:3]))
        rules, counts, times, slow = rules_for(language), Counter[str](), [], []
        for place, text in enumerate(texts):
            others = [(number + 1, other) for number, other in enumerate(texts) if number != place]
            started = time.process_time()
            marks = proof(text, language, [rule for rule in rules if rule != "repeats"])
            times.append((time.process_time() - started) * 1000)
            if place % 10 == 0:
                marks = (*marks, *proof(text, language, ["repeats"], others))
                slow.append((time.process_time() - started) * 1000)
            counts.update(mark.rule for mark in marks)
        counts["repeats"] = round(counts["repeats"] * len(texts) / max(1, len(slow)))
        told = "  ".join(f"{rule} {counts[rule] / len(texts):.2f}" for rule in rules)
        median, worst = statistics.median(times), max(times)
        print(f"{folder.name} ({len(texts)} chapters): {told}", flush=True)
        print(f"    ms a chapter: median {median:.0f}, worst {worst:.0f}; with repeats over the book {max(slow):.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
