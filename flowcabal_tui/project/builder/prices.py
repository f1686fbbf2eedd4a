"""The likely and the highest price of a build by the agents' model, and of a run of the built workflow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.builder.build_prompt import system_prompt, user_prompt
from flowcabal_tui.agents.builder.build_state import Build, BuildLimits
from flowcabal_tui.agents.builder.build_tools import tools
from flowcabal_tui.agents.builder.builder import ANSWER_TOKENS, PURPOSE, USUAL
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId, RunId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.model_calls import Message, ModelRequest, Usage
from flowcabal_tui.domain.prompt_text import chapter_values
from flowcabal_tui.domain.run import RunRequest, Spend
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.models.registry import cost
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.nodes.inputs import inputs_of
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.runs.parts import RunParts
from flowcabal_tui.project.words import spend_words

LIKELY_CALLS: Final = 8
"""Twice the median of right answers, measured by `tests/project/test_builder_reference.py`."""
_LIKELY_ANSWER: Final = 600
"""Tokens."""
_INPUT: Final = "1"
"""The value of each input of a run in a quote."""


@dataclass(frozen=True, slots=True)
class BuildPrice:
    """A price before a build; `currency` is that of the sums."""

    likely: Spend
    most: Spend
    model: str
    currency: str

    @property
    def is_free(self) -> bool:
        """True when the build cannot cost money."""
        return self.most.cost == 0


def price_of(build: Build, endpoint: Endpoint, counter: TokenEstimator, limits: BuildLimits = USUAL) -> BuildPrice:
    """The price of a build, assuming that every call resembles the first one and repeats the earlier messages; the
    highest is the limit of a build."""
    messages = (Message("system", system_prompt()), Message("user", user_prompt(build)))
    first = counter.count_request(ModelRequest(messages, PURPOSE, tools=tools()))
    sent = sum(first + call * _LIKELY_ANSWER for call in range(LIKELY_CALLS))
    likely = _spend(endpoint, LIKELY_CALLS, sent, LIKELY_CALLS * _LIKELY_ANSWER)
    received = min(limits.rounds * ANSWER_TOKENS, limits.tokens)
    # the limit is checked before a round, so the last one may exceed it
    most = _spend(endpoint, limits.rounds, limits.tokens - received + first, received + ANSWER_TOKENS)
    return BuildPrice(likely, most, endpoint.model, endpoint.currency)


class RunPrices:
    """The price of a run of a document that is not saved."""

    def __init__(self, base: ProjectBase, runs: RunParts) -> None:
        self._base, self._store, self._runs = base, base.store, runs

    async def words(self, workflow: Workflow) -> str:
        """The price of a run for the last chapter in which every node runs again; "" if it is free or cannot be
        estimated.

        A book without chapters is quoted as if it had a first one.
        """
        if self._base.models.all_free:  # a quote assembles the contexts, and waits for a knowledge server
            return ""
        runs, chapters = self._runs, await self._store.book.chapters()
        request = RunRequest(
            workflow.reference,
            chapters[-1].id if chapters else None,
            tuple(dict.fromkeys(inputs_of(workflow), _INPUT).items()),
            again=tuple(node.id for node in workflow.nodes),
        )
        try:
            generation = await runs.manager.generation(request)
            scope = await runs.manager.scope(RunId(""), workflow, request, generation, spend=False)
            first = chapter_values(Chapter(ChapterId(""), 1, ""), "")
            quote = await runs.quotes.quote(replace(scope, values={"chapter": first, **scope.values}))
        except FlowCabalError:
            return ""
        if quote.is_free:
            return ""
        likely = spend_words(quote.likely, quote.currency)
        most = _("unknown") if quote.most is None else spend_words(quote.most, quote.currency)
        return _("A run: likely {likely}; at most {most}.").format(likely=likely, most=most)


def _spend(endpoint: Endpoint, calls: int, sent: int, received: int) -> Spend:
    return Spend(calls, sent, received, cost(endpoint, Usage(sent, received)))
