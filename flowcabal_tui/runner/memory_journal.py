"""A journal in memory: for runs that need no project, such as a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flowcabal_tui.domain.ids import Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import RunEvent, StoredResult
from flowcabal_tui.domain.run import Decision, Question, RunRequest
from flowcabal_tui.domain.state import StateEntry
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Workflow


class MemoryJournal:
    """Implements `JournalPort` in memory; nothing outlives the process."""

    def __init__(self) -> None:
        self.events: list[RunEvent] = []
        self._results: dict[Digest, StoredResult] = {}
        self._outcomes: dict[Digest, StoredResult] = {}
        self._texts: dict[Digest, str] = {}
        self._streamed: dict[tuple[RunId, NodeId, int], list[str]] = {}
        self._questions: dict[QuestionId, Question] = {}
        self._answers: dict[QuestionId, Decision] = {}

    async def begin_run(self, run: RunId, request: RunRequest, workflow: Workflow, generation: Generation) -> None:
        self.events.append(RunEvent(run, "run-started"))

    async def record(self, *events: RunEvent) -> None:
        self.events.extend(events)

    def post(self, *events: RunEvent) -> None:
        self.events.extend(events)

    async def history(self, run: RunId) -> tuple[RunEvent, ...]:
        return tuple(event for event in self.events if event.run == run)

    async def result(self, key: Digest) -> StoredResult | None:
        return self._results.get(key)

    async def keep_result(self, result: StoredResult, *events: RunEvent) -> None:
        self._results.setdefault(result.key, result)
        self._texts[result.digest] = result.text
        self.events.extend(events)

    async def outcome(self, key: Digest) -> StoredResult | None:
        return self._outcomes.get(key)

    def stored_result(self, key: Digest) -> StoredResult | None:
        return self._outcomes.get(key)

    async def remember_outcome(self, key: Digest, result: StoredResult) -> None:
        self._outcomes[key] = result
        self._texts[result.digest] = result.text

    async def keep_output(
        self,
        output: Output,
        *events: RunEvent,
        outcome: tuple[Digest, StoredResult] | None = None,
        state: Sequence[StateEntry] = (),
    ) -> None:
        """Stores the output but not the state: a run keeps its own, and a project's state is written by its store."""
        self._texts[output.digest] = output.stored
        if outcome is not None:
            self._outcomes[outcome[0]] = outcome[1]
        self.events.extend(events)

    async def text(self, digest: Digest) -> str:
        return self._texts[digest]

    async def texts(self, digests: Sequence[Digest]) -> Mapping[Digest, str]:
        return {each: self._texts[each] for each in digests}

    async def put_text(self, text: str) -> Digest:
        self._texts[digest(text)] = text
        return digest(text)

    def journal_text(self, run: RunId, node: NodeId, attempt: int, offset: int, text: str) -> None:
        place = (run, node, attempt)
        if not offset:
            self._streamed[place] = []
        self._streamed[place].append(text)

    async def partial_text(self, run: RunId, node: NodeId, attempt: int) -> str:
        return "".join(self._streamed.get((run, node, attempt), ()))

    async def ask(self, question: Question, *events: RunEvent) -> None:
        self._questions[question.id] = question
        self.events.extend(events)

    async def answer(self, question: QuestionId, decision: Decision, *events: RunEvent) -> bool:
        if question not in self._questions or question in self._answers:
            return False
        self._answers[question] = decision
        self.events.extend(events)
        return True

    async def decision(self, question: QuestionId) -> Decision | None:
        return self._answers.get(question)
