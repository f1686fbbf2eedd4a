"""No run of nodes that repeat costs more than the most of its quote, even if each answer is as long as allowed."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.run import Decision, Question, RunRequest, SpendLimit
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.models.bounds import MARGIN_UNKNOWN
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.project.case import Case, both, change, opened
from tests.project.test_quote_bounds import Priced, endpoint_of

Json = dict[str, Any]
NO_LIMIT = SpendLimit(None, Decimal(1_000), "USD")


class Longest(Priced):
    """Its texts have as many tokens when they are read as when they were written, by its own count."""

    def _text(self, tokens: int) -> str:
        self.calls += 1
        words = "She crossed the wet street slowly. "
        count = tokens / MARGIN_UNKNOWN * 50 / self._counter.count(words * 50)
        return f"Draft {self.calls}. " + words * int(count - 1)


def step(words: str) -> Json:
    return {"prompt": [{"kind": "text", "text": words}]}


def evolution(wish: str = "it", **params: object) -> Json:
    made = step(f"Write {wish}. {{{{parent}}}} {{{{note}}}}") | {"context": False}
    return {"id": "e", "kind": "evolution", "params": {"write": made, "candidates": 3, "rounds": 3, **params}}


def recursive(**params: object) -> Json:
    steps = {"draft": step("Write."), "criticise": step("{{draft}} Criticise."), "revise": step("{{critique}} Revise.")}
    return {"id": "r", "kind": "recursive", "params": {**steps, "depth": 2, "review": "always", **params}}


def loop(*nodes: Json, source: object) -> Json:
    return {"id": "l", "kind": "loop", "params": {"source": source, "body": {"nodes": [*nodes]}, "max_iterations": 5}}


def answer(question: Question) -> Decision:
    return Decision("choose", attempt=1) if question.kind == "choice" else Decision("approve")


@asynccontextmanager
async def with_workflow(tmp_path: Path, demos: dict[str, Path], *nodes: Json) -> AsyncIterator[Case]:
    """The demo with a workflow `m`, whose model answers as long as it may and never fails."""
    folder = tmp_path / "en"
    shutil.copytree(demos["en"], folder)
    model = endpoint_of(folder).model_copy(update={"retries": 0})
    change(folder, "models", user=both(model).user, agent=both(model).agent)
    async with opened(folder) as case:
        fake = Longest(model, "en", worst=True)
        case.project._parts.base.models._models[model] = fake  # type: ignore[assignment]  # as far as it is used
        made = Workflow.model_validate({"id": "m", "version": 1, "name": "m", "language": "en", "nodes": nodes})
        await case.project.carry_out(SaveWorkflow(made))
        yield case


@pytest.mark.parametrize(
    "nodes",
    [
        [evolution()],
        [evolution(automatic=True, next=[{"kind": "text", "text": "Better. {{parent}}"}])],
        [loop(evolution("{{loop.index}}"), source=["a", "b"])],
        [recursive(depth=4), loop(evolution("{{loop.index}}", automatic=True, rounds=5), source="result_of.r.rounds")],
        [loop(recursive(), source=["a", "b"])],
    ],
    ids=["picked", "automatic", "picked in a loop", "automatic in a loop over what is not there yet", "recursive"],
)
async def test_the_most_of_a_quote_covers_all_rounds(tmp_path: Path, demos: dict[str, Path], nodes: list[Json]) -> None:
    async with with_workflow(tmp_path, demos, *nodes) as case:
        request = RunRequest("m", await case.chapter(7))
        quote = await case.project.runs.quote(request)
        assert quote.most is not None and quote.most.cost is not None
        run = await case.start("m", 7, limit=NO_LIMIT)
        assert await case.follow(run, answer) == "done"
        spent = await case.project._engine.call(case.project._parts.store.usage.totals(RunId(run)))
    assert spent.cost is not None
    assert spent.calls <= quote.most.calls
    assert spent.input_tokens <= quote.most.input_tokens
    assert spent.cost <= quote.most.cost


async def test_a_quote_makes_no_choice_for_the_writer(tmp_path: Path, demos: dict[str, Path]) -> None:
    async with with_workflow(tmp_path, demos, evolution(rounds=1)) as case:
        request = RunRequest("m", await case.chapter(7))
        for _time in range(2):
            run = await case.start("m", 7, limit=NO_LIMIT)
            assert await case.follow(run, lambda _question: None) == "waiting"
            quote = await case.project.runs.quote(request)
            assert (quote.would_run, quote.served) == (("e",), ())
        assert (await case.project.runs.totals()).calls == 3, "the second run has the candidates of the first"
