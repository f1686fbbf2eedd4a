"""The command that measures: contexts for a file of queries."""

from __future__ import annotations

import sys
from argparse import Namespace
from statistics import quantiles

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import _
from flowcabal_tui.project.context_bench import BenchQuery, BenchSettings, answers, imported, read_queries


async def context(arguments: Namespace) -> int:
    """Writes a run file: for every query the chapters, passages and summaries that would go in, the best first."""
    by_novel: dict[str, list[BenchQuery]] = {}
    for query in read_queries(arguments.queries):
        by_novel.setdefault(query.novel, []).append(query)
    chosen = {name: queries for name, queries in by_novel.items() if name in (arguments.novel or by_novel)}
    settings = BenchSettings(arguments.budget, tuple(arguments.without), arguments.only or "structural")
    seconds: list[float] = []
    try:
        with arguments.out.open("w", encoding="utf-8") as file:
            for name, queries in chosen.items():
                language = queries[0].language
                folder = await imported(arguments.novels / name, language, fresh=arguments.fresh)
                async for answer in answers(folder, queries, settings, language):
                    print(answer.line, file=file)
                    seconds.append(answer.seconds)
                print(_("{novel}: {n} contexts").format(novel=name, n=len(queries)), file=sys.stderr)
    except OSError as error:
        raise ManuscriptError(
            _("Cannot write {file}.").format(file=arguments.out.name), error.strerror or str(error)
        ) from error
    if len(seconds) > 1:
        cuts = quantiles(seconds, n=20, method="inclusive")
        print(
            _("Assembly takes {half} ms (median), {most} ms (p95).").format(
                half=round(1000 * cuts[9]), most=round(1000 * cuts[18])
            ),
            file=sys.stderr,
        )
    return 0
