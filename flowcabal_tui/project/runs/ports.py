"""The dependencies of a run in an open project."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from typing import get_args

from flowcabal_tui.agents.checking.feedback import finding_lines
from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.own_words import sentences
from flowcabal_tui.demo import BookLanguage, templates
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.manuscript import Reference, ReferenceHit, ReferenceId
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.run import Evaluation
from flowcabal_tui.domain.workflow import Node, PromptParams
from flowcabal_tui.project.agents import AgentFactory
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.check_results import CheckResults
from flowcabal_tui.project.memory.finder import RememberingFinder
from flowcabal_tui.project.memory.parts import MemoryParts
from flowcabal_tui.project.runs.doubts import Doubts
from flowcabal_tui.project.runs.known_findings import KnownFindings
from flowcabal_tui.project.workflows.actions import ProjectActions
from flowcabal_tui.runner.ports import ContextPort, MonitorPort
from flowcabal_tui.runner.scope import RunPorts
from flowcabal_tui.settings.seal import user_seal
from flowcabal_tui.store.book.references import References


class StoredChecks:
    """Implements the runner's `MonitorPort` by wrapping another one."""

    def __init__(self, monitor: MonitorPort, results: CheckResults) -> None:
        self._monitor, self._results = monitor, results

    async def evaluate(
        self,
        node: Node,
        params: PromptParams,
        draft: str,
        chapter: ChapterId | None,
        generation: Generation,
        attempt: int,
    ) -> Evaluation:
        """The evaluation of the wrapped Monitor, stored."""
        evaluation = await self._monitor.evaluate(node, params, draft, chapter, generation, attempt)
        await self._results.put_draft(node.id, chapter, evaluation)
        return evaluation

    def question_tokens(self, endpoint: Endpoint, draft: int, questions: int) -> int:
        """See `MonitorPort`."""
        return self._monitor.question_tokens(endpoint, draft, questions)

    def defence_tokens(self, endpoint: Endpoint) -> int:
        """See `MonitorPort`."""
        return self._monitor.defence_tokens(endpoint)

    def parts_at_most(self, endpoint: Endpoint, draft: int) -> int:
        """See `MonitorPort`."""
        return self._monitor.parts_at_most(endpoint, draft)


@cache
def _fixed_words() -> frozenset[str]:
    """The sentences of the prompts that the program brings along, in every language."""
    nodes = [node for language in get_args(BookLanguage) for shipped in templates(language) for node in shipped.nodes]
    prompts = [PromptParams.model_validate(node.params).prompt for node in nodes if node.kind == "prompt"]
    return frozenset(sentence for prompt in prompts for sentence in sentences(prompt))


class RunPortsFactory:
    """Makes the ports of a run by the current settings."""

    def __init__(self, base: ProjectBase, agents: AgentFactory, memory: MemoryParts, actions: ProjectActions) -> None:
        self._base, self._agents, self._memory, self._actions = base, agents, memory, actions
        self._results = memory.results

    async def of(self, generation: Generation, spend: bool) -> RunPorts:
        """The ports of a run that reads a generation; without `spend`, nothing is paid for or remembered."""
        base = self._base
        await base.models.learn_windows()
        counter, monitor = await base.models.counter_at(generation, remember=spend), self._agents.monitor()
        return RunPorts(
            journal=base.store.journal,
            models=base.models,
            spend=base.models.spending,
            limits=base.limits,
            emit=base.emit,
            now=base.clock,
            feedback=lambda evaluation: finding_lines(evaluation.findings),
            context=self._context(generation, counter, spend, mends=monitor is not None),
            monitor=None if monitor is None else StoredChecks(monitor, self._results),
            doubts=Doubts(base.store),
            actions=self._actions,
            context_budget=base.models.context_budget(),
            seal=await asyncio.to_thread(user_seal),
        )

    def _context(
        self, generation: Generation, counter: TokenCounter, spend: bool, *, mends: bool
    ) -> ContextPort | None:
        """The Context agent; None if contexts are switched off. With `mends`, prompts get the rules' findings in their
        texts."""
        base = self._base
        if not base.settings.agents.context:
            return None
        agent = self.context_agent(generation, counter, spend=spend)
        return KnownFindings(agent, base.store.memory, self._agents.rules, counter) if mends else agent

    def context_agent(self, generation: Generation, counter: TokenCounter, *, spend: bool) -> ContextAgent:
        """The Context agent with the finder and, for inquiries and scenes, the agents' model."""
        base, memory = self._base, self._memory
        return self._agents.of("context", ContextAgent)(
            base.store.memory,
            counter,
            base.settings.budget.context_tokens,
            prompts=base.prompts,
            model=base.models.agent,
            finder=RememberingFinder(memory.knowledge, base.store, memory.sources, generation, remember=spend),
            spend=spend,
            kinds=base.kinds,
            references=PinnedReferences(base.store.references, generation, always=base.settings.agents.references),
            fixed=_fixed_words(),
            endpoint=base.models.endpoint,
            asks_scene=base.settings.agents.scene,
        )


class PinnedReferences:
    """Implements the Context agent's `ReferenceBooks`, as of a generation."""

    def __init__(self, references: References, generation: Generation, *, always: bool) -> None:
        self._references, self._generation, self.always = references, generation, always

    async def books(self) -> tuple[Reference, ...]:
        return await self._references.all(self._generation)

    async def search(
        self, terms: Sequence[str], limit: int, book: ReferenceId | None = None
    ) -> tuple[ReferenceHit, ...]:
        return await self._references.search(terms, limit, book, self._generation)
