"""The quotes of a project, from its settings, its models and the lengths of its chapters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import ceil

from flowcabal_tui.agents.checking.checker import GROUPS
from flowcabal_tui.agents.context.expects import wanted_length
from flowcabal_tui.agents.curation.chapter_profiles import MOST as MOST_TOGETHER
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.errors import ChapterLocked, RunError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, TaskKind
from flowcabal_tui.domain.overview import LENGTH
from flowcabal_tui.domain.run import Quote, RunRequest, Spend, SpendLimit, UsualCost
from flowcabal_tui.domain.workflow import CHAPTER_KEEPS, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import with_margin
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.memory import bootstrap_plan
from flowcabal_tui.project.models.lengths import longest_answer, usual_length
from flowcabal_tui.project.runs import quoting
from flowcabal_tui.project.runs.basis import Basis, Length
from flowcabal_tui.project.runs.node_costs import count_questions
from flowcabal_tui.project.runs.tally import Tally
from flowcabal_tui.runner.ports import MonitorPort
from flowcabal_tui.runner.scope import RunScope

SUBJECT_TOKENS = 400
"""Tokens of a subject of the knowledge server beside the text of its chapter: a line, an overview, names."""
_VECTORS_AT_MOST = 4
"""Times the likely tokens of vectors: the margin of the estimate, and texts that the server requests twice."""
_LEAST, _TRIMMED, _LATEST = 3, 5, 8
"""Numbers of runs: the least for a usual cost, the least for leaving out the extremes, and the most examined."""


class Quotes:
    """Computes quotes. Lives on the engine's loop; spends nothing."""

    def __init__(self, base: ProjectBase) -> None:
        self._base, self._store, self._models = base, base.store, base.models

    async def quote(self, scope: RunScope) -> Quote:
        """The quote of a run."""
        stale = await self._store.current_outputs.stale(scope.workflow.id, scope.request.chapter)
        basis = await self._basis(scope.request)
        quote = await quoting.quote(scope, basis, stale)
        if small := self._models.small_window():
            quote = replace(quote, warnings=(*quote.warnings, small))
        if locked := await self.locked(scope.workflow, scope.request):
            unkept = _("The run's output for it cannot be kept until you unlock it.")
            quote = replace(quote, warnings=(*quote.warnings, f"{locked.title} {unkept}"))
        quote = replace(quote, usual=await self._usual(scope.workflow, scope.request, quote))
        keeps = scope.workflow.keep.kind == "chapter" and scope.request.chapter is not None
        return replace(quote, keeping=self._keeping(basis.draft_tokens)) if keeps else quote

    async def _usual(self, workflow: Workflow, request: RunRequest, quote: Quote) -> UsualCost | None:
        """The cost of earlier complete runs of this workflow; None for a run that takes outputs from earlier ones."""
        if quote.served or quote.frozen or quote.is_free:
            return None

        def fits(other: RunRequest) -> bool:
            alike = (other.targets, other.overrides) == (request.targets, request.overrides)
            return alike and not other.again and not other.aside

        costs = await self._store.usage.costs_of_runs(workflow.reference, quote.currency, fits, _LATEST)
        if len(costs) < _LEAST:
            return None
        usual = sorted(costs)[1:-1] if len(costs) >= _TRIMMED else sorted(costs)
        return UsualCost(usual[0], usual[-1], len(costs))

    async def locked(self, workflow: Workflow, request: RunRequest) -> ChapterLocked | None:
        """The reason why the output cannot currently be kept in its chapter; None: it can."""
        if request.chapter is None or workflow.keep.kind not in CHAPTER_KEEPS:
            return None
        try:
            await self._store.revision.require_unlocked(request.chapter)
        except ChapterLocked as error:
            return error
        return None

    def _reading(self, chapters: int = 1) -> Counter[TaskKind]:
        """The number of questions of each kind that follow the keeping of these chapters."""
        agents = self._base.settings.agents
        together = ceil(agents.profiles / MOST_TOGETHER) if agents.profiles > 1 else 0
        read = 1 + together  # a question for several profiles has the chapter, as its reading does
        alone = 0 if together else agents.profiles
        counts: dict[TaskKind, int] = {"story": read, "l1": 1, "l0": 1, "profile": alone}
        return Counter({kind: count * chapters for kind, count in counts.items()})

    async def unpaid(self, tasks: Collection[BackgroundTask], monitor: MonitorPort | None) -> Quote:
        """The quote of waiting tasks: a chapter's reading covers all that follows from it.

        Vectors in another currency than the answers are left out: they wait for an answer of their own.
        """
        answers = await self._answers([task for task in tasks if task.kind != "knowledge"], monitor)
        sent = [task for task in tasks if task.kind == "knowledge"]
        vectors = await self._vectors(sent) if sent else None
        if vectors is None or not answers.likely.calls or answers.most is None or vectors.most is None:
            return vectors or answers
        if vectors.currency != answers.currency:
            return answers
        dearest = max(answers.dearest, vectors.dearest, key=lambda each: each.tokens)
        likely, most = answers.likely.plus(vectors.likely), answers.most.plus(vectors.most)
        return replace(answers, likely=likely, most=most, dearest=dearest)

    async def _vectors(self, tasks: Sequence[BackgroundTask]) -> Quote | None:
        """The quote of the vectors of these subjects; None where they are free."""
        endpoint = self._models.endpoint("embedding")
        if endpoint is None or endpoint.embeds_free:
            return None
        price = endpoint.price_in
        lengths = {f"manuscript/{each.id}": each.length for each in await self._store.book.chapters()}
        language, counter = self._base.settings.project.language, self._models.counter
        texts = (lengths.get(task.subject, 0) for task in tasks)
        tokens = [SUBJECT_TOKENS + (usual_length(counter, language, each, ()) if each else 0) for each in texts]

        def spend(calls: int, number: int) -> Spend:
            return Spend(calls, number, 0, None if price is None else price * number / 1_000_000)

        likely = spend(len(tasks), sum(tokens))
        dearest = spend(1, _VECTORS_AT_MOST * max(tokens))
        return Quote((), (), likely, likely.times(_VECTORS_AT_MOST), currency=endpoint.currency, dearest=dearest)

    async def _answers(self, tasks: Collection[BackgroundTask], monitor: MonitorPort | None) -> Quote:
        read = {task.subject for task in tasks if task.kind == "story"}
        others = (task for task in tasks if task.kind != "story" and task.subject.rpartition("@")[2] not in read)
        kinds = Counter(task.kind if task.kind in bootstrap_plan.ASKS else "l1" for task in others)
        quote = await self.background(self._reading(len(read)) + kinds)
        wanted = {task.subject for task in tasks if task.kind == "check"}
        checked = [each for each in await self._store.book.chapters() if each.id in wanted and each.digest]
        if monitor is None or not checked:
            return quote
        checks = await self.check(checked, monitor)
        if quote.most is None or checks.most is None or not quote.likely.calls:
            return checks
        dearest = max(quote.dearest, checks.dearest, key=lambda each: each.tokens)
        return replace(
            quote, likely=quote.likely.plus(checks.likely), most=quote.most.plus(checks.most), dearest=dearest
        )

    async def background(self, steps: Mapping[TaskKind, int]) -> Quote:
        """The quote of background work; free if none of its steps uses a paid model."""
        endpoint = self._models.endpoint("agent")
        counts = Counter({kind: count for kind, count in steps.items() if kind in bootstrap_plan.ASKS and count})
        if not counts or endpoint is None or endpoint.is_free or not self._base.settings.agents.curator:
            return Quote((), ())
        basis = await self._basis(RunRequest(""))
        price = bootstrap_plan.Price(basis.counter, endpoint)
        likely = bootstrap_plan.likely(counts, (basis.draft_tokens,), price)
        most, dearest = bootstrap_plan.at_most(counts, (basis.answer_tokens,), price)
        return Quote((), (), likely, most, currency=endpoint.currency, dearest=dearest)

    def _keeping(self, length: int) -> Spend | None:
        """The likely cost of the agents' model and the embedding model after a chapter of this many tokens is kept."""
        agents, spend = self._base.settings.agents, Spend()
        endpoint = self._models.endpoint("agent")
        if agents.curator and endpoint is not None and not endpoint.is_free:
            price_of_agent = bootstrap_plan.Price(self._models.counter, endpoint)
            spend = spend.plus(bootstrap_plan.likely(self._reading(), (length,), price_of_agent))
        if (embedding := self._models.paid_embedding()) is not None:
            price = None if embedding.price_in is None else embedding.price_in * length / 1_000_000
            spend = spend.plus(Spend(1, length, 0, price))
        return spend if spend.calls else None

    async def agreed(self, scope: RunScope) -> SpendLimit | None:
        """The default limit of a run: `Quote.pause`; None for free models."""
        if self._models.all_free:
            return None
        return (await self.quote(scope)).pause

    async def check(self, chapters: Sequence[Chapter], monitor: MonitorPort) -> Quote:
        """The quote of a check of kept chapters by the agents' model. Raises ModelError without one."""
        return self.check_of([await self._store.book.text(chapter.id) for chapter in chapters], monitor)

    def check_of(self, texts: Sequence[str], monitor: MonitorPort) -> Quote:
        """The quote of a check of texts. Raises ModelError without a model."""
        endpoint, tally = self._models.agent().endpoint, Tally()
        for text in texts:
            tokens = self._models.counter.count(text)
            length = Length(tokens, with_margin(self._models.counter, tokens))
            count_questions(tally, monitor, endpoint, self._models.counter, len(GROUPS), length)
        return tally.quote()

    async def preview(self, scope: RunScope, node: NodeId) -> Receipt:
        """The receipt that a node would get now. Raises RunError for one without a context."""
        receipt = await quoting.preview(scope, node, self._models.counter)
        if receipt is None:
            why = _("Its context is switched off, in the node or in the project's [agents].")
            unplaced = _("Without a chapter it has no place in the book.")
            raise RunError(_("{node} gets no context.").format(node=node), why if scope.request.chapter else unplaced)
        return receipt

    async def _basis(self, request: RunRequest) -> Basis:
        settings, inputs = self._base.settings, dict(request.inputs)
        written = [chapter.length for chapter in await self._store.book.chapters() if chapter.length]
        counter, language = self._models.counter, settings.project.language
        wanted = wanted_length(str(inputs.get("instruction", "")), str(inputs.get(LENGTH, "")), language)
        lengths = counter, language, wanted or settings.goals.chapter, written
        usual, longest = usual_length(*lengths), longest_answer(*lengths)
        return Basis(counter, usual, longest, self._models.paid_embedding(), settings.agents.scene)
