"""The commands that measure: contexts, of queries or of a novel with known facts, and checks."""

from __future__ import annotations

from argparse import Namespace
from statistics import quantiles

from flowcabal_tui.cli.bench_builder import builder
from flowcabal_tui.cli.bench_check import check
from flowcabal_tui.cli.bench_context import context
from flowcabal_tui.cli.terminal import say, say_json
from flowcabal_tui.demo.chronicle import chronicle as write_chronicle
from flowcabal_tui.locale import _
from flowcabal_tui.project.bench.chronicle_bench import ChronicleReport, built, measured


async def measure(arguments: Namespace) -> int:
    """One of the measurements."""
    measurements = {"context": context, "chronicle": chronicle, "check": check, "builder": builder}
    return await measurements[arguments.what](arguments)


async def chronicle(arguments: Namespace) -> int:
    """Makes a chronicle, takes it into a project and holds its contexts against the truth; 1 when a secret leaks."""
    novel = write_chronicle(arguments.words, arguments.seed, arguments.language)
    folder, seconds = await built(novel, fresh=arguments.fresh)
    report = await measured(folder, novel, arguments.contexts, arguments.budget)
    cuts = quantiles(report.seconds, n=20, method="inclusive")
    figures = {
        "chapters": len(novel.chapters),
        **dict(sorted(report.counts.items())),
        "built_seconds": round(seconds, 1),
        "median_ms": round(1000 * cuts[9]),
        "p95_ms": round(1000 * cuts[18]),
    }
    if arguments.json:
        say_json(figures)
    else:
        for line in _lines(report, figures):
            say(line)
    return int(report.leaks > 0)


def _lines(report: ChronicleReport, figures: dict[str, float]) -> list[str]:
    return [
        _("{n} contexts in {chapters} chapters; {half} ms (median), {most} ms (p95).").format(
            n=figures["contexts"], chapters=figures["chapters"], half=figures["median_ms"], most=figures["p95_ms"]
        ),
        _("States given as current that have ended: {share} ({n}).").format(
            share=f"{report.share('stale', 'told'):.2%}", n=report.counts["told"]
        ),
        _("Leaks from the future: {n}. Leaks beyond the point of view: {m}.").format(
            n=report.counts["future"], m=report.counts["viewpoint"]
        ),
        _("Missing: {states} of the cast's states, {secrets} of the secrets that may be revealed.").format(
            states=f"{report.share('missing', 'expected'):.1%}", secrets=f"{report.share('withheld', 'secrets'):.1%}"
        ),
    ]
