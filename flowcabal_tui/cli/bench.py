"""The measuring commands: contexts for queries or for a novel with known facts, and checks."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from statistics import quantiles
from typing import Any

from flowcabal_tui.agents.builder.forms import Form
from flowcabal_tui.cli.agreeing import agreed_to_pay
from flowcabal_tui.cli.bench_check import check
from flowcabal_tui.cli.bench_context import context
from flowcabal_tui.cli.terminal import json_text, say, say_json
from flowcabal_tui.cli.text_files import write_lines
from flowcabal_tui.demo.chronicle import chronicle as write_chronicle
from flowcabal_tui.domain.errors import RunError, SettingsError
from flowcabal_tui.locale import _
from flowcabal_tui.project.bench.chronicle_bench import ChronicleReport, built, measured
from flowcabal_tui.project.build_words import build_price_lines
from flowcabal_tui.project.builder.briefs import Brief, answered, read_briefs, read_forms


async def builder(arguments: Namespace) -> int:
    """Writes one answer per line: a workflow, or a question."""
    briefs = read_briefs(arguments.briefs)
    if arguments.model:
        answers = await _by_model(briefs, arguments)
    else:
        answers = await _by_rule(briefs, read_forms(arguments.forms) if arguments.forms else None)
    write_lines(arguments.out, map(json_text, answers))
    questions, workflows = (sum(bool(each[key]) for each in answers) for key in ("question", "workflow"))
    say(_("{n} briefs: {m} workflows, {asked} questions.").format(n=len(answers), m=workflows, asked=questions))
    return 0


async def _by_rule(briefs: Sequence[Brief], forms: Mapping[str, Form] | None) -> list[dict[str, Any]]:
    answers = []
    for brief in briefs:
        if forms is not None and brief.id not in forms:
            raise SettingsError(_("There is no filled form for the brief {name}.").format(name=brief.id[:60]))
        answers.append(await answered(brief, forms[brief.id] if forms is not None else None))
    return answers


async def _by_model(briefs: Sequence[Brief], arguments: Namespace) -> list[dict[str, Any]]:
    """Answers the briefs by a model, after the person agreed to the price; otherwise raises RunError."""
    from flowcabal_tui.project.builder.bench_model import model_answers, price_of_all
    from flowcabal_tui.project.trust.own_models import own_endpoint

    endpoint = own_endpoint(arguments.model)
    is_paid = bool(briefs) and not endpoint.is_free
    if is_paid and not await agreed_to_pay(build_price_lines(price_of_all(briefs, endpoint)), yes=arguments.yes):
        raise RunError(_("Nothing was sent."))
    return [each async for each in model_answers(briefs, endpoint)]


async def measure(arguments: Namespace) -> int:
    """Runs one of the measurements."""
    measurements = {"context": context, "chronicle": chronicle, "check": check, "builder": builder}
    return await measurements[arguments.what](arguments)


async def chronicle(arguments: Namespace) -> int:
    """Generates a chronicle, imports it into a project and compares its contexts with the facts; returns 1 when a
    secret leaks."""
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
