"""No run costs more than the most of its quote, and a usual run costs about what is likely: every shipped workflow."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import AsyncGenerator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from flowcabal_tui.demo import templates
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import (
    Answer,
    Finished,
    ModelEvent,
    ModelRequest,
    TextDelta,
    Usage,
)
from flowcabal_tui.domain.run import Decision, Question, Quote, RunRequest
from flowcabal_tui.examples import NAMES, example
from flowcabal_tui.models.bounds import MARGIN_UNKNOWN, structured_extra
from flowcabal_tui.models.collect import BEFORE_REPEATING, collect
from flowcabal_tui.models.structured import REPAIRS
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.words import money, spend_lines
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.project.case import Case, both, change, endpoint, opened

LONG = 900
"""Tokens that an answer may have."""
SHORT = 250
"""Of an answer of the writer's model in a usual run."""
LIKELY_WITHIN = 3
"""A usual run costs this many times less or more than what is likely, at most."""
WORKFLOWS = [
    (language, name)
    for language in ("en", "zh")
    for name in (*(each.id for each in templates(language) if each.id != "rewrite"), *NAMES)
]


class Priced:
    """A model that counts more than was estimated. `worst`: each answer is as long as allowed, each check finds
    something after a round of wrong quotations, and every structured answer needs all repairs."""

    def __init__(self, endpoint: Endpoint, language: str, *, worst: bool) -> None:
        self.endpoint, self._language, self._worst = endpoint, language, worst
        self._counter = TokenEstimator(endpoint.model)
        self._asked: dict[str, int] = {}
        self.calls = 0

    def _in(self, request: ModelRequest, extra: int = 0) -> int:
        return round((self._counter.count_request(request) + extra) * (MARGIN_UNKNOWN if self._worst else 1.1))

    def _text(self, tokens: int) -> str:
        self.calls += 1
        if self._language == "zh":
            return f"第{self.calls}稿。" + "她走过长街，没有回头。" * (tokens // 14)
        return f"Draft {self.calls}. " + "She crossed the wet street slowly. " * (tokens // 8)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        limit = min(request.max_tokens or LONG, LONG)
        tokens = limit if self._worst else min(limit, SHORT)
        yield TextDelta(self._text(tokens))
        yield Finished("stop", Usage(self._in(request), tokens), self.endpoint.model)

    async def answer(self, request: ModelRequest) -> Answer:
        return await collect(self, request)  # type: ignore[arg-type]  # all that it needs

    async def structured(self, request: ModelRequest, shape: type[BaseModel]) -> tuple[Any, Answer]:
        out = LONG if self._worst else 60
        extra = structured_extra(self._counter, self.endpoint, shape) if self._worst else 0
        usage = Usage(self._in(request, extra), out)
        if self._worst and (take_over := BEFORE_REPEATING.get()):
            for _try in range(REPAIRS):
                await take_over(usage)
        value = shape.model_validate(self._said(request, shape))
        return value, Answer(value.model_dump_json(), "stop", usage, self.endpoint.model)

    def _said(self, request: ModelRequest, shape: type[BaseModel]) -> dict[str, Any]:
        text = request.messages[1].content
        if "readings" in shape.model_fields:
            said = {"verdict": "contradiction", "confidence": 0.9, "explanation": "x" * 200}
            return {"readings": [{"doubt": each, **said} for each in re.findall(r'<doubt id="(\w+)"', text)]}
        if "findings" not in shape.model_fields:
            return {}
        judged = re.findall(r'<statement id="(\w+)"', text) if not self._worst or _is_second(text) else []
        return {"verdicts": [], "compatible": judged, **self._claims(request)}

    def _claims(self, request: ModelRequest) -> dict[str, Any]:
        """A contradiction between the first words of the draft and of a source, quoted wrongly at first."""
        if not self._worst:
            return {"findings": []}
        words = html.unescape(request.messages[1].content)
        source = re.search(r'<source id="(\w+)"[^>]*>(.{12})', words, re.DOTALL) or re.search(
            r"^(p\d+) \[[^\]]*\] (.{12})", words, re.MULTILINE
        )
        draft = re.search(r"<draft[^>]*>\s*(.{12})", words, re.DOTALL)
        assert source and draft, words[:2_000]
        right = _is_second(request.messages[1].content)
        quoted = draft[1] if right else "not in there at all"
        claim = {"draft_quote": quoted, "source_id": source[1], "source_quote": source[2], "confidence": 1.0}
        return {"findings": [claim | {"explanation": "x" * 200}]}


def _is_second(text: str) -> bool:
    """Says the question what was wrong with the answer before?"""
    return "An earlier answer had" in text or "have no readable verdict" in text


def answer(question: Question) -> Decision:
    assert question.kind != "limit", f"the quote was no bound: {question.reason}"
    if question.kind == "choice":
        return Decision("choose", attempt=1)
    return Decision("edit", text="north") if question.kind == "input" else Decision("approve")


def unless_limit(question: Question) -> Decision | None:
    return None if question.kind == "limit" else answer(question)


async def quoted_and_run(
    folder: Path, demo: Path, language: str, name: str, *, worst: bool, stops: bool = False
) -> tuple[Quote, Totals, Case]:
    shutil.copytree(demo, folder)
    model = endpoint_of(folder)
    async with opened(folder) as case:
        fake = Priced(model, language, worst=worst)
        case.project._parts.base.models._models[model] = fake  # type: ignore[assignment]  # as far as it is used
        if name in NAMES:
            workflow = example(name, language)
            await case.project.carry_out(SaveWorkflow(workflow))
            name = workflow.id
        request = RunRequest(name, await case.chapter(7), (("instruction", "Let it rain."),))
        quote = await case.project.runs.quote(request)
        run = await case.start(name, 7, inputs=request.inputs, limit=quote.limit if worst and not stops else None)
        state = await case.follow(run, unless_limit if stops else answer)  # which has the one bound of all waits
        assert state == ("waiting" if stops else "done"), [event for event in case.events if "error" in event.type]
        return quote, await case.project._engine.call(case.project._parts.store.usage.totals(RunId(run))), case


def endpoint_of(folder: Path) -> Endpoint:
    class Nowhere:
        url = "http://127.0.0.1:9"

    model = endpoint(
        Nowhere(),  # type: ignore[arg-type]  # nothing is sent
        price_in=Decimal(3),
        price_out=Decimal(15),
        max_output=LONG,
        retries=1,
    )
    settings = both(model)
    change(folder, "models", user=settings.user, agent=settings.agent)
    change(folder, "goals", chapter=SHORT if folder.name == "zh" else SHORT * 3 // 4)
    return model


@pytest.mark.parametrize(("language", "name"), WORKFLOWS)
async def test_the_dearest_run_costs_no_more_than_the_most_of_its_quote(
    tmp_path: Path, demos: dict[str, Path], language: str, name: str
) -> None:
    quote, spent, _case = await quoted_and_run(tmp_path / language, demos[language], language, name, worst=True)
    assert quote.most is not None and quote.most.cost is not None, quote.open_ends
    assert spent.cost is not None
    assert spent.calls <= quote.most.calls
    assert spent.cost <= quote.most.cost
    assert spent.input_tokens + spent.output_tokens <= quote.most.input_tokens + quote.most.output_tokens


async def test_a_run_that_goes_wrong_asks_at_the_figure_that_was_shown(tmp_path: Path, demos: dict[str, Path]) -> None:
    quote, spent, _case = await quoted_and_run(tmp_path / "en", demos["en"], "en", "chapter", worst=True, stops=True)
    assert spent.cost is not None and quote.pause is not None and quote.pause.cost is not None
    assert spent.cost <= quote.pause.cost
    assert any(money(quote.pause.cost, "USD") in line for line in spend_lines(quote))


@pytest.mark.parametrize(("language", "name"), WORKFLOWS)
async def test_a_usual_run_costs_about_what_is_likely(
    tmp_path: Path, demos: dict[str, Path], language: str, name: str
) -> None:
    quote, spent, _case = await quoted_and_run(tmp_path / language, demos[language], language, name, worst=False)
    assert spent.cost is not None and quote.likely.cost is not None
    assert quote.pause is not None and quote.pause.cost is not None
    assert quote.pause.cost <= max(3 * quote.likely.cost, quote.likely.cost + (quote.dearest.cost or 0))
    if spent.calls:
        assert spent.cost / LIKELY_WITHIN <= quote.likely.cost <= spent.cost * LIKELY_WITHIN
