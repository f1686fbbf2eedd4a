"""`bench context`: contexts for a file of queries over novels, or for queries made from the user's own manuscript."""

from __future__ import annotations

import sys
from argparse import Namespace

from flowcabal_tui.cli.terminal import say, say_json
from flowcabal_tui.cli.text_files import write_lines
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _
from flowcabal_tui.project.bench.bench_queries import own_queries
from flowcabal_tui.project.bench.bench_report import LabelledQueries, Trial, ablations, table, tried
from flowcabal_tui.project.bench.bench_scores import read_labels
from flowcabal_tui.project.bench.context_bench import (
    BenchAnswer,
    BenchQuery,
    BenchSettings,
    Only,
    chapter_lengths,
    imported,
    read_queries,
)


async def context(arguments: Namespace) -> int:
    """Prints the scores as a table or as JSON; with `--out`, writes the run file, one line per query."""
    labelled = await (own_queries(arguments.project, arguments.most) if arguments.project else _given(arguments))
    settings = settings_of(arguments)
    trials: list[Trial] = []
    found: list[BenchAnswer] = []
    for name, each in (ablations(settings) if arguments.ablate else {_("contexts"): settings}).items():
        for language in dict.fromkeys(one.language for one in labelled):
            trial, made = await tried(name, [one for one in labelled if one.language == language], each)
            trials.append(trial)
            found += made
    if arguments.out:
        write_lines(arguments.out, (answer.line for answer in found))
    if arguments.json:
        say_json([trial.plain for trial in trials])
    else:
        say(table(trials))
    for trial in trials:
        say(
            _("Assembly takes {half} ms (median), {most} ms (p95).").format(
                half=round(trial.median), most=round(trial.p95)
            ),
            file=sys.stderr,
        )
    return 0


def settings_of(arguments: Namespace) -> BenchSettings:
    """The settings of the benchmark. If the address of an embedder is given, its vectors are used, unless only names
    are requested."""
    url = arguments.embedding
    endpoint = Endpoint(model=arguments.embedding_model, base_url=url, dimensions=arguments.dimensions) if url else None
    usual: Only = "vectors" if endpoint else "structural"
    return BenchSettings(arguments.budget, tuple(arguments.without), arguments.only or usual, endpoint)


async def _given(arguments: Namespace) -> list[LabelledQueries]:
    """The queries of a file, by novel. Raises SettingsError when the folder is not given."""
    if not arguments.novels or not arguments.queries:
        raise SettingsError(
            _("There are no queries to run."),
            _("Give a project, or --novels and --queries."),
        )
    by_novel: dict[str, list[BenchQuery]] = {}
    for query in read_queries(arguments.queries)[:: arguments.every]:
        by_novel.setdefault(query.novel, []).append(query)
    labels = read_labels(arguments.queries)
    labelled = []
    for name, queries in by_novel.items():
        if name in (arguments.novel or by_novel):
            novel = arguments.novels / name
            book = await imported(novel, queries[0].language, arguments.chapters, fresh=arguments.fresh)
            labelled.append(LabelledQueries(book, tuple(queries), labels, chapter_lengths(novel)))
            say(_("{novel}: {n} contexts").format(novel=name, n=len(queries)), file=sys.stderr)
    return labelled
