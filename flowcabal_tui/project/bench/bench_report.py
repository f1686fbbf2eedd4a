"""A trial of the context benchmark: contexts for queries under one setting, their scores, tokens and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, quantiles
from typing import Any, Final

from flowcabal_tui.locale import _
from flowcabal_tui.project.bench.bench_scores import Labels, Mean, Score, means, score
from flowcabal_tui.project.bench.context_bench import BenchAnswer, BenchBook, BenchQuery, BenchSettings, answers

ABLATED: Final = ("entities", "near", "last_meeting", "far", "summaries")
"""The classes that hold something where no model and no writer has added to the book."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result: a mean for each kind of query, the mean of the core kinds last; mean tokens; milliseconds."""

    name: str
    language: str
    means: tuple[Mean, ...]
    tokens: float
    median: float
    p95: float

    @property
    def plain(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LabelledQueries:
    """The queries for one imported book, with labels (none for queries without)."""

    book: BenchBook
    queries: tuple[BenchQuery, ...]
    labels: Mapping[str, Labels]
    lengths: Mapping[int, int]

    @property
    def language(self) -> str:
        return self.queries[0].language


def ablations(settings: BenchSettings) -> dict[str, BenchSettings]:
    """Settings by name: words alone, with names, with vectors too, and without each class of the budget in turn."""
    budget = settings.budget
    return {
        _("words only"): BenchSettings(budget, only="lexical"),
        _("names and words"): BenchSettings(budget),
        _("with vectors too"): BenchSettings(budget, only="vectors", embedding=settings.embedding),
        **{_("without {name}").format(name=name): BenchSettings(budget, (name,)) for name in ABLATED},
    }


async def tried(
    name: str, labelled: Sequence[LabelledQueries], settings: BenchSettings
) -> tuple[Trial, list[BenchAnswer]]:
    """A trial over books of one language, and its answers."""
    scores: list[tuple[str, Score]] = []
    found: list[BenchAnswer] = []
    for each in labelled:
        async for answer in answers(each.book, each.queries, settings, each.language):
            found.append(answer)
            if labels := each.labels.get(answer.id):
                scores.append((labels.kind, score(labels, answer.items, each.lengths)))
    seconds = [answer.seconds for answer in found]
    cuts = quantiles(seconds, n=20, method="inclusive") if len(seconds) > 1 else seconds * 20
    tokens = mean(answer.tokens for answer in found)
    return Trial(name, labelled[0].language, means(scores), tokens, 1000 * cuts[9], 1000 * cuts[18]), found


def table(trials: Sequence[Trial]) -> str:
    """A Markdown table: for one trial a row for each kind of query, for several the means of each."""
    head = (_("queries"), "n", "nDCG@10", _("chapters"), _("evidence"), _("tokens"), _("median"), "p95")
    rows = [head, ("---",) * len(head)]
    for trial in trials:
        shown = trial.means if len(trials) == 1 else trial.means[-1:]
        for each in shown:
            own = each.kind or _("mean")
            rows.append(
                (
                    own if len(trials) == 1 else f"{trial.language} {trial.name}",
                    str(each.queries),
                    f"{each.ndcg:.3f}",
                    f"{each.chapters:.3f}",
                    "-" if each.evidence is None else f"{each.evidence:.3f}",
                    f"{trial.tokens:.0f}",
                    _("{n} ms").format(n=round(trial.median)),
                    _("{n} ms").format(n=round(trial.p95)),
                )
            )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
