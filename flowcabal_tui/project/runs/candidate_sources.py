"""Reads the candidates of a step from the store: the choices of a question, or the outputs of all its runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from flowcabal_tui.domain.comparison import FEWEST, MOST, ComparisonTarget, Maker
from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.model_calls import ROLES, Usage
from flowcabal_tui.domain.run import AngleCheck, Question
from flowcabal_tui.domain.text import digest, digest_of
from flowcabal_tui.domain.versions import NodeVersion
from flowcabal_tui.domain.workflow import PromptParams, VirtualBlock, Workflow, workflow_id
from flowcabal_tui.locale import _
from flowcabal_tui.models.registry import cost
from flowcabal_tui.nodes.graph import prompt_at
from flowcabal_tui.project.models.roles import ModelRoles
from flowcabal_tui.project.runs.versions import OutputVersions
from flowcabal_tui.project.workflows.overrides import overridden
from flowcabal_tui.runner.fold import fold
from flowcabal_tui.store import Store


@dataclass(frozen=True, slots=True)
class Source:
    """A candidate: its text, the path of the node that made it, and its version, if known.

    `number` is its number in a question (0: none).
    """

    digest: Digest
    text: str
    node: NodeId
    version: NodeVersion | None = None
    number: int = 0
    checks: tuple[AngleCheck, ...] = ()
    like: Digest = Digest("")
    note: str = ""
    """The note of the sifting of its run, as in `Choice`."""


@dataclass(frozen=True, slots=True)
class TargetSources:
    """All candidates of a target, which names the workflow, node and chapter also for a question."""

    target: ComparisonTarget
    title: str
    candidates: tuple[Source, ...]
    run: RunId = RunId("")
    question: Question | None = None
    is_waiting: bool = False

    @property
    def digests(self) -> tuple[Digest, ...]:
        return tuple(each.digest for each in self.candidates)

    def candidate(self, name: Digest) -> Source:
        """The source of a candidate. Raises RunError for an unknown one."""
        for each in self.candidates:
            if each.digest == name:
                return each
        raise RunError(_("There is no such candidate."), _("Nothing was changed."))


class CandidateSources:
    """Reads candidates. Reads only; lives on the engine's loop."""

    def __init__(self, store: Store, versions: OutputVersions, models: ModelRoles) -> None:
        self._store, self._versions, self._models = store, versions, models

    async def of(self, target: ComparisonTarget) -> TargetSources:
        """The candidates of a target. Raises RunError for fewer than two, Gone for an unknown question or workflow."""
        found = await (self._of_question(target) if target.question else self._of_node(target))
        if len(found.candidates) < FEWEST:
            raise RunError(
                _("{node} has only one text, so there is nothing to compare.").format(node=found.title),
                _("Nothing was changed."),
                _("Write further candidates first."),
            )
        return found

    async def _of_question(self, target: ComparisonTarget) -> TargetSources:
        question = await self._store.runs.question(target.question)
        workflow = await self._store.runs.workflow_of(question.run)
        candidates: dict[Digest, Source] = {}
        for number, choice in enumerate(question.choices, 1):
            name = digest(choice.text)
            if not choice.text or name in candidates:
                continue
            version = await self._version(workflow, question.chapter, choice.node, name)
            checks = choice.evaluation.checks if choice.evaluation else ()
            like = digest(question.choices[choice.like - 1].text) if choice.like else Digest("")
            candidates[name] = Source(name, choice.text, choice.node, version, number, checks, like, choice.note)
        waiting = {each.id for each in await self._store.runs.open_questions()}
        whole = ComparisonTarget(question.id, workflow.id, question.node, question.chapter)
        title = question.node_title or question.node
        return TargetSources(
            whole, title, tuple(candidates.values()), question.run, question, is_waiting=question.id in waiting
        )

    async def _version(
        self, workflow: Workflow, chapter: ChapterId | None, node: NodeId, name: Digest
    ) -> NodeVersion | None:
        found = await self._store.versions.of(workflow.id, chapter, node)
        return next((version for version in reversed(found) if version.digest == name), None)

    async def _of_node(self, target: ComparisonTarget) -> TargetSources:
        workflow = await self._store.workflows.get(target.workflow)
        top = next((node for node in workflow.nodes if node.id == target.node.split("/")[0]), None)
        if top is None:
            raise Gone(target.node)
        versions = await self._versions.of(workflow.id, target.node, target.chapter)
        texts: dict[Digest, NodeVersion] = {}
        for version in versions:
            if version.form == "text":
                texts.setdefault(version.digest, version)
        newest = list(texts.values())[:MOST]
        read = await self._store.journal.texts(tuple(version.digest for version in newest))
        candidates = tuple(
            Source(
                version.digest,
                read[version.digest],
                target.node,
                version,
                0,
                version.evaluation.checks if version.evaluation else (),
            )
            for version in newest
        )
        whole = ComparisonTarget(workflow=workflow_id(target.workflow), node=target.node, chapter=target.chapter)
        return TargetSources(whole, top.title, candidates, next((each.run for each in newest if each.run), RunId("")))

    async def maker(self, sources: TargetSources, source: Source) -> Maker:
        """The origin of a candidate, and its prompt."""
        version = source.version
        if version is None or version.author != "model":
            return Maker(sources.run, source.node)
        found = await self.prompt(version.run or sources.run, source.node)
        amount, currency = self._cost(version.model, version.usage)
        made = Maker(version.run, source.node, version.attempt, version.model, cost=amount, currency=currency)
        if found is None:
            return made
        title, params = found
        blocks = [[block.model_dump(mode="json") for block in part] for part in (params.system, params.prompt)]
        sampling = dict(params.sampling)
        sampling |= {} if params.temperature is None else {"temperature": params.temperature}
        return replace(
            made,
            prompt=digest_of(blocks),
            prompt_name=title,
            sampling=json.dumps(sampling, ensure_ascii=False, sort_keys=True),
        )

    async def prompt(self, run: RunId, path: NodeId) -> tuple[str, PromptParams] | None:
        """The title and the parameters of the prompt node at a path of a run."""
        if not run:
            return None
        request, workflow = await self._store.runs.run_request(run), await self._store.runs.workflow_of(run)
        found = prompt_at(overridden(workflow, request.overrides).nodes, path)
        if found is None:
            return None
        top = next((node.title for node in workflow.nodes if node.id == path.split("/")[0]), path)
        node, params = found
        label = node.name.strip(" ·") if "/" in path else ""
        return (f"{top} · {label}" if label and label != top else top), params

    def _cost(self, model: str, usage: Usage) -> tuple[Decimal | None, str]:
        """The cost of a call of the model with that name; None when no role has it."""
        endpoints = [endpoint for role in ROLES[:2] if (endpoint := self._models.endpoint(role))]
        for endpoint in endpoints:
            if endpoint.model == model:
                return cost(endpoint, usage), endpoint.currency
        return None, ""

    async def plan(self, sources: TargetSources) -> str:
        """The plan from which the candidates were written: a part of their prompt, else the outline of the chapter."""
        first = next((each for each in sources.candidates if each.version and each.version.run), None)
        if first is not None and first.version is not None:
            found = await self.prompt(first.version.run, first.node)
            blocks = found[1].prompt if found else ()
            for block in blocks:
                if isinstance(block, VirtualBlock) and block.part in ("plan", "beats"):
                    if block.frozen is not None:
                        return block.frozen
                    if words := await self._output(first.version.run, block.node):
                        return words
        chapter = sources.target.chapter
        if chapter is None:
            return ""
        view = await self._store.memory.view(chapter, await self._store.memory.generation())
        return (await view.outline()).beats(chapter)

    async def _output(self, run: RunId, node: NodeId) -> str:
        known = fold(await self._store.journal.history(run)).nodes.get(node)
        if known is None or not known.digest:
            return ""
        return Output(await self._store.journal.text(known.digest), known.form).text


def checks_by_candidate(
    sources: Sequence[Source], sifted: dict[Digest, tuple[AngleCheck, ...]]
) -> dict[Digest, tuple[AngleCheck, ...]]:
    """The checks of each candidate: those of a sifting, and for the other angles those of its run."""
    found = {}
    for source in sources:
        mine = sifted.get(source.digest, ())
        looked = {check.angle for check in mine}
        found[source.digest] = (*mine, *(check for check in source.checks if check.angle not in looked))
    return found
