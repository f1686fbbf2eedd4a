"""Further candidates of a step: quoted, then written by runs of that step alone, each sample paid once."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.comparison import MOST, ComparisonTarget
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import Digest, NodeId, RunId
from flowcabal_tui.domain.run import Quote, RunRequest, Spend
from flowcabal_tui.domain.workflow import PromptParams, workflow_id
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.nodes.kinds.evolution import EvolutionParams
from flowcabal_tui.project.runs.manager import RunManager
from flowcabal_tui.project.runs.quotes import Quotes
from flowcabal_tui.project.runs.versions import OutputVersions
from flowcabal_tui.store import Store

_OFFERED: Final = 12
"""Maximum candidates that an evolution can write in a round."""


class FurtherCandidates:
    """Writes further candidates. Lives on the engine's loop."""

    def __init__(self, store: Store, versions: OutputVersions, manager: RunManager, quotes: Quotes) -> None:
        self._store, self._versions, self._manager, self._quotes = store, versions, manager, quotes

    async def quote(self, target: ComparisonTarget, count: int) -> Quote:
        """The total price of further candidates. Raises RunError for a step that cannot have them."""
        requests = await self._requests(target, count)
        return _together([await self._quotes.quote(await self._manager.imagined(each)) for each in requests])

    async def write(self, target: ComparisonTarget, count: int) -> RunId | None:
        """Writes further candidates. Raises RunError; the candidates written by then remain.

        A waiting question is asked again with them by the returned run, which reuses paid answers.
        """
        requests = await self._requests(target, count)
        if target.question:
            question = await self._store.runs.question(target.question)
            if await self._manager.goes_on(question.run):
                await self._manager.cancel(question.run, None)
            return await self._manager.start(requests[0])
        known = await self._texts(target)
        runs = [await self._manager.start(each) for each in requests]
        await asyncio.gather(*(self._manager.ended(run) for run in runs))
        failed = [run for run in runs if (await self._store.runs.summary(run)).state != "done"]
        if failed:
            raise RunError(
                _("{n} of {m} candidates were not written.").format(n=len(failed), m=len(runs)),
                (await self._store.runs.summary(failed[0])).error,
                _("The finished ones are kept; request the others again."),
            )
        if await self._texts(target) == known:
            raise RunError(
                _("The model wrote nothing new: each text equals one that exists."),
                "",
                _("Raise the temperature, or change the prompt."),
            )
        return None

    async def _texts(self, target: ComparisonTarget) -> frozenset[Digest]:
        """The digests of all that the node has written for the chapter."""
        versions = await self._versions.of(workflow_id(target.workflow), target.node, target.chapter)
        return frozenset(version.digest for version in versions)

    async def _requests(self, target: ComparisonTarget, count: int) -> tuple[RunRequest, ...]:
        if not 1 <= count <= MOST:
            raise RunError(_("Between 1 and {n} candidates can be written at a time.").format(n=MOST))
        if target.question:
            return (await self._more_of_round(target, count),)
        name = workflow_id(target.workflow)
        workflow = await self._store.workflows.get(name)
        node = next((each for each in workflow.nodes if each.id == target.node), None)
        if node is None or not isinstance(kind_and_params(node)[1], PromptParams):
            raise _no_further(target.node)
        known = (await self._store.current_outputs.all(name, target.chapter)).get(target.node)
        if known is not None and known.frozen:
            raise RunError(
                _("{node} is frozen: a run takes its output and writes nothing.").format(node=target.node),
                _("Nothing was sent."),
                _("Unfreeze it first."),
            )
        last = await self._store.runs.last_request(name, target.chapter) or RunRequest(name, target.chapter)
        samples = await self._free_samples(name, target)
        others = tuple((of, params) for of, params in last.overrides if of != target.node)
        return tuple(
            replace(
                last,
                workflow=name,
                targets=(target.node,),
                again=(),
                step=False,
                limit=None,
                aside=True,
                overrides=(*others, (target.node, {"sample": sample, "review": "never"})),
            )
            for sample in itertools.islice(samples, count)
        )

    async def _free_samples(self, name: str, target: ComparisonTarget) -> Iterator[int]:
        """Numbers whose answers are not there yet and that no other run waits for: it may wait for a person."""
        requests = await self._store.runs.settled_or_live(name, target.chapter)
        taken = {values.get("sample") for each in requests for of, values in each.overrides if of == target.node}
        written = len(await self._versions.of(name, target.node, target.chapter))
        return (sample for sample in itertools.count(max(1, written)) if sample not in taken)

    async def _more_of_round(self, target: ComparisonTarget, count: int) -> RunRequest:
        """Requests the run again with more candidates in its first round; existing ones are reused."""
        question = await self._store.runs.question(target.question)
        request = await self._store.runs.run_request(question.run)
        workflow = await self._store.runs.workflow_of(question.run)
        node = next((each for each in workflow.nodes if each.id == question.node), None)
        params = kind_and_params(node)[1] if node else None
        is_first = all(f"{question.node}/1/" in f"{each.node}/" for each in question.choices if each.node)
        if not isinstance(params, EvolutionParams) or not is_first:
            raise _no_further(question.node)
        given = [dict(values) for of, values in request.overrides if of == question.node]
        before = given[-1].get("candidates", params.candidates) if given else params.candidates
        if before + count > _OFFERED:
            raise RunError(_("A round has {n} candidates at most.").format(n=_OFFERED), _("Nothing was sent."))
        more: tuple[NodeId, dict[str, object]] = (question.node, {"candidates": before + count})
        return replace(request, again=(), limit=None, overrides=(*request.overrides, more))


def _no_further(node: NodeId) -> RunError:
    return RunError(
        _("Further candidates of {node} cannot be written from here.").format(node=node),
        _("Nothing was sent."),
        _("Run the workflow again for new ones."),
    )


def _together(quotes: Sequence[Quote]) -> Quote:
    """One quote for all runs."""
    first, likely = quotes[0], Spend()
    most: Spend | None = Spend()
    for each in quotes:
        likely = likely.plus(each.likely)
        most = None if most is None or each.most is None else most.plus(each.most)
    whole = replace(first, likely=likely, most=most, keeping=None)
    return whole if len(quotes) == 1 else replace(whole, lines=())
