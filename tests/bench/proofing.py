"""Counts what proofing by rule marks in published novels, and how long a chapter takes.

    python -m tests.bench.proofing FOLDER...

Each FOLDER holds a novel, one chapter a file. Printed prose was proofed before: a rule that marks more than one place a
chapter there would annoy. Digital editions of the Chinese classics were not: most quotes marked in them are slips.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from flowcabal_tui.manuscript.chapters import language_of
from flowcabal_tui.proofing.rules import proof, proof_chapters, rules_for


def main(folders: list[str]) -> None:
    """One line a novel: marks a chapter by rule; milliseconds for a chapter, without and with repeats."""
    for folder in map(Path, folders):
        texts = [path.read_text(encoding="utf-8").strip() for path in sorted(folder.glob("*.txt"))]
        language = language_of("\n".join(texts[:3]))
        rules, counts, times = rules_for(language), Counter[str](), list[float]()
        for text in texts:
            started = time.process_time()
            marks = proof(text, language, rules)
            times.append((time.process_time() - started) * 1000)
            counts.update(mark.rule for mark in marks)
        started = time.process_time()
        repeated = proof_chapters(dict(enumerate(texts)), range(len(texts)), language, ["repeats"])
        slow = (time.process_time() - started) * 1000 / len(texts)
        counts["repeats"] = sum(map(len, repeated.values()))
        told = "  ".join(f"{rule} {counts[rule] / len(texts):.2f}" for rule in rules)
        median, worst = statistics.median(times), max(times)
        print(f"{folder.name} ({len(texts)} chapters): {told}", flush=True)
        print(f"    ms a chapter: median {median:.0f}, worst {worst:.0f}; repeats over the book {slow:.0f} more")


if __name__ == "__main__":
    main(sys.argv[1:])
