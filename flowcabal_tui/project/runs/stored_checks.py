"""The Monitor of a run, which stores its findings before they are displayed."""

from __future__ import annotations

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.run import Evaluation
from flowcabal_tui.domain.workflow import Node, PromptParams
from flowcabal_tui.project.book.check_results import CheckResults
from flowcabal_tui.runner.ports import MonitorPort


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
