"""`bench check`: what a checker is shown for rows of planted contradictions, and what it finds."""

from __future__ import annotations

import sys
from argparse import Namespace
from statistics import mean, median, quantiles

from flowcabal_tui.cli.bench_context import write_lines
from flowcabal_tui.cli.terminal import say, say_json
from flowcabal_tui.locale import _
from flowcabal_tui.project.bench.check_bench import CheckAnswer, check_answers
from flowcabal_tui.project.bench.check_rows import CheckRow, read_rows
from flowcabal_tui.project.bench.context_bench import imported


async def check(arguments: Namespace) -> int:
    """Writes one line a row to `--out`; prints sizes and times."""
    by_novel: dict[str, list[CheckRow]] = {}
    for row in read_rows(arguments.rows, arguments.novels):
        by_novel.setdefault(row.novel, []).append(row)
    found: list[CheckAnswer] = []
    for name, rows in by_novel.items():
        novel = arguments.novels / name
        book = await imported(novel, rows[0].language, fresh=arguments.fresh)
        found += [each async for each in check_answers(book, novel, rows, inside=arguments.inside)]
        say(_("{novel}: {n} rows").format(novel=name, n=len(rows)), file=sys.stderr)
    write_lines(arguments.out, (each.line for each in found))
    figures = _figures(found)
    if arguments.json:
        say_json(figures)
    else:
        words = _("{n} rows; tokens of sources: {mean} (mean), {most} (largest); {half} ms (median), {p95} ms (p95).")
        say(
            words.format(
                n=figures["n"],
                mean=figures["mean"],
                most=figures["most"],
                half=figures["half"],
                p95=figures["p95"],
            )
        )
    return 0


def _figures(found: list[CheckAnswer]) -> dict[str, int]:
    tokens = [each.tokens for each in found]
    took = [1000 * each.seconds for each in found]
    p95 = quantiles(took, n=20, method="inclusive")[18] if len(took) > 1 else took[0]
    return {
        "n": len(found),
        "mean": round(mean(tokens)),
        "most": max(tokens),
        "half": round(median(took)),
        "p95": round(p95),
    }
