"""Runs measurements, of which it prints each figure at once: `python -m tests.bench [NAME ...]`; without a name all.

What they need from outside is named by environment variables; what is absent is skipped and said:
FLOWCABAL_BENCH_NOVEL (folder or file of a Chinese novel of 81 chapters or more), FLOWCABAL_OPENVIKING_SERVER,
FLOWCABAL_BENCH_CONTEXT (folder with novels, queries and score.py of the context benchmark),
FLOWCABAL_BENCH_FAULTSERVER (another scripted model server, beside ours), FLOWCABAL_BENCH_STARTUP
(the script that times a first frame), FLOWCABAL_BENCH_HARLEQUIN and FLOWCABAL_BENCH_POSTING (programs beside us).
"""

from __future__ import annotations

import argparse
import importlib
import sys

from tests.bench.report import Missing, line

NAMES = (
    "chapter81",
    "chapter-cost",
    "kills",
    "novel-kills",
    "run-kills",
    "bootstrap",
    "streams",
    "stalled",
    "startup",
    "memory",
    "search",
    "linear",
    "limits",
    "heal",
    "trust",
    "knowledge",
    "scale",
    "files",
    "names",
    "outline",
    "findings",
    "prompts",
    "check-rules",
    "evidence",
    "drill",
    "impact",
)


def main() -> int:
    """Returns 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    names = parser.parse_args().names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"no measurement is named {', '.join(sorted(unknown))}")
    missed = False
    for name in names:
        print(name, flush=True)
        try:
            for figure in importlib.import_module(f"tests.bench.{name.replace('-', '_')}").measure():
                print(line(figure), flush=True)
                missed = missed or figure.met is False
        except Missing as missing:
            print(f"  skipped: {missing}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
