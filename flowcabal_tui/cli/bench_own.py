"""`bench check --own`: contradictions planted into copies of a book's own chapters, seen and found or not."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from flowcabal_tui.cli.bench_context import write_lines
from flowcabal_tui.cli.terminal import json_text, say, say_json
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.bench.check_bench import check_answers
from flowcabal_tui.project.bench.judge_bench import Judged, about_tokens, figures, judged_rows
from flowcabal_tui.project.bench.own_plants import OwnBook, clean_rows, own_book
from flowcabal_tui.project.bench.own_report import by_kind, judged_by_kind
from flowcabal_tui.project.trust.own_models import own_endpoint, own_model
from flowcabal_tui.project.words import money


async def own_check(arguments: Namespace) -> int:
    """Prints for each kind the planted, shown and found contradictions, and the false alarms of untouched chapters.

    `--out` gets a line for each planted row with its draft.
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
        asked = judged_rows(book.folder, book.texts, rows, gold, inside=True, model=model)
        judged: list[Judged] = [each async for each in asked]
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
                "said": each.said,
                "instead": each.instead,
                "source": each.gold.sources[0][0],
                "findings": found.get(each.row.id, ()),
            }
        )
        for each in book.planted
    ]


def say_price(rows: int, tokens: int, endpoint: Endpoint) -> None:
    """Prints the tokens that asking the model would send, and their price where it is known; nothing was asked yet."""
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
    """One line a figure, or JSON."""
    if as_json:
        say_json(table)
        return
    for key, value in table.items():
        parts = value.items() if isinstance(value, Mapping) else ()
        say(f"{key:24} {', '.join(f'{name} {number}' for name, number in parts) or value}")
