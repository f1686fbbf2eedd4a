"""`bench check`: the input and the findings of a checker for rows of planted contradictions."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from statistics import mean, median, quantiles

from flowcabal_tui.cli.bench_context import write_lines
from flowcabal_tui.cli.bench_own import own_check, say_price, say_table
from flowcabal_tui.cli.terminal import json_text, say, say_json
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _
from flowcabal_tui.project.bench.check_bench import CheckAnswer, chapter_texts, check_answers
from flowcabal_tui.project.bench.check_rows import CheckRow, read_rows
from flowcabal_tui.project.bench.context_bench import imported
from flowcabal_tui.project.bench.judge_bench import Judged, about_tokens, figures, judged_rows
from flowcabal_tui.project.bench.scripted_judge import read_gold
from flowcabal_tui.project.trust.own_models import own_endpoint, own_model


async def check(arguments: Namespace) -> int:
    """Writes one line for each row to `--out`; prints sizes and times, or with a judge the table of its findings."""
    if arguments.own is not None:
        return await own_check(arguments)
    if not (arguments.novels and arguments.rows and arguments.out):
        raise SettingsError(_("There is nothing to check."), _("Give --novels, --rows and --out, or --own."))
    by_novel: dict[str, list[CheckRow]] = {}
    for row in read_rows(arguments.rows, arguments.novels):
        by_novel.setdefault(row.novel, []).append(row)
    if not arguments.rules_only:
        return await _judged(arguments, by_novel)
    found: list[CheckAnswer] = []
    for name, rows in by_novel.items():
        novel = arguments.novels / name
        book = await imported(novel, rows[0].language, fresh=arguments.fresh)
        texts = chapter_texts(novel)
        found += [each async for each in check_answers(book.folder, texts, rows, inside=arguments.inside)]
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


async def _judged(arguments: Namespace, by_novel: Mapping[str, Sequence[CheckRow]]) -> int:
    """With a judge: your model, which is paid for, or one that errs by chance."""
    gold = read_gold(arguments.rows)
    model = None if arguments.model is None else own_model(own_endpoint(arguments.model))
    if model is not None and not arguments.yes:
        tokens = sum(
            about_tokens(rows, chapter_texts(arguments.novels / name), inside=arguments.inside)
            for name, rows in by_novel.items()
        )
        say_price(sum(map(len, by_novel.values())), tokens, model.endpoint)
        return 0
    found: list[Judged] = []
    for name, rows in by_novel.items():
        novel = arguments.novels / name
        book = await imported(novel, rows[0].language, fresh=arguments.fresh)
        texts, seed = chapter_texts(novel), arguments.erring or 0
        asked = judged_rows(book.folder, texts, rows, gold, inside=arguments.inside, seed=seed, model=model)
        found += [each async for each in asked]
        say(_("{novel}: {n} rows").format(novel=name, n=len(rows)), file=sys.stderr)
    write_lines(
        arguments.out,
        (json_text({"id": each.row.id, "shown": [], "findings": each.findings}) for each in found),
    )
    table = figures(found, gold)
    say_table(table, as_json=arguments.json)
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
