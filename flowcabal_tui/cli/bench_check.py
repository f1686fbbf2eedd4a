"""`bench check`: the input and the findings of a checker for planted contradictions, of rows or of one's own book."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from statistics import mean, median, quantiles
from typing import Any

from flowcabal_tui.cli.terminal import json_text, say, say_json
from flowcabal_tui.cli.text_files import write_lines
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.bench.check_bench import CheckAnswer, chapter_texts, check_answers
from flowcabal_tui.project.bench.check_rows import CheckRow, read_rows
from flowcabal_tui.project.bench.context_bench import imported
from flowcabal_tui.project.bench.judge_bench import Judged, about_tokens, figures, judged_rows
from flowcabal_tui.project.bench.own_plants import OwnBook, clean_rows, own_book
from flowcabal_tui.project.bench.own_report import by_kind, judged_by_kind
from flowcabal_tui.project.bench.scripted_judge import read_gold
from flowcabal_tui.project.trust.own_models import own_endpoint, own_model
from flowcabal_tui.project.words import money


async def own_check(arguments: Namespace) -> int:
    """Prints for each kind the planted, shown and found contradictions, and the false alarms in unchanged chapters.

    Writes a line for each planted row with its draft to `--out`.
    """
    if arguments.rows is not None or arguments.erring is not None:
        raise SettingsError(_("--own plants its own rows."), _("Give it --rules-only or --model, and no --rows."))
    book = await own_book(arguments.own, arguments.most)
    clean = clean_rows(book, arguments.most)
    rows = [*(each.row for each in book.planted), *clean]
    if arguments.rules_only:
        found = [each async for each in check_answers(book.folder, book.texts, rows, inside=True)]
        table = by_kind(book, found)
        lines = {each.id: each.findings for each in found}
    else:
        model = own_model(own_endpoint(arguments.model))
        if not arguments.yes:
            say_price(len(rows), about_tokens(rows, book.texts, inside=True), model.endpoint)
            return 0
        gold = {each.row.id: each.gold for each in book.planted}
        judged: list[Judged] = [
            each async for each in judged_rows(book.folder, book.texts, rows, gold, inside=True, model=model)
        ]
        table = judged_by_kind(book, judged) | figures(judged, gold)
        lines = {each.row.id: each.findings for each in judged}
    if arguments.out:
        write_lines(arguments.out, _lines(book, lines))
    say_table(table, as_json=arguments.json)
    return 0


def _lines(book: OwnBook, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    return [
        json_text(
            {
                "id": each.row.id,
                "kind": each.kind,
                "now": each.row.now,
                "draft": each.row.draft,
                "said": each.own,
                "instead": each.instead,
                "source": each.gold.sources[0][0],
                "findings": found.get(each.row.id, ()),
            }
        )
        for each in book.planted
    ]


def say_price(rows: int, tokens: int, endpoint: Endpoint) -> None:
    """Prints the tokens that the model would receive, and their price if it is known, before any call."""
    words = ngettext(
        "{n} row would send about {tokens} tokens to {model}. Add --yes to ask it.",
        "{n} rows would send about {tokens} tokens to {model}. Add --yes to ask it.",
        rows,
    )
    say(words.format(n=rows, tokens=tokens, model=endpoint.model))
    if endpoint.price_in is not None:
        costs = money(endpoint.price_in * tokens / 1_000_000, endpoint.currency)
        say(_("Sending costs about {money}; answers, and questions about doubts, are charged too.").format(money=costs))


def say_table(table: Mapping[str, object], *, as_json: bool) -> None:
    """Prints one figure per line, or JSON."""
    if as_json:
        say_json(table)
        return
    for key, value in table.items():
        parts = value.items() if isinstance(value, Mapping) else ()
        say(f"{key:24} {', '.join(f'{name} {number}' for name, number in parts) or value}")


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
        say(words.format(**figures))
    return 0


async def _judged(arguments: Namespace, by_novel: Mapping[str, Sequence[CheckRow]]) -> int:
    """Runs the checks with a judge: the user's own model, which costs money, or a simulated one that errs at random."""
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
        judged = judged_rows(book.folder, texts, rows, gold, inside=arguments.inside, seed=seed, model=model)
        found += [each async for each in judged]
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
